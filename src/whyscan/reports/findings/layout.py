"""Findings about how rows lie in files: bounds that overlap, files that are small."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.planning.why.overlap_depth import overlap_of, sampled
from whyscan.reports.findings.clustering import partition_numbers, wide_bounds
from whyscan.reports.findings.finding import Code, Effect, Facts, Finding, Severity
from whyscan.reports.listing import partitions_together
from whyscan.reports.words import counted, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.planning.why.overlap_depth import OverlapDepth
    from whyscan.tree.nodes import Column

    Ends = Callable[[Column, ScanPlan], tuple[pa.Array, pa.Array] | None]
    """The bounds of a column in each file of a part, null where unknown; None for none."""

DEEP = 4
"""So many times the ideal depth, and at least so many files, are worth a word."""

SMALL = 16_000_000
TARGET = 128_000_000
MANY = 32
"""Files of which most are smaller than `SMALL` bytes; what writers aim for is `TARGET`."""


def layout(facts: Facts) -> Iterator[Finding]:
    """All of this family."""
    yield from wide_bounds(facts)
    yield from _small_files(facts)


def overlaps(
    plan: PlannedSnapshot, columns: Sequence[Column], ends: Ends
) -> Iterator[OverlapDepth | None]:
    """How deep the bounds of each column lie over each other; None where no two files have both.

    Of more files than are measured, those that are not stay where they are.
    """
    counts = plan.each(partial(_bounded, columns=columns, ends=ends))
    until = np.cumsum(counts, axis=0)
    chosen = [sampled(int(count)) for count in until[-1]]
    given = [
        [_within(at, end - n, end) for at, n, end in zip(chosen, *here, strict=True)]
        for here in zip(counts, until.tolist(), strict=True)
    ]
    found = plan.each_given(partial(_bounds_at, columns=columns, ends=ends), given)
    for position, count in enumerate(until[-1].tolist()):
        known = [part[position] for part in found]
        yield (
            overlap_of(*_joined([k for k in known if k is not None]), count) if count > 1 else None
        )


def _within(at: npt.NDArray[np.int64], start: int, end: int) -> npt.NDArray[np.int64]:
    """Those of the positions that are in a part, as positions in it."""
    return at[(at >= start) & (at < end)] - start


def _both(found: tuple[pa.Array, pa.Array] | None) -> tuple[pa.Array, pa.Array] | None:
    """Of the files that have both; None for none."""
    if found is None:
        return None
    lower, upper = found
    here = pc.and_(lower.is_valid(), upper.is_valid())
    return lower.filter(here), upper.filter(here)


def _bounded(plan: ScanPlan, columns: Sequence[Column], ends: Ends) -> list[int]:
    found = (_both(ends(column, plan)) for column in columns)
    return [0 if known is None else len(known[0]) for known in found]


def _bounds_at(
    plan: ScanPlan, at: Sequence[npt.NDArray[np.int64]], columns: Sequence[Column], ends: Ends
) -> list[tuple[pa.Array, pa.Array] | None]:
    found = (
        (_both(ends(column, plan)), pa.array(here))
        for column, here in zip(columns, at, strict=True)
    )
    return [None if k is None else (k[0].take(here), k[1].take(here)) for k, here in found]


def _joined(known: Sequence[tuple[pa.Array, pa.Array]]) -> tuple[pa.Array, pa.Array]:
    """The bounds of all parts, each of which may store them in its own way."""
    stored = known[0][0].type
    lower, upper = (
        pa.concat_arrays([end.cast(stored) for end in e]) for e in zip(*known, strict=True)
    )
    return lower, upper


def _sizes(plan: ScanPlan) -> tuple[pa.Array, pa.Table]:
    """The bytes of the files to read, where they are known, and their partitions."""
    found = plan.counted
    at = pa.array(np.sort(found.positions(found.judgement.kept)))
    sizes = found.files.bytes.take(at).cast(pa.int64())
    known_sizes, partition = sizes.is_valid(), found.files.partition
    if partition.num_columns:
        partition = partition.take(at).filter(known_sizes)
    return sizes.drop_null(), partition


def _small_files(facts: Facts) -> Iterator[Finding]:
    """Files that compaction would make fewer: no row moves to another partition."""
    if facts.files.kept < MANY:
        return
    parts = [part for part in facts.plan.each(_sizes) if len(part[0])]
    sizes = pa.concat_arrays([sizes for sizes, _ in parts]) if parts else pa.nulls(0, pa.int64())
    if len(sizes) < MANY:
        return
    median = int(pc.quantile(sizes, 0.5)[0].as_py())
    weight = int(pc.sum(sizes).as_py())
    partition = partitions_together([(table, len(sizes)) for sizes, table in parts])
    weights = np.bincount(partition_numbers(partition, len(sizes)), sizes.to_numpy())
    enough = int(np.maximum(np.ceil(weights / TARGET), 1).sum())
    if median >= SMALL or enough * 2 > len(sizes):
        return
    yield Finding(
        Code.SMALL_FILES,
        Severity.INFO,
        f"the {counted(len(sizes), 'file')} to read are small: {size(median)} (median), "
        f"{size(weight)} together",
        f"compact them: in files of {size(TARGET)} they would be {enough:,}",
        {"files": len(sizes), "median_bytes": median},
        effect=Effect("files", len(sizes), enough),
    )
