"""`whyscan.spark.audit`: the audit of a workload on the user's Spark session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from msgspec.structs import replace

from whyscan.errors import UsageError, WhyscanError
from whyscan.reports.masked_records import masked
from whyscan.reports.words import counted
from whyscan.spark.pinned_tables import column_types, pin_all
from whyscan.spark.stage_output import format_named
from whyscan.spark.stages.audit import history
from whyscan.spark.stages.audit.drift import drifted
from whyscan.spark.stages.audit.stage import AuditOptions, explain_workload
from whyscan.spark.stages.inventory.tables import inventoried
from whyscan.spark.stages.workload.query import Workload
from whyscan.spark.tables import NamedTable, sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.audit.report import Audit
    from whyscan.spark.stages.workload.column_types import Types

Paths = str | PathLike[str]
IN_PROCESS = 1 << 26
"""Logs of at most this many bytes are read in process: starting executors would take longer."""


class AuditSettings(TypedDict, total=False):
    """How an audit is made.

    - `dialect` is for texts whose log names no dialect.
    - `options` are the storage options of the tables.
    - `partition_types` are the types of Hive partition columns, by table and column.
    - `history` is where summaries are kept from run to run, in `history_format`: parquet, delta or
      iceberg. A shape that keeps more of a table than in an earlier run, by more than `threshold`
      of its bytes, has drifted.
    - `inventory` is the place of an inventory, in `inventory_format`: its tables are audited, too,
      at the snapshots that it has.
    - `progress` is called with a text before each step.
    """

    dialect: str
    timezone: str
    depth: str
    full: bool
    assume_no_nan: bool
    options: Mapping[str, Any]
    partition_types: Mapping[str, Mapping[str, str]]
    history: str | None
    history_format: str
    inventory: str | None
    inventory_format: str
    threshold: float
    progress: Callable[[str], None] | None


def audit(
    spark: SparkSession,
    workload: Workload | DataFrame | Paths | Sequence[Paths],
    tables: Mapping[str, str] | Sequence[str | NamedTable],
    **settings: Unpack[AuditSettings],
) -> Audit:
    """What every query of a workload reads of the tables, and how much of it is wasted.

    `workload` is paths of logs, a `Workload`, or a frame of `workload_frame`. `tables` maps the
    names that queries use to addresses, or lists `NAME=URI`, globs and namespaces of catalogs.
    """
    _check(settings)
    form = format_named(settings.get("history_format", "parquet"))
    options = _options(settings)
    history_place = settings.get("history")
    before = None if history_place is None else history.opened(spark, history_place, form)
    pinned = _pinned(spark, tables, settings)
    if not isinstance(workload, Workload):
        workload = _read(spark, workload, settings, column_types(pinned))
    result, named = explain_workload(spark, workload, pinned, options, settings.get("progress"))
    if before is not None:
        drifts = drifted(spark, result, named, options.terms, before)
        result = replace(result, drift=drifts)
    if history_place is not None:
        history.append(spark, result, history_place, form)
    return masked(result)


def _check(settings: AuditSettings) -> None:
    """Refuse an unknown keyword, as a plain parameter would."""
    for name in settings:
        if name not in AuditSettings.__annotations__:
            words = ", ".join(AuditSettings.__annotations__)
            raise TypeError(f"unexpected keyword argument {name!r}; known are {words}")


def _options(settings: AuditSettings) -> AuditOptions:
    names = AuditOptions.__struct_fields__
    return AuditOptions(**{name: settings[name] for name in names if name in settings})  # type: ignore[literal-required]


def _read(
    spark: SparkSession,
    workload: DataFrame | Paths | Sequence[Paths],
    settings: AuditSettings,
    types: Types,
) -> Workload:
    """The workload, read in this process if it is small, else by executors."""
    from pyspark.sql import DataFrame

    from whyscan.spark.stages.workload.frames import from_frame, workload_frame
    from whyscan.spark.stages.workload.reading import read_workload

    if isinstance(workload, DataFrame):
        return from_frame(workload)
    paths = [workload] if isinstance(workload, str | PathLike) else list(workload)
    if not paths:
        raise UsageError("there is no workload", hint="name SQL files, query logs or event logs")
    chosen, options = [str(path) for path in paths], settings.get("options", {})
    dialect = settings.get("dialect", "spark")
    if _size(chosen, options) <= IN_PROCESS:
        return read_workload(chosen, dialect, options=options, types=types)
    return from_frame(workload_frame(spark, chosen, dialect, options=options, types=types))


def _size(paths: Sequence[str], options: Mapping[str, Any]) -> float:
    """The bytes of the logs; infinite where only Spark can read their store."""
    from whyscan.spark.stages.workload.logs import find_logs

    try:
        return sum(file.size for log in find_logs(paths, options) for file in log.files)
    except WhyscanError:
        return inf


def _pinned(
    spark: SparkSession,
    tables: Mapping[str, str] | Sequence[str | NamedTable],
    settings: AuditSettings,
) -> tuple[Pinned, ...]:
    options = settings.get("options", {})
    named_tables = _sources(tables, options)
    if (inventory_place := settings.get("inventory")) is not None:
        inventory_tables = inventoried(
            spark, inventory_place, settings.get("inventory_format", "parquet"), options
        )
        # A listed table replaces one of the inventory with the same name.
        named_tables = tuple(
            {source.name: source for source in (*inventory_tables, *named_tables)}.values()
        )
    types = settings.get("partition_types", {})
    for name in types.keys() - {source.name for source in named_tables}:
        raise UsageError(
            f"there is no table {name!r} for a partition's type",
            hint=f"the tables are {', '.join(sorted(source.name for source in named_tables))}",
        )
    if (report_progress := settings.get("progress")) is not None:
        report_progress(f"opening {counted(len(named_tables), 'table')}")
    return pin_all(named_tables, types)


def _sources(
    tables: Mapping[str, str] | Sequence[str | NamedTable], options: Mapping[str, Any]
) -> tuple[NamedTable, ...]:
    if isinstance(tables, Mapping):
        return sources([(name, str(uri)) for name, uri in tables.items()], options)
    ready = [table for table in tables if isinstance(table, NamedTable)]
    return (
        *ready,
        *sources([table for table in tables if not isinstance(table, NamedTable)], options),
    )
