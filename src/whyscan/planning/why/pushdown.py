"""The peers' words for a conjunct, defined by what they mean (semantics.md, "Classes")."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.partition_proofs import decided_by_partitions
from whyscan.planning.why.probes import probes
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.scan_plan import Evidence, PlanRequest, ScanPlan
    from whyscan.pruning.containers import Containers, Intervals
    from whyscan.pruning.truth import Truth
    from whyscan.tree.nodes import Expression, Path
    from whyscan.tree.zones import Zone


class ConjunctBucket(StrEnum):
    """On which axis a conjunct lies."""

    PARTITION_SAFE = "partition-safe"
    STATS_SAFE = "stats-safe"
    UNSPLITTABLE = "unsplittable"


class Pushdown(StrEnum):
    """What metadata can do for a conjunct."""

    EXACT = "exact"
    INEXACT = "inexact"
    UNSUPPORTED = "unsupported"


class Confidence(StrEnum):
    """How much of the pruning is certain and attributable, most informative first."""

    EXACT = "exact"
    CONSERVATIVE = "conservative"
    INCOMPLETE = "incomplete"


class Class(Struct, frozen=True):
    """One conjunct's place. `interpreted` is no where even known values leave it open."""

    bucket: ConjunctBucket
    pushdown: Pushdown
    interpreted: bool


def classify(
    asked: PlanRequest, did: Sequence[FileOutcomes], interpreted: Sequence[bool]
) -> tuple[Class, ...]:
    """The class of each conjunct, in their order, by what each did to all files."""
    told = zip(asked.predicate.conjuncts, did, interpreted, strict=True)
    return tuple(
        class_of(conjunct.expression, here, asked, interpreted=None if here.ran else known)
        for conjunct, here, known in told
    )


def partition_columns(asked: PlanRequest) -> set[Path]:
    """The sources of partition values, and what is a constant of each file."""
    return {*asked.snapshot.partition_sources, *PSEUDO_COLUMNS}


PSEUDO_COLUMNS: frozenset[Path] = frozenset(
    ("_metadata", name)
    for name in ("file_path", "file_name", "file_size", "file_modification_time")
)


class FileOutcomes(Struct, frozen=True):
    """What an expression did to the files that are there; of parts of a table, their sum.

    `settled`: partition values left each of them none or all; `prunes`: one of them goes; `ran`:
    it was run on partition values, not interpreted; on all of them where they are settled. Of the
    columns in `recorded` some container has a bound or is known to be all NULL.
    """

    files: int
    settled: bool
    prunes: bool
    recorded: frozenset[Path]
    ran: bool = False

    def __add__(self, other: FileOutcomes) -> FileOutcomes:
        # What is known of no file at all says nothing of those that are there.
        told = [h.recorded for h in (self, other) if h.files] or [self.recorded, other.recorded]
        return FileOutcomes(
            files=self.files + other.files,
            settled=self.settled and other.settled,
            prunes=self.prunes or other.prunes,
            recorded=frozenset().union(*told),
            ran=self.ran or other.ran,
        )


def conjuncts_here(plan: ScanPlan) -> tuple[FileOutcomes, ...]:
    """What each conjunct did."""
    by, found = plan.counted.by_partition, plan.counted.judgement
    return tuple(
        FileOutcomes(
            files=plan.counted.files.count,
            settled=bool((~by.conjunct_kept[at] | by.conjunct_every[at]).all()),
            prunes=not found.conjunct_kept[at].all(),
            recorded=recorded(conjunct.expression, plan.counted),
            ran=at in plan.counted.decided,
        )
        for at, conjunct in enumerate(plan.predicate.conjuncts)
    )


def interpreted(asked: PlanRequest, ran: Collection[int]) -> tuple[bool, ...]:
    """Of each conjunct whether known values leave one answer; `ran` are those that were run."""
    return tuple(
        at in ran or _settled_by_points(c.expression, _named(c.expression), asked.zone)
        for at, c in enumerate(asked.predicate.conjuncts)
    )


def class_of(
    expression: Expression,
    here: FileOutcomes,
    asked: PlanRequest,
    *,
    interpreted: bool | None = None,
) -> Class:
    """The class of a conjunct or of a part of one; `interpreted` where that is known."""
    named, partition = _named(expression), partition_columns(asked)
    exact = (
        named <= partition
        and here.settled
        and (here.ran or _decided_by_every_spec(expression, asked))
    )
    if interpreted is None:
        interpreted = exact or _settled_by_points(expression, named, asked.zone)
    if exact:
        pushdown = Pushdown.EXACT
    elif here.prunes or here.ran or can_exclude(expression, _recorded(here, asked), asked.zone):
        pushdown = Pushdown.INEXACT
    else:
        pushdown = Pushdown.UNSUPPORTED
    return Class(_bucket(named, partition), pushdown, interpreted or exact)


def _recorded(here: FileOutcomes, asked: PlanRequest) -> Collection[Path]:
    """The columns that have statistics or partition values; without files, by the live specs."""
    return here.recorded if here.files else {*here.recorded, *partition_columns(asked)}


def _named(expression: Expression) -> set[Path]:
    return {column.path for column in columns_of(expression)}


def _bucket(named: set[Path], partition: set[Path]) -> ConjunctBucket:
    if named <= partition:
        return ConjunctBucket.PARTITION_SAFE
    return ConjunctBucket.UNSPLITTABLE if named & partition else ConjunctBucket.STATS_SAFE


def _settled_by_points(expression: Expression, named: Collection[Path], zone: Zone) -> bool:
    """With every value known, one answer is left."""
    imagined = probes(expression, named)
    found = evaluate(expression, imagined, zone)
    return bool((_possible(found, imagined) <= 1).all())


def _decided_by_every_spec(expression: Expression, asked: PlanRequest) -> bool:
    """Every partition value that the live specs admit leaves TRUE impossible or the only value."""
    constants = {path: (IdentityTransform(),) for path in PSEUDO_COLUMNS}
    return all(
        decided_by_partitions(expression, {**constants, **spec}, asked.zone)
        for spec in asked.snapshot.specs
    )


def _possible(found: Truth, containers: Containers) -> npt.NDArray[np.int8]:
    """How many of TRUE, and of FALSE or NULL, are possible: TRUE or not is what decides."""
    may = flags(found.true, containers.count).astype(np.int8)
    may_not = flags(found.false, containers.count) | flags(found.null, containers.count)
    return may + may_not


def can_exclude(expression: Expression, known: Collection[Path], zone: Zone) -> bool:
    """With values of the `known` columns, some container is imaginable without a match."""
    imagined = probes(expression, known)
    found = evaluate(expression, imagined, zone)
    return not flags(found.true, imagined.count).all()


def recorded(expression: Expression, evidence: Evidence) -> frozenset[Path]:
    """Its columns of which some live container has a bound or is known to be all NULL."""
    named = _named(expression)
    batches = [evidence.files.containers]
    if evidence.groups is not None:
        batches.append(evidence.groups.containers)
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
    """What removes a file cannot be told for each conjunct."""
    return any(c.bucket is ConjunctBucket.UNSPLITTABLE or not c.interpreted for c in classes)
