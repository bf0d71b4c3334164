"""Gates: thresholds, what was measured, and the outcome."""

import pytest

from support.lakes import delta_users, empty, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain, valid
from tables.delta.conftest import Lake, bounds
from whyscan.errors import UsageError
from whyscan.reports.gates import Gates
from whyscan.tables.sizes import parse_size
from whyscan.tree.types import INT

BOTH = "country = 'DE' AND age > 40"
BLIND = MemoryTable({"x": INT}, [DataFile("a", {}, [RowGroup(5)])])
CASES = [
    (users(), BOTH, Gates(min_pruning=83), "min_pruning", 83.3, "pass"),
    (users(), BOTH, Gates(min_pruning=83.4), "min_pruning", 83.3, "fail"),
    # 5 of 6 is more than 83.33 percent, and rounds to less.
    (users(), BOTH, Gates(min_pruning=83.33), "min_pruning", 100 * 5 / 6, "pass"),
    (users(), BOTH, Gates(min_pruning_bytes=80), "min_pruning_bytes", 83.3, "pass"),
    (users(), BOTH, Gates(max_files=1), "max_files", 1, "pass"),
    (users(), BOTH, Gates(max_files=0), "max_files", 1, "fail"),
    (users(), BOTH, Gates(max_bytes=500), "max_bytes", 500, "pass"),
    (users(), BOTH, Gates(max_bytes=499), "max_bytes", 500, "fail"),
    (users(), BOTH, Gates(assert_stats=True), "stats_complete", 100, "pass"),
    (BLIND, "x > 1", Gates(assert_stats=True), "stats_complete", 0, "fail"),
    (users(), BOTH, Gates(require_partition_filter=True), "partition_filter", 1, "pass"),
    (users(), "age > 4", Gates(require_partition_filter=True), "partition_filter", 0, "fail"),
    (
        users(),
        "country = 'DE' OR age > 4",
        Gates(require_partition_filter=True),
        "partition_filter",
        0,
        "fail",
    ),
    (empty(), "x > 1", Gates(min_pruning=100), "min_pruning", 100, "pass"),
    (empty(), "x > 1", Gates(min_pruning_bytes=100), "min_pruning_bytes", 100, "pass"),
]


@pytest.mark.parametrize(("table", "predicate", "gates", "name", "actual", "result"), CASES)
def test_each_gate_measures_and_decides(table, predicate, gates, name, actual, result):
    document = valid(explain(table, predicate).gated(gates).to_dict())

    (assertion,) = document["assertions"]
    assert (assertion["name"], assertion["actual"]) == (name, pytest.approx(actual))
    assert (assertion["result"], document["result"]) == (result, result)


def test_gates_do_not_depend_on_depth():
    gates = Gates(min_pruning=50, max_files=1, assert_stats=True)

    outcomes = [
        explain(delta_users(), BOTH, depth=depth).gated(gates).assertions
        for depth in ("files", "row-groups", "auto")
    ]

    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096", 4096),
        ("10GB", 10_000_000_000),
        ("500MiB", 500 * 2**20),
        ("1.5 kB", 1500),
        ("2g", 2_000_000_000),
        ("7B", 7),
    ],
)
def test_sizes_are_read_in_powers_of_1000_and_1024(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "1e3", "10XB", "5iB", "nan", "1,000"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UsageError, match="not a size"):
        parse_size(text)


def partly_blind(*, by_footers=False):
    """Twelve files in two partitions: x is known in all, y in none of the second partition."""
    data = [
        DataFile(
            f"p={p}/{n}.parquet",
            {"p": p},
            [RowGroup(5, {"x": (0, 9), "y": (0, 9)} if p == 1 else {"x": (0, 9)})],
        )
        for p in (1, 2)
        for n in range(12)
    ]
    return MemoryTable({"p": INT, "x": INT, "y": INT}, data, ("p",), by_footers)


@pytest.mark.parametrize("by_footers", [False, True], ids=["log", "footers"])
@pytest.mark.parametrize(
    ("predicate", "asserted", "columns"),
    [
        ("true", True, ["y"]),
        ("x > 1", True, []),
        ("y > 1", True, ["y"]),
        # The files that the partition rules out are files of the snapshot.
        ("p = 1 AND y > 1", True, ["y"]),
        ("p = 1", True, []),
        ("y > 1", ["x"], []),
        ("true", ["x", "y"], ["y"]),
    ],
)
def test_statistics_are_asserted_of_every_file_of_the_snapshot(
    predicate, asserted, columns, by_footers
):
    report = explain(partly_blind(by_footers=by_footers), predicate, assert_stats=asserted)
    document = valid(report.gated(Gates(assert_stats=True)).to_dict())

    (assertion,) = document["assertions"]
    if not columns:
        assert (assertion["actual"], assertion["result"]) == (100, "pass")
        assert "files_without_statistics" not in assertion
        return
    assert (assertion["actual"], assertion["result"]) == (50, "fail")
    assert assertion["files_without_statistics"] == {
        "count": 12,
        "of": 24,
        "columns": columns,
        "files": [f"p=2/{n}.parquet" for n in range(10)],
    }


def test_files_without_statistics_are_named_in_words_and_not_when_redacted():
    report = explain(partly_blind(), "true", assert_stats=True).gated(Gates(assert_stats=True))

    shown = " ".join(str(report).split())
    assert "12 of 24 files lack statistics of y: p=2/0.parquet, " in shown
    assert "p=2/9.parquet and 2 more" in shown
    assert "p=2/0" not in str(report.redacted())
    assert "12 of 24 files lack statistics of y" in " ".join(str(report.redacted()).split())


def test_a_column_that_is_not_set_to_be_recorded_is_checked_by_name_alone(tmp_path):
    lake = Lake(tmp_path / "t")
    lake.create(
        {"a": "long", "b": "long", "flag": "boolean"},
        properties={"delta.dataSkippingNumIndexedCols": "1"},
    )
    lake.commit(lake.add("f", bounds("a", 1, 2)))

    def holds(asserted):
        report = explain(lake.open(), "true", assert_stats=asserted, depth="files")
        return report.gated(Gates(assert_stats=True)).passed

    assert holds(True)
    assert holds(["a"])
    assert not holds(["b"])
    assert not holds(["flag"])
