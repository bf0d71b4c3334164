"""Gates: thresholds, what was measured, and the outcome."""

import pytest

from lakes import delta_users, empty, users
from memory_table import DataFile, MemoryTable, RowGroup
from reports import explain, valid
from whyscan.errors import UsageError
from whyscan.explain.gates import Gates
from whyscan.predicate.types import INT
from whyscan.tables.sizes import parse_size

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
