"""Blocks: groups of containers that are evaluated as one container.

The *hull* of a block contains the interval of every member; the *kernel* is what the intervals of
all members have in common. Evaluation is monotone: what is impossible for the hull is impossible
for every member, and what is possible for the kernel is possible for every member. So most members
need no evaluation of their own.

| verdict of the hull | verdict of the kernel | verdict of a member |
|---|---|---|
| none | | none |
| all | | all, if every member has rows and each column may be something in it |
| some | some | some |
| some | all | some or all |
| some | none | any |
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.pruning.containers import Containers, Intervals
from whyscan.pruning.interval import Interval, greater
from whyscan.pruning.mask import (
    Mask,
    Vector,
    both,
    choose,
    either,
    has_value,
    opposite,
    simplified,
    surely,
)
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    import numpy.typing as npt

    from whyscan.tree.nodes import Column, Path

    Positions = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

Source = TypeVar("Source")
Result = TypeVar("Result")

BLOCKS_AT_MOST = 1 << 14
MEMBERS_AT_LEAST = 64
KEPT_AT_MOST = 1024
NOTES_AT_MOST = 1 << 14
SPANS_AT_MOST = 64
"""Up to this many slices of an array are joined; more slices are taken value by value."""


class Blocks(Struct, eq=False, dict=True):
    """The blocks of a batch of containers.

    `order` has the positions of the containers, block by block; block `i` begins at `begins[i]`.
    What is computed from a column is cached, together with the column itself.
    """

    order: Positions
    begins: Positions
    _results: dict[tuple[str, int], tuple[object, Any]] = field(default_factory=dict)
    _notes: dict[Hashable, Any] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.begins) - 1

    @lazy
    def sizes(self) -> Positions:
        return np.diff(self.begins)

    @lazy
    def _indices(self) -> pa.Array:
        return pa.array(self.order)

    @lazy
    def _numbers(self) -> pa.Array:
        """The block number of each container, in block order."""
        return pa.array(np.repeat(np.arange(self.count), self.sizes))

    def hulls(self, containers: Containers, columns: Sequence[Column]) -> Containers:
        """One container per block: the hull of its members' intervals, for these columns."""

        def end(values: Vector | None, *, least: bool) -> Vector | None:
            if values is None:
                return None
            return self._once("least" if least else "most", values, partial(self._end, least=least))

        return Containers(
            self.count,
            # The greatest number of rows of a member; unknown if one member's number is.
            end(self._rows(containers), least=False),
            statistics={
                path: self._hull(interval)
                for path, interval in _column_intervals(containers, columns)
            },
            buckets=tuple(
                replace(b, lower=end(b.lower, least=True), upper=end(b.upper, least=False))
                for b in containers.buckets
            ),
        )

    def kernels(self, containers: Containers, columns: Sequence[Column]) -> Containers:
        """One container per block: what the intervals of all its members have in common."""

        def end(values: Vector | None, *, least: bool) -> Vector | None:
            if values is None:
                return None
            work = partial(self._innermost, least=least)
            return self._once("innermost least" if least else "innermost most", values, work)

        return Containers(
            self.count,
            # The least number of rows that a member is known to have.
            end(self._rows(containers), least=False),
            statistics={
                path: self._once("kernel", interval, self._kernel_of)
                for path, interval in _column_intervals(containers, columns)
            },
            buckets=tuple(
                replace(b, lower=end(b.lower, least=True), upper=end(b.upper, least=False))
                for b in containers.buckets
            ),
        )

    def with_empty_member(self, containers: Containers, columns: Sequence[Column]) -> Flags:
        """The blocks with a member that has no rows, or with a column that cannot be anything.

        A member whose bucket contradicts its bounds can be nothing, too. So if a column has
        buckets, every block counts.
        """
        named = {column.path for column in columns}
        flags = np.full(self.count, any(b.source in named for b in containers.buckets))
        if self._rows(containers) is not None:
            flags |= self._with_empty_member(containers)
        for _, interval in _column_intervals(containers, columns):
            flags |= self._once("nothing", interval, self._nothing)
        return flags

    def _rows(self, containers: Containers) -> pa.Array | None:
        """The rows of the containers; None if none is known to be empty: no verdict needs them."""
        if containers.rows is None or not self._with_empty_member(containers).any():
            return None
        return containers.rows

    def _with_empty_member(self, containers: Containers) -> Flags:
        """The blocks with a member that has no rows."""
        return self._once(
            "empty", containers.rows, lambda _: self.any(opposite(containers.occupied))
        )

    def _nothing(self, interval: Interval) -> Flags:
        return self.any(opposite(either(interval.value, interval.null, interval.nan)))

    def blocks_where(self, key: str, interval: Interval, mask: Callable[[Interval], Mask]) -> Flags:
        """The blocks in which a mask over a column says yes for some member."""
        return self._once(key, interval, lambda of: self.any(mask(of)))

    def clear_cache(self) -> None:
        """Clear the cache."""
        self._results.clear()
        self._notes.clear()

    def cached(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """The cached value for a key; `make` computes it the first time."""
        if key not in self._notes:
            if len(self._notes) >= NOTES_AT_MOST:
                self._notes.clear()
            self._notes[key] = make()
        note: Result = self._notes[key]
        return note

    def _once(self, key: str, source: Source, work: Callable[[Source], Result]) -> Result:
        """The result of `work` on a column, computed once and cached."""
        entry = self._results.get((key, id(source)))
        if entry is None:
            if len(self._results) >= KEPT_AT_MOST:
                self._results.clear()
            entry = self._results[key, id(source)] = (source, work(source))
        result: Result = entry[1]
        return result

    def members(
        self, containers: Containers, columns: Sequence[Column], chosen: Positions
    ) -> Containers:
        """The containers of the chosen blocks, block by block. `chosen` is ascending."""
        count = int(self.sizes[chosen].sum())
        picked = self._picked(chosen)
        rows = self._rows(containers)
        named = {column.path for column in columns}

        def members(source: Intervals) -> Intervals:
            return {
                path: interval.map(lambda values: picked(self.ordered(values)))
                for path, interval in source.items()
                if path in named
            }

        return Containers(
            count,
            None if rows is None else picked(self.ordered(rows)),
            partition=members(containers.partition),
            statistics=members(containers.statistics),
            buckets=tuple(
                replace(b, lower=self._part(b.lower, picked), upper=self._part(b.upper, picked))
                for b in containers.buckets
            ),
        )

    def spans(self, chosen: Positions) -> list[tuple[int, int]]:
        """The spans of the order that the chosen blocks take; adjacent blocks are joined."""
        if not len(chosen):
            return []
        breaks = np.flatnonzero(np.diff(chosen) > 1) + 1
        first = chosen[np.concatenate(([0], breaks))]
        last = chosen[np.concatenate((breaks - 1, [len(chosen) - 1]))]
        return list(zip(self.begins[first].tolist(), self.begins[last + 1].tolist(), strict=True))

    def places(self, chosen: Positions) -> Positions:
        """The positions in the order of each member of the chosen blocks."""
        sizes = self.sizes[chosen]
        ends = sizes.cumsum()
        shift = self.begins[chosen] - (ends - sizes)
        positions: Positions = np.arange(int(sizes.sum()))
        positions += np.repeat(shift, sizes)
        return positions

    def any(self, mask: Mask) -> Flags:
        """The blocks in which the mask says yes for some member."""
        if isinstance(mask, bool):
            return np.full(self.count, mask)
        ordered = mask.take(self._indices).to_numpy(zero_copy_only=False)
        flags: Flags = np.logical_or.reduceat(ordered, self.begins[:-1])
        return flags

    def sums(self, values: pa.Array) -> Positions:
        """The sum per block. No value may be unknown."""
        return self._once("sums", values, self._summed)

    def _summed(self, values: pa.Array) -> Positions:
        totals: Positions = np.add.reduceat(self.ordered(values).to_numpy(), self.begins[:-1])
        return totals

    def ordered(self, values: pa.Array) -> pa.Array:
        """The values in block order."""
        return self._once("ordered", values, lambda of: of.take(self._indices))

    def _part(self, values: Vector | None, picked: Callable[[pa.Array], pa.Array]) -> Vector | None:
        return picked(self.ordered(values)) if isinstance(values, pa.Array) else values

    def _picked(self, chosen: Positions) -> Callable[[pa.Array], pa.Array]:
        """A function that takes the members of the chosen blocks from a column in block order."""
        spans = self.spans(chosen)
        if not spans:
            return lambda values: values.slice(0, 0)
        if len(spans) == 1:
            begin, end = spans[0]
            return lambda values: values.slice(begin, end - begin)
        if len(spans) <= SPANS_AT_MOST:
            return lambda values: pa.concat_arrays([values.slice(b, e - b) for b, e in spans])
        at = pa.array(self.places(chosen))
        return lambda values: values.take(at)

    def _hull(self, interval: Interval) -> Interval:
        return self._once("hull", interval, self._hull_of)

    def _hull_of(self, interval: Interval) -> Interval:
        def by_block(mask: Mask) -> Mask:
            return mask if isinstance(mask, bool) else simplified(pa.array(self.any(mask)))

        return replace(
            interval.map_masks(by_block),
            lower=self._end(interval.lower, least=True, where=interval.value),
            upper=self._end(interval.upper, least=False, where=interval.value),
            counted=True,
        )

    def _kernel_of(self, interval: Interval) -> Interval:
        def by_block(mask: Mask) -> Mask:
            if isinstance(mask, bool):
                return mask
            return simplified(pa.array(~self.any(opposite(mask))))

        lower = self._innermost(interval.lower, least=True)
        upper = self._innermost(interval.upper, least=False)
        crossed = surely(greater, lower, upper)
        common = interval.map_masks(by_block)
        value = both(common.value, opposite(crossed))
        return replace(common, lower=lower, upper=upper, value=value, counted=True)

    def _innermost(self, values: Vector | None, *, least: bool) -> Vector | None:
        """The innermost bound per block, among the bounds that are known."""
        return self._extreme(values, "max" if least else "min")

    def _extreme(self, values: Vector | None, kind: str) -> Vector | None:
        """The least or the greatest value per block, among the values that are known."""
        if not isinstance(values, pa.Array):
            return values
        ordered = self.ordered(values)
        if pa.types.is_integer(values.type) and not values.null_count:
            # Many times faster than grouping.
            extreme = np.minimum if kind == "min" else np.maximum
            return pa.array(extreme.reduceat(ordered.to_numpy(), self.begins[:-1]))
        table = pa.table({"block": self._numbers, "bound": ordered})
        grouped = table.group_by("block", use_threads=False).aggregate([("bound", kind)])
        return grouped[f"bound_{kind}"].combine_chunks()

    def _end(self, values: Vector | None, *, least: bool, where: Mask = True) -> Vector | None:
        """The outermost bound per block; unknown if a member with values has an unknown bound."""
        if not isinstance(values, pa.Array):
            return values
        bounds = choose(where, values, None)
        if not isinstance(bounds, pa.Array):
            return None
        outermost = self._extreme(bounds, "min" if least else "max")
        unknown = self.any(_unknown(values, where))
        return choose(pa.array(unknown), pa.scalar(None, values.type), outermost)


def _column_intervals(
    containers: Containers, columns: Sequence[Column]
) -> Iterator[tuple[Path, Interval]]:
    """The columns with partition values or statistics, each with its interval."""
    for column in columns:
        if column.path in containers.partition or column.path in containers.statistics:
            yield column.path, containers.interval(column)


def _unknown(values: pa.Array, where: Mask) -> Mask:
    """True where a value is possible and its bound is unknown."""
    return both(opposite(has_value(values)), where)


def make_blocks(containers: Containers, columns: Sequence[Column]) -> Blocks:
    """Blocks whose members have similar values of the columns; columns with few values come first.

    Each column splits every block that the columns before it made: at its distinct values if they
    are few, else into equal parts by its lower bound.
    """
    count = containers.count
    target = max(1, min(BLOCKS_AT_MOST, count // MEMBERS_AT_LEAST))
    cells = np.zeros(count, np.int64)
    made = 1
    ranks = [r for c in columns if (r := _ranks(containers.interval(c).lower)) is not None]
    for position, ranked in enumerate(sorted(ranks, key=lambda r: int(r.max(initial=0)))):
        share = (target / made) ** (1 / (len(ranks) - position))
        pieces = max(1, int(share + 0.5))
        distinct = int(ranked.max(initial=0)) + 1
        if distinct <= max(pieces, min(target // made, 64)):
            cells = cells * distinct + ranked
            made *= distinct
        elif pieces > 1:
            cells = _cut(cells, ranked, pieces)
            made *= pieces
    order = np.argsort(cells, kind="stable")
    begins = np.flatnonzero(np.diff(cells[order], prepend=-1))
    return Blocks(order, np.concatenate((begins, [count])))


def _ranks(lower: Vector | None) -> Positions | None:
    """The rank of each bound, unknown bounds last; None if all bounds are equal."""
    if not isinstance(lower, pa.Array) or lower.null_count == len(lower):
        return None
    if pa.types.is_binary(lower.type):
        # Text often has few distinct values, and is slow to sort.
        encoded = lower.dictionary_encode()
        codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy()
        ranks = np.append(_dense(encoded.dictionary), len(encoded.dictionary))[codes]
    else:
        ranks = _dense(lower)
    return ranks if ranks.any() else None


def _dense(values: pa.Array) -> Positions:
    """The rank of each value. Equal values have the same rank; unknown ones have the last."""
    order = pc.sort_indices(values).to_numpy()
    ascending = values.take(pa.array(order[: len(values) - values.null_count]))
    steps = pc.not_equal(ascending[1:], ascending[:-1]).to_numpy(zero_copy_only=False)
    below = np.concatenate(([0], steps.cumsum()))
    ranks = np.full(len(values), below[-1] + 1)
    ranks[order[: len(below)]] = below
    return ranks


def _cut(cells: Positions, ranked: Positions, pieces: int) -> Positions:
    """Split every cell into `pieces` equal parts by rank."""
    order = np.lexsort((ranked, cells))
    sorted_cells = cells[order]
    begins = np.flatnonzero(np.diff(sorted_cells, prepend=-1))
    sizes = np.diff(np.concatenate((begins, [len(cells)])))
    within = np.arange(len(cells)) - np.repeat(begins, sizes)
    part = within * pieces // np.repeat(sizes, sizes)
    numbers = np.empty_like(cells)
    numbers[order] = sorted_cells * pieces + part
    return numbers
