"""Iceberg's scan reports, in the shape in which clients send them to a REST catalog."""

from __future__ import annotations

import json

import pytest

from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed


def count(value, unit="count"):
    return {"unit": unit, "value": value}


METRICS = {
    "total-planning-duration": {
        "count": 1,
        "time-unit": "nanoseconds",
        "total-duration": 2644235116,
    },
    "result-data-files": count(3),
    "result-delete-files": count(0),
    "total-data-manifests": count(8),
    "total-delete-manifests": count(0),
    "scanned-data-manifests": count(2),
    "skipped-data-manifests": count(6),
    "skipped-data-files": count(5),
    "total-file-size-in-bytes": count(4096, "bytes"),
}


def report(condition=True, **more):
    return {
        "report-type": "scan-report",
        "table-name": "prod.db.t",
        "snapshot-id": 23,
        "filter": condition,
        "schema-id": 4,
        "projected-field-ids": [1, 2],
        "projected-field-names": ["a", "place.city"],
        "metrics": METRICS,
        "metadata": {},
    } | more


def read(path, *entries):
    path.write_text("\n".join(map(json.dumps, entries)), "utf-8")
    return read_workload([str(path)])


def compared(kind, value, term="a"):
    return {"type": kind, "term": term, "value": value}


def joined(kind, left, right):
    return {"type": kind, "left": left, "right": right}


FIVE, X = compared("gt", 5), compared("eq", "x", "s")
FILTERS = [
    (True, ""),
    (FIVE, " WHERE `a` > 5"),
    (joined("and", FIVE, X), " WHERE `a` > 5 AND `s` = 'x'"),
    (
        joined("and", joined("or", FIVE, X), X),
        " WHERE ((`a` > 5) OR (`s` = 'x')) AND `s` = 'x'",
    ),
    ({"type": "not", "child": FIVE}, " WHERE NOT (`a` > 5)"),
    ({"type": "is-null", "term": "place.city"}, " WHERE `place`.`city` IS NULL"),
    ({"type": "not-nan", "term": "x"}, " WHERE NOT isnan(`x`)"),
    (compared("starts-with", "it's", "s"), " WHERE startswith(`s`, 'it\\'s')"),
    ({"type": "in", "term": "a", "values": [1, 2]}, " WHERE `a` IN (1, 2)"),
    (compared("lt-eq", "2026-03-02", "d"), " WHERE `d` <= '2026-03-02'"),
]


@pytest.mark.parametrize(("condition", "where"), FILTERS)
def test_a_report_is_a_query_with_what_was_planned(tmp_path, condition, where):
    workload = read(tmp_path / "reports.json", report(condition))

    assert workload.unparsed == ()
    assert workload.queries == (
        Query(
            f"SELECT `a`, `place` FROM `prod`.`db`.`t`{where}",
            "spark",
            origins=("reports.json:1",),
            actual=(ActualScan("prod.db.t", files=3, bytes=4096, manifests=2, manifests_total=8),),
            logs={"iceberg": 1},
        ),
    )


HIDDEN = compared("gt", "(2-digit-int)")
LEFT_OUT = "a condition was left out, its values are hidden: "


@pytest.mark.parametrize(
    ("condition", "where", "notes"),
    [
        (HIDDEN, "", (f"{LEFT_OUT}gt of a",)),
        (joined("and", X, HIDDEN), " WHERE `s` = 'x'", (f"{LEFT_OUT}gt of a",)),
        (joined("or", X, HIDDEN), "", (f"{LEFT_OUT}or of several columns",)),
        ({"type": "not", "child": HIDDEN}, "", (f"{LEFT_OUT}not of several columns",)),
        (
            {"type": "in", "term": "a", "values": [1, "(hash-00ff)"]},
            "",
            (f"{LEFT_OUT}in of a",),
        ),
        (
            compared("eq", 3, {"type": "transform", "transform": "day", "term": "ts"}),
            "",
            (f"{LEFT_OUT}eq of a transform",),
        ),
    ],
)
def test_a_condition_with_a_hidden_value_is_left_out_with_a_note(tmp_path, condition, where, notes):
    [query] = read(tmp_path / "reports.json", report(condition)).queries

    assert query.text == f"SELECT `a`, `place` FROM `prod`.`db`.`t`{where}"
    assert query.notes == notes


def test_files_are_all_there_were_only_where_no_manifest_was_skipped(tmp_path):
    metrics = METRICS | {"skipped-data-manifests": count(0)}

    [query] = read(tmp_path / "reports.json", report(metrics=metrics)).queries

    assert query.actual[0].files_total == 8


def test_reports_of_one_query_are_summed_and_commits_are_listed(tmp_path):
    commit = {"report-type": "commit-report", "table-name": "prod.db.t", "operation": "append"}

    workload = read(tmp_path / "reports.json", report(), commit, report())

    assert [query.times for query in workload.queries] == [2]
    assert workload.queries[0].actual[0].manifests_total == 16
    assert workload.unparsed == (
        Unparsed("reports.json:2", "", "it is a commit-report of prod.db.t", log="iceberg"),
    )


def test_a_table_of_a_path_is_named_by_it(tmp_path):
    [query] = read(tmp_path / "reports.json", report(**{"table-name": "s3://lake/t"})).queries

    assert query.text == "SELECT `a`, `place` FROM iceberg.`s3://lake/t`"


def test_a_filter_that_nests_too_deep_is_one_entry_that_is_listed(tmp_path):
    condition = FIVE
    for _ in range(400):
        condition = joined("or", condition, X)

    workload = read(tmp_path / "reports.json", report(condition), report())

    assert workload.entries == 2
    assert workload.query_entries >= 1
