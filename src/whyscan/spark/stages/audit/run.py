"""`whyscan.spark.audit`: a workload against its tables, on a session of the user's."""

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
from whyscan.spark.stage_output import form_named
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
"""Bytes of logs that are read before executors would have begun."""


class AuditSettings(TypedDict, total=False):
    """How an audit is made.

    `dialect` is of texts whose log names none. `options` are the tables' storage options, and
    `partition_types` the types of Hive partition columns, by table and column. `history`
    is where summaries are kept from run to run, in `history_format`: parquet, delta or iceberg; a
    shape that keeps more of a table than in an earlier run, by more than `threshold` of its bytes,
    has drifted. `inventory` is where one is, in `inventory_format`: its tables are audited, too, at
    the snapshots that it has. `told` hears what is done next.
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
    told: Callable[[str], None] | None


def audit(
    spark: SparkSession,
    workload: Workload | DataFrame | Paths | Sequence[Paths],
    tables: Mapping[str, str] | Sequence[str | NamedTable],
    **settings: Unpack[AuditSettings],
) -> Audit:
    """What every query of a workload reads of the tables, and what of it in vain.

    `workload` are logs, or queries that were read from some, or what `workload_frame` makes of
    them. `tables` are places by the names that
    queries use, or `NAME=URI`, a glob or a catalog's namespace each.
    """
    _check(settings)
    form = form_named(settings.get("history_format", "parquet"))
    question = _question(settings)
    where = settings.get("history")
    before = None if where is None else history.opened(spark, where, form)
    given = _pinned(spark, tables, settings)
    if not isinstance(workload, Workload):
        workload = _read(spark, workload, settings, column_types(given))
    result, named = explain_workload(spark, workload, given, question, settings.get("told"))
    if before is not None:
        fallen = drifted(spark, result, named, question.terms, before)
        result = replace(result, drift=fallen)
    if where is not None:
        history.append(spark, result, where, form)
    return masked(result)


def _check(settings: AuditSettings) -> None:
    """Refuse a keyword that nobody knows, as a plain parameter would."""
    for name in settings:
        if name not in AuditSettings.__annotations__:
            words = ", ".join(AuditSettings.__annotations__)
            raise TypeError(f"unexpected keyword argument {name!r}; known are {words}")


def _question(settings: AuditSettings) -> AuditOptions:
    names = AuditOptions.__struct_fields__
    return AuditOptions(**{name: settings[name] for name in names if name in settings})  # type: ignore[literal-required]


def _read(
    spark: SparkSession,
    workload: DataFrame | Paths | Sequence[Paths],
    settings: AuditSettings,
    types: Types,
) -> Workload:
    """In this process where that is little to read, else by executors."""
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
    """The bytes of the logs; without end where only Spark knows their store."""
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
    given = _sources(tables, options)
    if (place := settings.get("inventory")) is not None:
        there = inventoried(spark, place, settings.get("inventory_format", "parquet"), options)
        # What was named comes first.
        given = tuple({source.name: source for source in (*there, *given)}.values())
    types = settings.get("partition_types", {})
    for name in types.keys() - {source.name for source in given}:
        raise UsageError(
            f"there is no table {name!r} for a partition's type",
            hint=f"the tables are {', '.join(sorted(source.name for source in given))}",
        )
    if (told := settings.get("told")) is not None:
        told(f"opening {counted(len(given), 'table')}")
    return pin_all(given, types)


def _sources(
    tables: Mapping[str, str] | Sequence[str | NamedTable], options: Mapping[str, Any]
) -> tuple[NamedTable, ...]:
    if isinstance(tables, Mapping):
        return sources([(name, str(uri)) for name, uri in tables.items()], options)
    ready = [one for one in tables if isinstance(one, NamedTable)]
    return (*ready, *sources([one for one in tables if not isinstance(one, NamedTable)], options))
