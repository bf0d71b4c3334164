"""What scans, queries and tables come to: every sum of the audit, and the ranking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.spark.errors import from_text
from whyscan.spark.stages.audit.executor import told
from whyscan.spark.stages.audit.report import Actual, ColumnTotal, QueryLine, TableTotal
from whyscan.spark.stages.workload.query import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.audit.executor import QueryOutcome
    from whyscan.spark.stages.audit.report import AuditedScan
    from whyscan.spark.stages.workload.query import ActualScan, Query


def query_lines(
    queries: Sequence[Query], outcomes: Mapping[int, QueryOutcome], pinned: Iterable[Pinned]
) -> tuple[QueryLine, ...]:
    """The queries that could be bound, what wastes the most first; what is not known comes last.

    A table that a query names by its path has the name that it was given.
    """
    given = [one for one in pinned if one.given]
    names = {place(one.uri): one.name for one in given} | {one.name: one.name for one in given}
    bound = [
        _line(query, outcomes[number], names)
        for number, query in enumerate(queries)
        if outcomes[number].unbound is None
    ]
    return tuple(sorted(bound, key=_rank))


def _rank(line: QueryLine) -> tuple[bool, int, int]:
    reads = (line.bytes_read or 0) * line.times
    return line.wasted is None, -(line.wasted or 0), -reads


def _line(query: Query, outcome: QueryOutcome, names: Mapping[str, str]) -> QueryLine:
    named = [
        replace(t, name=names.get(t.name) or names.get(place(t.uri), t.name))
        for t in outcome.tables
    ]
    tables = _with_actual(named, query.actual)
    read = total(table.bytes_read for table in tables)
    needed = total(table.bytes_needed for table in tables)
    vain = total(table.in_vain for table in tables)
    failed = [f"{table.name}: {table.error}" for table in tables if table.error is not None]
    return QueryLine(
        sql=query.text,
        shape=shape_of(query.text, query.dialect),
        dialect=query.dialect,
        times=query.times,
        first=query.first,
        last=query.last,
        days=dict(query.days),
        origins=query.origins,
        notes=(*query.notes, *outcome.notes),
        operation=outcome.operation,
        tables=tables,
        findings=outcome.findings,
        bytes_read=read,
        bytes_needed=needed,
        bytes_logged=query.bytes_read,
        wasted=None if vain is None else vain * query.times,
        ratio=None if failed else _ratio(tables),
        error="; ".join(failed) if failed else None,
    )


def total(numbers: Iterable[int | None]) -> int | None:
    """The sum; None where one of them is not known."""
    found = list(numbers)
    return None if None in found else sum(number for number in found if number is not None)


def _ratio(tables: Sequence[AuditedScan]) -> float | None:
    """The share of the tables' bytes that is kept; of their files, where bytes are not known."""
    found = [table.summary for table in tables if table.summary is not None]
    kept = total(table.bytes_kept for table in tables)
    whole = total(summary.bytes_total for summary in found)
    if kept is None or whole is None:
        files = [0 if t.answer is not None else t.summary.files_kept for t in tables if t.summary]
        kept, whole = sum(files), sum(summary.files_total for summary in found)
    return kept / whole if whole else 0.0


def _with_actual(
    tables: Sequence[AuditedScan], actual: Sequence[ActualScan]
) -> tuple[AuditedScan, ...]:
    """What the engine said beside what is predicted, by the tables' names and addresses."""
    left = list(actual)
    lines = []
    for table in tables:
        scan = next((one for one in left if _is_of(one.table, table)), None)
        if scan is not None:
            left.remove(scan)
            told_by_engine = Actual(scan.runs, scan.files, scan.bytes, scan.rows, scan.partitions)
            lines.append(replace(table, actual=told_by_engine))
        else:
            lines.append(table)
    return tuple(lines)


def _is_of(name: str, table: AuditedScan) -> bool:
    if place(name) == place(table.uri):
        return True
    one, other = _parts(name), _parts(table.name)
    shared = min(len(one), len(other))
    return one[-shared:] == other[-shared:]


def _parts(name: str) -> list[str]:
    return [part.strip("`\"' ").lower() for part in name.split(".")]


def place(uri: str) -> str:
    """An address in one of the ways in which engines and people write it."""
    return re.sub(r"^file:(//)?(?=/)", "", uri).rstrip("/")


def table_totals(queries: Sequence[QueryLine], pinned: Iterable[Pinned]) -> tuple[TableTotal, ...]:
    """Every table of the run, what is wasted on the most first."""
    scans: dict[str, list[tuple[QueryLine, AuditedScan]]] = {}
    for query in queries:
        for table in query.tables:
            scans.setdefault(place(table.uri), []).append((query, table))
    # Of several names of one table the one that it was given first.
    given = {place(one.uri): one for one in reversed(list(pinned))}
    lines = [_table(one, scans.get(where, [])) for where, one in given.items()]
    return tuple(sorted(lines, key=_worst))


def _worst(line: TableTotal | ColumnTotal) -> tuple[bool, int, int]:
    return line.wasted is None, -(line.wasted or 0), -(line.bytes_read or 0)


def _table(pinned: Pinned, scans: Sequence[tuple[QueryLine, AuditedScan]]) -> TableTotal:
    failed = next((table.error for _, table in scans if table.error is not None), None)
    if pinned.error is not None:
        failed = told(from_text(pinned.error))
    texts = {id(query): query for query, _ in scans}
    return TableTotal(
        name=pinned.name,
        uri=pinned.uri,
        format=pinned.format,
        version=pinned.version,
        queries=len(texts),
        times=sum(query.times for query in texts.values()),
        bytes_read=_all_runs((query, table.bytes_read) for query, table in scans),
        wasted=_all_runs((query, table.in_vain) for query, table in scans),
        columns=_columns(scans),
        error=failed,
    )


def _all_runs(parts: Iterable[tuple[QueryLine, int | None]]) -> int | None:
    return total(None if amount is None else amount * query.times for query, amount in parts)


def _columns(scans: Sequence[tuple[QueryLine, AuditedScan]]) -> tuple[ColumnTotal, ...]:
    named: dict[str, list[tuple[QueryLine, AuditedScan]]] = {}
    for query, table in scans:
        for column in dict.fromkeys(name for line in table.conjuncts for name in line.columns):
            named.setdefault(column, []).append((query, table))
    lines = [
        ColumnTotal(
            column,
            sum(query.times for query, _ in found),
            _all_runs((query, table.bytes_read) for query, table in found),
            _all_runs((query, table.in_vain) for query, table in found),
        )
        for column, found in named.items()
    ]
    return tuple(sorted(lines, key=_worst))
