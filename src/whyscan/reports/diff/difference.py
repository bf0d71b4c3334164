"""The difference between two reports of the same predicate; every number is counted once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from whyscan.fields import LevelName, Name, Outcome, Record, Sql, Word
from whyscan.planning.why.attribution import Share
from whyscan.reports.conjuncts import ConjunctLine
from whyscan.reports.diff.files import FileChanges, file_changes
from whyscan.reports.engines import EngineReading
from whyscan.reports.findings import Finding
from whyscan.reports.gates import Assertion, GatedAmount, percent_pruned, regression
from whyscan.reports.hypothetical import Hypothetical  # noqa: TC001 - the JSON Schema is made from it
from whyscan.reports.levels import Level, in_order
from whyscan.reports.rendering import WrittenReport
from whyscan.reports.report import Report, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whyscan.reports.view import Blocks


class LevelChange(Record, frozen=True):
    """One level before and after; None on a side that does not have it."""

    level: LevelName
    before: Level | None
    after: Level | None


class ShareChange(Record, frozen=True):
    """What a conjunct removes, before and after."""

    before: Share
    after: Share


class EngineDifference(Record, frozen=True):
    """What an engine reads before and after; None on a side that it does not read."""

    engine: Name
    version: Word
    before: EngineReading | None
    after: EngineReading | None


class FindingChanges(Record, frozen=True):
    """The findings of one side that the other side does not have, by their codes."""

    appeared: tuple[Finding, ...]
    gone: tuple[Finding, ...]


class ConjunctChange(Record, frozen=True):
    """One conjunct before and after."""

    OMITTED: ClassVar = ("before", "after")
    COMPUTED: ClassVar = {"sql": "sql", "alone": "alone", "only": "only"}

    before: ConjunctLine
    after: ConjunctLine

    @property
    def sql(self) -> Sql:
        """The conjunct as the second table reads it."""
        return self.after.sql

    @property
    def alone(self) -> ShareChange:
        """What the conjunct removes by itself."""
        return ShareChange(self.before.alone, self.after.alone)

    @property
    def only(self) -> ShareChange:
        """What no other conjunct removes."""
        return ShareChange(self.before.only, self.after.only)


class Difference(WrittenReport, frozen=True):
    """Two reports, and what changed from the first to the second."""

    OMITTED: ClassVar = ("before", "after")
    FLAT: ClassVar = ("files",)
    COMPUTED: ClassVar = {
        "before": "table_before",
        "after": "table_after",
        "predicate": "predicate",
        "dialect": "dialect",
        "timezone": "timezone",
        "hypothetical": "hypothetical",
        "result": "result",
    }

    before: Report
    after: Report
    levels: tuple[LevelChange, ...]
    conjuncts: tuple[ConjunctChange, ...]
    findings: FindingChanges
    files: FileChanges
    assertions: tuple[Assertion, ...] = ()
    engines: Annotated[
        tuple[EngineDifference, ...],
        Meta(description="What each named engine reads of both tables."),
    ] = ()

    @property
    def table_before(self) -> Subject:
        """The first table."""
        return self.before.table

    @property
    def table_after(self) -> Subject:
        """The second table."""
        return self.after.table

    @property
    def hypothetical(self) -> Hypothetical | UnsetType:
        """With --to-layout: the layout of the second table, and the intervals of its numbers."""
        return self.after.hypothetical or UNSET

    @property
    def predicate(self) -> Sql:
        """The predicate as the user wrote it."""
        return self.after.question.predicate

    @property
    def dialect(self) -> Name:
        """The dialect of the predicate."""
        return self.after.question.dialect

    @property
    def timezone(self) -> Name:
        """The time zone of the predicate."""
        return self.after.question.timezone

    @property
    def result(self) -> Outcome:
        """`fail` if a gate fails."""
        return "pass" if self.passed else "fail"

    @property
    def appeared(self) -> tuple[Finding, ...]:
        return self.findings.appeared

    @property
    def gone(self) -> tuple[Finding, ...]:
        return self.findings.gone

    def without_paths(self) -> Difference:
        """Return the difference without the paths of the files that changed."""
        return replace(self, files=replace(self.files, listed=False))

    @property
    def passed(self) -> bool:
        return all(assertion.passed for assertion in self.assertions)

    def view(self) -> Blocks:
        from whyscan.reports.diff.view import view

        return view(self)

    def gated(self, tolerance: float | None, tolerance_bytes: float | None) -> Difference:
        """Return the difference with gates on the loss of pruned share, in percentage points."""
        return replace(self, assertions=tuple(self._assertions(tolerance, tolerance_bytes)))

    def redacted(self) -> Difference:
        """Return the difference without literals and values, for sharing."""
        from whyscan.reports.redaction import new_key, redacted

        key = new_key()
        hidden = compare(redacted(self.before, key), redacted(self.after, key))
        return replace(hidden, assertions=self.assertions)

    def _assertions(
        self, tolerance: float | None, tolerance_bytes: float | None
    ) -> Iterator[Assertion]:
        readings = self._readings()
        engine = readings[1].engine
        if tolerance is not None:
            shares = (percent_pruned(read.total, read.kept) for read in readings)
            outcome = regression("regression", tolerance, *shares)
            yield replace(outcome, engine=engine)
        if tolerance_bytes is not None:
            shares = (percent_pruned(read.bytes_total, read.bytes_kept) for read in readings)
            outcome = regression("regression_bytes", tolerance_bytes, *shares)
            yield replace(outcome, engine=engine)

    def _readings(self) -> tuple[GatedAmount, GatedAmount]:
        """What gates compare: what one engine reads of both, else what metadata proves."""
        after = self.after.gated_reading
        engine = after.engine
        return self.before.reading if engine is None else self.before.reading_by(engine), after


def compare(before: Report, after: Report) -> Difference:
    """Compare two reports of one predicate that both list their files."""
    return Difference(
        before=before,
        after=after,
        levels=tuple(_levels(before.levels, after.levels)),
        conjuncts=tuple(map(ConjunctChange, before.conjuncts, after.conjuncts)),
        findings=FindingChanges(
            appeared=_findings_without(after.findings, before.findings),
            gone=_findings_without(before.findings, after.findings),
        ),
        files=file_changes(before, after),
        engines=tuple(_engines(before, after)),
    )


def _engines(before: Report, after: Report) -> Iterator[EngineDifference]:
    old, new = (
        {reading.title: reading for reading in report.engines if reading.named}
        for report in (before, after)
    )
    for title, either in (old | new).items():
        sides = old.get(title), new.get(title)
        yield EngineDifference(either.engine, either.version, *sides)


def _levels(before: Iterable[Level], after: Iterable[Level]) -> Iterator[LevelChange]:
    old, new = ({level.level: level for level in side} for side in (before, after))
    for name in in_order((*old, *new)):
        yield LevelChange(name, old.get(name), new.get(name))


def _findings_without(
    findings: tuple[Finding, ...], excluded: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """Return the findings without another of that code and columns; numbers do not count."""
    left = Counter((finding.code, finding.columns) for finding in excluded)
    remaining = []
    for finding in findings:
        if left[finding.code, finding.columns] > 0:
            left[finding.code, finding.columns] -= 1
        else:
            remaining.append(finding)
    return tuple(remaining)
