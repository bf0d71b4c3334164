"""The layout of a table: columns by how well they prune, files, row groups and manifests."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pyarrow as pa
from msgspec import Meta

from whyscan.errors import TableError
from whyscan.fields import Count, Name, Record
from whyscan.planning.plan.planner import FOOTERS_AT_MOST
from whyscan.planning.plan.request import leaf_columns
from whyscan.planning.why.overlap_depth import overlap
from whyscan.reports.distribution import Distribution, of_array
from whyscan.reports.filters import FilterLine, filter_lines
from whyscan.reports.rendering import WrittenReport
from whyscan.reports.report import Effort, Subject, Unchecked
from whyscan.reports.stats.columns import ColumnStats, ReadTable, column_stats
from whyscan.reports.words import counted
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.reports.view import Blocks
    from whyscan.tables.snapshot import Files, FilterCount, Manifests, RowGroups, Snapshot
    from whyscan.tree.nodes import Column


class ManifestOverlap(Record, frozen=True):
    """The median number of manifests that one value of a partition source column falls into."""

    column: Name
    median: Count
    ideal: Count


class TableStats(
    WrittenReport,
    frozen=True,
    rename={"file_sizes": "file_bytes", "row_group_sizes": "row_group_bytes"},
):
    """The layout of one snapshot."""

    OPTIONAL: ClassVar = ("bloom_filters",)

    table: Subject
    files: Count
    bytes: Count | None
    rows: Count | None
    columns: Annotated[
        tuple[ColumnStats, ...],
        Meta(description="The columns, ordered by the share of files that an equality skips."),
    ]
    file_sizes: Distribution | None
    row_group_sizes: Distribution | None
    row_group_rows: Distribution | None
    manifests: Count | None
    manifest_overlap: tuple[ManifestOverlap, ...]
    unchecked: tuple[Unchecked, ...]
    metadata: Effort
    bloom_filters: Annotated[
        tuple[FilterLine, ...] | None,
        Meta(description="The columns with bloom filters in a footer; none of them is read."),
    ] = None

    def redacted(self) -> TableStats:
        """Return the same report without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def view(self) -> Blocks:
        from whyscan.reports.stats.view import view

        return view(self)


MOST_COLUMNS = 10_000
"""The most columns that are measured if none are named; each takes about a millisecond."""


def profile(snapshot: Snapshot, names: Sequence[str] | None = None, *, full: bool) -> TableStats:
    """Measure the named columns, or all; `full` opens the footers of any number of files."""
    started = perf_counter()
    columns = leaf_columns(snapshot, names)
    if names is None and len(columns) > MOST_COLUMNS:
        raise TableError(
            f"{snapshot.uri} has {len(columns):,} columns, "
            f"and at most {MOST_COLUMNS:,} are measured",
            hint="name the columns to measure",
        )
    files = snapshot.files(columns, zone("UTC"))
    groups, unopened = open_row_groups(snapshot, files, columns, full=full, keep_footers=True)
    filters: tuple[FilterCount, ...] = ()
    if groups is not None and snapshot.below is not None:
        filters = snapshot.below.written_filters(groups, columns)
    unchecked = (*unopened, *_unreadable(files, groups))
    read = ReadTable(snapshot, files, groups)
    above = snapshot.manifests()
    measured = sorted((column_stats(read, column) for column in columns), key=_pruning_order)
    traffic = snapshot.traffic()
    return TableStats(
        table=Subject(
            snapshot.uri,
            snapshot.format,
            snapshot.version,
            tuple(".".join(path) for path in snapshot.partition_sources),
        ),
        files=files.count,
        bytes=total_of(files.bytes),
        rows=total_of(rows_of(read)),
        columns=tuple(measured),
        file_sizes=of_array(files.bytes),
        row_group_sizes=None if groups is None else of_array(groups.bytes),
        row_group_rows=None if groups is None else of_array(groups.containers.rows),
        manifests=None if above is None else above.count,
        manifest_overlap=() if above is None else tuple(_overlaps(above)),
        unchecked=unchecked,
        metadata=Effort(
            traffic.objects,
            traffic.bytes,
            traffic.from_cache,
            round(perf_counter() - started, 6),
        ),
        bloom_filters=filter_lines(filters, snapshot.format) or None,
    )


def _unreadable(files: Files, groups: RowGroups | None) -> Iterator[Unchecked]:
    """Yield how many statistics of a level cannot be read."""
    for level, count in (
        ("files", files.containers.unreadable_statistics),
        ("row_groups", 0 if groups is None else groups.containers.unreadable_statistics),
    ):
        if count:
            yield Unchecked(level, f"{counted(count, 'statistic')} cannot be read")


def open_row_groups(
    snapshot: Snapshot,
    files: Files,
    columns: Sequence[Column],
    *,
    full: bool,
    keep_footers: bool = False,
) -> tuple[RowGroups | None, tuple[Unchecked, ...]]:
    """Return the row groups of all files, if files are few or only footers have statistics.

    With `keep_footers` they say which columns have bloom filters, if the format has any.
    """
    if not (snapshot.footers_describe_files or full or files.count <= FOOTERS_AT_MOST):
        why = f"{files.count:,} files; --full opens their footers"
        return None, (Unchecked("row_groups", why),)
    at = pa.array(np.arange(files.count))
    if keep_footers and snapshot.below is not None:
        groups = snapshot.row_groups(files, at, columns, (), keep_footers=True)
    else:
        groups = snapshot.row_groups(files, at, columns, None)
    return groups, tuple(Unchecked("row_groups", str(why)) for why in groups.unchecked)


def _pruning_order(column: ColumnStats) -> tuple[float, str]:
    return (-1.0 if column.skipped is None else -1.0 - column.skipped, column.column)


def rows_of(read: ReadTable) -> pa.Array:
    """Return the rows of each file, or of each row group if only footers count them."""
    groups: RowGroups | None = read.by_footers
    if groups is None or groups.containers.rows is None:
        return read.files.rows
    return groups.containers.rows


def total_of(values: pa.Array) -> int | None:
    """Return the sum, None if a value is unknown."""
    return None if values.null_count else int(values.to_numpy(zero_copy_only=False).sum())


def _overlaps(above: Manifests) -> Iterator[ManifestOverlap]:
    for path, interval in above.containers.partition.items():
        if isinstance(interval.lower, pa.Array) and isinstance(interval.upper, pa.Array):
            depth = overlap(interval.lower, interval.upper)
            if depth is not None:
                yield ManifestOverlap(".".join(path), depth.median, depth.ideal)
