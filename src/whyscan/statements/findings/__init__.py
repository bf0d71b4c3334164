"""Findings about a whole statement, which no single scan shows.

The effect of a fix is planned: the changed statement is placed and planned by the same code, on the
same snapshots. A fix that is called equivalent was proved to be so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from sqlglot import exp

from whyscan.reports.findings import in_order
from whyscan.statements.findings.barriers import barriers
from whyscan.statements.findings.context import FindingContext
from whyscan.statements.findings.cross_joins import cross_joins
from whyscan.statements.findings.join_keys import join_keys
from whyscan.statements.findings.merges import merges
from whyscan.statements.findings.outer_joins import outer_joins
from whyscan.statements.findings.repeats import repeats
from whyscan.statements.findings.wrapped_keys import wrapped_keys

__all__ = ["findings", "united"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.reports.findings import Finding
    from whyscan.statements.joins.dynamic_filters import PlannedScan
    from whyscan.statements.records import ScanReport, StatementReport
    from whyscan.statements.scans import BoundStatement

FAMILIES = (cross_joins, outer_joins, wrapped_keys, join_keys, barriers, repeats)


def findings(
    report: StatementReport, statement: BoundStatement, static: Sequence[PlannedScan]
) -> tuple[Finding, ...]:
    """All findings about the report, warnings first.

    `static` are the scans without the values of joins. A MERGE has its own findings.
    """
    families = (merges,) if isinstance(statement.parsed.tree, exp.Merge) else FAMILIES
    keys = [planned.leaf.source.key for planned in static]
    context = FindingContext(
        statement,
        dict(zip(keys, static, strict=True)),
        dict(zip(keys, report.scans, strict=True)),
        dict(zip(keys, report.titles, strict=True)),
    )
    unique: list[Finding] = []
    for finding in (finding for family in families for finding in family(context)):
        # A CTE that is used twice has the same findings twice.
        if finding not in unique:
            unique.append(finding)
    return in_order(unique)


def united(report: StatementReport) -> StatementReport:
    """The report with one finding where several scans of a table have the same one.

    The first scan keeps it, with the titles of all these scans. A finding about a conjunct, or with
    a rewrite, is about its scan alone and stays with it.
    """
    titles: dict[tuple[object, ...], list[str]] = {}
    for title, scan in zip(report.titles, report.scans, strict=True):
        for finding in scan.report.findings:
            titles.setdefault(_cause(scan, finding), []).append(title)
    scans = []
    for scan in report.scans:
        kept = []
        for finding in scan.report.findings:
            named = titles.pop(_cause(scan, finding), [])
            if len(named) > 1:
                among = f"{', '.join(named[:-1])} and {named[-1]}"
                kept.append(replace(finding, message=f"{finding.message}; in the scans {among}"))
            elif named:
                kept.append(finding)
        scans.append(replace(scan, report=replace(scan.report, findings=tuple(kept))))
    return replace(report, scans=tuple(scans))


def _cause(scan: ScanReport, finding: Finding) -> tuple[object, ...]:
    """Return the same tuple for findings with one cause: code, columns and numbers on one table."""
    table = scan.report.table
    alone = None if finding.conjunct is None and finding.rewrite is None else id(scan)
    numbers = tuple(finding.evidence.items())
    return table.uri, table.version, finding.code, finding.columns, numbers, alone
