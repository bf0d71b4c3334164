"""What stood in the way of removing a survivor, obstacle by obstacle, as flags over survivors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.judgement import Flags, flags, truths
from whyscan.planning.plan.partition_values import spread
from whyscan.planning.why.reason_codes import Reason
from whyscan.planning.why.truncated_bounds import tightest
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.mask import Mask, any_of, both, either, known, opposite
from whyscan.pruning.truth import matches_all
from whyscan.tree.nodes import (
    Between,
    Cast,
    Column,
    Comparator,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Opaque,
    columns_of,
    type_of,
    walk,
)
from whyscan.tree.types import FloatType, StringType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Judgement
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.interval import Interval
    from whyscan.tree.nodes import Conjunct, Expression, Path

_EQUALITIES = frozenset({Comparator.EQUAL, Comparator.NULL_SAFE_EQUAL})


class Survivors(Struct, frozen=True):
    """The containers that stay: `at` is where they stand, `files` where their files do.

    `left` has for each conjunct the survivors in which it still has to be checked.
    """

    plan: ScanPlan
    containers: Containers
    at: npt.NDArray[np.int64]
    files: npt.NDArray[np.int64]
    left: tuple[Flags, ...]
    every: Flags
    kept_without_nan: Flags

    @classmethod
    def of(
        cls,
        plan: ScanPlan,
        containers: Containers,
        judgement: Judgement,
        files: npt.NDArray[np.int64] | None = None,
    ) -> Survivors:
        """The survivors of a batch, or what is known of them alone.

        `files` are where the files of the whole batch stand, if elsewhere.
        """
        at = np.flatnonzero(judgement.kept)
        here = containers.of(plan.predicate.columns())
        return cls(
            plan,
            here if len(at) == here.count else here.take(pa.array(at)),
            at,
            at if files is None else files[at],
            tuple(~every[at] for every in judgement.conjunct_every),
            judgement.every[at],
            judgement.kept_without_nan[at],
        )

    @property
    def count(self) -> int:
        return len(self.at)

    @property
    def conjuncts(self) -> tuple[Conjunct, ...]:
        return self.plan.predicate.conjuncts

    def first_open(self) -> npt.NDArray[np.int16]:
        """The first conjunct that is left to check, -1 where none is by itself."""
        found = np.full(self.count, -1, np.int16)
        for position in reversed(range(len(self.left))):
            found[self.left[position]] = position
        return found

    def flags(self, mask: Mask) -> Flags:
        return flags(mask, self.count)


Obstacle = tuple[Reason, int, Flags]
"""A reason, the position of the conjunct that it is about, and the survivors that it keeps."""


def obstacles(here: Survivors, interpreted: Sequence[bool]) -> Iterator[Obstacle]:
    """Every obstacle but the last resort, the weakest first and each by its first conjunct last."""
    if not here.count:
        return
    yield from _deleted(here)
    yield from _unread(here, interpreted)
    for position in reversed(range(len(interpreted))):
        if interpreted[position] and position not in here.plan.counted.decided:
            yield Reason.NO_STATISTICS, position, here.left[position] & _blind(here, position)
    yield from _hashed(here)
    yield from _under_old_specs(here)
    yield from _truncated(here)
    yield from _uncounted(here)
    floats = [c.path for c in here.plan.predicate.columns() if isinstance(c.type, FloatType)]
    if floats:
        yield Reason.NAN_POSSIBLE, _names(here, floats), ~here.kept_without_nan


def unchecked(here: Survivors, interpreted: Sequence[bool]) -> Flags:
    """The survivors that stay without a check: nothing is known for any conjunct that is left."""
    found = ~here.every
    for position, left in enumerate(here.left):
        if interpreted[position] and position not in here.plan.counted.decided:
            found &= ~left | _blind(here, position)
    return found


def bounded(column: Column, containers: Containers) -> Mask:
    """Something is known of the column's values: a bound, or that there are none."""
    return told(containers.interval(column))


def told(interval: Interval) -> Mask:
    """A bound is known, or that there are no values."""
    return either(known(interval.lower), known(interval.upper), opposite(interval.value))


def _blind(here: Survivors, position: int) -> Flags:
    """Where a column whose values the conjunct asks for has no bounds."""
    asked = _columns_by_value(here.conjuncts[position].expression)
    return here.flags(any_of(opposite(bounded(column, here.containers)) for column in asked))


def _columns_by_value(expression: Expression) -> tuple[Column, ...]:
    """The columns named other than by IS NULL, which asks for a count and not for bounds."""
    counted = {
        id(node.operand)
        for node in walk(expression)
        if isinstance(node, IsNull) and isinstance(node.operand, Column)
    }
    named = (n for n in walk(expression) if isinstance(n, Column) and id(n) not in counted)
    return tuple(dict.fromkeys(named))


def _deleted(here: Survivors) -> Iterator[Obstacle]:
    """Bounds that also speak of rows that are gone."""
    files = here.plan.counted.files
    loose = np.zeros(files.count, np.bool_)
    for counts in (files.deleted, files.maybe_deleted):
        if counts is not None:
            # Null: delete files may hide some of the rows, nobody knows how many.
            loose |= counts.fill_null(1).to_numpy(zero_copy_only=False) > 0
    if not loose.any():
        return
    measured = here.containers.statistics.keys()
    for position in reversed(range(len(here.left))):
        named = {column.path for column in columns_of(here.conjuncts[position].expression)}
        if named & measured:
            yield Reason.DELETE_VECTOR_LOOSE, position, here.left[position] & loose[here.files]


def _unread(here: Survivors, interpreted: Sequence[bool]) -> Iterator[Obstacle]:
    """Conjuncts without a rule, and columns with bounds below a function that loses them."""
    found: list[Obstacle] = []
    for position in reversed(range(len(interpreted))):
        expression, left = here.conjuncts[position].expression, here.left[position]
        # What was run on partition values is left where it could not be run.
        if position in here.plan.counted.decided or not interpreted[position]:
            found.append((_why_unread(expression), position, left))
            continue
        found += [
            (_why_unread(operand), position, left & _lost(operand, here))
            for operand in compared(expression)
        ]
    yield from (o for o in found if o[0] is Reason.UNINTERPRETED)
    yield from (o for o in found if o[0] is Reason.TYPE_MISMATCH)


def _why_unread(expression: Expression) -> Reason:
    opaque = any(isinstance(node, Opaque) for node in walk(expression))
    return Reason.TYPE_MISMATCH if not opaque and changes_type(expression) else Reason.UNINTERPRETED


def compared(expression: Expression) -> Iterator[Expression]:
    """What comparisons compare, where it is more than a column."""
    for node in walk(expression):
        match node:
            case Comparison():
                operands: tuple[Expression, ...] = (node.left, node.right)
            case Between() | In() | Like():
                operands = (node.operand,)
            case _:
                continue
        for operand in operands:
            if not isinstance(operand, Column | Literal) and columns_of(operand):
                yield operand


def _lost(operand: Expression, here: Survivors) -> Flags:
    unknown = opposite(told(interval_of(operand, ContainerBatch(here.containers, here.plan.zone))))
    return here.flags(both(unknown, *(bounded(c, here.containers) for c in columns_of(operand))))


def changes_type(expression: Expression) -> bool:
    """A cast between text and another type: the order of one is not that of the other."""
    return any(
        isinstance(node, Cast)
        and isinstance(type_of(node.operand), StringType) is not isinstance(node.type, StringType)
        for node in walk(expression)
    )


def _hashed(here: Survivors) -> Iterator[Obstacle]:
    """Ranges of a column that files are told apart by only through its hash."""
    hashed: dict[Path, Mask] = {}
    for bucket in here.containers.buckets:
        hashed[bucket.source] = either(hashed.get(bucket.source, False), known(bucket.lower))
    for position in reversed(range(len(here.left))):
        ranges = asked_by_range(here.conjuncts[position].expression) & hashed.keys()
        if ranges:
            mask = any_of(hashed[path] for path in ranges)
            yield Reason.TRANSFORM_LOSSY, position, here.left[position] & here.flags(mask)


def asked_by_range(expression: Expression) -> set[Path]:
    """The columns of comparisons whose values cannot be hashed."""
    found: set[Path] = set()
    for node in walk(expression):
        if isinstance(node, Between | Like) or (
            isinstance(node, Comparison) and node.operator not in _EQUALITIES
        ):
            found |= {column.path for column in columns_of(node)}
    return found


def _under_old_specs(here: Survivors) -> Iterator[Obstacle]:
    """Files that were written before a column of the predicate became a partition's source."""
    specs, of_files = here.plan.snapshot.numbered_specs, here.plan.counted.files.spec
    current = next((spec for spec in specs if spec.current), None)
    if current is None or of_files is None or len(specs) == 1:
        return
    numbers = of_files.to_numpy(zero_copy_only=False)[here.files]
    for position in reversed(range(len(here.left))):
        named = {column.path for column in columns_of(here.conjuncts[position].expression)}
        lacking = [s.id for s in specs if named & (current.sources - s.sources)]
        if lacking:
            old = np.isin(numbers, lacking)
            yield Reason.OLD_SPEC, position, here.left[position] & old


def _truncated(here: Survivors) -> Iterator[Obstacle]:
    """What would go if cut bounds ended as near as they may."""
    columns = here.plan.predicate.columns()
    sharper = {}
    for column in columns:
        if isinstance(column.type, StringType) and column.path in here.containers.statistics:
            recording = here.plan.snapshot.recording(column)
            near = tightest(here.containers.statistics[column.path], recording)
            if near is not None:
                sharper[column.path] = near
    if sharper:
        imagined = replace(here.containers, statistics={**here.containers.statistics, **sharper})
        gone, _ = _settled(here, imagined)
        yield Reason.TRUNCATED_BOUND, _names(here, sharper.keys()), gone


def _uncounted(here: Survivors) -> Iterator[Obstacle]:
    """What would go, or match whole, if there were no NULL where nobody counted them."""
    asked = {column.path for column in here.plan.predicate.columns()}
    counted = {
        path: replace(interval, null=both(interval.null, interval.counted))
        for path, interval in here.containers.statistics.items()
        if path in asked and interval.counted is not True
    }
    if counted:
        imagined = replace(here.containers, statistics={**here.containers.statistics, **counted})
        gone, every = _settled(here, imagined)
        yield Reason.NULLS_UNKNOWN, _names(here, counted.keys()), gone | every


def _settled(here: Survivors, imagined: Containers) -> tuple[Flags, Flags]:
    """Which survivors other statistics would remove, and which they would call `all`."""
    plan = here.plan
    statistics = imagined.without_nan() if plan.options.assume_no_nan else imagined
    decided = spread(plan.counted.decided, pa.array(here.files))
    _, together = truths(plan.predicate, statistics, plan.zone, decided)
    return ~here.flags(together.true), here.flags(matches_all(together))


def _names(here: Survivors, paths: Collection[Path]) -> int:
    """The first conjunct that names one of the columns."""
    return next(
        i
        for i, conjunct in enumerate(here.conjuncts)
        if any(column.path in paths for column in columns_of(conjunct.expression))
    )
