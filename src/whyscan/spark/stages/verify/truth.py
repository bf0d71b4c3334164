"""What is TRUE of the rows: Spark SQL judges each one, and counts row group by row group.

The pruning evaluator has no say here. All predicates are judged in one pass over the data.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct

from whyscan.spark.errors import of_spark
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
from whyscan.spark.stages.workload.frames import TASKS_A_CORE
from whyscan.tree.types import FloatType, OtherType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.stages.verify.rows import NumberedFile, RowReader
    from whyscan.tree.nodes import Column
    from whyscan.tree.types import Type

LEAST_BYTES = 1 << 22
MOST_BYTES = 1 << 27
"""Of a task: a smaller one costs more to begin than to do, a larger one to do again."""
ATTEMPTS = 3
PREDICATES_A_PASS = 100
"""A plan of thousands of expressions takes Spark longer to make than to run."""

_TRUTH = "_whyscan_told_{}"
_CRASHED = ("Python worker exited unexpectedly", "Python worker failed to connect back")


class RowChecks(Struct, frozen=True):
    """What is counted: predicates by number as Spark reads them, and columns for their extremes.

    `stored` are the columns of which files may have values of their own beside metadata's;
    `buckets` counts the bucket fields.
    """

    predicates: tuple[tuple[int, str], ...]
    columns: tuple[Column, ...]
    file_columns: tuple[Column, ...] = ()
    buckets: int = 0


class Counts(Struct, frozen=True):
    """One row a row group, as Spark counted it; names as in the functions below.

    `failed` has the predicates that Spark could not judge, with its reason.
    """

    table: pa.Table
    failed: Mapping[int, str]


def counted(
    spark: SparkSession, reader: RowReader, files: Sequence[NumberedFile], checks: RowChecks
) -> Counts:
    """Read every file once, and count all that is asked; of very many predicates some at a time."""
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
    """One pass over the data."""
    truths = {_TRUTH.format(number): truth(sql) for number, sql in predicates}
    rows_with_truths = rows.withColumns(truths) if truths else rows
    each = [count for number, _ in predicates for count in _predicate(number)]
    return _ran(rows_with_truths.groupBy(FILE, GROUP).agg(*_totals(), *each, *columns))


def unreadable(rows: DataFrame, sql: str) -> str | None:
    """Why Spark can make nothing of a predicate; None where it can."""
    try:
        rows.select(truth(sql)).schema  # noqa: B018 - asking for it is what has Spark look
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        return reason(error)
    return None


def reason(error: Exception) -> str:
    """What Spark complains of, in one line."""
    first, *rest = str(error).splitlines() or [""]
    if first.startswith("An error occurred while calling") and rest:
        # Java's own text follows, its class before it.
        return rest[0].removeprefix(": ").partition(": ")[2] or rest[0]
    return of_spark(error).message


def truth(sql: str) -> Expression:
    """What a predicate is of a row: `true`, `false`, `null`, and NULL where it raises.

    Of all that begins with try_, this function catches what its operand raises.
    """
    from pyspark.sql import functions as f

    truth_text = f"coalesce(CAST(({sql}\n) AS STRING), 'null')"
    return f.expr(f"CAST(try_to_binary({truth_text}, 'utf-8') AS STRING)")


def _rows(spark: SparkSession, reader: RowReader, files: Sequence[NumberedFile]) -> DataFrame:
    """Rows with where they stand; a few fat tasks by bytes."""
    from pyspark.sql.pandas.types import from_arrow_schema

    tasks = _tasks(files, cores(spark))
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    rows = numbers.mapInArrow(reader.rows(tasks), from_arrow_schema(reader.schema))
    # A time of day comes as a text: Spark takes none from Arrow.
    clocks = [c.name for c in reader.columns if pa.types.is_time(c.type)]
    times = {name: rows[quoted((name,))].cast("time(6)") for name in clocks}
    return rows.withColumns(times) if times else rows


def _tasks(files: Sequence[NumberedFile], at_once: int) -> list[list[NumberedFile]]:
    """Files one after another, as many as make a task; no core is left without one."""
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


def _ran(frame: DataFrame) -> pa.Table:
    """Run a job; a worker that died is no reason to give up at once."""
    for attempt in range(ATTEMPTS):
        try:
            return frame.toArrow()
        except Exception as error:
            if not type(error).__module__.startswith(("pyspark.", "py4j.")):
                raise
            crashed = any(words in str(error) for words in _CRASHED)
            if not crashed or attempt == ATTEMPTS - 1:
                raise of_spark(error) from error
    raise AssertionError


def _columns(checks: RowChecks) -> list[Expression]:
    """Least, greatest, NULLs and NaNs of each column, and of what files themselves store."""
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
    """A column's name as Spark reads it whatever is in it."""
    return ".".join("`" + name.replace("`", "``") + "`" for name in path)


@contextmanager
def terms(spark: SparkSession, timezone: str) -> Iterator[None]:
    """Spark in the predicate's terms, ANSI and its time zone, for as long as the block takes."""
    wanted = {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": timezone,
        "spark.sql.timeType.enabled": "true",
    }
    before: dict[str, Any] = {key: spark.conf.get(key, None) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)
