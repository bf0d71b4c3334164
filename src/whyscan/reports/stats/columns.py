"""The profile of one column: its statistics, and how well a filter on it could prune."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Meta, Struct

from whyscan.fields import Count, Fraction, Name, Record
from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.truncated_bounds import cut
from whyscan.planning.why.overlap_depth import median, overlap
from whyscan.pruning.mask import both, either, opposite
from whyscan.reports.distribution import Distribution, distribution
from whyscan.reports.file_bounds import hulls, recorded
from whyscan.tables.snapshot import Collected

if TYPE_CHECKING:
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.why.overlap_depth import OverlapDepth
    from whyscan.pruning.interval import Interval
    from whyscan.tables.snapshot import Files, RowGroups, Snapshot
    from whyscan.tree.nodes import Column

NEVER_TIGHT = 0.9
"""Bounds that span this share of the column in the median file help no filter."""


class Depths(Record, frozen=True, rename={"spread": "histogram"}):
    """The number of files that one value falls into: the median, and the ideal if sorted."""

    median: Count
    ideal: Count
    spread: Distribution


class ColumnStats(
    Record,
    frozen=True,
    rename={
        "bounded": "files_with_bounds",
        "bytes_bounded": "bytes_with_bounds",
        "constant": "constant_files",
        "width": "median_width",
        "skipped": "skipped_by_equality",
        "cut": "files_with_cut_bounds",
        "nulls": "files_with_nulls",
        "nulls_uncounted": "files_with_uncounted_nulls",
        "nan": "files_with_nan",
    },
):
    """The profile of a column over all files. What is unknown is null."""

    COMPUTED: ClassVar = {"never_tight": "never_tight"}

    column: Name
    type: Name
    partitioned: Annotated[bool, Meta(description="The column has partition values.")]
    collected: Annotated[
        Collected, Meta(description="Whether writers collect bounds of the column, or why not.")
    ]
    files: Count
    bounded: Count
    bytes_bounded: Count | None
    constant: Annotated[Count, Meta(description="Files with one value.")]
    width: Annotated[
        Fraction | None,
        Meta(description="The share of the column's range that the median file spans."),
    ]
    depth: Annotated[
        Depths | None, Meta(description="The number of files that one value falls into.")
    ]
    skipped: Annotated[
        Fraction | None,
        Meta(description="The average share of files that column = value skips."),
    ]
    cut: Annotated[Count, Meta(description="Files with a truncated bound.")]
    nulls: Annotated[Count, Meta(description="Files that may have NULL.")]
    nulls_uncounted: Annotated[Count, Meta(description="Files without a count of NULL.")]
    nan: Annotated[Count, Meta(description="Files that may have NaN.")]

    @property
    def never_tight(self) -> bool:
        """True if the bounds are so wide that they exclude nothing."""
        return bool(self.bounded) and self.width is not None and self.width >= NEVER_TIGHT


class ReadTable(Struct, frozen=True):
    """The metadata of a table; `groups` is None if no footer was opened."""

    snapshot: Snapshot
    files: Files
    groups: RowGroups | None

    @property
    def by_footers(self) -> RowGroups | None:
        return self.groups if self.snapshot.footers_describe_files else None


def column_stats(read: ReadTable, column: Column) -> ColumnStats:
    """Measure one column."""
    count = read.files.count
    partitioned = column.path in read.snapshot.partition_sources
    interval, parents = _interval(read, column, partitioned=partitioned)
    lower, upper = _ends(read, interval, partitioned=partitioned)
    bounded = _has_both(lower, upper)
    overlaps = overlap(lower, upper)
    recording = read.snapshot.recording(column)
    return ColumnStats(
        column=".".join(column.path),
        type=str(column.type),
        partitioned=partitioned,
        collected=recording.collected,
        files=count,
        bounded=bounded.true_count,
        bytes_bounded=_sum(read.files.bytes.filter(bounded)),
        constant=pc.equal(lower, upper).true_count,
        width=None if overlaps is None else round(median(overlaps.widths), 6),
        depth=None if overlaps is None else _depths(overlaps),
        skipped=_skipped(overlaps, count, bounded.true_count),
        cut=_files(either(*cut(interval, recording)), parents, read),
        nulls=_files(interval.null, parents, read),
        nulls_uncounted=_files(both(interval.null, opposite(interval.counted)), parents, read),
        nan=_files(interval.nan, parents, read),
    )


def files_with_bounds(read: ReadTable, column: Column) -> int:
    """Count the files that have both bounds of a column."""
    partitioned = column.path in read.snapshot.partition_sources
    interval, _ = _interval(read, column, partitioned=partitioned)
    return int(_has_both(*_ends(read, interval, partitioned=partitioned)).true_count)


def _has_both(lower: pa.Array, upper: pa.Array) -> pa.BooleanArray:
    return pc.and_(lower.is_valid(), upper.is_valid())


def _interval(
    read: ReadTable, column: Column, *, partitioned: bool
) -> tuple[Interval, pa.Array | None]:
    """Return the interval of the column, and the file of each slot if slots are row groups."""
    groups = read.by_footers
    if groups is None or partitioned:
        return read.files.containers.interval(column), None
    return groups.containers.interval(column), groups.owners


def _ends(read: ReadTable, interval: Interval, *, partitioned: bool) -> tuple[pa.Array, pa.Array]:
    groups, count = read.by_footers, read.files.count
    if groups is None or partitioned:
        bounds = recorded(interval, count)
    else:
        bounds = hulls(interval, groups, count)
    nothing = pa.nulls(count, pa.bool_())  # The type does not matter: every value is null.
    return (nothing, nothing) if bounds is None else bounds


def _depths(overlaps: OverlapDepth) -> Depths | None:
    spread = distribution(np.rint(overlaps.depths).astype(np.int64))
    return None if spread is None else Depths(overlaps.median, overlaps.ideal, spread)


def _skipped(overlaps: OverlapDepth | None, files: int, bounded: int) -> float | None:
    """Return the average share of skipped files; a file without bounds is never skipped."""
    if overlaps is None:
        return None
    return round(max(0.0, 1 - (float(overlaps.depths.mean()) + files - bounded) / files), 6)


def _files(mask: pa.BooleanArray | bool, parents: pa.Array | None, read: ReadTable) -> int:  # noqa: FBT001 - a mask
    """Count the files for which the mask is True, or which have such a row group."""
    if parents is None:
        return int(flags(mask, read.files.count).sum())
    yes: Flags = flags(mask, len(parents))
    return len(np.unique(parents.to_numpy()[yes]))


def _sum(values: pa.Array) -> int | None:
    if values.null_count:
        return None
    return int(pc.sum(values, min_count=0).as_py())
