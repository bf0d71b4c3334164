"""The sums of the audit over scans, queries and tables, and the ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.planning.plan.planner import plus_all
from whyscan.spark.errors import from_text
from whyscan.spark.stages.audit.executor import error_line
from whyscan.spark.stages.audit.report import Actual, ColumnTotal, QueryLine, TableTotal, UserRuns
from whyscan.spark.stages.workload.query import shape_of
from whyscan.spark.tables import canonical_uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.audit.executor import QueryOutcome
    from whyscan.spark.stages.audit.report import AuditedScan
    from whyscan.spark.stages.workload.query import ActualScan, Query


def query_lines(
    queries: Sequence[Query], outcomes: Mapping[int, QueryOutcome], pinned: Iterable[Pinned]
) -> tuple[QueryLine, ...]:
    """The explained queries, ranked by what they waste and what another layout would spare.

    Those with an unknown amount come last.

    A table that a query names by its path gets the name under which it is listed.
    """
    listed = [table for table in pinned if table.declared]
    names = {canonical_uri(table.uri): table.name for table in listed} | {
        table.name: table.name for table in listed
    }
    bound = [
        _line(query, outcomes[number], names)
        for number, query in enumerate(queries)
        if outcomes[number].unbound is None
    ]
    return tuple(sorted(bound, key=_rank))


def _rank(line: QueryLine) -> tuple[bool, int, int]:
    reads = (line.bytes_read or 0) * line.times
    spared = (line.wasted or 0) + (line.layout_bytes or 0)
    return line.wasted is None, -spared, -reads


def _line(query: Query, outcome: QueryOutcome, names: Mapping[str, str]) -> QueryLine:
    named = [
        replace(t, name=names.get(t.name) or names.get(canonical_uri(t.uri), t.name))
        for t in outcome.tables
    ]
    tables = _with_actual(named, query.actual)
    read = plus_all(table.bytes_read for table in tables)
    needed = plus_all(table.bytes_needed for table in tables)
    wasted = plus_all(table.wasted_per_run for table in tables)
    layout = plus_all(table.layout_bytes for table in tables)
    failed = [f"{table.name}: {table.error}" for table in tables if table.error is not None]
    return QueryLine(
        sql=query.text,
        shape=shape_of(query.text, query.dialect),
        dialect=query.dialect,
        times=query.times,
        first=query.first,
        last=query.last,
        days=dict(query.days),
        users=tuple(UserRuns(user, times) for user, times in query.users.items()),
        origins=query.origins,
        notes=(*query.notes, *outcome.notes),
        operation=outcome.operation,
        tables=tables,
        findings=outcome.findings,
        bytes_read=read,
        bytes_needed=needed,
        bytes_logged=query.bytes_read,
        wasted=None if wasted is None else wasted * query.times,
        layout_bytes=None if layout is None else layout * query.times,
        ratio=None if failed else _ratio(tables),
        error="; ".join(failed) if failed else None,
    )


def _ratio(tables: Sequence[AuditedScan]) -> float | None:
    """The share of the tables' bytes that is kept; of their files where bytes are unknown."""
    summaries = [table.summary for table in tables if table.summary is not None]
    kept = plus_all(table.bytes_kept for table in tables)
    total_amount = plus_all(summary.bytes_total for summary in summaries)
    if kept is None or total_amount is None:
        files = [0 if t.answer is not None else t.summary.files_kept for t in tables if t.summary]
        kept, total_amount = sum(files), sum(summary.files_total for summary in summaries)
    return kept / total_amount if total_amount else 0.0


def _with_actual(
    tables: Sequence[AuditedScan], actual: Sequence[ActualScan]
) -> tuple[AuditedScan, ...]:
    """The scans with what the engine reported, matched by table names and addresses."""
    left = list(actual)
    lines = []
    for table in tables:
        scan = next((s for s in left if _is_of(s.table, table) or _is_whole(s, tables)), None)
        if scan is not None:
            left.remove(scan)
            reported = Actual(scan.runs, scan.files, scan.bytes, scan.rows, scan.partitions)
            lines.append(replace(table, actual=reported))
        else:
            lines.append(table)
    return tuple(lines)


def _is_whole(scan: ActualScan, tables: Sequence[AuditedScan]) -> bool:
    """Whether the numbers of a whole query are those of its only scan."""
    return not scan.table and len(tables) == 1


def _is_of(name: str, table: AuditedScan) -> bool:
    if canonical_uri(name) == canonical_uri(table.uri):
        return True
    name_parts, table_parts = _parts(name), _parts(table.name)
    shared = min(len(name_parts), len(table_parts))
    return name_parts[-shared:] == table_parts[-shared:]


def _parts(name: str) -> list[str]:
    return [part.strip("`\"' ").lower() for part in name.split(".")]


def table_totals(queries: Sequence[QueryLine], pinned: Iterable[Pinned]) -> tuple[TableTotal, ...]:
    """Every table of the run, ranked by wasted bytes."""
    scans: dict[str, list[tuple[QueryLine, AuditedScan]]] = {}
    for query in queries:
        for table in query.tables:
            scans.setdefault(canonical_uri(table.uri), []).append((query, table))
    # If a table has several names, the first one counts.
    by_address = {canonical_uri(table_pin.uri): table_pin for table_pin in reversed(list(pinned))}
    lines = [_table(table_pin, scans.get(address, [])) for address, table_pin in by_address.items()]
    return tuple(sorted(lines, key=_worst))


def _worst(line: TableTotal | ColumnTotal) -> tuple[bool, int, int]:
    return line.wasted is None, -(line.wasted or 0), -(line.bytes_read or 0)


def _table(pinned: Pinned, scans: Sequence[tuple[QueryLine, AuditedScan]]) -> TableTotal:
    failed = next((table.error for _, table in scans if table.error is not None), None)
    if pinned.error is not None:
        failed = error_line(from_text(pinned.error))
    texts = {id(query): query for query, _ in scans}
    return TableTotal(
        name=pinned.name,
        uri=pinned.uri,
        format=pinned.format or None,
        version=pinned.version,
        queries=len(texts),
        times=sum(query.times for query in texts.values()),
        bytes_read=_all_runs((query, table.bytes_read) for query, table in scans),
        wasted=_all_runs((query, table.wasted_per_run) for query, table in scans),
        layout_bytes=_all_runs((query, table.layout_bytes) for query, table in scans),
        columns=_columns(scans),
        error=failed,
    )


def _all_runs(parts: Iterable[tuple[QueryLine, int | None]]) -> int | None:
    return plus_all(None if amount is None else amount * query.times for query, amount in parts)


def _columns(scans: Sequence[tuple[QueryLine, AuditedScan]]) -> tuple[ColumnTotal, ...]:
    scans_by_column: dict[str, list[tuple[QueryLine, AuditedScan]]] = {}
    for query, table in scans:
        for column in dict.fromkeys(name for line in table.conjuncts for name in line.columns):
            scans_by_column.setdefault(column, []).append((query, table))
    lines = [
        ColumnTotal(
            column,
            sum(query.times for query, _ in named_scans),
            _all_runs((query, table.bytes_read) for query, table in named_scans),
            _all_runs((query, table.wasted_per_run) for query, table in named_scans),
        )
        for column, named_scans in scans_by_column.items()
    ]
    return tuple(sorted(lines, key=_worst))
