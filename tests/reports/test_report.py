"""The numbers of a report, each against data on which they can be counted by hand."""

import json

import pytest

from support.lakes import delta_users, empty, one_file, prices, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explained
from whyscan.tree.types import DATE, DOUBLE, INT, STRING

BOTH = "country = 'DE' AND age > 40"


def level(document, name):
    return next(level for level in document["levels"] if level["level"] == name)


def by_path(document):
    return {line["path"]: line for line in document["files"]}


def test_files_are_credited_to_partition_before_statistics():
    files = level(explained(users(), BOTH), "files")

    assert (files["total"], files["kept"], files["all"]) == (6, 1, 0)
    assert files["pruned_by"] == {"partition": 4, "statistics": 1}


def test_rows_of_files_that_were_never_opened_are_null():
    document = explained(users(), BOTH, verbose=True)

    assert level(document, "files")["rows_total"] is None
    assert by_path(document)["country=IT/a.parquet"]["rows"] is None
    assert by_path(document)["country=DE/a.parquet"]["rows"] == 4


def test_full_opens_every_footer_so_that_rows_are_known():
    document = explained(users(), BOTH, full=True)

    assert level(document, "files")["rows_total"] == 24
    assert level(document, "row_groups")["total"] == 6
    assert level(document, "row_groups")["pruned_by"] == {"partition": 4, "statistics": 1}


@pytest.mark.parametrize(
    ("table", "question", "alone", "only"),
    [
        (delta_users(), {}, [{"files": 4}, {"files": 3}], [{"files": 2}, {"files": 1}]),
        (users(), {"full": True}, [{"files": 4}, {"files": 3}], [{"files": 2}, {"files": 1}]),
        (
            users(),
            {},
            [{"files": 4}, {"files": 1, "at_least": True}],
            [{"files": 0, "at_least": True}, {"files": 1}],
        ),
    ],
    ids=["delta", "hive, full", "hive"],
)
def test_alone_and_only_say_at_least_where_a_footer_stayed_closed(table, question, alone, only):
    conjuncts = explained(table, BOTH, **question)["conjuncts"]

    def shares(kind):
        return [{k: v for k, v in c[kind].items() if k not in {"bytes", "rows"}} for c in conjuncts]

    assert shares("alone") == alone
    assert shares("only") == only


@pytest.mark.parametrize("predicate", [BOTH, "age > 40 AND country = 'DE'"])
def test_alone_and_only_do_not_depend_on_the_order_of_conjuncts(predicate):
    conjuncts = {c["sql"]: c for c in explained(delta_users(), predicate)["conjuncts"]}

    assert conjuncts["age > 40"]["alone"] == {"files": 3, "bytes": 1700, "rows": 14}
    assert conjuncts["country = 'DE'"]["only"] == {"files": 2, "bytes": 800, "rows": 6}


def test_a_conjunct_that_nothing_excludes_leaves_no_share_open():
    shares = [
        (conjunct["alone"], conjunct["only"])
        for conjunct in explained(users(), "my_function(age) = 1 AND country = 'DE'")["conjuncts"]
    ]

    nothing = {"files": 0, "bytes": 0, "rows": 0}
    # How many rows a footer that stayed closed has, nobody knows.
    four = {"files": 4, "bytes": 1900, "rows": None}
    assert shares == [(nothing, nothing), (four, four)]


def test_rows_matched_counts_row_groups_where_they_were_opened():
    document = explained(prices(), "x > 1000")

    assert document["rows_matched"] == {"at_least": 50, "at_most": 100}
    assert level(document, "row_groups")["all"] == 1
    assert (level(document, "row_groups")["kept"], level(document, "files")["kept"]) == (2, 1)


def test_rows_matched_falls_back_to_files_when_footers_stay_closed():
    document = explained(delta_users(), BOTH, depth="files")

    assert document["rows_matched"] == {"at_least": 0, "at_most": 4}
    assert document["unchecked"] == [{"level": "row_groups", "why": "--depth files"}]
    assert [level["level"] for level in document["levels"]] == ["files"]


def test_a_file_whose_row_groups_all_fall_stays_kept_and_is_counted():
    halves = [RowGroup(5, {"x": (0, 10)}), RowGroup(5, {"x": (90, 100)})]
    table = MemoryTable({"x": INT}, [DataFile("a", {}, halves)], footers_describe_files=False)

    document = explained(table, "x = 50")

    assert level(document, "files")["kept"] == 1
    assert level(document, "row_groups")["files_emptied"] == 1
    assert document["rows_matched"] == {"at_least": 0, "at_most": 0}


def test_what_nan_costs_is_counted_on_each_level():
    document = explained(prices(DOUBLE, nan=True), "x > 1000")
    row_groups = level(document, "row_groups")

    assert (row_groups["kept"], row_groups["kept_without_nan"]) == (3, 2)
    assert document["assume_no_nan"] is False


def test_on_the_users_word_nan_costs_nothing():
    document = explained(prices(DOUBLE, nan=True), "x > 1000", assume_no_nan=True)

    assert level(document, "row_groups")["kept"] == 2
    assert document["findings"] == []


@pytest.mark.parametrize(
    ("predicate", "confidence"),
    [
        ("country = 'DE'", "exact"),
        (BOTH, "conservative"),
        ("country = 'DE' OR age > 40", "incomplete"),
    ],
)
def test_confidence_is_the_least_informative_of_the_parts(predicate, confidence):
    document = explained(users(), predicate)

    assert document["confidence"] == confidence


def test_an_empty_table_has_levels_of_zero():
    document = explained(empty(), "x > 1")

    assert level(document, "files") | {"confidence": "exact"} == {
        "level": "files",
        "total": 0,
        "kept": 0,
        "all": 0,
        "kept_without_nan": 0,
        "confidence": "exact",
        "bytes_total": 0,
        "bytes_kept": 0,
        "rows_total": 0,
        "rows_kept": 0,
        "kept_unchecked": 0,
        "pruned_by": {"partition": 0, "statistics": 0},
    }


def test_statistics_cover_the_predicates_columns_that_are_no_partition():
    bounds = [RowGroup(5, {"x": (1, 2)}), RowGroup(5)]
    files = [DataFile(f"{i}.parquet", {}, [group]) for i, group in enumerate(bounds)]

    document = explained(MemoryTable({"x": INT}, files), "x > 1")

    assert document["statistics"] == [
        {"column": "x", "files": 2, "files_with_bounds": 1, "mode": "partial"}
    ]
    assert explained(users(), "country = 'DE'")["statistics"] == []


def test_a_row_group_without_bounds_leaves_its_file_without_them():
    table = one_file(INT, RowGroup(5, {"x": (1, 2)}), RowGroup(5))

    document = explained(table, "x > 1", verbose=True)

    assert document["statistics"][0]["mode"] == "absent"
    assert document["files"][0]["bounds"] == {}


def test_the_bounds_of_a_file_are_the_hull_of_its_row_groups():
    all_null = RowGroup(5, nulls={"x": 5})
    table = one_file(INT, RowGroup(5, {"x": (1, 9)}), all_null, RowGroup(5, {"x": (-3, 4)}))

    document = explained(table, "x > 1", verbose=True)

    assert document["files"][0]["bounds"] == {"x": [-3, 9]}
    assert document["statistics"][0]["mode"] == "exact"


@pytest.mark.parametrize(
    ("kind", "bounds", "predicate", "shown"),
    [
        (STRING, ("a\x1b[31m", "z"), "x = 'b'", ["a\x1b[31m", "z"]),
        (STRING, (b"a\xff", "z"), "x = 'b'", ["a\\xff", "z"]),
        (DATE, (0, 2_932_897), "x = DATE '2024-01-01'", ["1970-01-01", "10000-01-01"]),
        (DOUBLE, (float("-inf"), 1.5), "x = 1", ["-Infinity", 1.5]),
    ],
)
def test_bounds_are_numbers_where_exact_and_text_otherwise(kind, bounds, predicate, shown):
    document = explained(one_file(kind, RowGroup(5, {"x": bounds})), predicate, verbose=True)

    assert document["files"][0]["bounds"] == {"x": shown}


def test_files_tell_verdict_reason_row_groups_and_residual():
    document = explained(users(), BOTH, verbose=True)

    assert by_path(document)["country=DE/a.parquet"] == {
        "path": "country=DE/a.parquet",
        "bytes": 500,
        "rows": 4,
        "partition": {"country": "DE"},
        "bounds": {"age": [40, 60]},
        "verdict": "some",
        "pruned_by": None,
        "reason": "STRADDLES",
        "row_groups": [0],
        "residual": "age > 40",
        "pruned_at": None,
        "pruned_by_conjuncts": [],
        "evidence": "age [40, 60] against age > 40",
    }
    pruned = by_path(document)["country=DE/b.parquet"]
    assert (pruned["verdict"], pruned["pruned_by"], pruned["reason"]) == (
        "none",
        "statistics",
        None,
    )
    assert pruned["row_groups"] == []


def test_a_null_partition_value_is_null_in_json():
    files = [DataFile("p=__HIVE_DEFAULT_PARTITION__/a", {"p": None}, [RowGroup(5)])]

    document = explained(MemoryTable({"p": INT}, files, ("p",)), "p IS NULL", verbose=True)

    assert document["files"][0]["partition"] == {"p": None}
    assert document["files"][0]["verdict"] == "all"
    assert document["residual"] is None


def test_the_time_is_shown_when_the_predicate_uses_it():
    table = one_file(DATE, RowGroup(5, {"x": (0, 1)}))

    assert explained(table, "x < current_date()")["now"].endswith("Z")
    assert explained(table, "x < DATE '2024-01-01'")["now"] is None


def test_a_selection_counts_the_bytes_of_its_column_chunks():
    from whyscan.reports.report import make_report
    from whyscan.table import Table

    plan = Table(prices()).plan("x > 1000", select=["x"])

    assert make_report(plan, verbose=False).to_dict()["selection"] == {
        "columns": ["x"],
        "bytes": 1000,
    }


def test_contradictory_statistics_are_counted_and_prune_nothing():
    document = explained(one_file(INT, RowGroup(5, {"x": (9, 1)})), "x > 100")

    assert document["contradictory_statistics"] == 1
    assert level(document, "files")["kept"] == 1


def test_json_has_no_bare_nan_and_no_raw_control_characters():
    table = one_file(DOUBLE, RowGroup(5, {"x": (float("-inf"), float("inf"))}), path="a\x9b\x1bb")

    text = json.dumps(explained(table, "x = 1", verbose=True), allow_nan=False)

    assert "\x1b" not in text
    assert "\x9b" not in text


def test_a_report_shows_itself_as_text():
    from support.reports import explain

    assert str(explain(users(), BOTH)).startswith("reads 1 of 6 files (16.7 %)")
