"""What a report says of engines: their numbers, their rules, and what reads less."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.formats import text
from support.lakes import delta_users, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explain, explained
from support.schemas import valid
from whyscan.errors import UsageError
from whyscan.profiles.dynamic_filters import DYNAMIC_FILTERS
from whyscan.profiles.engine_names import ENGINES
from whyscan.reports.gates import Gates, StatementGates
from whyscan.reports.phrases import gate
from whyscan.table import Table
from whyscan.tree.types import INT

COMPUTED = "age + 1 = 42"


def engines(snapshot, predicate, *names, **question):
    document = explained(snapshot, predicate, engines=names, **question)
    return {engine["engine"]: engine for engine in document["engines"]}


def in_one_line(report):
    return " ".join(text(report).split())


def test_a_named_engine_has_its_levels_its_rules_and_what_reads_less():
    engine = engines(delta_users(), COMPUTED, "spark-delta@4.4", depth="files")["spark-delta"]

    assert list(engine) == ["engine", "version", "evidence", "levels", "rules", "fix"]
    assert engine["version"] == "4.4.0"
    assert engine["levels"] == [{"level": "files", "kept": 6, "at_least": False}]
    (rule,) = engine["rules"]
    assert list(rule) == ["id", "conjunct", "effect", "source"]
    assert (rule["id"], rule["conjunct"]) == ("SPARK_DELTA_COMPUTED", COMPUTED)
    assert engine["fix"] == {"predicate": "age = 41", "files": 3}


def test_what_is_written_instead_is_planned_with_the_other_conjuncts():
    predicate = f"country = 'DE' AND {COMPUTED}"

    engine = engines(delta_users(), predicate, "spark-delta", depth="files")["spark-delta"]

    assert engine["levels"][0]["kept"] == 2
    assert engine["fix"] == {"predicate": "country = 'DE' AND age = 41", "files": 1}


def test_the_sentence_has_both_numbers_the_reason_and_what_to_write():
    report = explain(delta_users(), COMPUTED, engines="spark-delta@4.4", depth="files")

    said = in_one_line(report)
    assert "metadata proves 3 of 6 files; spark-delta 4.4 reads 6" in said
    assert "; write age = 41, then it reads 3" in said


def numbers(count):
    """One file for each hundred numbers."""
    groups = [RowGroup(100, {"a": (n * 100, n * 100 + 99)}) for n in range(count)]
    files = [DataFile(f"part-{n:02}", {}, [group]) for n, group in enumerate(groups)]
    return MemoryTable({"a": INT}, files, footers_describe_files=False)


def test_a_long_list_gets_a_range_beside_it_or_becomes_several():
    predicate = f"a IN ({', '.join(str(5 + n) for n in range(201))})"

    report = explain(numbers(20), predicate, engines=["spark-delta"], depth="files")

    assert report.engines[0].files.kept == 3
    assert report.engines[0].fix is None, "the range from 5 to 205 is what the list needs"


def test_a_list_with_a_gap_is_divided():
    engine = engines(numbers(20), "a IN (5, 1905)", "spark-delta", depth="files")["spark-delta"]

    assert engine["levels"][0]["kept"] == 20
    assert engine["fix"] == {"predicate": "a = 5 OR a = 1905", "files": 2}


def test_a_rule_of_row_groups_is_the_reason_where_only_footers_describe_files(tmp_path):
    for number in range(24):
        rows = pa.table({"i": pa.array([number * 100, number * 100 + 5], pa.int64())})
        pq.write_table(rows, tmp_path / f"{number}.parquet")
    listed = ", ".join(str(number * 100) for number in range(21))

    report = explain(whyscan.open(str(tmp_path)).snapshot, f"i IN ({listed})", engines="datafusion")

    said = in_one_line(report)
    assert "metadata proves 21 of 24 files; datafusion 55.0 reads 24: an IN list of more" in said


def test_without_a_name_one_line_says_that_common_engines_differ():
    report = explain(delta_users(), COMPUTED, depth="files")

    assert "engines: spark-delta reads 6, trino 6, duckdb 3" in in_one_line(report)
    assert {engine.fix for engine in report.engines} == {None}


@pytest.mark.parametrize("predicate", ["age > 40", "country = 'DE'", "TRUE"])
def test_without_a_name_engines_that_read_what_is_proved_are_not_named(predicate):
    assert explained(delta_users(), predicate, depth="files")["engines"] == []


def test_all_leaves_out_engines_that_do_not_read_the_format():
    readers = [engine.name for engine in ENGINES if "hive" in engine.formats]

    assert list(engines(users(), "age > 40", "all")) == readers


def test_a_named_engine_that_does_not_read_the_format_is_a_note():
    document = explained(users(), "age > 40", engines=["pyiceberg", "duckdb"])

    assert [engine["engine"] for engine in document["engines"]] == ["duckdb"]
    assert document["notes"] == ["pyiceberg has no profile for hive tables: nothing is said of it"]


def test_an_unknown_engine_is_one_line_with_those_that_there_are():
    with pytest.raises(UsageError, match="unknown engine 'presto'") as error:
        explain(users(), "age > 40", engines="presto")

    assert error.value.hint.endswith("pyarrow, all")


def test_a_redacted_report_has_no_literal_in_what_engines_read():
    report = explain(delta_users(), COMPUTED, engines="spark-delta", depth="files").redacted()

    (engine,) = report.engines
    assert engine.rules[0].conjunct == "age + ? = ?"
    assert engine.fix.predicate == "age = ?"
    assert "41" not in in_one_line(report)


def gated(report, **thresholds):
    (outcome,) = report.gated(Gates(**thresholds)).assertions
    return outcome


def test_a_gate_is_for_what_the_named_engine_reads():
    proved = explain(delta_users(), COMPUTED, depth="files")
    named = explain(delta_users(), COMPUTED, engines="spark-delta@4.4", depth="files")

    assert gated(proved, max_files=3).passed
    outcome = gated(named, max_files=3)
    assert (outcome.actual, outcome.passed, outcome.engine) == (6, False, "spark-delta 4.4")
    assert gate(outcome) == "max_files: 6 by spark-delta 4.4, at most 3 asked"
    assert gated(named, min_pruning=1.0).actual == 0
    assert gated(named, max_bytes=10**6).actual == proved.files_level.bytes_total


def test_of_several_engines_the_one_that_reads_the_most_counts():
    report = explain(delta_users(), COMPUTED, engines=["all"], depth="files")

    most = max(report.engines, key=lambda engine: engine.files.kept)
    assert gated(report, max_files=0).actual == most.files.kept


def test_a_gate_without_a_named_engine_that_reads_the_table_is_for_the_proof():
    report = explain(users(), COMPUTED, engines="pyiceberg")

    outcome = gated(report, max_files=3)
    assert (outcome.passed, outcome.engine) == (True, None)


def test_the_price_is_that_of_what_the_engine_reads():
    report = explain(delta_users(), COMPUTED, engines="spark-delta", depth="files")

    cost = report.priced(request_price="1/1").cost
    assert (cost.requests, cost.without_pruning) == (6, 6)


def test_a_statement_has_engines_by_scan_and_its_gates_are_for_the_sum():
    tables = {"users": Table(delta_users()), "numbers": Table(numbers(20))}
    sql = f"SELECT * FROM users, numbers WHERE {COMPUTED} AND a IN (5, 1905)"

    report = whyscan.explain_sql(sql, tables, engines="spark-delta@4.4", depth="files")

    assert [scan.report.engines[0].files.kept for scan in report.scans] == [6, 20]
    assert "spark-delta 4.4 reads 20" in " ".join(report.to_text().split())
    gates = StatementGates(Gates(max_files=5), {"numbers": Gates(max_files=19)})
    outcomes = report.gated(gates)
    (whole,) = outcomes.assertions
    (of_numbers,) = outcomes.scans[1].report.assertions
    assert (whole.actual, whole.engine, whole.passed) == (26, "spark-delta 4.4", False)
    assert (of_numbers.actual, of_numbers.engine) == (20, "spark-delta 4.4")


def test_no_profile_says_what_a_limit_leaves():
    tables = {"users": Table(delta_users())}
    sql = "SELECT * FROM users WHERE country = 'DE' LIMIT 1"

    report = whyscan.explain_sql(sql, tables, engines="spark-delta", depth="files")

    assert report.scans[0].report.engines == ()


def test_a_difference_compares_what_one_engine_reads():
    before, after = Table(numbers(20)), Table(numbers(10))

    difference = before.diff(after, "a + 1 = 6", engines="spark-delta@4.4", depth="files")

    (engine,) = difference.engines
    assert (engine.before.files.kept, engine.after.files.kept) == (20, 10)
    assert "spark-delta 4.4 reads 10 of 10 files instead of 20" in difference.to_text()
    (outcome,) = difference.gated(0.0, None).assertions
    assert (outcome.actual, outcome.passed, outcome.engine) == (0.0, True, "spark-delta 4.4")
    (proved,) = before.diff(after, "a + 1 = 6", depth="files").gated(0.0, None).assertions
    assert not proved.passed, "95 % were skipped, and now 90 %"
    valid("diff", difference.to_dict())


def joined(fact_partitioned, *, where):
    files = [
        DataFile(f"f{n}", {"k": n} if fact_partitioned else {}, [RowGroup(10, {"k": (n, n)})])
        for n in range(5)
    ]
    fact = MemoryTable(
        {"k": INT, "v": INT},
        files,
        ("k",) if fact_partitioned else (),
        footers_describe_files=False,
    )
    dimension = MemoryTable(
        {"k": INT, "name": INT},
        [DataFile("d", {}, [RowGroup(3, {"k": (2, 3), "name": (1, 9)})])],
        footers_describe_files=False,
    )
    sql = f"SELECT * FROM fact f JOIN dimension d ON f.k = d.k {where}"
    tables = {"fact": Table(fact), "dimension": Table(dimension)}
    names = ["spark-delta", "trino", "duckdb", "polars"]
    report = whyscan.explain_sql(sql, tables, engines=names, depth="files")
    valid("statement", report.to_dict())
    return {engine.engine: engine.reaches for engine in report.scans[0].dynamic.engines}, report


def test_an_engine_reaches_what_it_passes_on_of_joined_values():
    reaches, report = joined(fact_partitioned=True, where="WHERE d.name = 4")

    assert reaches == {
        "spark-delta": "actual",
        "trino": "actual",
        "duckdb": "bounded",
        "polars": "static",
    }
    assert "duckdb reaches bounded: a hash join gives" in " ".join(report.to_text().split())


def test_spark_prunes_by_joined_values_only_partitions_of_a_filtered_join():
    by_data, _ = joined(fact_partitioned=False, where="WHERE d.name = 4")
    unfiltered, _ = joined(fact_partitioned=True, where="")

    assert (by_data["spark-delta"], unfiltered["spark-delta"]) == ("static", "static")


def test_every_engine_with_a_profile_has_rules_of_dynamic_filters():
    assert set(DYNAMIC_FILTERS) == {engine.name for engine in ENGINES}
