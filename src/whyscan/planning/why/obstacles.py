"""Why a kept container could not be pruned: obstacles, as flags over the kept containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.block_reasons import compared, is_described
from whyscan.planning.plan.judgement import Evaluation, Flags, flags
from whyscan.planning.plan.partition_values import spread
from whyscan.planning.plan.truncated_bounds import tightest
from whyscan.planning.why.reason_codes import Reason
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.functions.text.utf8 import ABOVE
from whyscan.pruning.mask import Mask, any_of, both, either, has_value, opposite, surely
from whyscan.tree.nodes import (
    Between,
    Cast,
    Column,
    Comparator,
    Comparison,
    IsNull,
    Like,
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
    from whyscan.tree.nodes import Conjunct, Expression, Path

_EQUALITIES = frozenset({Comparator.EQUAL, Comparator.NULL_SAFE_EQUAL})


class Survivors(Struct, frozen=True):
    """The kept containers of a batch.

    `at` are their positions in the batch, `files` the positions of their files. `left` has for each
    conjunct one flag per container: the conjunct must still be checked on its rows.
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
        """The kept containers of a batch, which may have the metadata of kept containers only.

        `files` are the positions of the files of the whole batch, None where they are the batch.
        """
        at = np.flatnonzero(judgement.kept)
        described = containers.only(plan.predicate.columns())
        return cls(
            plan,
            described if len(at) == described.count else described.take(pa.array(at)),
            at,
            at if files is None else files[at],
            tuple(~every[at] for every in judgement.conjunct_every),
            judgement.every[at],
            judgement.kept_without_nan[at],
        )

    @property
    def count(self) -> int:
        return len(self.at)

    def first_open(self) -> npt.NDArray[np.int16]:
        """The position of the first conjunct that is left to check, -1 where no conjunct is."""
        positions = np.full(self.count, -1, np.int16)
        for position, _, left in self.open_conjuncts():
            positions[left] = position
        return positions

    def open_conjuncts(self) -> Iterator[tuple[int, Conjunct, Flags]]:
        """The last conjunct first: its position, and the containers in which it must be checked."""
        for position in reversed(range(len(self.left))):
            yield position, self.plan.predicate.conjuncts[position], self.left[position]

    def flags(self, mask: Mask) -> Flags:
        return flags(mask, self.count)


Obstacle = tuple[Reason, int, Flags]
"""A reason, the position of the conjunct that it is about, and the containers that it keeps."""


def obstacles(survivors: Survivors, interpreted: Sequence[bool]) -> Iterator[Obstacle]:
    """Yield every obstacle except STRADDLES, from the weakest to the strongest.

    Obstacles of the same reason come in reverse order of their conjuncts, because a later obstacle
    replaces an earlier one.
    """
    if not survivors.count:
        return
    yield from _deleted(survivors)
    yield from _unread(survivors, interpreted)
    for position, conjunct, left in survivors.open_conjuncts():
        if interpreted[position] and position not in survivors.plan.counted.decided:
            yield Reason.NO_STATISTICS, position, left & _blind(survivors, conjunct)
    yield from _hashed(survivors)
    yield from _under_old_specs(survivors)
    yield from _truncated(survivors)
    yield from _uncounted(survivors)
    floats = [c.path for c in survivors.plan.predicate.columns() if isinstance(c.type, FloatType)]
    if floats:
        yield Reason.NAN_POSSIBLE, _names(survivors, floats), ~survivors.kept_without_nan


def unchecked(survivors: Survivors, interpreted: Sequence[bool]) -> Flags:
    """The containers that are kept without a check: no open conjunct has any metadata."""
    unchecked = ~survivors.every
    for position, conjunct, left in survivors.open_conjuncts():
        if interpreted[position] and position not in survivors.plan.counted.decided:
            unchecked &= ~left | _blind(survivors, conjunct)
    return unchecked


def bounded(column: Column, containers: Containers) -> Mask:
    """The column has a bound, or surely no values."""
    return is_described(containers.interval(column))


def _blind(survivors: Survivors, conjunct: Conjunct) -> Flags:
    """The containers in which a column that the conjunct compares has no bounds."""
    columns = _columns_by_value(conjunct.expression)
    return survivors.flags(
        any_of(opposite(bounded(column, survivors.containers)) for column in columns)
    )


def _columns_by_value(expression: Expression) -> tuple[Column, ...]:
    """The columns outside IS NULL, which needs a count and no bounds."""
    counted = {
        id(node.operand)
        for node in walk(expression)
        if isinstance(node, IsNull) and isinstance(node.operand, Column)
    }
    named = (n for n in walk(expression) if isinstance(n, Column) and id(n) not in counted)
    return tuple(dict.fromkeys(named))


def _deleted(survivors: Survivors) -> Iterator[Obstacle]:
    """Containers whose bounds may come from rows that are deleted."""
    files = survivors.plan.counted.files
    loose = np.zeros(files.count, np.bool_)
    for counts in (files.deleted, files.maybe_deleted):
        if counts is not None:
            # Null: delete files may hide some of the rows, an unknown number of them.
            loose |= counts.fill_null(1).to_numpy(zero_copy_only=False) > 0
    if not loose.any():
        return
    measured = survivors.containers.statistics.keys()
    for position, conjunct, left in survivors.open_conjuncts():
        if conjunct.paths & measured:
            yield Reason.DELETE_VECTOR_LOOSE, position, left & loose[survivors.files]


def _unread(survivors: Survivors, interpreted: Sequence[bool]) -> Iterator[Obstacle]:
    """Conjuncts that no rule can evaluate, and functions that lose the bounds of their columns."""
    obstacles: list[Obstacle] = []
    for position, conjunct, left in survivors.open_conjuncts():
        expression = conjunct.expression
        # A conjunct that was run on partition values is open only where it could not be run.
        if position in survivors.plan.counted.decided or not interpreted[position]:
            obstacles.append((_why_unread(expression), position, left))
            continue
        obstacles += [
            (_why_unread(operand), position, left & _lost(operand, survivors))
            for operand in compared(expression)
        ]
    yield from (o for o in obstacles if o[0] is Reason.UNINTERPRETED)
    yield from (o for o in obstacles if o[0] is Reason.TYPE_MISMATCH)


def _why_unread(expression: Expression) -> Reason:
    return Reason.TYPE_MISMATCH if loses_order(expression) else Reason.UNINTERPRETED


def loses_order(expression: Expression) -> bool:
    """Whether a cast between text and another type is all that prevents the evaluation."""
    opaque = any(isinstance(node, Opaque) for node in walk(expression))
    return not opaque and changes_type(expression)


def _lost(operand: Expression, survivors: Survivors) -> Flags:
    """The containers in which the operand's columns have bounds and the operand has none."""
    interval = interval_of(operand, ContainerBatch(survivors.containers, survivors.plan.zone))
    unknown = opposite(is_described(interval))
    if isinstance(interval.type, StringType) and interval.lower is not None:
        # If the bounds of a text function have no common beginning, it may give any text.
        unknown = either(
            unknown,
            both(
                surely(pc.equal, interval.lower, pa.scalar(b"")),
                surely(pc.equal, interval.upper, ABOVE),
            ),
        )
    return survivors.flags(
        both(unknown, *(bounded(c, survivors.containers) for c in columns_of(operand)))
    )


def changes_type(expression: Expression) -> bool:
    """A cast between text and another type: the two have different orders."""
    return any(
        isinstance(node, Cast)
        and isinstance(type_of(node.operand), StringType) is not isinstance(node.type, StringType)
        for node in walk(expression)
    )


def _hashed(survivors: Survivors) -> Iterator[Obstacle]:
    """Range conditions on a column of which the partition values are only a hash."""
    hashed: dict[Path, Mask] = {}
    for bucket in survivors.containers.buckets:
        hashed[bucket.source] = either(hashed.get(bucket.source, False), has_value(bucket.lower))
    for position, conjunct, left in survivors.open_conjuncts():
        ranges = columns_compared_by_range(conjunct.expression) & hashed.keys()
        if ranges:
            mask = any_of(hashed[path] for path in ranges)
            yield Reason.TRANSFORM_LOSSY, position, left & survivors.flags(mask)


def columns_compared_by_range(expression: Expression) -> set[Path]:
    """The columns that are compared by more than equality, for which a hash does not help."""
    paths: set[Path] = set()
    for node in walk(expression):
        if isinstance(node, Between | Like) or (
            isinstance(node, Comparison) and node.operator not in _EQUALITIES
        ):
            paths |= {column.path for column in columns_of(node)}
    return paths


def _under_old_specs(survivors: Survivors) -> Iterator[Obstacle]:
    """Files written before a column of the predicate became a partition source."""
    specs, of_files = survivors.plan.snapshot.numbered_specs, survivors.plan.counted.files.spec
    current = next((spec for spec in specs if spec.current), None)
    if current is None or of_files is None or len(specs) == 1:
        return
    numbers = of_files.to_numpy(zero_copy_only=False)[survivors.files]
    for position, conjunct, left in survivors.open_conjuncts():
        lacking = [s.id for s in specs if conjunct.paths & (current.sources - s.sources)]
        if lacking:
            yield Reason.OLD_SPEC, position, left & np.isin(numbers, lacking)


def _truncated(survivors: Survivors) -> Iterator[Obstacle]:
    """The containers that would be pruned if cut text bounds were as tight as possible."""
    columns = survivors.plan.predicate.columns()
    sharper = {}
    for column in columns:
        if isinstance(column.type, StringType) and column.path in survivors.containers.statistics:
            recording = survivors.plan.snapshot.recording(column)
            near = tightest(survivors.containers.statistics[column.path], recording)
            if near is not None:
                sharper[column.path] = near
    if sharper:
        imagined = replace(
            survivors.containers, statistics={**survivors.containers.statistics, **sharper}
        )
        gone, _ = _settled(survivors, imagined)
        yield Reason.TRUNCATED_BOUND, _names(survivors, sharper.keys()), gone


def _uncounted(survivors: Survivors) -> Iterator[Obstacle]:
    """The containers that no NULLs would prune, or match whole, where NULLs were not counted."""
    named = {column.path for column in survivors.plan.predicate.columns()}
    counted = {
        path: replace(interval, null=both(interval.null, interval.counted))
        for path, interval in survivors.containers.statistics.items()
        if path in named and interval.counted is not True
    }
    if counted:
        imagined = replace(
            survivors.containers, statistics={**survivors.containers.statistics, **counted}
        )
        gone, every = _settled(survivors, imagined)
        yield Reason.NULLS_UNKNOWN, _names(survivors, counted.keys()), gone | every


def _settled(survivors: Survivors, imagined: Containers) -> tuple[Flags, Flags]:
    """The kept containers that other statistics would prune, and those they would call `all`."""
    plan = survivors.plan
    decided = spread(plan.counted.decided, pa.array(survivors.files))
    evaluation = Evaluation.of(plan.predicate, imagined, plan.zone, decided)
    return ~evaluation.kept, evaluation.every


def _names(survivors: Survivors, paths: Collection[Path]) -> int:
    """The position of the first conjunct that names one of the columns."""
    conjuncts = survivors.plan.predicate.conjuncts
    return next(i for i, conjunct in enumerate(conjuncts) if not conjunct.paths.isdisjoint(paths))
