"""Count the rows for which predicates are TRUE, per row group, with Spark SQL.

The pruning evaluator is not used. One pass over the data evaluates all predicates.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import TableError, UsageError
from whyscan.spark.jobs import TASKS_A_CORE, ran, spark_errors_as, with_settings
from whyscan.spark.sessions import cores
from whyscan.spark.stages.verify.rows import (
    BUCKET,
    FAILURE,
    FILE,
    FILE_COLUMN,
    GROUP,
    HAS,
    LIVE,
    POSITION,
)
from whyscan.spark.versions import table_of, version_of
from whyscan.tree.types import FloatType, OtherType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.stages.verify.rows import NumberedFile, RowReader
    from whyscan.tree.nodes import Column
    from whyscan.tree.types import Type

LEAST_BYTES = 1 << 22
MOST_BYTES = 1 << 27
"""The bytes of a task: a smaller task costs more to start than to run, a larger one to retry."""
PREDICATES_A_PASS = 100
"""The most predicates per pass: Spark plans thousands of expressions longer than it runs them."""

_TRUTH = "_whyscan_told_{}"


class RowChecks(Struct, frozen=True):
    """What is counted: predicates as Spark SQL by number, and columns for their extremes.

    `file_columns` are partition columns that the data files may contain too. `buckets` is the
    number of bucket fields.
    """

    predicates: tuple[tuple[int, str], ...]
    columns: tuple[Column, ...]
    file_columns: tuple[Column, ...] = ()
    buckets: int = 0


class Counts(Struct, frozen=True):
    """The counts of Spark: one row per row group, with the column names of the functions below.

    `failed` has Spark's reasons for the predicates that it could not evaluate, by number.
    """

    table: pa.Table
    failed: Mapping[int, str]


def counted(
    spark: SparkSession, reader: RowReader, files: Sequence[NumberedFile], checks: RowChecks
) -> Counts:
    """Read the files and count all checks; many predicates take several passes."""
    rows = _rows(spark, reader, files)
    why = {number: unreadable(rows, sql) for number, sql in checks.predicates}
    readable = [predicate for predicate in checks.predicates if why[predicate[0]] is None]
    table = _pass(rows, readable[:PREDICATES_A_PASS], _columns(checks))
    for start in range(PREDICATES_A_PASS, len(readable), PREDICATES_A_PASS):
        part = _pass(rows, readable[start : start + PREDICATES_A_PASS], [])
        new_columns = [name for name in part.column_names if name not in table.column_names]
        table = table.join(part.select([FILE, GROUP, *new_columns]), [FILE, GROUP]).combine_chunks()
    return Counts(
        table,
        {number: reason_text for number, reason_text in why.items() if reason_text is not None},
    )


def _pass(
    rows: DataFrame, predicates: Sequence[tuple[int, str]], columns: Sequence[Expression]
) -> pa.Table:
    """Count some predicates and columns in one pass over the data."""
    truths = {_TRUTH.format(number): truth(sql) for number, sql in predicates}
    rows_with_truths = rows.withColumns(truths) if truths else rows
    each = [count for number, _ in predicates for count in _predicate(number)]
    counts = rows_with_truths.groupBy(FILE, GROUP).agg(*_totals(), *each, *columns)
    return ran(partial(table_of, counts))


def unreadable(rows: DataFrame, sql: str) -> str | None:
    """Why Spark cannot analyse a predicate; None if it can."""
    try:
        with spark_errors_as(TableError):
            rows.select(truth(sql)).schema  # noqa: B018 - Spark analyses it for its schema
    except TableError as error:
        return error.message
    return None


def truth(sql: str) -> Expression:
    """The truth of a predicate per row: `true`, `false`, `null`, and NULL if it raises an error.

    Of Spark's functions that begin with try_, only try_to_binary catches errors of its operand.
    """
    from pyspark.sql import functions as f

    truth_text = f"coalesce(CAST(({sql}\n) AS STRING), 'null')"
    return f.expr(f"CAST(try_to_binary({truth_text}, 'utf-8') AS STRING)")


def _rows(spark: SparkSession, reader: RowReader, files: Sequence[NumberedFile]) -> DataFrame:
    """The rows of the files with file, row group and position, read in few large tasks."""
    from pyspark.sql.pandas.types import from_arrow_schema

    tasks = _tasks(files, cores(spark))
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    rows = numbers.mapInArrow(reader.rows(tasks), from_arrow_schema(reader.schema))
    # A time of day comes as text: Spark does not read Arrow's time type.
    clocks = [c.name for c in reader.columns if pa.types.is_time(c.type)]
    if clocks and version_of(spark) < (4, 1):
        raise UsageError(
            f"{clocks[0]} is a time of day, which Spark {spark.version} does not have",
            hint="Spark 4.1 has it",
        )
    times = {name: rows[quoted((name,))].cast("time(6)") for name in clocks}
    return rows.withColumns(times) if times else rows


def _tasks(files: Sequence[NumberedFile], at_once: int) -> list[list[NumberedFile]]:
    """Files in tasks of limited bytes, with enough tasks for all cores."""
    share = sum(file.bytes for file in files) // (at_once * TASKS_A_CORE)
    most = max(LEAST_BYTES, min(MOST_BYTES, share))
    tasks: list[list[NumberedFile]] = [[]]
    size = 0
    for file in files:
        if tasks[-1] and size + file.bytes > most:
            tasks.append([])
            size = 0
        tasks[-1].append(file)
        size += file.bytes
    return tasks


def _totals() -> list[Expression]:
    from pyspark.sql import functions as f

    return [
        f.count(f.lit(1)).alias("rows"),
        f.count_if(f.col(LIVE)).alias("live"),
        f.max(FAILURE).alias("failure"),
    ]


def _predicate(number: int) -> list[Expression]:
    from pyspark.sql import functions as f

    live, truth_of_row = f.col(LIVE), f.col(_TRUTH.format(number))
    true = live & truth_of_row.eqNullSafe("true")
    other = live & ~truth_of_row.eqNullSafe("true")
    return [
        f.count_if(true).alias(f"true_{number}"),
        f.count_if(live & truth_of_row.isNull()).alias(f"raised_{number}"),
        f.min(f.when(true, f.col(POSITION))).alias(f"first_true_{number}"),
        f.min(f.when(other, f.col(POSITION))).alias(f"first_other_{number}"),
    ]


def _columns(checks: RowChecks) -> list[Expression]:
    """Least, greatest, NULLs and NaNs of each column, also of partition columns in the files."""
    from pyspark.sql import functions as f

    expressions = []
    for number, column in enumerate(checks.columns):
        expressions += _extremes(f.col(quoted(column.path)), column.type, str(number))
    for number, column in enumerate(checks.file_columns):
        in_file = f.col(FILE_COLUMN.format(number))
        expressions += _extremes(in_file, column.type, f"stored_{number}")
        expressions.append(f.max(HAS.format(number)).alias(f"has_{number}"))
    for number in range(checks.buckets):
        expressions.append(f.min(BUCKET.format(number)).alias(f"min_bucket_{number}"))
        expressions.append(f.max(BUCKET.format(number)).alias(f"max_bucket_{number}"))
    return expressions


def _extremes(column: Expression, kind: Type, name: str) -> list[Expression]:
    from pyspark.sql import functions as f

    value = f.when(~f.isnan(column), column) if isinstance(kind, FloatType) else column
    expressions = [f.count_if(column.isNull()).alias(f"nulls_{name}")]
    if not isinstance(kind, OtherType):
        expressions += [f.min(value).alias(f"min_{name}"), f.max(value).alias(f"max_{name}")]
    if isinstance(kind, FloatType):
        expressions.append(f.count_if(f.isnan(column)).alias(f"nans_{name}"))
    return expressions


def quoted(path: Sequence[str]) -> str:
    """A column's path in backticks."""
    return ".".join("`" + name.replace("`", "``") + "`" for name in path)


def terms(spark: SparkSession, timezone: str) -> AbstractContextManager[None]:
    """Set ANSI mode and the predicate's time zone in Spark during a block."""
    wanted = {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": timezone,
        "spark.sql.timeType.enabled": "true",
    }
    return with_settings(spark, wanted)
