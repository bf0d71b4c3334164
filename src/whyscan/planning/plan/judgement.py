"""The verdicts of a predicate and of each conjunct on a batch of containers, as flat arrays.

The evaluator's lazy masks become NumPy arrays, which planners and reports count and combine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.evaluate import conjoin, evaluate
from whyscan.pruning.truth import Truth, fixed, matches_all
from whyscan.tree.lazy import lazy
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from whyscan.pruning.containers import Containers
    from whyscan.pruning.mask import Mask
    from whyscan.tree.nodes import Expression, Path, Predicate
    from whyscan.tree.zones import Zone

Flags: TypeAlias = "npt.NDArray[np.bool_]"
Decided = Mapping[int, Truth]
"""The truth of conjuncts, by position, that was found without evaluation: partition_values.py."""

UNDECIDED: Decided = {}


KEPT, EVERY = 0, 1
"""The rows of a judgement for the whole predicate."""


class Judgement(Struct, frozen=True, dict=True):
    """Verdicts as a matrix of flags: one row per question, one column per container.

    | row | the container |
    |---|---|
    | `KEPT` | may match |
    | `EVERY` | matches in all rows |
    | 2, 3, 4, 5, ... | the same two questions for each conjunct alone |
    | `nan_row` | may match if no value is NaN; `KEPT` if the predicate names no float |
    | `join_row` | may match without the conjuncts from a join; `KEPT` if there are none |
    """

    matrix: Flags
    nan_row: int = KEPT
    join_row: int = KEPT

    @property
    def count(self) -> int:
        """How many containers there are."""
        return int(self.matrix.shape[1])

    @lazy
    def kept(self) -> Flags:
        return self.row(KEPT)

    @lazy
    def every(self) -> Flags:
        return self.row(EVERY)

    @property
    def kept_without_nan(self) -> Flags:
        return self.kept if self.nan_row == KEPT else self.row(self.nan_row)

    @property
    def kept_without_join(self) -> Flags:
        return self.kept if self.join_row == KEPT else self.row(self.join_row)

    def row(self, number: int) -> Flags:
        """One flag per container: the answers to one question."""
        answers: Flags = self.matrix[number]
        return answers

    def verdict_rows(self, question: int) -> slice:
        """The rows of a question, `KEPT` or `EVERY`: of the predicate, then of every conjunct."""
        end = len(self.matrix) - (self.nan_row != KEPT) - (self.join_row != KEPT)
        return slice(question, end, 2)

    @lazy
    def conjunct_kept(self) -> Flags:
        """One row per conjunct: the container may match the conjunct."""
        return self.matrix[self.verdict_rows(KEPT)][1:]

    @lazy
    def conjunct_every(self) -> Flags:
        """One row per conjunct: all rows of the container match the conjunct."""
        return self.matrix[self.verdict_rows(EVERY)][1:]

    def at(self, containers: npt.NDArray[np.int64]) -> Judgement:
        """The verdicts of the containers at these positions."""
        return replace(self, matrix=self.matrix.take(containers, axis=1))


def judge_each(
    predicate: Predicate, containers: Containers, zone: Zone, decided: Decided = UNDECIDED
) -> Judgement:
    """The verdicts of every conjunct alone and of the predicate, container by container."""
    return Evaluation.of(predicate, containers, zone, decided).judgement()


class Evaluation(Struct, frozen=True):
    """The truth of each conjunct alone and of their conjunction, for every container of a batch."""

    predicate: Predicate
    containers: Containers
    zone: Zone
    decided: Decided
    each: tuple[Truth, ...]
    conjunction: Truth

    @classmethod
    def of(
        cls, predicate: Predicate, containers: Containers, zone: Zone, decided: Decided = UNDECIDED
    ) -> Evaluation:
        """Evaluate the conjuncts; the truths in `decided` are not computed again."""
        expressions = [conjunct.expression for conjunct in predicate.conjuncts]
        if not containers.count:
            nothing = tuple(fixed() for _ in expressions)
            return cls(predicate, containers, zone, decided, nothing, fixed())
        each = tuple(
            decided[i] if i in decided else evaluate(expression, containers, zone)
            for i, expression in enumerate(expressions)
        )
        conjunction = conjoin(expressions, each, containers)
        return cls(predicate, containers, zone, decided, each, conjunction)

    @property
    def kept(self) -> Flags:
        """One flag per container: it may match."""
        return flags(self.conjunction.true, self.containers.count)

    @property
    def every(self) -> Flags:
        """One flag per container: it matches in all rows."""
        return flags(matches_all(self.conjunction), self.containers.count)

    def judgement(self) -> Judgement:
        """The verdicts as flags."""
        count = self.containers.count
        rows = [
            mask
            for truth in (self.conjunction, *self.each)
            for mask in (truth.true, matches_all(truth))
        ]
        matrix = [flags(mask, count) for mask in rows]
        nan_row = join_row = KEPT
        if any(isinstance(column.type, FloatType) for column in self.predicate.columns()):
            without_nan = self.containers.without_nan()
            nan_row = len(matrix)
            again = Evaluation.of(self.predicate, without_nan, self.zone, self.decided)
            matrix.append(matrix[KEPT] & again.kept)
        if any(conjunct.from_join for conjunct in self.predicate.conjuncts):
            join_row = len(matrix)
            matrix.append(self._kept_without_join())
        return Judgement(np.array(matrix), nan_row, join_row)

    def _kept_without_join(self) -> Flags:
        unjoined = [
            (conjunct.expression, truth)
            for conjunct, truth in zip(self.predicate.conjuncts, self.each, strict=True)
            if not conjunct.from_join
        ]
        conjunction = conjoin([e for e, _ in unjoined], [t for _, t in unjoined], self.containers)
        return flags(conjunction.true, self.containers.count)

    def narrowed(self, containers: Containers, paths: Collection[Path]) -> Evaluation:
        """The evaluation of the same containers after the columns `paths` have lost metadata.

        Only conjuncts that name one of them are evaluated again, and those that name a float: an
        evaluation without NaN is not an evaluation with NaN.
        """
        unchanged = {
            at: self.each[at]
            for at, conjunct in enumerate(self.predicate.conjuncts)
            if not any(c.path in paths or isinstance(c.type, FloatType) for c in conjunct.columns)
        }
        decided = UNDECIDED if self.containers.buckets else unchanged
        return Evaluation.of(self.predicate, containers, self.zone, decided)


def kept_and_every(
    expression: Expression, containers: Containers, zone: Zone
) -> tuple[Flags, Flags]:
    """The verdicts of one expression, as two flags per container: it may match, all rows match."""
    truth = evaluate(expression, containers, zone)
    return flags(truth.true, containers.count), flags(matches_all(truth), containers.count)


def flags(mask: Mask, count: int) -> Flags:
    """A mask as a NumPy array."""
    if isinstance(mask, bool) or not count:
        return np.full(count, mask is True)
    bits = np.frombuffer(mask.buffers()[1], np.uint8)
    unpacked = np.unpackbits(bits, count=mask.offset + count, bitorder="little")
    return unpacked[mask.offset :].view(np.bool_)


def bits(flagged: Flags) -> pa.BooleanArray:
    """A NumPy array as a mask. NumPy packs the bits eight times faster than Arrow."""
    packed = pa.py_buffer(np.packbits(flagged, bitorder="little"))
    return pa.BooleanArray.from_buffers(pa.bool_(), len(flagged), [None, packed])


def roll_up(inner: Judgement, parent: npt.NDArray[np.int64], count: int) -> Judgement:
    """The judgement of `count` parents from the judgement of their children.

    A parent may match if a child may match. All its rows match if it has children and all rows of
    each child match.
    """
    inhabited = _any_child(np.ones(inner.count, np.bool_), parent, count)
    every = inner.verdict_rows(EVERY)
    matrix = np.array([_any_child(row, parent, count) for row in inner.matrix])
    matrix[every] = [inhabited & ~_any_child(~row, parent, count) for row in inner.matrix[every]]
    return replace(inner, matrix=matrix)


def _any_child(children: Flags, parent: npt.NDArray[np.int64], count: int) -> Flags:
    """One flag per parent: one of its children is flagged."""
    flagged: Flags = np.bincount(parent[children], minlength=count).astype(np.bool_)
    return flagged


def place(inner: Judgement, at: npt.NDArray[np.int64], outer: Judgement) -> Judgement:
    """The judgement `outer`, in which the containers at `at` have the verdicts of `inner`."""
    matrix = outer.matrix.copy()
    matrix[:, at] = inner.matrix
    return replace(outer, matrix=matrix)
