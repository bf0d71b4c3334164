"""The difference between two reports of the same predicate; every number is counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.reports.diff.files import FileChanges, file_changes
from whyscan.reports.gates import Assertion, percent_pruned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whyscan.reports.conjuncts import ConjunctLine
    from whyscan.reports.findings import Finding
    from whyscan.reports.levels import Level
    from whyscan.reports.report import Report


class LevelChange(Struct, frozen=True):
    """One level before and after; None on a side that does not have it."""

    level: str
    before: Level | None
    after: Level | None


class ConjunctChange(Struct, frozen=True):
    """One conjunct before and after."""

    before: ConjunctLine
    after: ConjunctLine


class Difference(Struct, frozen=True):
    """Two reports, and what changed from the first to the second."""

    before: Report
    after: Report
    levels: tuple[LevelChange, ...]
    conjuncts: tuple[ConjunctChange, ...]
    appeared: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    files: FileChanges
    assertions: tuple[Assertion, ...] = ()

    @property
    def passed(self) -> bool:
        return all(assertion.passed for assertion in self.assertions)

    def gated(self, tolerance: float | None, tolerance_bytes: float | None) -> Difference:
        """Return the difference with gates on the loss of pruned share, in percentage points."""
        return replace(self, assertions=tuple(self._assertions(tolerance, tolerance_bytes)))

    def _assertions(
        self, tolerance: float | None, tolerance_bytes: float | None
    ) -> Iterator[Assertion]:
        if tolerance is not None:
            shares = (percent_pruned(v.total, v.kept) for v in self._files_levels())
            yield _regression("regression", tolerance, *shares)
        if tolerance_bytes is not None:
            shares = (percent_pruned(v.bytes_total, v.bytes_kept) for v in self._files_levels())
            yield _regression("regression_bytes", tolerance_bytes, *shares)

    def _files_levels(self) -> tuple[Level, Level]:
        return self.before.files_level, self.after.files_level


def compare(before: Report, after: Report) -> Difference:
    """Compare two reports of one predicate that both list their files."""
    return Difference(
        before=before,
        after=after,
        levels=tuple(_levels(before.levels, after.levels)),
        conjuncts=tuple(map(ConjunctChange, before.conjuncts, after.conjuncts)),
        appeared=_without(after.findings, before.findings),
        gone=_without(before.findings, after.findings),
        files=file_changes(before, after),
    )


def _levels(before: Iterable[Level], after: Iterable[Level]) -> Iterator[LevelChange]:
    old, new = ({level.level: level for level in side} for side in (before, after))
    for name in ("manifests", "files", "row_groups"):
        if name in old or name in new:
            yield LevelChange(name, old.get(name), new.get(name))


def _without(findings: tuple[Finding, ...], excluded: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings whose code is not among the others; changed numbers do not count."""
    codes = [finding.code for finding in excluded]
    remaining = []
    for finding in findings:
        if finding.code in codes:
            codes.remove(finding.code)
        else:
            remaining.append(finding)
    return tuple(remaining)


def _regression(
    name: str, tolerance: float, before: float | None, after: float | None
) -> Assertion:
    """Make the outcome of a gate; a loss that could not be measured fails."""
    if before is None or after is None:
        return Assertion(name, tolerance, None, passed=False)
    lost = max(before - after, 0.0)
    return Assertion(name, tolerance, round(lost, 3), lost <= tolerance)
