"""The report: every number of a run, counted once. Renderers only render it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.planning.plan.file_scans import residual_of
from whyscan.planning.plan.planner import left_closed
from whyscan.planning.rows.limit import before_limit
from whyscan.planning.why.pushdown import Confidence, classify, incomplete
from whyscan.planning.why.reasons import reasons
from whyscan.reports.conjuncts import ConjunctLine, conjunct_lines
from whyscan.reports.findings import Code, Facts, Finding, findings
from whyscan.reports.gates import Assertion, Gates, assertions
from whyscan.reports.levels import Level, Removal, RowsMatched, least, removals
from whyscan.reports.listing import Listing, listing
from whyscan.reports.tally import Common, PlanOutcome, Tally, Workings
from whyscan.tables.snapshot import Unreached

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from whyscan.planning.plan.scan_plan import PlannedSnapshot, PlanRequest, ScanPlan
    from whyscan.planning.why.attribution import MechanismOverlap
    from whyscan.planning.why.reason_codes import Reason
    from whyscan.planning.why.reasons import Stays
    from whyscan.reports.coverage import Coverage, Lacking
    from whyscan.tables.snapshot import Snapshot, SpecLine, Traffic
    from whyscan.tree.nodes import Predicate

SCHEMA_VERSION = "1.0"


class Subject(Struct, frozen=True):
    """The table that was asked. `version` is None where the format has none."""

    uri: str
    format: str
    version: int | None
    partitioned_by: tuple[str, ...]
    specs: tuple[SpecLine, ...] = ()


class QuestionText(Struct, frozen=True):
    """The predicate as it was read.

    `now` is what the current time stood for, in microseconds since 1970-01-01; None where the
    predicate does not ask for it.
    """

    predicate: str
    dialect: str
    timezone: str
    now: int | None
    assume_no_nan: bool


class ReasonCount(Struct, frozen=True):
    """How many files stay for one reason."""

    reason: Reason
    files: int


class Selection(Struct, frozen=True):
    """The selected columns and the bytes of their chunks in what stays, None if not known."""

    columns: tuple[str, ...]
    bytes: int | None


class Effort(Struct, frozen=True):
    """What the run itself read, and how long it took.

    `from_cache` of the objects came from the cache alone, None where nobody counted them.
    """

    objects: int
    bytes: int
    from_cache: int | None
    seconds: float


class Report(Struct, frozen=True):
    """What a predicate reads of a table, and why. `listing` is None unless it was asked for.

    `lacking` are the files without statistics, None where the question does not assert any.
    """

    table: Subject
    question: QuestionText
    confidence: Confidence
    levels: tuple[Level, ...]
    removals: tuple[Removal, ...]
    survivors: tuple[ReasonCount, ...]
    unchecked: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    rows_matched: RowsMatched
    conjuncts: tuple[ConjunctLine, ...]
    overlap: MechanismOverlap
    residual: str | None
    selection: Selection | None
    statistics: tuple[Coverage, ...]
    contradictory_statistics: int
    findings: tuple[Finding, ...]
    listing: Listing | None
    assertions: tuple[Assertion, ...]
    metadata: Effort
    lacking: Lacking | None = None

    @property
    def files_level(self) -> Level:
        return next(level for level in self.levels if level.level == "files")

    @property
    def passed(self) -> bool:
        return all(assertion.holds for assertion in self.assertions)

    def gated(self, gates: Gates) -> Report:
        """The same report with the outcome of each gate."""
        return replace(self, assertions=tuple(assertions(self, gates)))

    def held(self, assertions: Iterable[Assertion]) -> Report:
        """The same report with these outcomes instead."""
        return replace(self, assertions=tuple(assertions))

    def redacted(self) -> Report:
        """The same report without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def files(self) -> pa.Table:
        """Every live file: path, size, partition, bounds, verdict and the cause of it."""
        if self.listing is None:
            raise UsageError(
                "this report does not list the files", hint="explain(…, verbose=True) does"
            )
        return self.listing.table

    def to_dict(self) -> dict[str, Any]:
        """The JSON document: `whyscan schema` prints what it promises."""
        from whyscan.reports.document import document

        return document(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from whyscan.reports.pages import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from whyscan.reports.text import text

        return text(self)


def make_report(plan: ScanPlan, *, verbose: bool) -> Report:
    """Count a plan. `verbose` lists every live file."""
    asked = before_limit(plan)
    common = Common.of(asked)
    why = reasons(asked, common.interpreted)
    tally = Tally(PlanOutcome.of(asked, common, why), Workings.of(asked, why))
    report = report_on(asked, tally, common)
    if plan.counted.limit is not None:
        why = reasons(plan, common.interpreted)
        report = after_limit(report, plan, PlanOutcome.of(plan, common, why))
    return replace(
        report,
        listing=listing(plan, why) if verbose else None,
        metadata=_effort(plan.snapshot.traffic(), plan.seconds),
    )


def report_on(asked: PlannedSnapshot, tally: Tally, common: Common) -> Report:
    """The report on what was counted of all parts, without the files and the effort."""
    facts = _facts(asked, tally, common)
    outcome, workings = tally.outcome, tally.workings
    return Report(
        table=_subject(asked.snapshot),
        question=_question(asked.predicate, assume_no_nan=asked.options.assume_no_nan),
        confidence=least(*(level.confidence for level in facts.levels)),
        levels=facts.levels,
        removals=removals(outcome.removed, asked.predicate),
        survivors=_survivors(outcome.stays),
        unchecked=_unchecked(asked, tally),
        notes=asked.snapshot.notes,
        rows_matched=outcome.rows_matched,
        conjuncts=facts.conjuncts,
        overlap=outcome.overlap,
        residual=residual_of(asked.predicate, outcome.left),
        selection=_selection(asked, outcome),
        statistics=workings.coverage,
        contradictory_statistics=workings.contradictions,
        findings=findings(facts),
        listing=None,
        assertions=(),
        metadata=Effort(0, 0, None, 0.0),
        lacking=workings.lacking,
    )


def after_limit(report: Report, plan: PlanRequest, outcome: PlanOutcome) -> Report:
    """What a LIMIT leaves; how much the predicate leaves is no matter where it cuts."""
    counted = _concluded(outcome.levels, whole=report.confidence is not Confidence.INCOMPLETE)
    return replace(
        report,
        confidence=least(*(level.confidence for level in counted)),
        levels=counted,
        removals=removals(outcome.removed, plan.predicate),
        survivors=_survivors(outcome.stays),
        residual=residual_of(plan.predicate, outcome.left),
        selection=_selection(plan, outcome),
        findings=tuple(f for f in report.findings if f.code is not Code.WEAK_PRUNING),
    )


def _facts(asked: PlannedSnapshot, tally: Tally, common: Common) -> Facts:
    counted = tally.workings.conjuncts
    classes = classify(asked, [conjunct.here for conjunct in counted], common.interpreted)
    return Facts(
        plan=asked,
        classes=classes,
        levels=_concluded(tally.outcome.levels, whole=not incomplete(classes)),
        stays=tally.outcome.stays,
        workings=tally.workings,
        conjuncts=conjunct_lines(asked, classes, counted),
    )


def _concluded(counted: tuple[Level, ...], *, whole: bool) -> tuple[Level, ...]:
    """What removes a container can be told of all levels or of none."""
    if whole:
        return counted
    return tuple(replace(level, confidence=Confidence.INCOMPLETE) for level in counted)


def _unchecked(asked: PlannedSnapshot, tally: Tally) -> tuple[tuple[str, str], ...]:
    """Where nobody looked, and why."""
    kept = next(level.kept for level in tally.outcome.levels if level.level == "files")
    if tally.workings.footers:
        told = (Unreached(why, files, kept) for why, files in tally.workings.unreached)
        return tuple(("row_groups", str(unreached)) for unreached in told)
    closed = left_closed(asked.options.depth, kept)
    return () if closed is None else (("row_groups", closed),)


def _subject(snapshot: Snapshot) -> Subject:
    partitioned_by = tuple(".".join(path) for path in snapshot.partition_sources)
    specs = snapshot.numbered_specs
    return Subject(snapshot.uri, snapshot.format, snapshot.version, partitioned_by, specs)


def _question(predicate: Predicate, *, assume_no_nan: bool) -> QuestionText:
    return QuestionText(
        predicate.text, predicate.dialect, predicate.zone, predicate.now, assume_no_nan
    )


def _survivors(stays: Stays) -> tuple[ReasonCount, ...]:
    return tuple(ReasonCount(reason, files) for reason, files in stays.counts().items())


def _selection(asked: PlanRequest, outcome: PlanOutcome) -> Selection | None:
    if asked.options.projection is None:
        return None
    names = tuple(".".join(path) for path in asked.options.projection)
    return Selection(names, outcome.selected)


def _effort(traffic: Traffic, seconds: float) -> Effort:
    return Effort(traffic.objects, traffic.bytes, traffic.from_cache, seconds)
