"""Findings about a whole statement, which no single scan shows.

The effect of a fix is planned: the changed statement is placed and planned by the same code, on the
same snapshots. A fix that is called equivalent was proved to be so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.reports.findings import Finding
    from whyscan.statements.joins.dynamic_filters import PlannedScan
    from whyscan.statements.records import StatementReport
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
    unique = {(f.code, f.message): f for family in families for f in family(context)}
    return in_order(unique.values())
