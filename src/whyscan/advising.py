"""The facade for advice: what the tables of a workload should look like."""

from __future__ import annotations

from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING

from whyscan.errors import TableError, UsageError, limited
from whyscan.reports.words import counted
from whyscan.statement import Lake
from whyscan.terms import SAMPLE_BYTES, PlanTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from whyscan.layouts.advice import Advice, TableAdvice
    from whyscan.spark.stages.workload import Workload
    from whyscan.table import Location, Table
    from whyscan.tables.snapshot import Snapshot


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
    read = _read(workload, dialect, storage)
    lake = Lake(tables, storage, partition_types)
    with limited():
        return _advice(read, {name: lake[name] for name in tables}, timezone, sample, progress)


def _read(
    workload: Workload | Location | Sequence[Location], dialect: str, storage: Mapping[str, object]
) -> Workload:
    from whyscan.spark.stages.workload import Workload, read_workload

    if isinstance(workload, Workload):
        return workload
    paths = [workload] if isinstance(workload, str | PathLike) else workload
    return read_workload([str(path) for path in paths], dialect, storage=storage)


def _advice(
    workload: Workload,
    tables: Mapping[str, Snapshot],
    timezone: str,
    sample: int,
    progress: Callable[[str], None] | None,
) -> Advice:
    from whyscan.layouts.advice import Advice, UnreadQuery, advice_on
    from whyscan.layouts.replay import TableReplay
    from whyscan.layouts.table_scans import scans_by_table
    from whyscan.planning.plan.request import options_of
    from whyscan.reports.masked_records import masked

    options = options_of(PlanTerms())
    scans = scans_by_table(workload.queries, tables, timezone, options)
    advised = []
    for name, of_table in scans.by_table.items():
        if all(scan.reads_everything for scan in of_table):
            continue
        if progress is not None:
            progress(f"laying out {name}")
        advised.append(advice_on(name, TableReplay(tables[name], of_table, options, sample)))
    unread = (
        *(UnreadQuery(text, why) for text, why in scans.unread.items()),
        *(UnreadQuery(entry.text or entry.origin, entry.why) for entry in workload.unparsed),
    )
    if not advised:
        raise TableError(
            f"nothing to advise on: {counted(scans.reading_everything, 'query')} read everything "
            f"on purpose, {scans.of_other_tables:,} name other tables, {len(unread):,} could not "
            "be read",
            hint="name the tables as the queries do",
        )
    everything, elsewhere = scans.reading_everything, scans.of_other_tables
    return masked(Advice(_by_saving(advised), unread, everything, elsewhere))


def _by_saving(advised: Iterable[TableAdvice]) -> tuple[TableAdvice, ...]:
    """The tables, the one whose best layout saves most first."""

    def change(table: TableAdvice) -> int:
        return table.advice[0].bytes.after - table.today.bytes if table.advice else 0

    return tuple(sorted(advised, key=change))
