"""Findings: coded facts about a run, each with its evidence and its fix. One file per family.

An effect with numbers was planned on the same snapshot. If that is impossible, the finding has no
number. A rewrite is offered only if the interpreter proved that it means the same, or if it was
tried on every partition value of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.planning.why.reason_codes import Reason
from whyscan.reports.findings.conditions import conditions
from whyscan.reports.findings.engines import beyond_profile, engines
from whyscan.reports.findings.filters import filters
from whyscan.reports.findings.finding import Code, Effect, Facts, Finding, Severity
from whyscan.reports.findings.layout import layout
from whyscan.reports.findings.partitions import partitions
from whyscan.reports.findings.pruning import main_reason, pruning
from whyscan.reports.findings.statistics import statistics

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Code",
    "Effect",
    "Facts",
    "Finding",
    "Severity",
    "beyond_profile",
    "findings",
    "in_order",
    "layout",
    "pruning",
    "rules",
    "statistics",
]

FAMILIES = (pruning, partitions, statistics, conditions, layout, engines, filters)


EXPLAINED_BY = {
    Reason.NAN_POSSIBLE: {Code.NAN_UNCOUNTED},
    Reason.NO_STATISTICS: {
        Code.NO_STATISTICS,
        Code.BEYOND_STATISTICS_BUDGET,
        Code.TYPE_WITHOUT_STATISTICS,
    },
    Reason.OLD_SPEC: {Code.OLD_SPEC},
    Reason.STRADDLES: {Code.WIDE_BOUNDS, Code.NEGATION_EXCLUDES_NOTHING},
    Reason.TRANSFORM_LOSSY: {Code.RANGE_ON_BUCKET},
    Reason.TRUNCATED_BOUND: {Code.TRUNCATED_BOUNDS},
    Reason.TYPE_MISMATCH: {Code.LITERAL_TYPE},
    Reason.UNINTERPRETED: {Code.UNINTERPRETED, Code.OR_ENDS_PRUNING},
}
"""For each reason for which files stay the findings that explain it and have a fix."""


def findings(facts: Facts) -> tuple[Finding, ...]:
    """Return all findings that apply: warnings first, then by family.

    WEAK_PRUNING is left out where another finding explains its main reason: one cause, one finding.
    """
    each = [finding for family in FAMILIES for finding in family(facts)]
    codes = {finding.code for finding in each}
    reason = main_reason(facts)
    explained = reason is not None and bool(EXPLAINED_BY.get(reason, set()) & codes)
    return in_order(
        _with_columns(finding, facts)
        for finding in each
        if not (explained and finding.code is Code.WEAK_PRUNING)
    )


def _with_columns(finding: Finding, facts: Facts) -> Finding:
    """Return a finding about a conjunct with the columns of the conjunct."""
    if finding.conjunct is None or finding.columns:
        return finding
    return replace(finding, columns=facts.conjuncts[finding.conjunct].columns)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings: warnings first, otherwise in the original order."""
    ordered = list(findings)
    return (
        *(f for f in ordered if f.severity is Severity.WARNING),
        *(f for f in ordered if f.severity is not Severity.WARNING),
    )
