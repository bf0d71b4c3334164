"""What audit and advice start from: the tables, each at one snapshot, and the workload."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from os import PathLike
from typing import TYPE_CHECKING

from whyscan.errors import UsageError, WhyscanError
from whyscan.reports.words import counted
from whyscan.spark.jobs import described, ran
from whyscan.spark.pinned_tables import pin_all, pin_inventory
from whyscan.spark.stages.inventory.writing import open_written
from whyscan.spark.stages.workload.query import Workload
from whyscan.spark.tables import NamedTable, sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.plans.printed_filters import Types

Paths = str | PathLike[str]
_WORD = re.compile(r"\w+")
IN_PROCESS = 1 << 26
"""Logs of at most this many bytes are read in process: starting executors would take longer."""


def workload_of(
    spark: SparkSession,
    workload: Workload | DataFrame | Paths | Sequence[Paths],
    dialect: str,
    storage: Mapping[str, object],
    types: Types,
) -> Workload:
    """The workload; its logs are read in this process if they are small, else by executors."""
    from pyspark.sql import DataFrame

    from whyscan.spark.stages.workload.frames import from_frame, workload_frame
    from whyscan.spark.stages.workload.reading import read_workload

    if isinstance(workload, Workload):
        return workload
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


def pinned_tables(
    spark: SparkSession,
    tables: Mapping[str, str] | Sequence[str | NamedTable],
    types: Mapping[str, Mapping[str, str]],
    storage: Mapping[str, object],
    inventory: tuple[str, str] | None,
    progress: Callable[[str], None] | None,
) -> tuple[Pinned, ...]:
    """The tables, each at one snapshot; `inventory` is the place of one and its format.

    A listed table replaces one of the inventory with the same name.
    """
    named_tables = _named(tables, storage)
    names = {source.name for source in named_tables}
    for name in types.keys() - names:
        raise UsageError(
            f"there is no table {name!r} for a partition's type",
            hint=f"the tables are {', '.join(sorted(names))}",
        )
    if progress is not None:
        progress(f"opening {counted(len(named_tables), 'table')}")
    pinned = pin_all(named_tables, types)
    if inventory is None:
        return pinned
    written = open_written(spark, *inventory, storage)
    others = [name for name in written.tables if name not in names]
    return (*pin_inventory(written, storage, others), *pinned)


def names_in(texts: Iterable[str], names: Iterable[str]) -> list[set[str]]:
    """For each text the tables that it may name: every spelling of a name has its last part."""
    words = {name: set(_WORD.findall(name.rpartition(".")[2].lower())) for name in names}
    of_texts = (set(_WORD.findall(text.lower())) for text in texts)
    return [{name for name, last in words.items() if last <= of_text} for of_text in of_texts]


def _named(
    tables: Mapping[str, str] | Sequence[str | NamedTable], storage: Mapping[str, object]
) -> tuple[NamedTable, ...]:
    if isinstance(tables, Mapping):
        return sources([(name, str(uri)) for name, uri in tables.items()], storage)
    ready = [table for table in tables if isinstance(table, NamedTable)]
    return (
        *ready,
        *sources([table for table in tables if not isinstance(table, NamedTable)], storage),
    )
