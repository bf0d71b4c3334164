"""Findings about a MERGE: each fires, its near-miss does not, and its fix is asked again."""

from __future__ import annotations

from dataclasses import replace

import pytest

import whyscan
from statements.test_findings import days, events, months
from support.statement_reports import orders, valid
from whyscan.reports.document import document
from whyscan.table import Table

UPSERT = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
BY_SOURCE = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN DELETE"


def explained(sql):
    lake = {"t": orders(), "s": orders(3), "m": months(), "e": events(), "d": days()}
    lake["h"] = replace(orders(3), footers_describe_files=True)
    tables = {name: Table(snapshot) for name, snapshot in lake.items()}
    report = whyscan.explain_sql(sql, tables, depth="files")
    valid(document(report))
    return report


def finding_of(sql, code):
    return next((f for f in explained(sql).findings if f.code == code), None)


def target(sql):
    """The files of the target that are read without values from the source."""
    (scan,) = [scan for scan in explained(sql).scans if scan.role == "target"]
    return scan.report.files_level.kept


@pytest.mark.parametrize("source", ["s", "h"], ids=["log", "footers"])
def test_a_merge_without_a_partition_term_is_offered_the_sources_partitions(source):
    sql = f"MERGE INTO t USING {source} ON t.user = {source}.user {UPSERT}"
    finding = finding_of(sql, "MERGE_WITHOUT_PARTITION_TERM")

    assert finding.rewrite == f"t.month = {source}.month AND t.month IN (1, 2, 3)"
    assert (finding.effect.unit, finding.effect.before, finding.effect.after) == (
        "files of t",
        24,
        6,
    )
    fixed = sql.replace(f"t.user = {source}.user", f"t.user = {source}.user AND {finding.rewrite}")
    assert (target(sql), target(fixed)) == (24, 6)
    assert finding_of(fixed, "MERGE_WITHOUT_PARTITION_TERM") is None


@pytest.mark.parametrize(
    "on",
    [
        "t.user = s.user AND t.month = s.month",
        "t.user = s.user AND t.month = 3",
        "t.user = s.user AND t.month > s.month",
    ],
)
def test_a_merge_with_any_term_on_the_partition_gets_no_finding(on):
    assert (
        finding_of(f"MERGE INTO t USING s ON {on} {UPSERT}", "MERGE_WITHOUT_PARTITION_TERM") is None
    )


def test_a_condition_of_every_clause_on_the_partition_is_a_term():
    sql = "MERGE INTO t USING s ON t.user = s.user WHEN MATCHED AND t.month = 2 THEN DELETE"

    assert finding_of(sql, "MERGE_WITHOUT_PARTITION_TERM") is None
    assert target(sql) == 2


def test_a_source_without_the_partition_column_gets_the_fix_to_add_it():
    source = "(SELECT user FROM s)"
    sql = f"MERGE INTO t USING {source} q ON t.user = q.user WHEN MATCHED THEN DELETE"
    finding = finding_of(sql, "MERGE_WITHOUT_PARTITION_TERM")

    assert finding.fix == "give the source month as well, and join by it too"
    assert finding.rewrite is None
    assert finding.effect is None


def test_values_that_come_at_run_time_are_offered_as_a_condition_that_changes_nothing():
    sql = f"MERGE INTO t USING s ON t.user = s.user AND t.month = s.month {UPSERT}"
    finding = finding_of(sql, "MERGE_VALUES_AT_RUN_TIME")

    assert finding.rewrite == "t.`user` BETWEEN 10 AND 39 AND t.month IN (1, 2, 3)"
    fixed = sql.replace(" WHEN", f" AND {finding.rewrite} WHEN", 1)
    assert (target(sql), target(fixed)) == (finding.effect.before, finding.effect.after) == (24, 6)
    assert finding_of(fixed, "MERGE_VALUES_AT_RUN_TIME") is None


def test_a_source_that_says_nothing_of_its_values_offers_none():
    values = "(VALUES (1, 10)) AS q(month, user)"
    sql = f"MERGE INTO t USING {values} ON t.month = q.month WHEN MATCHED THEN DELETE"

    assert finding_of(sql, "MERGE_VALUES_AT_RUN_TIME") is None


def test_a_function_on_the_targets_key_is_offered_the_bare_column():
    sql = "MERGE INTO e USING d ON CAST(e.ts AS DATE) = d.day AND d.day < DATE'2024-01-05' "
    sql += "WHEN MATCHED THEN DELETE"
    finding = finding_of(sql, "MERGE_KEY_IN_FUNCTION")

    assert finding.effect.before == 10
    fixed = sql.replace("CAST(e.ts AS DATE) = d.day", finding.rewrite)
    assert target(fixed) == finding.effect.after == 3


def test_a_cast_of_the_targets_key_is_offered_the_values():
    sql = "MERGE INTO t USING m ON CAST(t.month AS STRING) = m.code WHEN MATCHED THEN DELETE"
    finding = finding_of(sql, "MERGE_KEY_IN_FUNCTION")
    fixed = sql.replace(" WHEN", f" AND {finding.rewrite} WHEN")

    assert finding.rewrite == "t.month IN (1, 2, 3, 4, 5, 6)"
    assert (target(sql), target(fixed)) == (finding.effect.before, finding.effect.after) == (24, 12)


def test_a_function_on_the_sources_key_is_none_of_the_targets():
    sql = "MERGE INTO d USING e ON d.day = CAST(e.ts AS DATE) WHEN MATCHED THEN DELETE"

    assert finding_of(sql, "MERGE_KEY_IN_FUNCTION") is None


def test_by_source_without_a_condition_is_offered_what_the_source_can_match():
    source = "(SELECT * FROM s WHERE month = 2) s"
    sql = f"MERGE INTO t USING {source} ON t.user = s.user AND t.month = s.month {BY_SOURCE}"
    finding = finding_of(sql, "NOT_MATCHED_BY_SOURCE_READS_ALL")

    assert finding.rewrite == "t.month = 2"
    fixed = sql.replace("BY SOURCE", f"BY SOURCE AND {finding.rewrite}")
    assert (target(sql), target(fixed)) == (finding.effect.before, finding.effect.after) == (24, 2)
    assert finding_of(fixed, "NOT_MATCHED_BY_SOURCE_READS_ALL") is None


def test_by_source_without_a_condition_is_offered_the_sources_values_for_on_too():
    sql = f"MERGE INTO t USING s ON t.user = s.user AND t.month = s.month {BY_SOURCE}"
    finding = finding_of(sql, "NOT_MATCHED_BY_SOURCE_READS_ALL")
    fixed = sql.replace("BY SOURCE", f"BY SOURCE AND {finding.rewrite}")
    fixed = fixed.replace(" WHEN", f" AND {finding.rewrite} WHEN", 1)

    assert "to ON and to the clause" in finding.fix
    assert (target(sql), target(fixed)) == (finding.effect.before, finding.effect.after) == (24, 6)


def test_by_source_with_a_condition_is_left_alone():
    sql = "MERGE INTO t USING s ON t.month = s.month WHEN NOT MATCHED BY SOURCE AND t.month = 9 "

    assert finding_of(f"{sql}THEN DELETE", "NOT_MATCHED_BY_SOURCE_READS_ALL") is None
