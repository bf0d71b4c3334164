"""The peers' words for a conjunct, defined by what they mean (semantics.md, "Classes")."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.judgement import flags
from whyscan.planning.probes import partitioned, probes
from whyscan.predicate.tree import columns_of
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.transforms import Identity

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.predicate.tree import Conjunct, Expression, Path
    from whyscan.predicate.zones import Zone
    from whyscan.pruning.containers import Containers, Intervals
    from whyscan.pruning.truth import Truth


class Bucket(StrEnum):
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

    bucket: Bucket
    pushdown: Pushdown
    interpreted: bool


def classify(plan: ScanPlan) -> tuple[Class, ...]:
    """The class of each conjunct, in their order."""
    partition = partition_columns(plan)
    return tuple(
        _class(conjunct, position, partition, plan)
        for position, conjunct in enumerate(plan.predicate.conjuncts)
    )


def partition_columns(plan: ScanPlan) -> set[Path]:
    """The sources of partition values, and what is a constant of each file."""
    return {*plan.snapshot.partition_sources, *PSEUDO_COLUMNS}


PSEUDO_COLUMNS: frozenset[Path] = frozenset(
    ("_metadata", name)
    for name in ("file_path", "file_name", "file_size", "file_modification_time")
)


def _class(conjunct: Conjunct, position: int, partition: set[Path], plan: ScanPlan) -> Class:
    by, found = plan.evidence.by_partition, plan.evidence.judgement
    here = Here(
        settled=bool((~by.conjunct_kept[position] | by.conjunct_every[position]).all()),
        prunes=not found.conjunct_kept[position].all(),
        ran=position in plan.evidence.decided,
    )
    return class_of(conjunct.expression, here, partition, plan)


class Here(Struct, frozen=True):
    """What an expression did to the files that are there.

    `settled`: partition values left each of them none or all; `prunes`: one of them goes; `ran`:
    it was run on every partition value, not interpreted.
    """

    settled: bool
    prunes: bool
    ran: bool = False


def class_of(expression: Expression, here: Here, partition: set[Path], plan: ScanPlan) -> Class:
    """The class of a conjunct or of a part of one."""
    named = {column.path for column in columns_of(expression)}
    points = here.ran or _settled_by_points(expression, named, plan.zone)
    if (
        named <= partition
        and here.settled
        and (here.ran or _settled_by_partitions(expression, named, plan))
    ):
        pushdown = Pushdown.EXACT
    elif here.prunes or can_exclude(expression, _recorded(named, plan.evidence), plan.zone):
        pushdown = Pushdown.INEXACT
    else:
        pushdown = Pushdown.UNSUPPORTED
    return Class(_bucket(named, partition), pushdown, points)


def _bucket(named: set[Path], partition: set[Path]) -> Bucket:
    if named <= partition:
        return Bucket.PARTITION_SAFE
    return Bucket.UNSPLITTABLE if named & partition else Bucket.STATS_SAFE


def _settled_by_points(expression: Expression, named: Collection[Path], zone: Zone) -> bool:
    """With every value known, one answer is left."""
    imagined = probes(expression, named)
    found = evaluate(expression, imagined, zone)
    return bool((_possible(found, imagined) <= 1).all())


def _settled_by_partitions(expression: Expression, named: Collection[Path], plan: ScanPlan) -> bool:
    """Under every live spec, the partition of each imagined value leaves one answer."""
    imagined = probes(expression, named)
    for spec in plan.snapshot.specs:
        known = {path: (Identity(),) for path in PSEUDO_COLUMNS} | dict(spec)
        containers = partitioned(imagined, known)
        found = evaluate(expression, containers, plan.zone)
        if (_possible(found, containers) > 1).any():
            return False
    return True


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


def _recorded(named: set[Path], evidence: Evidence) -> set[Path]:
    """The columns of which some live container has a bound or is known to be all NULL."""
    batches = [evidence.files.containers]
    if evidence.groups is not None:
        batches.append(evidence.groups.containers)
    return {
        path
        for batch in batches
        for intervals in (batch.partition, batch.statistics)
        for path in named & intervals.keys()
        if _says_something(path, intervals)
    }


def _says_something(path: Path, intervals: Intervals) -> bool:
    interval = intervals[path]
    ends = (interval.lower, interval.upper)
    bounded = any(e is not None and e.null_count < len(e) for e in ends if e is not None)
    return bounded or interval.value is not True or interval.null is not True


def confidence(plan: ScanPlan, classes: tuple[Class, ...]) -> Confidence:
    """`exact` where partition values alone left every file `none` or `all`."""
    if any(c.bucket is Bucket.UNSPLITTABLE or not c.interpreted for c in classes):
        return Confidence.INCOMPLETE
    by = plan.evidence.by_partition
    return Confidence.EXACT if (~by.kept | by.every).all() else Confidence.CONSERVATIVE
