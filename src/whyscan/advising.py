"""The facade for advice: what the tables of a workload should look like."""

from __future__ import annotations

from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING

from whyscan.errors import UsageError, limited
from whyscan.statement import Lake
from whyscan.table import checked_engines
from whyscan.terms import SAMPLE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.layouts.advice import Advice
    from whyscan.spark.stages.workload import Workload
    from whyscan.table import Location, Table


def advise(
    workload: Workload | Location | Sequence[Location],
    tables: Mapping[str, Table | Location] = MappingProxyType({}),
    *,
    sample: int = SAMPLE_BYTES,
    dialect: str = "spark",
    timezone: str = "UTC",
    storage: Mapping[str, object] = MappingProxyType({}),
    partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    inventory: Location | None = None,
    engines: str | Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Advice:
    """Say what layout each table should have for a workload, and what it would bring.

    - `workload` is paths of logs, as for an audit, or a `whyscan.spark.Workload`.
    - `tables` has the tables by the names that the queries use.
    - `sample` is how many bytes of each table may be read for its sample. With 0 no row is read:
      numbers are guaranteed by the bounds of today's files, and advice is an order by one column.
    - `dialect` is for texts whose log names no dialect, and `timezone` is their session time zone.
    - `storage` are storage options, and `partition_types` the types of Hive partition columns.
    - `inventory` is the place of an inventory. Tables that are missing in `tables` are planned by
      its containers; of these tables only the sample is read.
    - `engines` names engines, as in `Table.explain`: bytes are those that the one of them reads
      that reads most.
    - `progress` is called with a text before each step.

    Every layout is replayed on all queries by the planner. The numbers are estimates by a sample.
    """
    if not tables and inventory is None:
        raise UsageError("there is no table to advise on", hint="name one: NAME=URI")
    if sample < 0:
        raise UsageError(f"a sample of {sample} bytes", hint="sample=200_000_000")
    names = checked_engines(engines)
    from whyscan.layouts.workload_advice import advise_on_tables, joined
    from whyscan.reports.masked_records import masked

    read = _read(workload, dialect, storage)
    with limited():
        lake = Lake(tables, storage, partition_types, inventory)
        part = advise_on_tables(
            tuple(lake),
            read.queries,
            lake,
            timezone,
            sample,
            engines=names,
            storage=storage,
            progress=progress or (lambda _: None),
        )
        return masked(joined([part], read.unparsed, names))


def _read(
    workload: Workload | Location | Sequence[Location], dialect: str, storage: Mapping[str, object]
) -> Workload:
    from whyscan.spark.stages.workload import Workload, read_workload

    if isinstance(workload, Workload):
        return workload
    paths = [workload] if isinstance(workload, str | PathLike) else workload
    return read_workload([str(path) for path in paths], dialect, storage=storage)
