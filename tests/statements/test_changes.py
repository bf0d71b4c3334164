"""Changes: what they read of their target and of the others, and what becomes of the files."""

from __future__ import annotations

import pytest

import whyscan
from support.lakes import users
from support.statement_reports import orders
from whyscan.errors import SyntaxProblem, UnknownColumn, UnknownTable
from whyscan.statements.roles import Role
from whyscan.table import Table

S2 = "(SELECT * FROM s WHERE month = 2) AS s"
KEYS = "t.user = s.user AND t.month = s.month"
ACTED = "WHEN MATCHED THEN DELETE"
INSERT = "INSERT (month, user, amount) VALUES (s.month, s.user, s.amount)"
UPDATE = "UPDATE SET amount = s.amount"


def explained(sql, dialect="spark", **terms):
    """Of t two files a month for twelve months, of s for three."""
    tables = {"t": Table(orders()), "s": Table(orders(3)), "u": Table(users())}
    return whyscan.explain_sql(sql, tables, dialect=dialect, depth="files", **terms)


def target(report):
    (target_scan,) = [scan for scan in report.scans if scan.role is Role.TARGET]
    return target_scan


def fate(sql, dialect="spark"):
    """The target's files that are kept, that go whole, and that may be rewritten."""
    scan = target(explained(sql, dialect))
    kept = scan.report.files_level.kept
    return kept, scan.rewrite.removed.files, scan.rewrite.rewritten.files


def source(sql, dialect="spark"):
    """The source's files that are read."""
    report = explained(sql, dialect)
    return next(s.report.files_level.kept for s in report.scans if s.name == "s")


DELETES = {
    "by partition": ("DELETE FROM t WHERE month = 3", (2, 2, 0)),
    "by partition and bounds": ("DELETE FROM t WHERE month = 3 AND amount > 50", (2, 1, 1)),
    "of all rows": ("DELETE FROM t", (24, 24, 0)),
    "of no row": ("DELETE FROM t WHERE month = 13", (0, 0, 0)),
    "by NULL": ("DELETE FROM t WHERE month = NULL", (0, 0, 0)),
    "by a subquery": ("DELETE FROM t WHERE month = 3 AND user IN (SELECT user FROM s)", (2, 0, 2)),
    "by chance": ("DELETE FROM t WHERE month = 3 AND rand() < 0.5", (2, 0, 2)),
    "by a function of nobody's": ("DELETE FROM t WHERE month = 3 AND f()", (2, 0, 2)),
    "of some rows": ("DELETE FROM t WHERE month = 3 LIMIT 2", (2, 0, 2)),
    "where another exists": (
        "DELETE FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.month = t.month AND s.month = 2)",
        (2, 0, 2),
    ),
}


@pytest.mark.parametrize(("sql", "expected"), DELETES.values(), ids=DELETES)
def test_delete_drops_files_whose_rows_all_go_and_rewrites_others(sql, expected):
    assert fate(sql) == expected


def test_a_file_that_goes_whole_is_not_read():
    scan = target(explained("DELETE FROM t WHERE month = 3 AND amount > 50"))

    assert (scan.reading.kept, scan.reading.bytes_kept) == (1, 5_100)


def test_a_change_that_reads_nothing_says_what_goes():
    text = str(explained("DELETE FROM t WHERE month = 3"))

    assert text.startswith("reads nothing: delete removes 2 files (10 kB, 100 rows) whole\n")


def test_update_rewrites_every_file_with_a_row_that_may_match():
    assert fate("UPDATE t SET amount = 0 WHERE month = 3 AND amount > 50") == (2, 0, 2)


SPELLINGS = {
    "spark": (f"MERGE INTO t USING {S2} ON {KEYS} WHEN MATCHED THEN {UPDATE}", "merge"),
    "databricks": (f"MERGE INTO t USING {S2} ON {KEYS} WHEN MATCHED THEN UPDATE SET *", "merge"),
    "trino": (f"MERGE INTO t USING {S2} ON ({KEYS}) WHEN MATCHED THEN {UPDATE}", "merge"),
    "duckdb": (f"UPDATE t SET amount = s.amount FROM {S2} WHERE {KEYS}", "update"),
    "snowflake": (f"UPDATE t SET amount = s.amount FROM {S2} WHERE {KEYS}", "update"),
    "bigquery": (f"UPDATE d.t SET amount = s.amount FROM {S2} WHERE {KEYS}", "update"),
    "postgres": (f"UPDATE t SET amount = s.amount FROM {S2} WHERE {KEYS} RETURNING *", "update"),
}


@pytest.mark.parametrize("dialect", SPELLINGS)
def test_an_update_by_another_table_reads_what_its_condition_spreads_to(dialect):
    sql, operation = SPELLINGS[dialect]

    assert fate(sql, dialect) == (2, 0, 2)
    assert source(sql, dialect) == 2
    assert explained(sql, dialect).operation == operation


DELETED = {
    "duckdb": f"DELETE FROM t USING {S2} WHERE {KEYS}",
    "postgres": f"DELETE FROM t USING {S2} WHERE {KEYS}",
    "snowflake": f"DELETE FROM t USING {S2} WHERE {KEYS}",
    "bigquery": f"DELETE d.t WHERE EXISTS (SELECT 1 FROM {S2} WHERE {KEYS})",
    "trino": f"DELETE FROM t WHERE EXISTS (SELECT 1 FROM {S2} WHERE {KEYS})",
    "spark": f"DELETE FROM t WHERE EXISTS (SELECT 1 FROM {S2} WHERE {KEYS})",
}


@pytest.mark.parametrize("dialect", DELETED)
def test_a_delete_by_another_table_reads_what_its_condition_spreads_to(dialect):
    assert fate(DELETED[dialect], dialect) == (2, 0, 2)
    assert source(DELETED[dialect], dialect) == 2


MERGES = {
    "of what matches": (f"{S2} ON {KEYS} {ACTED}", (2, 0, 2), 2),
    "that inserts too": (f"{S2} ON {KEYS} {ACTED} WHEN NOT MATCHED THEN {INSERT}", (2, 0, 2), 2),
    "that inserts alone": (f"{S2} ON {KEYS} WHEN NOT MATCHED THEN {INSERT}", (2, 0, 0), 2),
    "that does nothing to what matches": (
        f"{S2} ON {KEYS} WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN {INSERT}",
        (2, 0, 0),
        2,
    ),
    "by a condition of ON on the source": (f"s ON {KEYS} AND s.month = 2 {ACTED}", (2, 0, 2), 2),
    "by such a condition that cannot keep a row from being inserted": (
        f"s ON {KEYS} AND s.month = 2 {ACTED} WHEN NOT MATCHED THEN {INSERT}",
        (2, 0, 2),
        6,
    ),
    "by conditions of every clause": (
        (
            "s ON t.user = s.user WHEN MATCHED AND t.month = 4 THEN DELETE "
            "WHEN MATCHED AND t.month = 5 THEN UPDATE SET amount = 0"
        ),
        (4, 0, 4),
        6,
    ),
    "by conditions of some clauses": (
        f"s ON t.user = s.user WHEN MATCHED AND t.month = 4 THEN DELETE {ACTED}",
        (24, 0, 24),
        6,
    ),
    "by a condition that an insert makes void": (
        (
            "s ON t.user = s.user WHEN MATCHED AND t.month = 4 THEN DELETE "
            f"WHEN NOT MATCHED THEN {INSERT}"
        ),
        (24, 0, 24),
        6,
    ),
    "by what is inserted and what is deleted": (
        (
            "s ON t.user = s.user WHEN MATCHED AND s.month = 1 THEN DELETE "
            f"WHEN NOT MATCHED AND month = 2 THEN {INSERT}"
        ),
        (24, 0, 24),
        4,
    ),
    "of all that the source lacks": (
        f"{S2} ON {KEYS} {ACTED} WHEN NOT MATCHED BY SOURCE THEN DELETE",
        (24, 0, 24),
        2,
    ),
    "of what the source lacks in its partition": (
        f"{S2} ON {KEYS} {ACTED} WHEN NOT MATCHED BY SOURCE AND month = 2 THEN DELETE",
        (2, 0, 2),
        2,
    ),
    "of what the source lacks in another": (
        f"{S2} ON {KEYS} {ACTED} WHEN NOT MATCHED BY SOURCE AND t.month = 5 THEN DELETE",
        (4, 0, 4),
        2,
    ),
    "that never matches": (
        (
            f"s ON FALSE WHEN NOT MATCHED BY SOURCE AND month > 10 THEN DELETE "
            f"WHEN NOT MATCHED THEN {INSERT}"
        ),
        (4, 0, 4),
        6,
    ),
    "by a subquery in a clause": (
        (
            "s ON t.user = s.user WHEN MATCHED AND t.month = 4 AND t.user IN (SELECT age FROM u) "
            "THEN DELETE"
        ),
        (2, 0, 2),
        6,
    ),
}


@pytest.mark.parametrize(("merge", "expected", "read"), MERGES.values(), ids=MERGES)
def test_merge_reads_the_rows_that_a_clause_can_act_on(merge, expected, read):
    sql = f"MERGE INTO t USING {merge}"

    assert fate(sql) == expected
    assert source(sql) == read


def test_a_subquery_in_a_clause_is_a_scan_of_its_own_once():
    clause = "WHEN MATCHED AND t.user IN (SELECT age FROM u) THEN DELETE"
    report = explained(f"MERGE INTO t USING s ON {KEYS} {clause}")

    assert [scan.name for scan in report.scans] == ["t", "s", "u"]


def test_a_subquery_of_by_source_does_not_know_that_on_holds():
    clause = "WHEN NOT MATCHED BY SOURCE AND t.month IN (SELECT month FROM s) THEN DELETE"
    report = explained(f"MERGE INTO t USING {S2} ON {KEYS} {ACTED} {clause}")
    kept = [scan.report.files_level.kept for scan in report.scans if scan.name == "s"]

    assert kept == [2, 6]


def test_what_stays_above_because_of_by_source_is_reported():
    report = explained(
        f"MERGE INTO t USING s ON {KEYS} AND t.month = 2 {ACTED} "
        "WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    reasons = {stayed.sql: stayed.why for stayed in target(report).above}

    assert reasons["t.month = 2"] == "WHEN NOT MATCHED BY SOURCE acts on rows that fail it"


def test_the_target_of_a_merge_is_read_with_all_columns_and_its_source_with_those_it_needs():
    report = explained(f"MERGE INTO t USING s ON t.month = s.month {ACTED}")

    assert [scan.columns for scan in report.scans] == [("month", "user", "amount"), ("month",)]
    assert [(edge.kind, edge.left, edge.right) for edge in report.joins] == [("merge", 0, 1)]


def test_duckdb_merges_by_using_and_by_name():
    sql = "MERGE INTO t USING s USING (month) WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT"
    report = explained(sql, "duckdb")

    assert target(report).dynamic.bounded.files == 6
    assert report.scans[1].columns == ("month", "user", "amount")


def test_ctes_before_a_change_belong_to_its_query():
    cte = "WITH q AS (SELECT * FROM s WHERE month = 1)"

    assert fate(f"{cte} MERGE INTO t USING q ON t.month = q.month {ACTED}") == (2, 0, 2)
    report = explained(f"{cte} INSERT INTO t SELECT * FROM q")
    assert [s.report.files_level.kept for s in report.scans] == [2]


OVERWRITES = {
    "a partition": ("INSERT OVERWRITE TABLE t PARTITION (month = 3) SELECT user, amount FROM s", 2),
    "the partition of NULLs": (
        "INSERT OVERWRITE t PARTITION (month = NULL) SELECT user, amount FROM s",
        0,
    ),
    "everything": ("INSERT OVERWRITE t SELECT * FROM s WHERE month = 2", 24),
    "what a condition names": ("INSERT INTO t REPLACE WHERE month > 10 SELECT * FROM s", 4),
    "what is cut off": ("TRUNCATE TABLE t", 24),
    "a partition that is cut off": ("TRUNCATE TABLE t PARTITION (month = 3)", 2),
    "a table": ("CREATE OR REPLACE TABLE t AS SELECT * FROM s", 24),
}


@pytest.mark.parametrize(("sql", "removed"), OVERWRITES.values(), ids=OVERWRITES)
def test_what_is_overwritten_goes_unread(sql, removed):
    scan = target(explained(sql))

    assert (scan.rewrite.removed.files, scan.rewrite.rewritten.files) == (removed, 0)
    assert scan.reading.kept == 0


def test_replace_where_rewrites_files_that_its_condition_splits():
    sql = "INSERT INTO t REPLACE WHERE month = 3 AND amount > 50 SELECT * FROM s"

    assert fate(sql) == (2, 1, 1)


def test_a_dynamic_overwrite_replaces_at_most_the_partitions_that_the_query_is_bound_to():
    query = "SELECT user, amount, month FROM s WHERE month = 2"
    scan = target(explained(f"INSERT OVERWRITE TABLE t PARTITION (month) {query}", "hive"))

    assert scan.rewrite.removed.files == 2
    assert [placed.sql for placed in scan.placed] == ["month = 2"]


def test_a_dynamic_overwrite_by_an_unbound_query_may_replace_everything():
    query = "SELECT user, amount, user % 12 AS month FROM s"
    report = explained(f"INSERT OVERWRITE TABLE t PARTITION (month) {query}", "hive")

    assert target(report).rewrite.removed.files == 24
    assert any("at most" in note for note in report.notes)


def test_the_mode_that_a_setting_decides_is_reported():
    notes = explained("INSERT OVERWRITE t SELECT * FROM s").notes

    assert any("partitionOverwriteMode" in note for note in notes)
    partition = "INSERT OVERWRITE t PARTITION (month = 3) SELECT user, amount FROM s"
    assert explained(partition).notes == ()


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO nowhere SELECT * FROM s WHERE month = 1",
        "INSERT INTO nowhere PARTITION (month = 1) SELECT user, amount FROM s WHERE month = 1",
        "CREATE TABLE nowhere AS SELECT * FROM s WHERE month = 1",
        "INSERT OVERWRITE nowhere SELECT * FROM s WHERE month = 1",
        "INSERT OVERWRITE db.nowhere SELECT * FROM s WHERE month = 1",
    ],
)
def test_a_table_that_is_only_written_need_not_exist(sql):
    (scan,) = explained(sql).scans

    assert (scan.name, scan.report.files_level.kept) == ("s", 2)


def test_what_is_replaced_of_an_unknown_table_is_reported_as_unknown():
    (note,) = explained("INSERT OVERWRITE nowhere SELECT * FROM s").notes

    assert note == "what it replaces is not told: unknown table 'nowhere'"


def test_hive_names_the_source_first():
    sql = (
        "FROM s INSERT OVERWRITE TABLE t PARTITION (month = 3) SELECT user, amount WHERE month = 2"
    )

    assert fate(sql, "hive") == (2, 2, 0)
    assert source(sql, "hive") == 2


@pytest.mark.parametrize(
    ("word", "action"),
    [("MATCHED", "DELETE"), ("NOT MATCHED", INSERT), ("NOT MATCHED BY SOURCE", "DELETE")],
)
def test_a_clause_that_does_nothing_is_evaluated_before_one_that_acts(word, action):
    side = "s" if word == "NOT MATCHED" else "t"
    idle = f"WHEN {word} AND {side}.user > (SELECT max(age) + 1 FROM u) THEN DO NOTHING"
    last = f"WHEN {word} THEN {action}"

    def tables(clauses):
        return {scan.name for scan in explained(f"MERGE INTO t USING s ON {KEYS} {clauses}").scans}

    assert tables(f"{idle} {last}") == {"t", "s", "u"}
    assert tables(f"{last} {idle}") == {"t", "s"}


def test_schema_evolution_reads_the_same():
    sql = f"MERGE WITH SCHEMA EVOLUTION INTO t USING {S2} ON {KEYS} WHEN MATCHED THEN UPDATE SET *"

    assert fate(sql) == (2, 0, 2)


def test_rows_that_are_listed_read_nothing():
    assert explained("INSERT INTO t VALUES (1, 2, 3)").scans == ()


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("UPDATE nowhere SET a = 1", UnknownTable),
        (f"MERGE INTO nowhere t USING s ON {KEYS} {ACTED}", UnknownTable),
        ("DELETE FROM t WHERE nothing = 1", UnknownColumn),
        (f"MERGE INTO t USING s ON t.nothing = s.month {ACTED}", UnknownColumn),
        (f"MERGE INTO t USING s ON month = 3 {ACTED}", UnknownColumn),
        ("UPDATE (SELECT * FROM t) SET amount = 1", SyntaxProblem),
        ("FROM s INSERT INTO t SELECT * INSERT INTO t SELECT *", SyntaxProblem),
        ("UPDATE t SET amount", SyntaxProblem),
        ("MERGE INTO t USING s WHEN MATCHED THEN DELETE", SyntaxProblem),
        (f"MERGE INTO t USING s ON {KEYS}", SyntaxProblem),
        (f"MERGE INTO t USING s ON {KEYS} WHEN MATCHED", SyntaxProblem),
        ("INSERT OVERWRITE DIRECTORY '/x' SELECT * FROM s", SyntaxProblem),
        ("TRUNCATE TABLE t, s", SyntaxProblem),
    ],
)
def test_what_cannot_be_changed_is_a_typed_error(sql, error):
    with pytest.raises(error):
        explained(sql)


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("DELETE s FROM t JOIN s ON t.user = s.user", "mysql"),
        ("UPDATE t JOIN s ON t.user = s.user SET s.amount = 1", "mysql"),
        ("INSERT ALL INTO t SELECT * FROM s", "snowflake"),
    ],
)
def test_a_change_of_another_table_than_the_first_is_refused(sql, dialect):
    with pytest.raises(SyntaxProblem):
        explained(sql, dialect)


def test_a_join_before_set_is_that_of_the_target():
    sql = "UPDATE t JOIN s ON t.month = s.month SET t.amount = 1 WHERE s.month = 2"

    assert fate(sql, "mysql") == (2, 0, 2)
    assert fate("DELETE t FROM t JOIN s ON t.month = s.month AND s.month = 2", "mysql") == (2, 0, 2)


def test_a_table_may_stand_for_its_query():
    (scan,) = explained("INSERT INTO t TABLE s").scans

    assert (scan.name, scan.columns) == ("s", ("month", "user", "amount"))


def test_resolved_values_filter_the_target(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, months in (("t", range(1, 7)), ("s", (2, 5))):
        for month in months:
            place = tmp_path / name / f"month={month}"
            place.mkdir(parents=True)
            pq.write_table(pa.table({"user": [month]}), place / "a.parquet")
    tables = {name: tmp_path / name for name in ("t", "s")}
    sql = f"MERGE INTO t USING s ON {KEYS} {ACTED} WHEN NOT MATCHED BY SOURCE AND t.month = 1 "
    report = whyscan.explain_sql(f"{sql}THEN DELETE", tables, resolve_joins=True)

    assert [file.path for file in target(report).plan] == [
        f"month={month}/a.parquet" for month in (1, 2, 5)
    ]
