"""`whyscan.spark.audit`: the audit of a workload on the user's Spark session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import UsageError, WhyscanError
from whyscan.reports.masked_records import masked
from whyscan.reports.words import counted
from whyscan.spark.jobs import described, ran
from whyscan.spark.pinned_tables import column_types, pin_all, pin_inventory, with_layouts
from whyscan.spark.stage_output import format_named
from whyscan.spark.stages.audit import history as history_table
from whyscan.spark.stages.audit.drift import drifted
from whyscan.spark.stages.audit.stage import THRESHOLD, AuditOptions, explain_workload
from whyscan.spark.stages.inventory.writing import open_written
from whyscan.spark.stages.workload.query import Workload
from whyscan.spark.tables import NamedTable, sources
from whyscan.terms import SAMPLE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.plans.printed_filters import Types
    from whyscan.spark.stages.audit.report import Audit

Paths = str | PathLike[str]
IN_PROCESS = 1 << 26
"""Logs of at most this many bytes are read in process: starting executors would take longer."""


def audit(
    spark: SparkSession,
    workload: Workload | DataFrame | Paths | Sequence[Paths],
    tables: Mapping[str, str] | Sequence[str | NamedTable],
    *,
    dialect: str = "spark",
    timezone: str = "UTC",
    depth: str = "auto",
    full: bool = False,
    assume_no_nan: bool = False,
    storage: Mapping[str, object] = MappingProxyType({}),
    partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    history: str | None = None,
    history_format: str = "parquet",
    inventory: str | None = None,
    inventory_format: str = "parquet",
    threshold: float = THRESHOLD,
    layouts: Mapping[str, str] = MappingProxyType({}),
    sample: int = SAMPLE_BYTES,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """What every query of a workload reads of the tables, and how much of it is wasted.

    - `workload` is paths of logs, a `Workload`, or a frame of `workload_frame`.
    - `tables` maps the names that queries use to addresses, or lists `NAME=URI`, globs and
      namespaces of catalogs.
    - `dialect` is for texts whose log names no dialect, and `timezone` is their session time zone.
    - `depth`, `full` and `assume_no_nan` are those of `Table.explain`.
    - `storage` are the storage options of the tables and of the logs.
    - `partition_types` are the types of Hive partition columns, by table and column.
    - `history` is where summaries are kept from run to run, in `history_format`: parquet, delta or
      iceberg. A shape that keeps more of a table than in an earlier run, by more than `threshold`
      of its bytes, has drifted.
    - `inventory` is the place of an inventory, in `inventory_format`: its tables are audited, too,
      by the containers that it has of them. The tables themselves are not read.
    - `layouts` has tables by name with layouts that they do not have: queries are explained as if
      they had. `sample` is how many bytes of each such table may be read, by executors; with 0 the
      bounds of today's files say what is certain.
    - `progress` is called with a text before each step.
    """
    if layouts and history is not None:
        raise UsageError(
            "a history is of tables as they are, and not of layouts", hint="leave one of them out"
        )
    form = format_named(history_format)
    options = AuditOptions(
        timezone=timezone,
        depth=depth,
        full=full,
        assume_no_nan=assume_no_nan,
        threshold=threshold,
    )
    before = None if history is None else history_table.opened(spark, history, form)
    named_tables = _sources(tables, storage)
    pinned = _pinned(named_tables, partition_types, progress)
    if inventory is not None:
        written = open_written(spark, inventory, inventory_format, storage)
        # A listed table replaces one of the inventory with the same name.
        names = [name for name in written.tables if name not in {t.name for t in named_tables}]
        pinned = (*pin_inventory(written, storage, names), *pinned)
    pinned = with_layouts(pinned, layouts, sample)
    if not isinstance(workload, Workload):
        workload = _read(spark, workload, dialect, storage, column_types(pinned))
    result, named = explain_workload(spark, workload, pinned, options, progress)
    notes = (f"{name} is planned in another layout: {text}" for name, text in layouts.items())
    result = replace(result, run=replace(result.run, notes=(*result.run.notes, *notes)))
    if before is not None:
        drifts = drifted(spark, result, named, options.terms, before)
        result = replace(result, drift=drifts, trend=history_table.trend(before))
    if history is not None:
        history_table.append(spark, result, history, form)
    return masked(result)


def _read(
    spark: SparkSession,
    workload: DataFrame | Paths | Sequence[Paths],
    dialect: str,
    storage: Mapping[str, object],
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
    chosen = [str(path) for path in paths]
    if _size(chosen, storage) <= IN_PROCESS:
        return read_workload(chosen, dialect, storage=storage, types=types)

    def read() -> Workload:
        return from_frame(workload_frame(spark, chosen, dialect, storage=storage, types=types))

    with described(spark, "workload", f"reading {counted(len(chosen), 'log')}"):
        return ran(read)


def _size(paths: Sequence[str], storage: Mapping[str, object]) -> float:
    """The bytes of the logs; infinite where only Spark can read their store."""
    from whyscan.spark.stages.workload.logs import find_logs

    try:
        return sum(file.size for log in find_logs(paths, storage) for file in log.files)
    except WhyscanError:
        return inf


def _pinned(
    named_tables: tuple[NamedTable, ...],
    types: Mapping[str, Mapping[str, str]],
    progress: Callable[[str], None] | None,
) -> tuple[Pinned, ...]:
    for name in types.keys() - {source.name for source in named_tables}:
        raise UsageError(
            f"there is no table {name!r} for a partition's type",
            hint=f"the tables are {', '.join(sorted(source.name for source in named_tables))}",
        )
    if progress is not None:
        progress(f"opening {counted(len(named_tables), 'table')}")
    return pin_all(named_tables, types)


def _sources(
    tables: Mapping[str, str] | Sequence[str | NamedTable], storage: Mapping[str, object]
) -> tuple[NamedTable, ...]:
    if isinstance(tables, Mapping):
        return sources([(name, str(uri)) for name, uri in tables.items()], storage)
    ready = [table for table in tables if isinstance(table, NamedTable)]
    return (
        *ready,
        *sources([table for table in tables if not isinstance(table, NamedTable)], storage),
    )
