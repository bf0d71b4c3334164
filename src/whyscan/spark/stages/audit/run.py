"""`whyscan.spark.audit`: the audit of a workload on the user's Spark session."""

from __future__ import annotations

from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.profiles.engine_names import named_profiles
from whyscan.reports.masked_records import masked
from whyscan.spark.pinned_tables import column_types, with_layouts
from whyscan.spark.stage_output import format_named
from whyscan.spark.stages.audit import history as history_table
from whyscan.spark.stages.audit.drift import drifted
from whyscan.spark.stages.audit.stage import THRESHOLD, AuditOptions, explain_workload
from whyscan.spark.stages.inputs import pinned_tables, workload_of
from whyscan.terms import SAMPLE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.stages.audit.report import Audit
    from whyscan.spark.stages.workload.query import Workload
    from whyscan.spark.tables import NamedTable

Paths = str | PathLike[str]


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
    engines: Sequence[str] = (),
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
    - `engines` names engines, as in `Table.explain`: the bytes that are read are those of the
      engine that reads the most of a scan, and what it does not need is wasted.
    - `progress` is called with a text before each step.
    """
    named_profiles(engines)
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
        engines=tuple(engines),
    )
    before = None if history is None else history_table.opened(spark, history, form)
    written = None if inventory is None else (inventory, inventory_format)
    pinned = pinned_tables(spark, tables, partition_types, storage, written, progress)
    pinned = with_layouts(pinned, layouts, sample)
    read = workload_of(spark, workload, dialect, storage, column_types(pinned))
    result, named = explain_workload(spark, read, pinned, options, progress)
    notes = (f"{name} is planned in another layout: {text}" for name, text in layouts.items())
    result = replace(result, run=replace(result.run, notes=(*result.run.notes, *notes)))
    if before is not None:
        drifts = drifted(spark, result, named, options.terms, before)
        result = replace(result, drift=drifts, trend=history_table.trend(before))
    if history is not None:
        history_table.append(spark, result, history, form)
    return masked(result)
