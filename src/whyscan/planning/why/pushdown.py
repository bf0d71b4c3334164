"""The pushdown class of a conjunct, as other engines use these words (semantics.md, "Classes")."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.why.partition_proofs import decided_by_partitions
from whyscan.planning.why.probes import can_exclude, leaves_one_answer
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.scan_plan import PlanRequest, ScanPlan
    from whyscan.pruning.containers import Intervals
    from whyscan.tree.nodes import Expression, Path


class ConjunctBucket(StrEnum):
    """Which columns a conjunct names: partition columns, others, or both."""

    PARTITION_SAFE = "partition-safe"
    STATS_SAFE = "stats-safe"
    UNSPLITTABLE = "unsplittable"


class Pushdown(StrEnum):
    """What metadata can do with a conjunct."""

    EXACT = "exact"
    INEXACT = "inexact"
    UNSUPPORTED = "unsupported"


class Confidence(StrEnum):
    """How sure and attributable the numbers of a level are, most informative first."""

    EXACT = "exact"
    CONSERVATIVE = "conservative"
    INCOMPLETE = "incomplete"


class Class(Struct, frozen=True):
    """The class of one conjunct. `interpreted` is false where even exact values leave it open."""

    bucket: ConjunctBucket
    pushdown: Pushdown
    interpreted: bool


def classify(
    request: PlanRequest, outcomes: Sequence[FileOutcomes], interpreted: Sequence[bool]
) -> tuple[Class, ...]:
    """The class of each conjunct, in their order, by what each did to all files."""
    rows = zip(request.predicate.conjuncts, outcomes, interpreted, strict=True)
    return tuple(
        class_of(
            conjunct.expression,
            outcome,
            request,
            interpreted=None if outcome.ran else is_interpreted,
        )
        for conjunct, outcome, is_interpreted in rows
    )


def partition_columns(request: PlanRequest) -> set[Path]:
    """The sources of partition values, and the pseudo columns that are constant in each file."""
    return {*request.snapshot.partition_sources, *PSEUDO_COLUMNS}


PSEUDO_COLUMNS: frozenset[Path] = frozenset(
    ("_metadata", name)
    for name in ("file_path", "file_name", "file_size", "file_modification_time")
)


class FileOutcomes(Struct, frozen=True):
    """What an expression did to the live files; for several parts of a table, their sum.

    - `settled`: partition values make each file `none` or `all`.
    - `prunes`: at least one file is pruned.
    - `ran`: DuckDB ran the expression on partition values, on all of them if `settled`.
    - `recorded`: the columns with a bound, or surely only NULL, in some container.
    """

    files: int
    settled: bool
    prunes: bool
    recorded: frozenset[Path]
    ran: bool = False

    def __add__(self, other: FileOutcomes) -> FileOutcomes:
        # A part without files says nothing about the files of the other part.
        recorded = [outcome.recorded for outcome in (self, other) if outcome.files] or [
            self.recorded,
            other.recorded,
        ]
        return FileOutcomes(
            files=self.files + other.files,
            settled=self.settled and other.settled,
            prunes=self.prunes or other.prunes,
            recorded=frozenset().union(*recorded),
            ran=self.ran or other.ran,
        )


def conjunct_outcomes(plan: ScanPlan) -> tuple[FileOutcomes, ...]:
    """What each conjunct did to the files of a plan."""
    by_partition, judgement = plan.counted.by_partition, plan.counted.judgement
    return tuple(
        FileOutcomes(
            files=plan.counted.files.count,
            settled=bool((~by_partition.conjunct_kept[at] | by_partition.conjunct_every[at]).all()),
            prunes=not judgement.conjunct_kept[at].all(),
            recorded=recorded(conjunct.expression, plan.counted),
            ran=at in plan.counted.decided,
        )
        for at, conjunct in enumerate(plan.predicate.conjuncts)
    )


def interpreted(request: PlanRequest, ran: Collection[int]) -> tuple[bool, ...]:
    """One boolean per conjunct: exact values leave one answer. `ran` are those that DuckDB ran."""
    return tuple(
        at in ran or leaves_one_answer(c.expression, _named(c.expression), request.zone)
        for at, c in enumerate(request.predicate.conjuncts)
    )


def class_of(
    expression: Expression,
    outcome: FileOutcomes,
    request: PlanRequest,
    *,
    interpreted: bool | None = None,
) -> Class:
    """The class of a conjunct or of one of its operands; `interpreted` None is computed."""
    named, partition = _named(expression), partition_columns(request)
    exact = (
        named <= partition
        and outcome.settled
        and (outcome.ran or _decided_by_every_spec(expression, request))
    )
    if interpreted is None:
        interpreted = exact or leaves_one_answer(expression, named, request.zone)
    if exact:
        pushdown = Pushdown.EXACT
    elif (
        outcome.prunes
        or outcome.ran
        or can_exclude(expression, _recorded(outcome, request), request.zone)
    ):
        pushdown = Pushdown.INEXACT
    else:
        pushdown = Pushdown.UNSUPPORTED
    return Class(_bucket(named, partition), pushdown, interpreted or exact)


def _recorded(outcome: FileOutcomes, request: PlanRequest) -> Collection[Path]:
    """The columns with statistics or partition values; for a table without files, by live specs."""
    return outcome.recorded if outcome.files else {*outcome.recorded, *partition_columns(request)}


def _named(expression: Expression) -> set[Path]:
    return {column.path for column in columns_of(expression)}


def _bucket(named: set[Path], partition: set[Path]) -> ConjunctBucket:
    if named <= partition:
        return ConjunctBucket.PARTITION_SAFE
    return ConjunctBucket.UNSPLITTABLE if named & partition else ConjunctBucket.STATS_SAFE


def _decided_by_every_spec(expression: Expression, request: PlanRequest) -> bool:
    """Every partition value of the live specs leaves TRUE impossible or the only answer."""
    constants = {path: (IdentityTransform(),) for path in PSEUDO_COLUMNS}
    return all(
        decided_by_partitions(expression, {**constants, **spec}, request.zone)
        for spec in request.snapshot.specs
    )


def recorded(expression: Expression, evidence: Evidence) -> frozenset[Path]:
    """The expression's columns with a bound, or surely only NULL, in some live container."""
    named = _named(expression)
    batches = [level.listed.containers for level in evidence.levels_from_files]
    return frozenset(
        path
        for batch in batches
        for intervals in (batch.partition, batch.statistics)
        for path in named & intervals.keys()
        if _says_something(path, intervals)
    )


def _says_something(path: Path, intervals: Intervals) -> bool:
    interval = intervals[path]
    ends = (interval.lower, interval.upper)
    bounded = any(e is not None and e.null_count < len(e) for e in ends if e is not None)
    return bounded or interval.value is not True or interval.null is not True


def incomplete(classes: Sequence[Class]) -> bool:
    """True if it is unknown for some conjunct which files it removes."""
    return any(c.bucket is ConjunctBucket.UNSPLITTABLE or not c.interpreted for c in classes)
