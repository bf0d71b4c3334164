"""The facade for advice: what the tables of a workload should look like."""

from __future__ import annotations

from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING

from whyscan.errors import UsageError, limited
from whyscan.statement import Lake
from whyscan.terms import SAMPLE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.layouts.advice import Advice
    from whyscan.spark.stages.workload import Workload
    from whyscan.table import Location, Table


def advise(
    workload: Workload | Location | Sequence[Location],
    tables: Mapping[str, Table | Location],
    *,
    sample: int = SAMPLE_BYTES,
    dialect: str = "spark",
    timezone: str = "UTC",
    storage: Mapping[str, object] = MappingProxyType({}),
    partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    progress: Callable[[str], None] | None = None,
) -> Advice:
    """Say what layout each table should have for a workload, and what it would bring.

    - `workload` is paths of logs, as for an audit, or a `whyscan.spark.Workload`.
    - `tables` has the tables by the names that the queries use.
    - `sample` is how many bytes of each table may be read for its sample.
    - `dialect` is for texts whose log names no dialect, and `timezone` is their session time zone.
    - `storage` are storage options, and `partition_types` the types of Hive partition columns.
    - `progress` is called with a text before each table.

    Every layout is replayed on all queries by the planner. The numbers are estimates by a sample.
    """
    if not tables:
        raise UsageError("there is no table to advise on", hint="name one: NAME=URI")
    if sample <= 0:
        raise UsageError("advice needs a sample of rows", hint="sample=200_000_000")
    from whyscan.layouts.workload_advice import advise_on_tables, joined
    from whyscan.reports.masked_records import masked

    read = _read(workload, dialect, storage)
    lake = Lake(tables, storage, partition_types)
    with limited():
        part = advise_on_tables(
            tables, read.queries, lake, timezone, sample, progress or (lambda _: None)
        )
        return masked(joined([part], read.unparsed))


def _read(
    workload: Workload | Location | Sequence[Location], dialect: str, storage: Mapping[str, object]
) -> Workload:
    from whyscan.spark.stages.workload import Workload, read_workload

    if isinstance(workload, Workload):
        return workload
    paths = [workload] if isinstance(workload, str | PathLike) else workload
    return read_workload([str(path) for path in paths], dialect, storage=storage)
