"""Coded facts about a run: one file a family, each finding with its evidence and its fix.

A fix whose effect is told was planned on this very snapshot; where that cannot be done, no number
is promised. A rewrite is offered only where the interpreter proved that it means the same, or where
every partition value that is there was tried.
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
    from collections.abc import Iterable, Iterator

__all__ = ["UNITS", "Code", "Effect", "Facts", "Finding", "Severity", "findings", "in_order"]

FAMILIES = (pruning, partitions, statistics, conditions, layout)


def findings(facts: Facts) -> tuple[Finding, ...]:
    """All that apply, warnings first, in the order of the families."""
    return in_order(_all(facts))


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Warnings first, each kind in its own order."""
    found = list(findings)
    return (
        *(f for f in found if f.severity is Severity.WARNING),
        *(f for f in found if f.severity is not Severity.WARNING),
    )


def _all(facts: Facts) -> Iterator[Finding]:
    for family in FAMILIES:
        yield from family(facts)
