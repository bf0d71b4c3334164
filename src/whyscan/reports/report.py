"""The report: every number of a run, counted once. Renderers only write it in a format."""

from __future__ import annotations

from collections.abc import Iterator  # noqa: TC003 - the JSON Schema is made from it
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.fields import (
    Count,
    LevelName,
    Name,
    Outcome,
    Record,
    Sentence,
    Sql,
    TableFormat,
    Word,
)
from whyscan.planning.plan.file_scans import residual_of
from whyscan.planning.plan.planner import left_closed
from whyscan.planning.plan.scan_plan import LevelTotal, ScanPlanSummary
from whyscan.planning.rows.limit import before_limit
from whyscan.planning.why.attribution import MechanismOverlap
from whyscan.planning.why.pushdown import Confidence, classify, incomplete
from whyscan.planning.why.reason_codes import Reason
from whyscan.planning.why.reasons import reasons
from whyscan.reports.conjuncts import ConjunctLine, conjunct_lines
from whyscan.reports.coverage import Coverage, MissingStatistics
from whyscan.reports.document import moment
from whyscan.reports.engines import EngineReading, engine_notes, engine_readings
from whyscan.reports.filters import FilterLine, filter_lines
from whyscan.reports.findings import Code, Facts, Finding, findings
from whyscan.reports.first_change import FirstChange, first_change
from whyscan.reports.gates import (
    Assertion,
    CheckedSubject,
    GatedAmount,
    Gates,
    assertions,
    most_read,
)
from whyscan.reports.hypothetical import Hypothetical
from whyscan.reports.levels import Level, Removal, RowsMatched, least, removals
from whyscan.reports.listing import FileLine, Listing, listing
from whyscan.reports.prices import Cost, Prices
from whyscan.reports.proofs import PROOFS, Proof
from whyscan.reports.rendering import CheckedReport
from whyscan.reports.tally import CommonFacts, PlanOutcome, Tally, Workings
from whyscan.tables.snapshot import SpecLine, Unreached

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from whyscan.planning.plan.scan_plan import PlannedSnapshot, PlanRequest, ScanPlan
    from whyscan.planning.why.reasons import Stays
    from whyscan.reports.view import Blocks
    from whyscan.tables.snapshot import Snapshot, Traffic
    from whyscan.tree.nodes import Predicate


class Subject(Record, frozen=True):
    """The table of a report."""

    uri: Name
    format: TableFormat
    version: Annotated[
        int | None, Meta(description="The version or snapshot; null if the format has none.")
    ]
    partitioned_by: Annotated[
        tuple[Name, ...], Meta(description="The columns that partition values are made from.")
    ]
    specs: Annotated[
        tuple[SpecLine, ...],
        Meta(description="The partition specs of live files, and the current one, if numbered."),
    ] = ()


class QuestionText(Record, frozen=True):
    """The predicate, with the dialect and time zone in which it was read."""

    predicate: Annotated[Sql, Meta(description="The predicate as the user wrote it.")]
    dialect: Name
    timezone: Name
    now: Annotated[
        Word | None,
        Meta(description="The current time, ISO 8601 in UTC; null if the predicate has no use."),
    ]
    assume_no_nan: Annotated[bool, Meta(description="The user says that no value is NaN.")]


class ReasonCount(Record, frozen=True):
    """The number of files that are kept for one reason."""

    reason: Reason
    files: Count


class Selection(Record, frozen=True):
    """The selected columns, and the bytes of their chunks in kept row groups (None if unknown)."""

    columns: tuple[Name, ...]
    bytes: Count | None


class Unchecked(Record, frozen=True):
    """A level that was not checked, and why."""

    level: LevelName
    why: Sentence


class Effort(Record, frozen=True):
    """The metadata that the run read, and how long the run took."""

    objects: Count
    bytes: Count
    from_cache: Annotated[
        Count | None,
        Meta(description="The objects that came from the cache alone; null if not counted."),
    ]
    seconds: Annotated[float, Meta(ge=0)]


class Report(CheckedReport, frozen=True, rename={"overlap": "mechanisms"}):
    """What a predicate reads of a table, and why.

    `listing` has one line per file, None unless the caller asked for it. `missing_statistics`
    counts the files without statistics, None unless the caller asserted statistics.
    """

    OMITTED: ClassVar = ("listing", "missing_statistics")
    FLAT: ClassVar = ("question",)
    QUOTED: ClassVar = ("question.predicate", "question.dialect")
    REDACTION_NOTE: ClassVar = "values are redacted: ? is a literal, bounds are ranks"
    OPTIONAL: ClassVar = ("selection", "filters", "hypothetical", "cost")
    COMPUTED: ClassVar = {
        "try_first": "try_first",
        "result": "result",
        "proofs": "proofs",
        "files": "live_files",
    }
    ONE_PER_LINE: ClassVar = ("files",)

    table: Subject
    question: QuestionText
    confidence: Confidence
    levels: Annotated[
        tuple[Level, ...],
        Meta(description="From the widest containers to the narrowest that were looked at."),
    ]
    removals: Annotated[
        tuple[Removal, ...], Meta(description="How many files each mechanism removed.")
    ]
    survivors: Annotated[
        tuple[ReasonCount, ...], Meta(description="How many files are kept for which reason.")
    ]
    unchecked: Annotated[
        tuple[Unchecked, ...], Meta(description="The levels that were not checked, and why.")
    ]
    notes: Annotated[
        tuple[Sentence, ...], Meta(description="What people should know about the run.")
    ]
    rows_matched: RowsMatched
    conjuncts: Annotated[
        tuple[ConjunctLine, ...],
        Meta(description="The top-level AND fragments, in the order of the predicate."),
    ]
    overlap: MechanismOverlap
    residual: Annotated[
        Sql | None, Meta(description="What must still be checked on the rows that are read.")
    ]
    selection: Annotated[
        Selection | None,
        Meta(description="With --select: the columns, and their bytes in kept row groups."),
    ]
    statistics: Annotated[
        tuple[Coverage, ...],
        Meta(description="How many files have bounds, for each column without partition values."),
    ]
    contradictory_statistics: Annotated[
        Count, Meta(description="Statistics that contradict themselves and are not used.")
    ]
    findings: tuple[Finding, ...]
    listing: Listing | None
    assertions: Annotated[tuple[Assertion, ...], Meta(description="The outcome of each gate.")]
    metadata: Effort
    missing_statistics: MissingStatistics | None = None
    filters: Annotated[
        tuple[FilterLine, ...] | None,
        Meta(description="With --depth pages: bloom filters and dictionaries for the predicate."),
    ] = None
    hypothetical: Annotated[
        Hypothetical | None,
        Meta(description="With --layout: the layout, and the intervals of its numbers."),
    ] = None
    cost: Annotated[
        Cost | None, Meta(description="With --price: what reading the kept files costs.")
    ] = None
    engines: Annotated[
        tuple[EngineReading, ...],
        Meta(
            description="What each named engine reads; without a name, what common engines read "
            "if one of them reads more than metadata proves."
        ),
    ] = ()

    @property
    def files_level(self) -> Level:
        return next(level for level in self.levels if level.level == "files")

    @property
    def reading(self) -> GatedAmount:
        """The files and bytes that are read."""
        files = self.files_level
        cost = None if self.cost is None else self.cost.total
        return GatedAmount(files.total, files.kept, files.bytes_total, files.bytes_kept, cost)

    def reading_by(self, engine: str) -> GatedAmount:
        """The files and bytes that a named engine reads, else those that metadata proves."""
        by_title = {reading.title: reading for reading in self.engines if reading.named}
        return self.reading.by_engine(by_title.get(engine))

    @property
    def gated_reading(self) -> GatedAmount:
        """What gates are for: the most that a named engine reads, else what metadata proves."""
        by_engine = [self.reading.by_engine(e) for e in self.engines if e.named]
        return most_read(by_engine) if by_engine else self.reading

    @property
    def summary(self) -> ScanPlanSummary:
        """The counts of the levels, under the names that a plan has for them."""
        files = self.files_level
        return ScanPlanSummary(
            tuple(LevelTotal(level.level, level.total, level.kept) for level in self.levels),
            files.bytes_total,
            files.bytes_kept,
            files.rows_total,
            files.rows_kept,
        )

    @property
    def passed(self) -> bool:
        return all(assertion.holds for assertion in self.assertions)

    @property
    def result(self) -> Outcome:
        """`fail` if a gate fails that no exemption excuses."""
        return "pass" if self.passed else "fail"

    @property
    def proofs(self) -> tuple[Proof, ...] | UnsetType:
        """With --verbose: what each kind of evidence proves, and what it leaves open."""
        return UNSET if self.listing is None else PROOFS

    @property
    def live_files(self) -> Iterator[FileLine] | UnsetType:
        """With --verbose: every live file."""
        return UNSET if self.listing is None else self.listing.lines()

    def priced(self, price: str | None = None, request_price: str | None = None) -> Report:
        """Return this report with what reading costs, at prices like `5/TB` and `0.0004/1000`."""
        prices = Prices.of(price, request_price)
        return replace(self, cost=None if prices is None else prices.cost(self.gated_reading))

    def gated(self, gates: Gates) -> Report:
        """Return this report with the outcome of each gate."""
        return replace(self, assertions=tuple(assertions(self, gates)))

    def with_assertions(self, assertions: Iterable[Assertion]) -> Report:
        """Return this report with other gate outcomes."""
        return replace(self, assertions=tuple(assertions))

    def redacted(self) -> Report:
        """Return this report without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    @property
    def try_first(self) -> FirstChange | None:
        """The change to try first; null if no finding has one."""
        return first_change(self.findings, [line.sql for line in self.conjuncts])

    @property
    def elapsed(self) -> float:
        return self.metadata.seconds

    def subjects(self) -> tuple[CheckedSubject, ...]:
        from whyscan.reports.phrases import answer

        uri, predicate = self.table.uri, self.question.predicate
        return (CheckedSubject(uri, predicate, answer(self), uri, f"{uri}\0{predicate}", self),)

    def files(self) -> pa.Table:
        """Return one row per live file: path, size, partition, bounds, verdict and its cause."""
        if self.listing is None:
            raise UsageError(
                "this report does not list the files", hint="explain(…, verbose=True) does"
            )
        return self.listing.table

    def view(self) -> Blocks:
        from whyscan.reports.report_view import view

        return view(self)


def make_report(plan: ScanPlan, *, verbose: bool) -> Report:
    """Count a plan and make its report. `verbose` lists every live file."""
    planned = before_limit(plan)
    common = CommonFacts.of(planned)
    why = reasons(planned, common.interpreted)
    tally = Tally(PlanOutcome.of(planned, common, why), Workings.of(planned, why))
    report = report_on(planned, tally, common)
    if plan.counted.limit is not None:
        why = reasons(plan, common.interpreted)
        report = after_limit(report, plan, PlanOutcome.of(plan, common, why))
    return replace(
        report,
        listing=listing(plan, why) if verbose else None,
        metadata=_effort(plan.snapshot.traffic(), plan.seconds),
    )


def report_on(planned: PlannedSnapshot, tally: Tally, common: CommonFacts) -> Report:
    """Make the report from the sums over all parts, without the listing and the effort."""
    facts = _facts(planned, tally, common)
    facts = replace(facts, engines=engine_readings(planned, facts.levels))
    outcome, workings = tally.outcome, tally.workings
    return Report(
        table=subject_of(planned.snapshot),
        question=_question(planned.predicate, assume_no_nan=planned.options.assume_no_nan),
        confidence=least(*(level.confidence for level in facts.levels)),
        levels=facts.levels,
        removals=removals(outcome.removed, planned.predicate),
        survivors=_survivors(outcome.stays),
        unchecked=_unchecked(planned, tally),
        notes=(*planned.snapshot.notes, *engine_notes(planned)),
        rows_matched=outcome.rows_matched,
        conjuncts=facts.conjuncts,
        overlap=outcome.overlap,
        residual=residual_of(planned.predicate, outcome.left),
        selection=_selection(planned, outcome),
        statistics=workings.coverage,
        contradictory_statistics=workings.contradictions,
        findings=findings(facts),
        listing=None,
        assertions=(),
        metadata=Effort(0, 0, None, 0.0),
        missing_statistics=workings.missing_statistics,
        filters=filter_lines(workings.filters, planned.snapshot.format) or None,
        engines=facts.engines,
    )


def after_limit(report: Report, plan: PlanRequest, outcome: PlanOutcome) -> Report:
    """Return the report with the counts that are left after a LIMIT.

    The finding WEAK_PRUNING is dropped, because a LIMIT reads only some of the kept files. What
    engines read is dropped, too, because no profile says what they make of a LIMIT.
    """
    levels = _with_confidence(
        outcome.levels, interpreted=report.confidence is not Confidence.INCOMPLETE
    )
    return replace(
        report,
        confidence=least(*(level.confidence for level in levels)),
        levels=levels,
        removals=removals(outcome.removed, plan.predicate),
        survivors=_survivors(outcome.stays),
        residual=residual_of(plan.predicate, outcome.left),
        selection=_selection(plan, outcome),
        findings=tuple(
            finding
            for finding in report.findings
            if finding.code not in {Code.WEAK_PRUNING, Code.ENGINE_READS_MORE}
        ),
        engines=(),
    )


def _facts(planned: PlannedSnapshot, tally: Tally, common: CommonFacts) -> Facts:
    counted = tally.workings.conjuncts
    classes = classify(planned, [conjunct.outcomes for conjunct in counted], common.interpreted)
    return Facts(
        plan=planned,
        classes=classes,
        levels=_with_confidence(tally.outcome.levels, interpreted=not incomplete(classes)),
        stays=tally.outcome.stays,
        workings=tally.workings,
        conjuncts=conjunct_lines(planned, classes, counted),
    )


def _with_confidence(levels: tuple[Level, ...], *, interpreted: bool) -> tuple[Level, ...]:
    """Set the confidence of every level to incomplete, unless all conjuncts were interpreted."""
    if interpreted:
        return levels
    return tuple(replace(level, confidence=Confidence.INCOMPLETE) for level in levels)


def _unchecked(planned: PlannedSnapshot, tally: Tally) -> tuple[Unchecked, ...]:
    """Return the levels that were not checked, each with the reason."""
    kept = next(level.kept for level in tally.outcome.levels if level.level == "files")
    if tally.workings.footers:
        return tuple(
            Unchecked(level, str(Unreached(why, files, kept)))
            for (level, why), files in tally.workings.unreached
        )
    closed = left_closed(planned.options.depth, kept)
    return () if closed is None else (Unchecked("row_groups", closed),)


def subject_of(snapshot: Snapshot) -> Subject:
    """Return the table of a snapshot."""
    partitioned_by = tuple(".".join(path) for path in snapshot.partition_sources)
    specs = snapshot.numbered_specs
    return Subject(snapshot.uri, snapshot.format, snapshot.version, partitioned_by, specs)


def _question(predicate: Predicate, *, assume_no_nan: bool) -> QuestionText:
    return QuestionText(
        predicate.text, predicate.dialect, predicate.zone, moment(predicate.now), assume_no_nan
    )


def _survivors(stays: Stays) -> tuple[ReasonCount, ...]:
    return tuple(ReasonCount(reason, files) for reason, files in stays.counts().items())


def _selection(planned: PlanRequest, outcome: PlanOutcome) -> Selection | None:
    if planned.options.projection is None:
        return None
    names = tuple(".".join(path) for path in planned.options.projection)
    return Selection(names, outcome.selected)


def _effort(traffic: Traffic, seconds: float) -> Effort:
    return Effort(traffic.objects, traffic.bytes, traffic.from_cache, round(seconds, 6))
