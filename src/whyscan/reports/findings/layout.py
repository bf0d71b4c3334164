"""Findings about the layout: bounds that overlap, and small files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.planning.why.overlap_depth import overlap_of, sampled
from whyscan.reports.findings.clustering import wide_bounds
from whyscan.reports.findings.finding import (
    Code,
    Effect,
    Facts,
    Finding,
    Severity,
    table_sql,
)
from whyscan.reports.listing import join_partitions
from whyscan.reports.words import counted, size
from whyscan.tree.arrow import of_integers, tuple_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.planning.why.overlap_depth import OverlapDepth
    from whyscan.tree.nodes import Column

    Ends = Callable[[Column, ScanPlan], tuple[pa.Array, pa.Array] | None]
    """The bounds of a column in each file of a part, null where unknown; None for none."""

DEEP = 4
"""Overlap is reported if its depth is at least this many times the ideal depth."""

SMALL = 16_000_000
TARGET = 128_000_000
MANY = 32
"""SMALL_FILES needs at least this many files, of which half have fewer than `SMALL` bytes.

Writers aim for `TARGET` bytes.
"""


def layout(facts: Facts) -> Iterator[Finding]:
    """Yield all findings of this family."""
    yield from wide_bounds(facts)
    yield from _small_files(facts)


def overlaps(
    plan: PlannedSnapshot, columns: Sequence[Column], ends: Ends
) -> Iterator[OverlapDepth | None]:
    """Yield for each column how many files' bounds overlap; None if fewer than two have bounds.

    If there are too many files, a sample of them is measured.
    """
    counts = plan.each(partial(_count_bounded, columns=columns, ends=ends))
    until = np.cumsum(counts, axis=0)
    chosen = [sampled(int(count)) for count in until[-1]]
    positions = [
        [_positions_in_part(at, end - n, end) for at, n, end in zip(chosen, *part, strict=True)]
        for part in zip(counts, until.tolist(), strict=True)
    ]
    bounds_of_parts = plan.each_with(partial(_bounds_at, columns=columns, ends=ends), positions)
    for position, count in enumerate(until[-1].tolist()):
        bounds = [part[position] for part in bounds_of_parts]
        measured = [part for part in bounds if part is not None]
        yield overlap_of(*_join_bounds(measured), count) if count > 1 else None


def _positions_in_part(
    positions: npt.NDArray[np.int64], start: int, end: int
) -> npt.NDArray[np.int64]:
    """Return the positions that are in one part, as positions in that part."""
    return positions[(positions >= start) & (positions < end)] - start


def _with_both_bounds(bounds: tuple[pa.Array, pa.Array] | None) -> tuple[pa.Array, pa.Array] | None:
    """Return the bounds of the files that have both bounds."""
    if bounds is None:
        return None
    lower, upper = bounds
    has_both = pc.and_(lower.is_valid(), upper.is_valid())
    return lower.filter(has_both), upper.filter(has_both)


def _count_bounded(plan: ScanPlan, columns: Sequence[Column], ends: Ends) -> list[int]:
    bounds_of_columns = (_with_both_bounds(ends(column, plan)) for column in columns)
    return [0 if bounds is None else len(bounds[0]) for bounds in bounds_of_columns]


def _bounds_at(
    plan: ScanPlan, at: Sequence[npt.NDArray[np.int64]], columns: Sequence[Column], ends: Ends
) -> list[tuple[pa.Array, pa.Array] | None]:
    chosen = (
        (_with_both_bounds(ends(column, plan)), pa.array(positions))
        for column, positions in zip(columns, at, strict=True)
    )
    return [
        None if bounds is None else (bounds[0].take(positions), bounds[1].take(positions))
        for bounds, positions in chosen
    ]


def _join_bounds(bounds_of_parts: Sequence[tuple[pa.Array, pa.Array]]) -> tuple[pa.Array, pa.Array]:
    """Join the bounds of all parts, which may have different Arrow types."""
    first_type = bounds_of_parts[0][0].type
    lower, upper = (
        pa.concat_arrays([end.cast(first_type) for end in ends])
        for ends in zip(*bounds_of_parts, strict=True)
    )
    return lower, upper


def _sizes(plan: ScanPlan) -> tuple[pa.Array, pa.Table]:
    """Return the bytes of the files to read, without unknown ones, and their partitions."""
    evidence = plan.counted
    at = of_integers(np.sort(evidence.positions(evidence.judgement.kept)))
    sizes = evidence.files.bytes.take(at).cast(pa.int64())
    has_size, partition = sizes.is_valid(), evidence.files.partition
    if partition.num_columns:
        partition = partition.take(at).filter(has_size)
    return sizes.drop_null(), partition


def _small_files(facts: Facts) -> Iterator[Finding]:
    """Find small files that compaction would merge within their partitions."""
    if facts.files.kept < MANY:
        return
    parts = [part for part in facts.plan.each(_sizes) if len(part[0])]
    sizes = pa.concat_arrays([sizes for sizes, _ in parts]) if parts else pa.nulls(0, pa.int64())
    if len(sizes) < MANY:
        return
    median = int(pc.quantile(sizes, 0.5)[0].as_py())
    weight = int(pc.sum(sizes).as_py())
    partition = join_partitions([(table, len(sizes)) for sizes, table in parts])
    weights = np.bincount(tuple_numbers(partition.columns, len(sizes)), sizes.to_numpy())
    enough = int(np.maximum(np.ceil(weights / TARGET), 1).sum())
    if median >= SMALL or enough * 2 > len(sizes):
        return
    each = ", at least one in each partition" if np.count_nonzero(weights) > 1 else ""
    yield Finding(
        Code.SMALL_FILES,
        Severity.INFO,
        f"the {counted(len(sizes), 'file')} to read are small: {size(median)} (median), "
        f"{size(weight)} together",
        f"compact them: in files of {size(TARGET)} they would be {enough:,}{each}",
        {"files": len(sizes), "median_bytes": median},
        f"OPTIMIZE {table_sql(facts.plan)}" if facts.plan.snapshot.format == "delta" else None,
        Effect("files", len(sizes), enough),
    )
