"""Read the rows of a plan as a DataFrame.

Spark's Parquet reader is used if it surely gives the same rows, else whyscan's reader.
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import bind_request, projection_of
from whyscan.scan.plan_portions import PORTION_BYTES, PSEUDO, portions, whole_plan
from whyscan.spark.errors import carried
from whyscan.spark.jobs import work_frame, work_of_task
from whyscan.spark.reading.native import NativeFiles, NativeRefusal, native, needed
from whyscan.spark.sessions import cores
from whyscan.spark.versions import require_python_sources
from whyscan.tables import open_snapshot
from whyscan.tables.storage.enclosing_tables import OPTION as AS_FILES
from whyscan.tables.storage.environment import variables_to_pass_on
from whyscan.tables.time_travel import Travel, moment
from whyscan.terms import PlanTerms
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    TimeUnit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.scan.plan_portions import Portion
    from whyscan.spark.jobs import Batches, Task
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.types import Type

_PLAIN = (BinaryType, BooleanType, DateType, DecimalType, FloatType, IntegerType, StringType)
_UTC = frozenset({"utc", "etc/utc", "gmt", "etc/gmt", "z", "zulu", "+00:00"})
_NATIVE = {
    # Files that name no calendar have the Gregorian calendar.
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    # A missing file is an error, whatever the session's settings are.
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "mergeSchema": "false",
}


class ReaderChoice(Struct, frozen=True):
    """The reader of a plan, and why: `parquet` is Spark's reader, `whyscan` is ours.

    `applied_again` is True if Spark filters the rows by the predicate again.
    """

    format: str
    why: str
    applied_again: bool


_REGISTERED: WeakKeyDictionary[SparkSession, dict[str, str]] = WeakKeyDictionary()


def register(spark: SparkSession) -> None:
    """Register the data source `whyscan` in a session, with this process's credentials of stores.

    A second call registers it again only if the credentials have changed.
    """
    require_python_sources(spark)
    from whyscan.engines.spark_source import with_environment

    keys = variables_to_pass_on(os.environ, same_machine=_is_local_driver(spark))
    # Spark logs a warning if a source is registered twice.
    if _REGISTERED.get(spark) != keys:
        spark.dataSource.register(with_environment(keys))
        _REGISTERED[spark] = keys


def read(
    spark: SparkSession,
    location: str | Sequence[str],
    where: str = "true",
    *,
    select: Sequence[str] | None = None,
    version: int | None = None,
    snapshot: int | None = None,
    as_of: str | datetime | None = None,
    ref: str | None = None,
    storage: Mapping[str, object] = MappingProxyType({}),
    as_files: bool = False,
    depth: str = "auto",
) -> DataFrame:
    """The rows of a table for which a Spark SQL predicate is TRUE, in the session's time zone.

    The parameters are those of `whyscan.open` and `Table.plan`.
    """
    locations = [location] if isinstance(location, str) else list(location)
    travel = Travel(version, snapshot, moment(as_of), ref)
    options = {**storage, AS_FILES: "on"} if as_files else storage
    table = open_snapshot(locations, {}, options, travel)
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    terms = PlanTerms(timezone=zone, depth=depth)
    return to_spark(make_plan(table, *bind_request(table, where, select, terms)), spark)


def to_spark(
    plan: ScanPlan, spark: SparkSession, *, select: Sequence[str] | None = None
) -> DataFrame:
    """The rows of a plan as a DataFrame.

    `select` names the columns, None means those of the plan, or all. `reader_of` names the reader.
    """
    reading = _reading(_with_projection(plan, select), spark)
    if reading.native is not None:
        frame = _native_frame(reading.native, reading.portion, spark)
    else:
        frame = _sent_frame(reading, spark)
    if not reading.again:
        return frame
    frame = frame.where(reading.plan.predicate.text)
    chosen = reading.plan.options.projection
    return frame if chosen is None else frame.select([_quoted(path[0]) for path in chosen])


def reader_of(
    plan: ScanPlan, spark: SparkSession, *, select: Sequence[str] | None = None
) -> ReaderChoice:
    """The reader that `to_spark` uses for a plan, and why."""
    reading = _reading(_with_projection(plan, select), spark)
    return ReaderChoice("parquet" if reading.native else "whyscan", reading.why, reading.again)


class _Reading(Struct, frozen=True):
    """How a plan is read. `again` is True if Spark filters by the predicate again."""

    plan: ScanPlan
    portion: Portion
    native: NativeFiles | None
    why: str
    again: bool


def _with_projection(plan: ScanPlan, columns: Sequence[str] | None) -> ScanPlan:
    if columns is None:
        return plan
    projection = projection_of(columns, plan.snapshot)
    return replace(plan, options=replace(plan.options, projection=projection))


def _reading(plan: ScanPlan, spark: SparkSession) -> _Reading:
    refusal = why_not_reapplied(plan, spark)
    if refusal is not None:
        return _Reading(plan, whole_plan(plan), None, refusal, again=False)
    projection: Sequence[Path] | None = plan.options.projection
    portion = whole_plan(plan, needed(projection, [c.path for c in plan.predicate.columns()]))
    try:
        files = _native(portion, spark)
    except NativeRefusal as doubt:
        return _Reading(plan, portion, None, str(doubt), again=True)
    why = "plain Parquet files with the table's own columns"
    return _Reading(plan, portion, files, why, again=True)


def why_not_reapplied(plan: ScanPlan, spark: SparkSession) -> str | None:
    """Why Spark must not filter by the predicate again; None if it may.

    Spark must never remove a row for which the plan's predicate is TRUE.
    """
    predicate = plan.predicate
    if predicate.dialect != "spark":
        return f"the predicate is {predicate.dialect}'s SQL"
    if predicate.now is not None:
        return "the predicate asks for the time, which goes on"
    if not _same_zone(predicate.zone, spark.conf.get("spark.sql.session.timeZone") or ""):
        return (
            f"the predicate is read in the time zone {predicate.zone}, which is not the session's"
        )
    if spark.conf.get("spark.sql.ansi.enabled") != "true":
        return "spark.sql.ansi.enabled is off, and errors are NULL"
    if any(len(path) > 1 for path in plan.options.projection or ()):
        return "a member of a struct is read as a column of its own"
    return next((why for column in predicate.columns() if (why := _difference(column))), None)


def _same_zone(left: str, right: str) -> bool:
    names = {left.lower(), right.lower()}
    return len(names) == 1 or names <= _UTC


def _difference(column: Column) -> str | None:
    name = ".".join(column.path)
    if column.path[0] == PSEUDO:
        return f"the predicate names {name}, which is no column of the rows"
    if not _is_plain(column.type):
        return f"Spark would compare {name} as something else than {column.type}"
    return None


def _is_plain(kind: Type) -> bool:
    if isinstance(kind, TimestampType):
        return kind.unit is TimeUnit.MICROSECOND
    return isinstance(kind, _PLAIN)


def _is_local_driver(spark: SparkSession) -> bool:
    """Whether Spark's driver is on this machine; with Spark Connect it may be on another one."""
    return hasattr(spark, "_jsparkSession")


def _native(portion: Portion, spark: SparkSession) -> NativeFiles:
    if not _is_local_driver(spark):
        raise NativeRefusal("Spark Connect may have other files under these names")
    if spark.conf.get("spark.sql.caseSensitive") == "true":
        raise NativeRefusal("spark.sql.caseSensitive is on")
    return native(portion)


def _native_frame(files: NativeFiles, portion: Portion, spark: SparkSession) -> DataFrame:
    from whyscan.engines.spark_types import spark_schema

    schema = spark_schema(portion.result_columns.schema)
    where = {} if files.root is None else {"basePath": files.root}
    reader = spark.read.schema(schema).options(**_NATIVE, **where)
    return reader.parquet(*files.paths).select([_quoted(name) for name in schema.names])


def _sent_frame(reading: _Reading, spark: SparkSession) -> DataFrame:
    """Read on executors, with the portions sent as rows: no plan or log of Spark shows them."""
    from whyscan.engines.spark_types import spark_schema

    whole, evidence = reading.portion, reading.plan.evidence
    schema = spark_schema(whole.result_columns.schema)
    sent = list(portions(whole, evidence, PORTION_BYTES, cores(spark)))
    if not sent:
        return spark.createDataFrame([], schema)
    rows = work_frame(spark, sent).repartition(len(sent))
    return rows.mapInArrow(_reading_sent(schema, keep_undecided=reading.again), schema)


def _reading_sent(schema: StructType, *, keep_undecided: bool) -> Task:
    """The function for `mapInArrow` that turns pickled portions into table rows.

    `keep_undecided`: rows that only Spark can decide are returned, because Spark applies the
    predicate again.
    """

    @carried
    def rows(batches: Batches) -> Iterator[pa.RecordBatch]:
        from whyscan.engines.spark_types import SparkBatches
        from whyscan.scan.reader import read_portion

        for portion in work_of_task(batches):
            table_rows = read_portion(portion, keep_undecided=keep_undecided)
            yield from SparkBatches(schema).converted(table_rows)

    return rows


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
