"""Finds tables that are scanned again, and CTEs that are not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.reports.findings import Code, Effect, Finding, Severity
from whyscan.reports.words import counted, size
from whyscan.statements.roles import Role
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.gates import GatedAmount
    from whyscan.statements.findings.context import FindingContext
    from whyscan.statements.records import ScanReport


def repeats(context: FindingContext) -> Iterator[Finding]:
    """The findings about repeated scans and unused CTEs."""
    yield from _scanned_twice(context)
    yield from _unused(context)


def _scanned_twice(context: FindingContext) -> Iterator[Finding]:
    """A finding for each table that is scanned more than once with the same conditions."""
    scans = [s for s in context.scans.values() if s.answer is None and s.role is Role.READ]
    same: dict[tuple[str, frozenset[str]], list[ScanReport]] = {}
    for scan in scans:
        if scan.plan is None:
            continue
        conjuncts = frozenset(to_sql(c.expression) for c in scan.plan.predicate.conjuncts)
        same.setdefault((scan.name, conjuncts), []).append(scan)
    for (name, _), repeated in same.items():
        read = repeated[0].reading
        bytes_again = None if read.bytes_kept is None else read.bytes_kept * (len(repeated) - 1)
        if len(repeated) > 1 and read.kept and context.is_relevant(bytes_again):
            yield _scanned_again(name, len(repeated), read, bytes_again)


def _scanned_again(name: str, times: int, read: GatedAmount, bytes_again: int | None) -> Finding:
    return Finding(
        Code.SCANNED_TWICE,
        Severity.INFO,
        f"{name} is scanned {times} times with the same conditions: an engine that does not share "
        f"the scans reads {counted(read.kept, 'file')} ({size(read.bytes_kept)}) each time, "
        f"{size(bytes_again)} again",
        "read it once: cache it, or keep those rows in a temporary table",
        {
            "scans": times,
            "files": read.kept,
            **({} if bytes_again is None else {"bytes_again": bytes_again}),
        },
        effect=Effect("files", times * read.kept, read.kept),
    )


def _unused(context: FindingContext) -> Iterator[Finding]:
    """A finding for each CTE that no part of the statement reads."""
    tree = context.statement.parsed.tree
    tables = list(tree.find_all(exp.Table))
    for cte in tree.find_all(exp.CTE):
        name = cte.alias.lower()
        if any(t.name.lower() == name and not t.db and not _is_inside(t, cte) for t in tables):
            continue
        tables_inside = sum(_is_inside(table, cte) for table in tables)
        yield Finding(
            Code.UNUSED_CTE,
            Severity.INFO,
            f"nothing reads the CTE {cte.alias}: {counted(tables_inside, 'table')} that it names "
            f"{'is' if tables_inside == 1 else 'are'} not scanned for it",
            "leave it out",
            {"tables": tables_inside},
        )


def _is_inside(node: exp.Expr, cte: exp.CTE) -> bool:
    above: exp.Expr | None = node
    while above is not None and above is not cte:
        above = above.parent
    return above is not None
