"""Findings: coded facts about a run, each with its evidence and its fix. One file per family.

An effect with numbers was planned on the same snapshot. If that is impossible, the finding has no
number. A rewrite is offered only if the interpreter proved that it means the same, or if it was
tried on every partition value of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.findings.conditions import conditions
from whyscan.reports.findings.finding import UNITS, Code, Effect, Facts, Finding, Severity
from whyscan.reports.findings.layout import layout
from whyscan.reports.findings.partitions import partitions
from whyscan.reports.findings.pruning import pruning
from whyscan.reports.findings.statistics import statistics

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["UNITS", "Code", "Effect", "Facts", "Finding", "Severity", "findings", "in_order"]

FAMILIES = (pruning, partitions, statistics, conditions, layout)


def findings(facts: Facts) -> tuple[Finding, ...]:
    """Return all findings that apply: warnings first, then by family."""
    return in_order(finding for family in FAMILIES for finding in family(facts))


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings: warnings first, otherwise in the original order."""
    ordered = list(findings)
    return (
        *(f for f in ordered if f.severity is Severity.WARNING),
        *(f for f in ordered if f.severity is not Severity.WARNING),
    )
