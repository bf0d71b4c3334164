"""The report: every number of a run, counted once. Renderers only render it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.explain.conjuncts import ConjunctLine, conjunct_lines
from whyscan.explain.coverage import Coverage, coverage
from whyscan.explain.findings import Code, Facts, Finding, findings
from whyscan.explain.gates import Assertion, Gates, assertions
from whyscan.explain.levels import (
    Level,
    Removal,
    RowsMatched,
    levels,
    removals,
    rows_matched,
    selected_bytes,
)
from whyscan.explain.listing import Listing, listing
from whyscan.planning.attribution import Overlap, overlap
from whyscan.planning.limit import before_limit
from whyscan.planning.pushdown import Confidence, classify
from whyscan.planning.reasons import reasons
from whyscan.planning.scans import Residuals

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.planning.reason_codes import Reason
    from whyscan.planning.reasons import Why
    from whyscan.predicate.tree import Predicate
    from whyscan.tables.snapshot import Snapshot, SpecLine, Traffic

SCHEMA_VERSION = "1.0"


class Subject(Struct, frozen=True):
    """The table that was asked. `version` is None where the format has none."""

    uri: str
    format: str
    version: int | None
    partitioned_by: tuple[str, ...]
    specs: tuple[SpecLine, ...] = ()


class Question(Struct, frozen=True):
    """The predicate as it was read.

    `now` is what the current time stood for, in microseconds since 1970-01-01; None where the
    predicate does not ask for it.
    """

    predicate: str
    dialect: str
    timezone: str
    now: int | None
    assume_no_nan: bool


class Survivors(Struct, frozen=True):
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
    """What a predicate reads of a table, and why. `listing` is None unless it was asked for."""

    table: Subject
    question: Question
    confidence: Confidence
    levels: tuple[Level, ...]
    removals: tuple[Removal, ...]
    survivors: tuple[Survivors, ...]
    unchecked: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    rows_matched: RowsMatched
    conjuncts: tuple[ConjunctLine, ...]
    overlap: Overlap
    residual: str | None
    selection: Selection | None
    statistics: tuple[Coverage, ...]
    contradictory_statistics: int
    findings: tuple[Finding, ...]
    listing: Listing | None
    assertions: tuple[Assertion, ...]
    metadata: Effort

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
        from whyscan.explain.redaction import redacted

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
        from whyscan.explain.document import document

        return document(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from whyscan.explain.html import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from whyscan.explain.text import text

        return text(self)


def make_report(plan: ScanPlan, *, verbose: bool) -> Report:
    """Count a plan. `verbose` lists every live file."""
    facts = _facts(before_limit(plan))
    limited = plan.evidence.limit is not None
    classes = facts.classes
    why = reasons(plan, classes) if limited else facts.why
    counted = levels(plan, classes, why) if limited else facts.levels
    evidence = plan.evidence
    return Report(
        table=_subject(plan.snapshot),
        question=_question(plan.predicate, assume_no_nan=plan.options.assume_no_nan),
        confidence=_least(counted),
        levels=counted,
        removals=removals(plan),
        survivors=_survivors(why),
        unchecked=evidence.unchecked,
        notes=plan.snapshot.notes,
        rows_matched=rows_matched(evidence),
        conjuncts=facts.conjuncts,
        overlap=overlap(plan),
        residual=Residuals(plan.predicate, evidence).overall(),
        selection=_selection(plan),
        statistics=facts.coverage,
        contradictory_statistics=facts.contradictions,
        findings=_findings(facts, limited=limited),
        listing=listing(plan, why) if verbose else None,
        assertions=(),
        metadata=_effort(plan.snapshot.traffic(), plan.seconds),
    )


def _facts(plan: ScanPlan) -> Facts:
    classes = classify(plan)
    why = reasons(plan, classes)
    return Facts(
        plan=plan,
        classes=classes,
        levels=levels(plan, classes, why),
        coverage=coverage(plan),
        contradictions=_contradictions(plan.evidence),
        why=why,
        conjuncts=conjunct_lines(plan, classes),
    )


def _findings(facts: Facts, *, limited: bool) -> tuple[Finding, ...]:
    """What there is to say of the predicate; how much it leaves is no matter where a LIMIT cuts."""
    found = findings(facts)
    return tuple(f for f in found if f.code is not Code.WEAK_PRUNING) if limited else found


def _contradictions(evidence: Evidence) -> int:
    """Statistics of files and of row groups that were dropped because they cannot be true."""
    below = 0 if evidence.groups is None else evidence.groups.contradictions
    return evidence.files.contradictions + below


def _subject(snapshot: Snapshot) -> Subject:
    partitioned_by = tuple(".".join(path) for path in snapshot.partition_sources)
    specs = snapshot.numbered_specs
    return Subject(snapshot.uri, snapshot.format, snapshot.version, partitioned_by, specs)


def _question(predicate: Predicate, *, assume_no_nan: bool) -> Question:
    return Question(predicate.text, predicate.dialect, predicate.zone, predicate.now, assume_no_nan)


def _least(counted: tuple[Level, ...]) -> Confidence:
    """The least informative of the parts; the enumeration begins with the most."""
    order = list(Confidence)
    return max((level.confidence for level in counted), key=order.index)


def _survivors(why: Why) -> tuple[Survivors, ...]:
    return tuple(Survivors(reason, files) for reason, files in why.counts().items())


def _selection(plan: ScanPlan) -> Selection | None:
    if plan.options.projection is None:
        return None
    names = tuple(".".join(path) for path in plan.options.projection)
    return Selection(names, selected_bytes(plan.evidence))


def _effort(traffic: Traffic, seconds: float) -> Effort:
    return Effort(traffic.objects, traffic.bytes, traffic.from_cache, seconds)
