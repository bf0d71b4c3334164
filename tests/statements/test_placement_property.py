"""Whatever the query: on only the files that its scans keep, it gives what it gives on all."""

from __future__ import annotations

import os
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import whyscan
from oracle.dice import Dice
from statements.generated.answers import aggregates, check_answer
from statements.generated.queries import Queries
from statements.generated.worlds import TABLES, World, make

if TYPE_CHECKING:
    from collections.abc import Callable

WORLDS = 8
Kept = dict[str, list[str] | None]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory) -> Callable[[int], World]:
    folder = tmp_path_factory.mktemp("worlds")
    return cache(lambda seed: make(folder, seed))


@st.composite
def statements(draw) -> tuple[str, list[int]]:
    queries = Queries(Dice(draw), TABLES)
    sql = queries.statement().sql
    return sql, queries.occurrences


# What a random query seldom is: t1 to t4 are four tables of one world.
TRAPS = (
    "SELECT * FROM t1 POSITIONAL JOIN t2 WHERE t1.k > 4",
    "SELECT t1.k, t2.v FROM t1 ASOF JOIN t2 ON t1.k >= t2.k WHERE t2.k < 4",
    "SELECT t1.k, t2.k FROM t1 ASOF LEFT JOIN t2 ON t1.s = t2.s AND t1.k >= t2.k WHERE t1.k > 3",
    "SELECT count(*) FROM (SELECT * FROM t1 WHERE k > 3 LIMIT 4)",
    "SELECT count(*) FROM (SELECT * FROM t1 LIMIT 4) WHERE k IS NOT NULL OR k IS NULL",
    "SELECT * FROM (SELECT k, v FROM t1 ORDER BY k, v, s, d, x LIMIT 3) WHERE k > 4",
    "SELECT * FROM t1 NATURAL JOIN t2 WHERE k > 3",
    "SELECT * FROM t1 NATURAL LEFT JOIN t2 WHERE k > 3",
    """WITH RECURSIVE e AS (SELECT k, v FROM t1 WHERE k < 3
       UNION SELECT t2.k, t2.v FROM e JOIN t2 ON t2.k = e.v) SELECT * FROM e WHERE k > 4""",
    """WITH RECURSIVE e AS (SELECT k, 1 AS n FROM t1 WHERE k = 2
       UNION ALL SELECT k + 1, n + 1 FROM e WHERE n < 5)
       SELECT * FROM e JOIN t2 ON t2.k = e.k WHERE e.n > 2""",
    "SELECT k, count(*) FROM t1 GROUP BY GROUPING SETS ((k), ()) HAVING k > 4 OR k IS NULL",
    "SELECT count(*) FROM t1 HAVING count(*) >= 0 AND 1 = 0",
    "SELECT max(k) FROM t1 WHERE k > 99 HAVING max(k) IS NULL",
    "SELECT * FROM (SELECT count(*) AS n FROM t1 WHERE k > 99) WHERE n = 0",
    "SELECT k FROM t1 WHERE k NOT IN (SELECT k FROM t2 WHERE v > 3)",
    "SELECT k FROM t1 WHERE (k, s) NOT IN (SELECT k, s FROM t2)",
    "SELECT k FROM t1 WHERE NOT EXISTS (SELECT 1 FROM t2 WHERE t2.k = t1.k AND t1.v > 3)",
    "SELECT k FROM t1 WHERE k > ALL (SELECT k FROM t2 WHERE k < 0)",
    "SELECT k FROM t1 WHERE k = ANY (SELECT k FROM t2) OR v = 1",
    "SELECT t1.k, t2.k FROM t1 FULL JOIN t2 ON t1.k = t2.k AND t1.k > 3 WHERE t2.v > 3",
    "SELECT t1.k, t2.k FROM t1 LEFT JOIN t2 ON t1.k = t2.k WHERE coalesce(t2.v, 1) = 1",
    "SELECT k FROM t1 FULL JOIN t2 USING (k) WHERE k > 4",
    "SELECT t3.k FROM t1 FULL JOIN t2 USING (k) JOIN t3 USING (k) WHERE k > 4",
    "SELECT DISTINCT ON (k) k, v FROM t1 WHERE v IS NOT NULL ORDER BY k, v, s, d, x",
    "SELECT * FROM (SELECT DISTINCT ON (k) k, v FROM t1 ORDER BY k, v, s, d, x) WHERE v > 3",
    "SELECT * FROM (SELECT k, row_number() OVER (ORDER BY k, v, s, d, x) AS n FROM t1) WHERE k > 3",
    """SELECT * FROM (SELECT k, lag(v) OVER (PARTITION BY s ORDER BY k, v, d, x) AS n FROM t1)
       WHERE k > 3""",
    "SELECT k FROM t1 EXCEPT (SELECT k FROM t2 WHERE k > 3)",
    "SELECT * FROM (SELECT k FROM t1 EXCEPT SELECT k FROM t2) WHERE k > 3",
    "SELECT k AS v FROM t1 WHERE v > 3",
    "SELECT v AS k, count(*) FROM t1 GROUP BY v HAVING k > 3",
    "SELECT (SELECT count(*) FROM t2 WHERE t2.k = t1.k) AS n FROM t1 WHERE v > 3",
    "SELECT t1.k, n FROM t1, LATERAL (SELECT count(*) AS n FROM t2 WHERE t2.k = t1.k) WHERE n = 0",
    "SELECT t1.k FROM t1 JOIN t2 ON t1.k = t2.k JOIN t3 ON t2.k = t3.k WHERE t3.k IN (1, 2)",
    "SELECT t1.k FROM t1 JOIN t2 ON t1.x = t2.k WHERE t2.k BETWEEN 2 AND 3",
    "SELECT t1.k FROM t1 WHERE t1.d = (SELECT max(d) FROM t2 WHERE v > 2)",
    "SELECT t1.k FROM t1 JOIN t2 ON t1.k = t2.k WHERE (t1.v = 1 AND t2.v = 2) OR (t1.v = 3)",
    """SELECT * FROM (SELECT k, s FROM t1) PIVOT (count(*) FOR s IN ('a', 'bx') GROUP BY k)
       WHERE k > 3""",
    "FROM t1 SELECT k WHERE k > 3",
    """SELECT t1.k FROM t1 JOIN (t2 JOIN t3 ON t2.k = t3.k) ON t1.k = t2.k
       SEMI JOIN t4 ON t1.k = t4.k AND t4.v > 3""",
    "SELECT * FROM (t1 JOIN t2 ON t1.k = t2.k) ANTI JOIN t3 ON t1.k = t3.k AND t2.v > 3",
    """SELECT t1.k, t4.v FROM (t1 LEFT JOIN t2 ON t1.k = t2.k) SEMI JOIN t3 ON t2.v = t3.v
       LEFT JOIN t4 ON t4.k = t1.k AND t4.v > 2""",
    "SELECT u FROM (SELECT unnest([k, v]) AS u FROM t1 WHERE k > 2) WHERE u > 4",
    "SELECT k FROM t1 WHERE random() < 2 AND k > 3",
    # A row of totals has NULL for its keys, and is there without any row.
    """SELECT k, (SELECT count(*) FROM t2 WHERE t2.k IS NOT DISTINCT FROM t1.k) FROM t1
       WHERE t1.k > 5 GROUP BY ROLLUP(t1.k)""",
    "SELECT sum(k), (SELECT sum(k) FROM t2) FROM t1 WHERE 1 = 0",
    "SELECT sum(k) FROM t1 WHERE 1 = 0 HAVING (SELECT sum(k) FROM t2) > 1",
    "SELECT * FROM (SELECT 5 AS c, count(*) AS n FROM t1 GROUP BY ROLLUP (c)) WHERE c IS NULL",
    "SELECT * FROM (SELECT 5 AS c, count(*) AS n FROM t1 GROUP BY ROLLUP (1)) WHERE c IS NULL",
    """SELECT * FROM (SELECT k, k + 1 AS j, count(*) FROM t1 GROUP BY k, ROLLUP (k + 1))
       WHERE j IS NULL""",
    # A subquery may stand wherever an expression may.
    "SELECT k FROM t1 WHERE (SELECT max(k) FROM t3 WHERE t3.k = t1.k) IN (SELECT k FROM t2)",
    "SELECT k FROM t1 ORDER BY k, v, s, d, x LIMIT (SELECT max(k) FROM t2)",
    "(SELECT k FROM t1 ORDER BY ALL) LIMIT (SELECT count(DISTINCT k) FROM t3)",
    "SELECT * FROM unnest((SELECT list(k) FROM t1))",
    "SELECT t1.k, u FROM t1, unnest([(SELECT max(k) FROM t2), t1.k]) AS z(u)",
    "SELECT * FROM range((SELECT max(k) FROM t1 WHERE k > 3))",
    "SELECT * FROM (VALUES ((SELECT max(k) FROM t1)), (2)) AS w(c)",
    "SELECT sum(k) OVER w FROM t1 WINDOW w AS (PARTITION BY (SELECT max(v) FROM t2))",
    "SELECT k FROM t1 WHERE k IS NOT DISTINCT FROM (SELECT max(k) FROM t2 WHERE v > 99)",
    # Joins in parentheses.
    "SELECT t1.k FROM t1 JOIN (t2 JOIN t3 USING (k)) USING (k) WHERE t1.k > 3",
    "SELECT k FROM (t1 JOIN t2 USING (k)) JOIN t3 USING (k) WHERE k > 3",
    "SELECT k FROM (t1 JOIN t2 USING (k)) WHERE k > 3",
    "SELECT k FROM t1 LEFT JOIN (t2 FULL JOIN t3 USING (k)) USING (k) WHERE k > 3",
    "SELECT k FROM (t1 FULL JOIN t2 USING (k)) LEFT JOIN t3 USING (k) WHERE k > 3",
    "SELECT * FROM (t1 FULL JOIN t2 USING (k)) LEFT JOIN t3 USING (k) WHERE k > 3",
    "SELECT t1.k FROM t1 SEMI JOIN t2 ON t1.k = t2.k FULL JOIN t3 ON t1.k = t3.k WHERE t3.v > 3",
    """SELECT t1.k FROM (t1 JOIN t4 ON t1.k = t4.k) SEMI JOIN t2
       ON t1.k = t2.k FULL JOIN t3 ON t1.k = t3.k WHERE t3.v > 3""",
    """SELECT t1.k FROM (t1 JOIN t4 ON t1.k = t4.k) SEMI JOIN t2
       ON t1.k = t2.k RIGHT JOIN t3 ON t1.k = t3.k WHERE t3.v > 3""",
    """SELECT t1.k FROM ((t1 JOIN t2 ON t1.k = t2.k) SEMI JOIN t3
       ON t1.v = t3.v) JOIN t4 ON t1.k = t4.k WHERE t4.k > 3""",
    """SELECT t1.k FROM (t1 JOIN t2 ON t1.k = t2.k SEMI JOIN t3
       ON t1.v = t3.v) JOIN t4 ON t1.k = t4.k WHERE t4.k > 3""",
    """SELECT t1.k FROM t4 JOIN ((t1 JOIN t2 ON t1.k = t2.k) SEMI JOIN t3
       ON t1.v = t3.v) ON t1.k = t4.k WHERE t4.k > 3""",
    "SELECT t1.k FROM t4 LEFT JOIN (t1 SEMI JOIN t3 ON t1.v = t3.v) ON t1.k = t4.k WHERE t4.k > 3",
    "SELECT k FROM ((t1 JOIN t2 USING (k)) SEMI JOIN t3 USING (k)) JOIN t4 USING (k) WHERE k > 3",
    "SELECT k FROM t1 JOIN t2 USING (k) SEMI JOIN t3 USING (k) FULL JOIN t4 USING (k) WHERE k > 3",
    "SELECT * FROM t1 NATURAL JOIN (t2 NATURAL JOIN t3) WHERE k > 3",
    "SELECT z.b FROM t1 AS z(a, b, c) SEMI JOIN t2 AS w(a, b, c) USING (a) WHERE z.a > 3",
    "SELECT z.b FROM t1 AS z(a, b, c) ANTI JOIN t2 AS w(c, a) USING (a) WHERE z.b > 3",
    # A column of the row outside, without its table.
    "SELECT k AS a FROM t1 AS z(a, k) WHERE EXISTS (SELECT s FROM t2 GROUP BY s HAVING max(v) = a)",
    "SELECT a FROM t1 AS z(a) WHERE (SELECT count(*) FROM t2 QUALIFY count(*) OVER () = a) > 0",
    "SELECT 'a' AS c, count(*) FROM t1 WHERE k > 3 GROUP BY 1 HAVING c = 'b'",
    "SELECT * FROM (t1 JOIN t2 USING (k)) AS j WHERE j.k > 3",
    "SELECT j.v FROM (t1 JOIN t2 USING (k)) AS j(a,b) WHERE a > 3",
    "SELECT t1.k FROM t1, (t2 JOIN t3 USING (k)) WHERE t1.k = t2.k AND t3.k > 3",
    # A column of the row outside, whose table has the alias of one inside.
    "SELECT p.k FROM t1 AS p WHERE EXISTS (SELECT 1 FROM (SELECT k AS j FROM t2) AS p WHERE j = k)",
    # One name for two columns: engines take the first, or refuse it.
    "SELECT * FROM (SELECT k AS a, v AS a FROM t1) WHERE a IS NULL",
    "SELECT * FROM (SELECT t1.*, t2.* FROM t1 JOIN t2 ON t1.v = t2.v) WHERE k IS NULL",
    "SELECT -k AS k FROM t1 ORDER BY k + 1, v, s, d, x LIMIT 3",
    "SELECT -k AS v FROM t1 ORDER BY v * 2, k, s, d, x LIMIT 3",
    "SELECT * FROM (SELECT k FROM t1 UNION ALL BY NAME SELECT v, k FROM t2) WHERE k > 3",
)

EXAMPLES = int(os.environ.get("WHYSCAN_EXAMPLES", "30"))
"""Resolving reads rows: so many in the suite, as many as one has time for by hand."""


@pytest.mark.parametrize("resolve", [False, True], ids=["static", "resolved"])
@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("sql", TRAPS)
def test_a_trap_gives_the_same_rows(worlds, sql, number, resolve):
    names = {f"t{at + 1}": at for at in range(TABLES) if f"t{at + 1}" in sql}
    check(worlds(number), sql, names, resolve)


@pytest.mark.slow
@pytest.mark.parametrize("resolve", [False, True], ids=["static", "resolved"])
@given(statements(), st.integers(0, WORLDS - 1))
@settings(suppress_health_check=list(HealthCheck), max_examples=EXAMPLES)
def test_a_query_on_the_files_that_its_scans_keep_gives_the_same_rows(
    worlds, resolve, statement, number
):
    sql, occurrences = statement
    names = {f"t{at}": table for at, table in enumerate(occurrences, 1)}
    try:
        check(worlds(number), sql, names, resolve)
    except (duckdb.BinderException, duckdb.OutOfMemoryException):
        reject()


@given(st.data(), st.integers(0, WORLDS - 1))
@settings(suppress_health_check=list(HealthCheck), max_examples=max(60, EXAMPLES))
def test_what_metadata_answers_is_what_the_rows_give(worlds, data, number):
    queries = Queries(Dice(data.draw), TABLES)
    sql = aggregates(queries)
    names = {f"t{at}": table for at, table in enumerate(queries.occurrences, 1)}
    kept_files(worlds(number), sql, names, resolve=False)


@pytest.mark.parametrize("source", ["t1", "(SELECT * FROM t1)", "(SELECT k FROM t1) AS z(k)"])
def test_metadata_answers_nothing_under_a_condition_that_is_not_understood(worlds, source):
    sql = f"SELECT max(k), count(*) FROM {source} WHERE sha256('a') = 'b'"
    world = worlds(0)
    assert world.connection.execute(sql.replace("t1", "base0")).fetchone() == (None, 0)
    [scan] = whyscan.explain_sql(sql, {"t1": world.tables[0]}, dialect="duckdb").scans
    assert scan.answer is None


def check(world: World, sql: str, names: dict[str, int], resolve: bool) -> None:
    expected = world.answer(sql, {name: (table, None) for name, table in names.items()})
    kept = kept_files(world, sql, names, resolve)
    rows = world.answer(sql, {name: (table, kept[name]) for name, table in names.items()})
    assert rows == expected, context(sql, kept)


def kept_files(world: World, sql: str, names: dict[str, int], resolve: bool) -> Kept:
    """The files that each name's scans keep; a name that a query needs not has none.

    What metadata answers is not read: it stands for what the whole table gives, None.
    """
    tables = {name: world.tables[table] for name, table in names.items()}
    report = whyscan.explain_sql(
        sql, tables, dialect="duckdb", depth="files", resolve_joins=resolve
    )
    kept: dict[str, set[str]] = defaultdict(set)
    for scan in report.scans:
        check_answer(world, scan, names[scan.name])
        kept[scan.name].update(file.path for file in scan.plan)
    answered = {scan.name for scan in report.scans if scan.answer is not None}
    return {name: None if name in answered else sorted(kept[name]) for name in names}


def context(sql: str, kept: Kept) -> str:
    lines = [f"{name}: {'all' if files is None else files}" for name, files in kept.items()]
    return "\n".join([sql, *lines])
