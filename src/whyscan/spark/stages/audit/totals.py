"""Sums what scans read over queries and tables, and ranks both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.planning.plan.planner import plus_all
from whyscan.reports.findings import beyond_profile, in_order
from whyscan.spark.errors import from_text
from whyscan.spark.stages.audit.executor import error_line
from whyscan.spark.stages.audit.report import (
    Actual,
    AuditedScan,
    ColumnTotal,
    QueryLine,
    TableTotal,
    UnreadTable,
    UserRuns,
    kept_share,
)
from whyscan.spark.stages.workload.query import shape_of
from whyscan.spark.tables import canonical_uri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.audit.executor import QueryOutcome
    from whyscan.spark.stages.workload.query import ActualScan, Query

    TableUse = tuple[QueryLine, AuditedScan | UnreadTable]


def query_lines(
    queries: Sequence[Query], outcomes: Mapping[int, QueryOutcome], pinned: Iterable[Pinned]
) -> tuple[QueryLine, ...]:
    """Return the explained queries, ranked by what they waste and what another layout would spare.

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
    def name_of(table: AuditedScan | UnreadTable) -> str:
        return names.get(table.name) or names.get(canonical_uri(table.uri), table.name)

    named = [replace(t, scan=replace(t.scan, name=name_of(t))) for t in outcome.tables]
    tables = _with_actual(named, query.actual)
    unread = tuple(replace(table, name=name_of(table)) for table in outcome.unread)
    failed = [f"{table.name}: {table.error}" for table in unread if table.error is not None]

    def summed(amount: Callable[[AuditedScan], int | None]) -> int | None:
        return None if unread else plus_all(map(amount, tables))

    wasted = summed(lambda scan: scan.wasted_per_run)
    layout = summed(lambda scan: scan.layout_bytes)
    return QueryLine(
        sql=query.text,
        shape=shape_of(query.text, query.dialect),
        dialect=query.dialect,
        times=query.times,
        first=query.first,
        last=query.last,
        days=dict(query.days),
        users=tuple(UserRuns(user, times) for user, times in query.users.items()),
        logs=dict(query.logs),
        origins=query.origins,
        notes=(*query.notes, *outcome.notes),
        operation=outcome.operation,
        tables=tables,
        joins=outcome.joins,
        unread=unread,
        findings=outcome.findings,
        bytes_read=summed(lambda scan: scan.bytes_read),
        bytes_needed=summed(lambda scan: scan.bytes_needed),
        bytes_logged=query.bytes_read,
        wasted=None if wasted is None else wasted * query.times,
        layout_bytes=None if layout is None else layout * query.times,
        ratio=None if unread else kept_share(tables),
        error="; ".join(failed) if failed else None,
    )


def _with_actual(
    tables: Sequence[AuditedScan], actual: Sequence[ActualScan]
) -> tuple[AuditedScan, ...]:
    """Return the scans with what the engine reported, matched by table names and addresses."""
    left = list(actual)
    lines = []
    for table in tables:
        scan = next((s for s in left if _is_of(s.table, table) or _is_whole(s, tables)), None)
        if scan is not None:
            left.remove(scan)
            reported = Actual(
                scan.runs, scan.files, scan.bytes, scan.rows, scan.partitions, scan.manifests
            )
            lines.append(_beside_profile(replace(table, actual=reported), reported))
        else:
            lines.append(table)
    return tuple(lines)


def _beside_profile(table: AuditedScan, actual: Actual) -> AuditedScan:
    """Return a scan with a finding if its runs read more files than was to be expected."""
    report = table.scan.report
    if actual.files is None or not actual.runs or table.scan.answer is not None:
        return table
    mean = round(actual.files / actual.runs)
    finding = beyond_profile(report.engines, report.levels, mean, actual.runs)
    if finding is None:
        return table
    report = replace(report, findings=in_order((*report.findings, finding)))
    return replace(table, scan=replace(table.scan, report=report))


def _is_whole(scan: ActualScan, tables: Sequence[AuditedScan]) -> bool:
    """Say whether the numbers of a whole query are those of its only scan."""
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
    """Return every table of the run, ranked by wasted bytes."""
    uses: dict[str, list[TableUse]] = {}
    for query in queries:
        tables: tuple[AuditedScan | UnreadTable, ...] = (*query.tables, *query.unread)
        for table in tables:
            uses.setdefault(canonical_uri(table.uri), []).append((query, table))
    # If a table has several names, the first one counts.
    by_address = {canonical_uri(table_pin.uri): table_pin for table_pin in reversed(list(pinned))}
    lines = [_table(table_pin, uses.get(address, [])) for address, table_pin in by_address.items()]
    return tuple(sorted(lines, key=_worst))


def _worst(line: TableTotal | ColumnTotal) -> tuple[bool, int, int]:
    return line.wasted is None, -(line.wasted or 0), -(line.bytes_read or 0)


def _table(pinned: Pinned, uses: Sequence[TableUse]) -> TableTotal:
    scans = [(query, table) for query, table in uses if isinstance(table, AuditedScan)]
    errors = [table.error for _, table in uses if isinstance(table, UnreadTable) and table.error]
    failed = errors[0] if errors else None
    if pinned.error is not None:
        failed = error_line(from_text(pinned.error))
    texts = {id(query): query for query, _ in uses}
    is_read = len(scans) == len(uses)
    return TableTotal(
        name=pinned.name,
        uri=pinned.uri,
        format=pinned.format or None,
        version=pinned.version,
        queries=len(texts),
        times=sum(query.times for query in texts.values()),
        bytes_read=_all_runs((q, table.bytes_read) for q, table in scans) if is_read else None,
        wasted=_all_runs((q, table.wasted_per_run) for q, table in scans) if is_read else None,
        layout_bytes=_all_runs((q, table.layout_bytes) for q, table in scans) if is_read else None,
        columns=_columns(scans),
        error=failed,
    )


def _all_runs(parts: Iterable[tuple[QueryLine, int | None]]) -> int | None:
    return plus_all(None if amount is None else amount * query.times for query, amount in parts)


def _columns(scans: Sequence[tuple[QueryLine, AuditedScan]]) -> tuple[ColumnTotal, ...]:
    scans_by_column: dict[str, list[tuple[QueryLine, AuditedScan]]] = {}
    for query, table in scans:
        for column in dict.fromkeys(
            name for line in table.scan.report.conjuncts for name in line.columns
        ):
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
