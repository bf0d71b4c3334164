"""What a run must fulfil: each gate is a threshold, what was measured, and pass or fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.why.pushdown import ConjunctBucket, Pushdown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from whyscan.reports.coverage import Lacking
    from whyscan.reports.findings import Finding
    from whyscan.reports.report import Report


class Gates(Struct, frozen=True):
    """The thresholds that were asked for; None and False are gates left open."""

    min_pruning: float | None = None
    min_pruning_bytes: float | None = None
    max_files: int | None = None
    max_bytes: int | None = None
    assert_stats: bool = False
    require_partition_filter: bool = False


class Exemption(Struct, frozen=True):
    """A gate that a table may fail, or one question on it, for a reason and until a day."""

    table: str
    gate: str
    reason: str
    until: date
    predicate: str | None = None


class Assertion(Struct, frozen=True):
    """One gate's outcome. What could not be measured (`actual` is None) does not pass.

    `exemption` covers a gate that failed; one that `expired` does so no longer. `lacking` are the
    files that a gate on statistics failed for.
    """

    name: str
    threshold: float
    actual: float | None
    passed: bool
    exemption: Exemption | None = None
    expired: bool = False
    lacking: Lacking | None = None

    @property
    def result(self) -> str:
        return "pass" if self.passed else "fail"

    @property
    def holds(self) -> bool:
        """It passed, or is let off."""
        return self.passed or (self.exemption is not None and not self.expired)


class GatedReport(Protocol):
    """What has gates and findings: the report on a table, and that on a statement."""

    @property
    def assertions(self) -> tuple[Assertion, ...]: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...


class GatedAmount(Struct, frozen=True):
    """How much is read of how much; bytes are None where they are not known."""

    total: int
    kept: int
    bytes_total: int | None
    bytes_kept: int | None


def assertions(report: Report, gates: Gates) -> Iterator[Assertion]:
    """The gates that were asked for, measured on a report."""
    files = report.files_level
    read = GatedAmount(files.total, files.kept, files.bytes_total, files.bytes_kept)
    yield from assertions_on(read, gates)
    if gates.assert_stats:
        yield _stats_complete(report)
    if gates.require_partition_filter:
        yield at_least("partition_filter", 1, _partition_filters(report))


def _stats_complete(report: Report) -> Assertion:
    """Of every file of the snapshot where the question asked for that, else of those looked at."""
    lacking = report.lacking
    if lacking is None:
        covered = min((column.percent for column in report.statistics), default=100.0)
        return at_least("stats_complete", 100, covered)
    outcome = at_least("stats_complete", 100, lacking.percent)
    return replace(outcome, lacking=lacking) if lacking.files else outcome


def assertions_on(read: GatedAmount, gates: Gates) -> Iterator[Assertion]:
    """The gates on how much is read."""
    if gates.min_pruning is not None:
        yield at_least("min_pruning", gates.min_pruning, percent_pruned(read.total, read.kept))
    if gates.min_pruning_bytes is not None:
        pruned = percent_pruned(read.bytes_total, read.bytes_kept)
        yield at_least("min_pruning_bytes", gates.min_pruning_bytes, pruned)
    if gates.max_files is not None:
        yield _at_most("max_files", gates.max_files, read.kept)
    if gates.max_bytes is not None:
        yield _at_most("max_bytes", gates.max_bytes, read.bytes_kept)


def percent_pruned(total: int | None, kept: int | None) -> float | None:
    """Of nothing, everything is pruned."""
    if total is None or kept is None:
        return None
    return 100.0 * (total - kept) / total if total else 100.0


def _partition_filters(report: Report) -> int:
    """Conjuncts on partition columns alone that can remove a file."""
    return sum(
        c.bucket is ConjunctBucket.PARTITION_SAFE
        and c.pushdown is not Pushdown.UNSUPPORTED
        and bool(c.columns)
        for c in report.conjuncts
    )


def at_least(name: str, threshold: float, actual: float | None) -> Assertion:
    """A gate that asks for as much or more."""
    passed = actual is not None and actual >= threshold
    shown = None if actual is None else round(actual, 1)
    # A rounded figure must not seem to contradict the outcome.
    if shown is not None and (shown >= threshold) is not passed:
        shown = actual
    return Assertion(name, threshold, shown, passed)


def _at_most(name: str, threshold: int, actual: int | None) -> Assertion:
    return Assertion(name, threshold, actual, actual is not None and actual <= threshold)
