"""Findings: when each is raised, and with which numbers."""

import pytest

from support.lakes import delta_users, one_file, prices, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain, explained
from tables.delta.conftest import Lake, bounds
from tables.iceberg.by_hand import Lake as IcebergLake
from tables.iceberg.by_hand import summary
from whyscan.tree.types import DOUBLE, INT, STRING

CASES = {
    "a plain predicate": (users(), "country = 'DE' AND age > 40", {}),
    "no condition on the partition": (
        users(),
        "age > 40",
        {"NO_PARTITION_FILTER": "partitioned by country, and no conjunct names"},
    ),
    "an unsplittable conjunct names the partition": (
        delta_users(),
        "country = 'DE' OR age > 4",
        {"UNSPLITTABLE_OR": "reads 6 of 6 files; country = 'DE' leaves 2, age > 4 leaves 6"},
    ),
    "nothing can match": (users(), "country = 'FR'", {"NOTHING_KEPT": "any of the 6 files"}),
    "no bounds at all": (
        one_file(INT, RowGroup(5)),
        "x > 1",
        {"NO_STATISTICS": "1 of 1 file cannot be skipped by x"},
    ),
    "NaN keeps a row group": (
        prices(DOUBLE, nan=True),
        "x > 1000",
        {"NAN_UNCOUNTED": "kept for that alone: 1 row group of 3"},
    ),
    "NaN keeps nothing": (prices(DOUBLE, nan=True), "x < 1000", {}),
    "a statistic that cannot be true": (
        one_file(INT, RowGroup(5, {"x": (9, 1)})),
        "x > 1",
        {"CONTRADICTORY_STATISTICS": "1 statistic cannot be true"},
    ),
    "a function that nobody knows": (
        one_file(INT, RowGroup(5, {"x": (1, 9)})),
        "my_function(x) = 1",
        {"UNINTERPRETED": "my_function"},
    ),
}


@pytest.mark.parametrize(("table", "predicate", "expected"), CASES.values(), ids=CASES)
def test_findings_have_their_code_and_their_numbers(table, predicate, expected):
    findings = {f["code"]: f["message"] for f in explained(table, predicate)["findings"]}

    # Whatever hides the bounds may also be reported as such.
    findings = {code: m for code, m in findings.items() if code in expected or not expected}
    assert findings.keys() == expected.keys()
    for code, part in expected.items():
        assert part in findings[code]


def blind(columns, files=104):
    """Files without bounds of any column."""
    data = [DataFile(f"{n}", {}, [RowGroup(5)]) for n in range(files)]
    return MemoryTable(dict.fromkeys(columns, INT), data, footers_describe_files=False)


def by_day(partitions=50):
    """A file a partition; x is one value in each, y the same in all."""
    data = [
        DataFile(f"p={p}", {"p": p}, [RowGroup(5, {"x": (p, p), "y": (0, 9)}, {"x": 0, "y": 0})])
        for p in range(partitions)
    ]
    return MemoryTable({"p": INT, "x": INT, "y": INT}, data, ("p",), footers_describe_files=False)


@pytest.mark.parametrize(
    "predicate", ["a > 1", "a > 1 AND b < 5", "a > 1 AND b < 5 AND c = 3", "a > b OR c = 3"]
)
def test_columns_that_the_same_files_lack_are_one_finding(predicate):
    findings = explained(blind("abc"), predicate, depth="files")["findings"]
    (entry,) = (f for f in findings if f["code"] == "NO_STATISTICS")

    named = [name for name in "abc" if name in predicate.split()]
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    assert f"104 of 104 files cannot be skipped by {listed}:" in entry["message"]
    assert entry["fix"] == f"rewrite those files with statistics for {listed}"


@pytest.mark.parametrize(
    ("properties", "setting"),
    [
        (
            {"delta.dataSkippingNumIndexedCols": "1"},
            "('delta.dataSkippingNumIndexedCols' = '3')",
        ),
        (
            {"delta.dataSkippingStatsColumns": "a"},
            "('delta.dataSkippingStatsColumns' = 'a,b,c')",
        ),
    ],
)
def test_one_setting_gives_statistics_of_all_columns_that_lack_them(tmp_path, properties, setting):
    lake = Lake(tmp_path / "t")
    lake.create({"a": "long", "b": "long", "c": "long"}, properties=properties)
    lake.commit(lake.add("f", bounds("a", 1, 2)))
    findings = explained(lake.open(), "b = 1 AND c = 2", depth="files")["findings"]
    (entry,) = (f for f in findings if f["code"] == "BEYOND_STATISTICS_BUDGET")

    assert entry["rewrite"].endswith(setting)


@pytest.mark.parametrize(
    ("predicate", "severity"),
    [
        ("y = 5", "warning"),
        ("x > 10 AND y = 5", "warning"),
        # Every row that is read matches.
        ("x > 10", None),
        ("y >= 0", None),
        # Nothing is read.
        ("y = 50", None),
        # Statistics remove 98 percent.
        ("x = 7 AND y = 5", "info"),
    ],
)
def test_a_missing_partition_filter_is_a_warning_where_it_can_matter(predicate, severity):
    findings = explained(by_day(), predicate, depth="files")["findings"]
    entry = next((f["severity"] for f in findings if f["code"] == "NO_PARTITION_FILTER"), None)

    assert entry == severity


@pytest.mark.parametrize("predicate", ["y = 50 AND b = 1", "p = 99 AND b = 1"])
def test_statistics_are_not_missed_where_nothing_is_read(predicate):
    table = by_day()
    table.columns = {**table.columns, "b": INT}
    codes = {f["code"] for f in explained(table, predicate, depth="files")["findings"]}

    assert "NO_STATISTICS" not in codes


def modes(values):
    """A file a partition value."""
    data = [DataFile(f"mode={v}", {"mode": v}, [RowGroup(5, {"x": (0, 9)})]) for v in values]
    columns = {"mode": STRING, "x": INT}
    return MemoryTable(columns, data, ("mode",), footers_describe_files=False)


@pytest.mark.parametrize(
    ("values", "predicate", "listed"),
    [
        (["RAIL", "AIR", None], "mode = 'air'", "'AIR', 'RAIL'"),
        (["AIR", "AIR"], "mode = 'air' AND x = 5", "'AIR'"),
        (["AIR", "sea"], "upper(mode) = 'ROAD'", "'AIR', 'sea'"),
        (
            [f"m{n:02d}" for n in range(20)],
            "mode = 'air'",
            "'m00', 'm01', 'm02', 'm03', 'm04', 'm05', 'm06', 'm07' and 12 more",
        ),
        # It is not the partition column that removes them all.
        (["AIR", "RAIL"], "mode = 'AIR' AND x = 50", None),
        ([None], "mode = 'air'", None),
    ],
)
def test_a_partition_value_that_is_not_there_shows_those_that_are(values, predicate, listed):
    report = explain(modes(values), predicate, depth="files")
    (entry,) = (f for f in report.findings if f.code == "NOTHING_KEPT")

    assert entry.evidence.get("partition_values") == listed
    sentence = f"the values of the partition column mode are {listed}"
    assert (sentence in entry.message) is (listed is not None)
    assert "'AIR'" not in str(report.redacted()).replace("mode = 'AIR'", "")


def test_closed_manifests_show_between_which_values_a_partition_column_lies(tmp_path):
    identity = {"source-id": 1, "field-id": 1000, "name": "mode", "transform": "identity"}
    lake = IcebergLake(tmp_path / "t", {"mode": "string"}, [identity])
    for low, high in (("AIR", "MAIL"), ("RAIL", "TRUCK")):
        lake.manifest(
            [lake.file(f"{v}", {}, partition={"mode": v}) for v in (low, high)],
            summaries=[summary(low.encode(), high.encode())],
        )
    findings = explained(lake.commit().open(), "mode = 'air'", depth="files")["findings"]

    (entry,) = (f for f in findings if f["code"] == "NOTHING_KEPT")
    assert "the partition column mode lie between 'AIR' and 'TRUCK'" in entry["message"]


def texts(*ends):
    """A file without partitions for each pair of bounds of the text `s`."""
    files = [DataFile(f"{n}", {}, [RowGroup(5, {"s": pair})]) for n, pair in enumerate(ends)]
    return MemoryTable({"s": STRING}, files, footers_describe_files=False)


MIXED = texts(*[("Anna", "berta")] * 6)


@pytest.mark.parametrize(
    ("table", "predicate", "expected"),
    [
        (MIXED, "upper(s) = 'A'", ["UNINTERPRETED"]),
        (MIXED, "s > 3", ["LITERAL_TYPE"]),
        (blind("a", 6), "a = 5", ["NO_STATISTICS"]),
        (blind("a", 6), "a = 5 OR rand() < 2", ["UNINTERPRETED"]),
        (delta_users(), "age > 60 OR rand() < 2", ["NO_PARTITION_FILTER", "OR_ENDS_PRUNING"]),
    ],
    ids=["function", "type", "no statistics", "statistics would not help", "opaque branch"],
)
def test_one_cause_is_one_finding(table, predicate, expected):
    findings = explained(table, predicate, depth="files")["findings"]

    assert [finding["code"] for finding in findings] == expected


@pytest.mark.parametrize(
    ("bounds_of_text", "files", "confidence"),
    [((("anna", "anne"),), 0, "conservative"), ((("Anna", "berta"),), 1, "conservative")],
    ids=["one beginning", "two beginnings"],
)
def test_text_functions_are_evaluated_where_both_bounds_share_a_beginning(
    bounds_of_text, files, confidence
):
    document = explained(texts(*bounds_of_text), "upper(s) = 'BERTA'", depth="files")

    assert document["levels"][0]["kept"] == files
    assert document["confidence"] == confidence


def test_a_branch_that_was_evaluated_on_partition_values_is_not_uninterpreted():
    predicate = "(age > 40 OR upper(country) = 'DE') AND country = 'DE'"
    document = explained(delta_users(), predicate, depth="files")

    assert document["residual"] is None
    assert "UNINTERPRETED" not in {finding["code"] for finding in document["findings"]}


def test_one_file_needs_no_partition_filter():
    table = MemoryTable(
        {"p": INT, "x": INT},
        [DataFile("p=1", {"p": 1}, [RowGroup(5, {"x": (0, 9)})])],
        ("p",),
        footers_describe_files=False,
    )

    assert explained(table, "x > 5", depth="files")["findings"] == []


def test_a_finding_names_its_conjunct_and_columns():
    report = explain(blind("ab", 6), "a = 5 AND my_function(b) = 1")
    about = {f.code.value: (f.conjunct, f.columns) for f in report.findings}

    assert about["NO_STATISTICS"] == (None, ("a",))
    assert about["UNINTERPRETED"] == (1, ("b",))
