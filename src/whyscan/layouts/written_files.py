"""Cuts ordered rows into files, as a writer would, and computes what their metadata would say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.errors import UsageError
from whyscan.layouts.curves import CURVE_BITS, hilbert, ordered_bits, zorder, zorder_words
from whyscan.layouts.layout import OrderKind
from whyscan.pruning.containers import ColumnStatistics, checked
from whyscan.pruning.mask import simplified
from whyscan.pruning.transforms import forward

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.layouts.applied import AppliedLayout
    from whyscan.layouts.layout import PartitionTerm
    from whyscan.layouts.sample import Sample, SampledColumn
    from whyscan.pruning.containers import CheckedStatistics
    from whyscan.pruning.mask import Mask

    Numbers = npt.NDArray[np.int64]
    Weights = npt.NDArray[np.float64]

LEAST_ROWS_A_FILE = 8
"""With fewer sampled rows a file, bounds would be far too narrow to be an estimate."""
_SHIFT = 0.25
_RANGES = 1000
"""A curve runs through this many ranges of each column, as in Delta's OPTIMIZE."""


class Cut(Struct, frozen=True):
    """Sampled rows in the order of writing, cut into containers.

    `rows` are positions in the sample, `starts` the first one of each container, and `weights`
    how many rows of the table each stands for.
    """

    rows: Numbers
    starts: Numbers
    weights: Weights

    @property
    def count(self) -> int:
        return len(self.starts)

    def sums(self, values: Weights) -> Weights:
        """The sum of one value per row, for each container."""
        return np.add.reduceat(values, self.starts) if self.count else np.zeros(0)

    @property
    def row_counts(self) -> Numbers:
        return np.maximum(1, np.rint(self.sums(self.weights))).astype(np.int64)

    def first(self) -> Numbers:
        """The position in the sample of the first row of each container."""
        return self.rows[self.starts]

    def statistics(
        self, sampled: SampledColumn, *, prefix: int | None, counts_nan: bool
    ) -> CheckedStatistics:
        """The statistics of a column. Text bounds keep `prefix` characters, None for all.

        Unless the format `counts_nan`, NaN is possible in every file.
        """
        places = sampled.places[self.rows]
        is_null, is_nan = places < 0, places == len(sampled.distinct)
        is_value = ~(is_null | is_nan)
        if not self.count:
            lowest = highest = np.zeros(0, np.int64)
        else:
            beyond = len(sampled.distinct)
            lowest = np.minimum.reduceat(np.where(is_value, places, beyond), self.starts)
            highest = np.maximum.reduceat(np.where(is_value, places, -1), self.starts)
        missing = highest < 0
        lower = sampled.distinct.take(pa.array(lowest, mask=missing))
        upper = sampled.distinct.take(pa.array(highest, mask=missing))
        if prefix is not None:
            lower = _shortened(lower, prefix, above=False)
            upper = _shortened(upper, prefix, above=True)
        rows = self.row_counts
        has_others = self.sums(self.weights * ~is_null) > 0
        null_rows = np.minimum(np.ceil(self.sums(self.weights * is_null)), rows - 1)
        nulls = np.where(has_others, null_rows, rows).astype(np.int64)
        nan: Mask = True
        if counts_nan:
            nan = simplified(pa.array(self.sums(self.weights * is_nan) > 0))
        return checked(
            sampled.column.type,
            ColumnStatistics(lower, upper, pa.array(nulls), nan=nan),
            pa.array(rows),
        )


class OrderedRows(Struct, frozen=True):
    """The sampled rows in the order of writing, with the partition of each."""

    rows: Numbers
    groups: Numbers


def ordered_rows(sample: Sample, layout: AppliedLayout) -> OrderedRows:
    """Order the sampled rows by partition, and within a partition as the layout says."""
    columns = sample.columns(layout.columns)
    groups = _groups(layout, columns, sample.rows)
    keys = _keys(layout, columns, by_bits=sample.snapshot.format == "iceberg")
    rows = np.lexsort((*reversed(keys), groups))
    return OrderedRows(rows, groups[rows])


def cut_files(
    ordered: OrderedRows, weights: Weights, rows_a_file: float, shifts: np.random.Generator | None
) -> Cut:
    """Cut each partition into files of about `rows_a_file` rows of the table, all of one size.

    `weights` is how many rows of the table each row of the sample stands for; rows of weight 0 are
    left out. `shifts` moves each cut by up to a quarter of a file, because writers do not cut
    exactly.
    """
    taken = weights > 0
    rows, groups, weights = ordered.rows[taken], ordered.groups[taken], weights[taken]
    cut = _cut(rows, groups, weights, rows_a_file, shifts)
    if cut.count > 1 and len(rows) < LEAST_ROWS_A_FILE * cut.count and weights.min() > 1:
        raise UsageError(
            f"the sample has {len(rows):,} rows for {cut.count:,} files of the layout",
            hint="raise --sample, or ask for larger files",
        )
    return cut


def cut_row_groups(files: Cut, rows_a_group: float) -> tuple[Cut, Numbers]:
    """Cut the rows of files into row groups; also return the file of each row group."""
    owners = np.repeat(np.arange(files.count), np.diff([*files.starts, len(files.rows)]))
    cut = _cut(files.rows, owners, files.weights, rows_a_group, None)
    return cut, owners[cut.starts]


def _cut(
    rows: Numbers,
    groups: Numbers,
    weights: Weights,
    size: float,
    shifts: np.random.Generator | None,
) -> Cut:
    """Cut each group of rows into containers of one size, as near to `size` as possible."""
    if not len(rows):
        return Cut(rows, np.zeros(0, np.int64), weights)
    first = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
    group = np.repeat(np.arange(len(first)), np.diff([*first, len(rows)]))
    total = np.add.reduceat(weights, first)
    counts = np.maximum(1, np.rint(total / size)).astype(np.int64)
    before = np.cumsum(weights) - weights
    # Rounded, because the sum of many weights is not exact.
    place = np.round((before - before[first][group]) * (counts / total)[group], 9)
    number = np.minimum(np.floor(place).astype(np.int64), counts[group] - 1)
    base = np.cumsum(counts) - counts
    at = base[group] + number
    if shifts is not None:
        shift = shifts.uniform(-_SHIFT, _SHIFT, int(counts.sum()) + 1)
        shift[base] = shift[-1] = 0.0
        within = place - number
        at = at + (within > 1 + shift[at + 1]) - (within < shift[at])
    starts = np.flatnonzero(np.concatenate(([True], at[1:] != at[:-1])))
    return Cut(rows, starts, weights)


def _groups(layout: AppliedLayout, columns: Sequence[SampledColumn], rows: int) -> Numbers:
    """The partition of each sampled row as a number, in the order of the partition values."""
    if not layout.partitions:
        return np.zeros(rows, np.int64)
    by_path = {sampled.column.path: sampled for sampled in columns}
    codes = []
    for term in layout.partitions:
        source = by_path[term.path]
        coded = partition_values(term, source, source.values).dictionary_encode(
            null_encoding="encode"
        )
        order = np.empty(len(coded.dictionary), np.int64)
        order[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(order))
        codes.append(order[coded.indices.to_numpy()])
    _, groups = np.unique(np.stack(codes), axis=1, return_inverse=True)
    return groups.reshape(-1).astype(np.int64)


def partition_values(term: PartitionTerm, source: SampledColumn, values: pa.Array) -> pa.Array:
    """The values of a partition field, for values of its source column."""
    partition = forward(term.transform, source.column.type, values)
    if partition is None:
        raise UsageError(f"{term} is not defined for type {source.column.type}")
    return partition


def _keys(
    layout: AppliedLayout, columns: Sequence[SampledColumn], *, by_bits: bool
) -> list[npt.NDArray[np.integer]]:
    """What rows are sorted by within a partition, the most important first.

    `by_bits`: a Z-order interleaves the bits of the values, as Iceberg does. So a column whose
    values differ in higher bits comes first. Delta interleaves ranks.
    """
    order = layout.order
    if order is None:
        return []
    by_path = {sampled.column.path: sampled for sampled in columns}
    sampled = [by_path[column.path] for column in order.columns]
    if order.kind is OrderKind.SORT:
        return [
            -column.places if wanted.descending else column.places
            for wanted, column in zip(order.columns, sampled, strict=True)
        ]
    if order.kind is OrderKind.ZORDER and by_bits:
        return list(zorder_words([_bits(column) for column in sampled]))
    bits = min(_RANGES.bit_length(), CURVE_BITS // len(sampled))
    coordinates = [_range_numbers(column.places, bits) for column in sampled]
    curve = zorder if order.kind is OrderKind.ZORDER else hilbert
    return [curve(coordinates, bits)]


def _bits(column: SampledColumn) -> npt.NDArray[np.uint64]:
    """The bits of each row's value; NaN is above all values, and NULL is 0."""
    bits = ordered_bits(column.distinct)
    others = np.array([2**64 - 1, 0], np.uint64)
    return np.concatenate((bits, others))[column.places]


def _range_numbers(places: Numbers, bits: int) -> npt.NDArray[np.uint64]:
    """The range of each row: equal values are in one range, and ranges have about as many rows."""
    ranges = min(_RANGES, 1 << bits)
    counts = np.bincount(places + 1)
    before = np.cumsum(counts) - counts
    numbers = before * ranges // max(1, len(places))
    return numbers[places + 1].astype(np.uint64)


def _shortened(bounds: pa.Array, prefix: int, *, above: bool) -> pa.Array:
    """Text bounds cut to `prefix` characters; an upper bound gets the greatest character."""

    def short(value: bytes | None) -> bytes | None:
        text = None if value is None else value.decode("utf-8", "replace")
        if text is None or len(text) <= prefix:
            return value
        return (text[:prefix] + ("\U0010ffff" if above else "")).encode()

    return pa.array([short(value) for value in bounds.to_pylist()], bounds.type)
