"""Whole statements: TPC-DS on tables of 10,000 files each, against Spark; and a log of 10,000."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

import sqlglot
from measure import Ratio, compare, seconds
from spark_session import session
from tpcds_tables import many_files, texts

import whyscan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

FILES = 10_000
CHOSEN = ("3", "7", "25", "64")
"""Three tables, five, six of which one thrice, and the widest: a CTE of nineteen, used twice."""
MOST_SECONDS = 1.5
STATEMENTS = 10_000
LOGGED = "42"
"""A fact and two dimensions; each statement of the log has a condition of its own above it."""


def measurements(folder: Path) -> Iterator[Ratio]:
    """Neither has seen the tables before; Spark's session runs and has planned another query."""
    places = {name: str(place) for name, place in many_files(folder, FILES).items()}
    queries = {number: _for_spark(text) for number, text in texts().items()}

    def ours(sql: str) -> None:
        whyscan.explain_sql(sql, places, depth="files")

    ours(queries["1"])
    slowest = max(_taken(ours, sql) for sql in queries.values())
    yield Ratio("TPC-DS, the slowest of 99", "a fixed limit", slowest, MOST_SECONDS, 1)
    yield from _log(folder, queries[LOGGED])
    with session() as spark:
        theirs = _explaining(spark, places)
        theirs(queries["1"])
        for number in CHOSEN:
            yield _against_spark(number, queries[number], ours, theirs)


def _taken(work: Callable[[str], None], sql: str) -> float:
    return seconds(lambda: work(sql))


def _against_spark(
    number: str, sql: str, ours: Callable[[str], None], theirs: Callable[[str], None]
) -> Ratio:
    work = f"TPC-DS {number}, 10,000 files a table"
    return compare(work, "Spark's EXPLAIN, cold", 1 / 2, lambda: ours(sql), lambda: theirs(sql))


def _for_spark(text: str) -> str:
    return sqlglot.transpile(text, read="duckdb", write="spark")[0]


def _explaining(spark: SparkSession, places: Mapping[str, str]) -> Callable[[str], None]:
    """Plans a query as if none of its tables had been read before."""
    for name, place in places.items():
        spark.sql(f"CREATE TABLE {name} USING delta LOCATION '{place}'")
    logs = spark._jvm.org.apache.spark.sql.delta.DeltaLog  # noqa: SLF001 - py4j's own way in

    def explain(sql: str) -> None:
        logs.clearCache()
        plan = spark.sql(f"EXPLAIN {sql}").head()
        assert plan is not None
        assert "Physical Plan" in plan[0], plan[0]

    return explain


def _log(folder: Path, sql: str) -> Iterator[Ratio]:
    """Statements of a log in one process, its tables open: the last cost what the first did."""
    tables = {name: whyscan.open(place) for name, place in many_files(folder, 10).items()}
    tenth = STATEMENTS // 10

    def explain(numbers: range) -> None:
        for number in numbers:
            counted_sql = f"SELECT * FROM ({sql}) WHERE i_category_id <> {number}"
            whyscan.explain_sql(counted_sql, tables, depth="files")

    explain(range(tenth // 10))
    first = seconds(lambda: explain(range(tenth)))
    megabytes = _megabytes()
    explain(range(tenth, STATEMENTS - tenth))
    last = seconds(lambda: explain(range(STATEMENTS - tenth, STATEMENTS)))
    yield Ratio("the last 1,000 statements of 10,000", "the first 1,000", last, first, 1.25)
    yield Ratio("10,000 statements, memory", "1,000 of them", _megabytes(), megabytes, 1.1, "MB")


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
