"""A snapshot that does not exist: the files that a table would have in another layout.

It is planned like a real one. Its files come from a sample of the rows, or from the bounds that
the table's files have today.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.layouts import applied as applied_layouts
from whyscan.layouts.language import parse_layout
from whyscan.layouts.proved_files import counted_deletes, proved_column, proved_interval
from whyscan.layouts.sample import choose
from whyscan.layouts.written_files import (
    Cut,
    OrderedRows,
    cut_files,
    cut_row_groups,
    ordered_rows,
    partition_values,
)
from whyscan.planning.plan.request import leaf_columns
from whyscan.pruning.containers import Buckets, Containers
from whyscan.pruning.interval import meet
from whyscan.pruning.transforms import (
    Bucket,
    IdentityTransform,
    of_partition_values,
    partition_interval,
    result_type,
)
from whyscan.tables.snapshot import Collected, Files, RowGroups, Unreached
from whyscan.tree import zones
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.layouts.applied import AppliedLayout
    from whyscan.layouts.layout import Layout, PartitionTerm
    from whyscan.layouts.sample import Sample, SampledColumn
    from whyscan.pruning.interval import Interval
    from whyscan.tables.file_columns import FileReading
    from whyscan.tables.snapshot import Manifests, Recording, Snapshot, Spec, SpecLine, Traffic
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.types import Schema
    from whyscan.tree.zones import Zone

    Numbers = npt.NDArray[np.int64]

_RANGES = pa.list_(pa.list_(pa.int64(), 2))
_UTC = zones.zone("UTC")
_OF_THE_CUT = frozenset({"_cut", "_row_counts", "_partition_values", "_intervals"})


class HypotheticalSnapshot(Struct, frozen=True, eq=False, dict=True):
    """A table in a layout that it does not have.

    `sample_bytes` is what the sample may cost; with 0 only bounds are used, and then every file is
    as wide as they leave it. With `draw` it is another table that the sample allows: parts of the
    sample count more or less often, and files are cut elsewhere. With `files_at_most` its files
    are larger where it would have more.
    """

    base: Snapshot
    layout: AppliedLayout
    sample_bytes: int
    draw: int | None = None
    drawn_sample: Sample | None = None
    files_at_most: int | None = None

    below: ClassVar[None] = None

    @property
    def uri(self) -> str:
        return self.base.uri

    @property
    def format(self) -> str:
        if self.base.format in {"hive", "parquet"}:
            return "hive" if self.layout.partitions else "parquet"
        return self.base.format

    @property
    def version(self) -> int | None:
        return self.base.version

    @property
    def notes(self) -> tuple[str, ...]:
        return self.base.notes

    @property
    def partition_sources(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(term.path for term in self.layout.partitions))

    @property
    def specs(self) -> tuple[Spec, ...]:
        return (
            {
                path: tuple(t.transform for t in self.layout.partitions if t.path == path)
                for path in self.partition_sources
            },
        )

    @property
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        return ()

    @property
    def footers_describe_files(self) -> bool:
        """No: there are no footers; each file has statistics of its own."""
        return False

    def schema(self, named: Sequence[str] = ()) -> Schema:
        return self.base.schema(named)

    def manifests(self) -> Manifests | None:
        """None: which manifest lists which file is not computed."""
        return None

    @lazy
    def _base_files(self) -> Files:
        return self.base.files(self.layout.columns, _UTC)

    def share_files(self, files: Files) -> None:
        """Take the files of the table, with the columns of the layout, as they were read before."""
        self.__dict__["_base_files"] = files

    @lazy
    def sample(self) -> Sample:
        """The sample: one that was drawn for several layouts, else one for this layout."""
        return self.drawn_sample or choose(
            self.base, self._base_files, self.layout.columns, self.sample_bytes
        )

    @lazy
    def _table_rows(self) -> int:
        if self.sample_bytes:
            self.sample.columns(self._leading_columns)
            return self.sample.table_rows
        return int(pc.sum(self._described.rows).as_py() or 0) - counted_deletes(self._base_files)

    @property
    def _leading_columns(self) -> tuple[Column, ...]:
        return self.layout.columns or leaf_columns(self.base)[:1]

    @lazy
    def _described(self) -> Containers:
        """Today's files, or row groups where only footers describe them."""
        files = self._base_files
        if not self.base.footers_describe_files:
            return files.containers
        every = pa.array(np.arange(files.count), pa.int64())
        return self.base.row_groups(files, every, self.layout.columns, ()).containers

    @property
    def bytes_a_row(self) -> float:
        return applied_layouts.bytes_a_row(self._base_files, self._table_rows)

    @lazy
    def rows_a_file(self) -> float:
        rows = applied_layouts.rows_a_file(self.layout.layout, self._base_files, self._table_rows)
        return max(rows, self._table_rows / (self.files_at_most or math.inf))

    @property
    def file_count(self) -> int:
        return len(self._row_counts)

    @lazy
    def _cut(self) -> Cut:
        """The sampled rows as files; only with a sample."""
        self._table_rows  # noqa: B018 - reads the first columns of the sample
        sample, ordered = self.sample, self._ordered
        weights = np.full(len(ordered.rows), sample.weight)
        shifts = None if self.draw is None else np.random.default_rng(self.draw)
        if shifts is not None and not sample.is_whole:
            count = len(sample.tasks)
            drawn = np.bincount(shifts.integers(0, count, count), minlength=count)
            weights = weights * drawn[sample.clusters[ordered.rows]]
        return cut_files(ordered, weights, self.rows_a_file, shifts)

    @lazy
    def _ordered(self) -> OrderedRows:
        return ordered_rows(self.sample, self.layout)

    def other_draw(self, number: int) -> HypotheticalSnapshot:
        """Another table that the sample allows; it shares what was read."""
        other = replace(self, draw=number)
        shared = {name: v for name, v in self.__dict__.items() if name not in _OF_THE_CUT}
        other.__dict__.update(shared)
        return other

    def of_files(self, chosen: npt.NDArray[np.bool_], file_size: int) -> HypotheticalSnapshot:
        """The same layout of the rows that some of today's files hold; it needs a sample."""
        mask, today = pa.array(chosen), self._base_files
        layout = self.layout.layout
        sized = replace(layout, file_size=layout.file_size or file_size)
        files = replace(today, bytes=today.bytes.filter(mask), rows=today.rows.filter(mask))
        share = (pc.sum(files.bytes).as_py() or 0) / max(1, pc.sum(today.bytes).as_py() or 0)
        rows = round(self._table_rows * share)
        part = replace(
            self,
            layout=replace(self.layout, layout=sized),
            drawn_sample=self.sample.of_files(chosen, rows),
        )
        part.__dict__["_base_files"] = files
        return part

    def files(
        self,
        columns: Sequence[Column],
        zone: Zone | None = None,  # noqa: ARG002 - partition values are computed, not read from text
        manifests: pa.Array | None = None,  # noqa: ARG002 - there are none
    ) -> Files:
        """The files of the layout, with the statistics of the columns that would have some."""
        rows = self._row_counts
        partition = self._partition_values
        intervals, buckets = self._partition_intervals(partition)
        sizes = np.rint(rows * self.bytes_a_row).astype(np.int64)
        return Files(
            read_paths=self._paths,
            bytes=pa.array(sizes),
            rows=pa.array(rows),
            partition=pa.table(
                {
                    _name(t): _readable(v)
                    for t, v in zip(self.layout.partitions, partition, strict=True)
                }
            ),
            containers=Containers(
                len(rows),
                pa.array(rows),
                partition=intervals,
                statistics=self._statistics(columns),
                buckets=buckets,
            ),
        )

    @lazy
    def _row_counts(self) -> Numbers:
        if self.sample_bytes:
            return self._cut.row_counts
        starts = np.arange(0, self._table_rows, int(self.rows_a_file))
        return np.diff([*starts, self._table_rows])

    def _statistics(self, columns: Sequence[Column]) -> dict[Path, Interval]:
        recorded = self._recorded(columns)
        if self.sample_bytes:
            unmeasured = [c for c in recorded if c.path not in self._intervals]
            for sampled in self.sample.columns(unmeasured):
                self._intervals[sampled.column.path] = self._measured(self._cut, sampled)
            return {column.path: self._intervals[column.path] for column in recorded}
        first = proved_column(self.layout)
        if first not in recorded:
            return {}
        ends = np.cumsum(self._row_counts)
        starts = ends - self._row_counts
        # Which rows are deleted is unknown: each may be one before the last row of a file.
        deleted = counted_deletes(self._base_files)
        return {first.path: proved_interval(self._described, first, starts, ends + deleted)}

    @lazy
    def _intervals(self) -> dict[Path, Interval]:
        """The intervals of files that were computed so far: many predicates name one column."""
        return {}

    def _measured(self, cut: Cut, sampled: SampledColumn) -> Interval:
        prefix = self.base.recording(sampled.column).prefix
        counts_nan = self.format == "iceberg"
        return cut.statistics(sampled, prefix=prefix, counts_nan=counts_nan).interval

    def _recorded(self, columns: Sequence[Column]) -> list[Column]:
        """The columns of the table that files of the layout have statistics of."""
        sources = {term.path for term in self.layout.partitions if _is_identity(term)}
        return [
            column
            for column in columns
            if column.path not in sources
            and column.path[0] != "_metadata"
            and self.recording(column).collected is Collected.YES
        ]

    @lazy
    def _partition_values(self) -> list[pa.Array]:
        """For each partition field its value in every file."""
        if not self.layout.partitions:
            return []
        by_path = {c.column.path: c for c in self.sample.columns(self.layout.columns)}
        first = pa.array(self._cut.first())
        return [
            partition_values(t, by_path[t.path], by_path[t.path].values.take(first))
            for t in self.layout.partitions
        ]

    def _partition_intervals(
        self, values: Sequence[pa.Array]
    ) -> tuple[dict[Path, Interval], tuple[Buckets, ...]]:
        types = {column.path: column.type for column in self.layout.columns}
        intervals: dict[Path, Interval] = {}
        buckets = []
        for term, partition in zip(self.layout.partitions, values, strict=True):
            source = types[term.path]
            if isinstance(term.transform, Bucket):
                buckets.append(Buckets(term.path, term.transform, partition, partition))
                continue
            points = of_partition_values(result_type(term.transform, source), partition)
            interval = partition_interval(term.transform, source, points)
            before = intervals.get(term.path)
            intervals[term.path] = interval if before is None else meet(before, interval)
        return intervals, tuple(buckets)

    def _paths(self) -> pa.Array:
        names = pa.array([f"{number:05}.parquet" for number in range(len(self._row_counts))])
        folders = [
            pc.binary_join_element_wise(
                f"{_name(t)}=", _readable(v).cast(pa.string()).fill_null("null"), ""
            )
            for t, v in zip(self.layout.partitions, self._partition_values, strict=True)
        ]
        return pc.binary_join_element_wise(*folders, names, "/") if folders else names

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,  # noqa: ARG002 - byte ranges are not computed
        *,
        keep_footers: bool = False,  # noqa: ARG002 - there are none
    ) -> RowGroups:
        """The row groups of the files at `opened`, if the layout says how large they are."""
        size = self.layout.layout.row_group_size
        if size is None or not self.sample_bytes:
            why = "not written: the layout has no row group size"
            return _no_row_groups(Unreached(why, len(opened), len(opened)))
        cut, owners = cut_row_groups(self._cut, max(1.0, round(size / max(self.bytes_a_row, 1e-9))))
        ordinals = np.arange(cut.count) - np.searchsorted(owners, owners)
        chosen = pa.array(np.flatnonzero(np.isin(owners, opened.to_numpy())))
        owner = pa.array(owners).take(chosen)
        of_files = files.containers.take(owner)
        rows = pa.array(cut.row_counts)
        measured = Containers(
            cut.count,
            rows,
            statistics={
                c.column.path: self._measured(cut, c)
                for c in self.sample.columns(self._recorded(columns))
            },
        ).take(chosen)
        sizes = pc.cast(pc.multiply(measured.rows, self.bytes_a_row), pa.int64(), safe=False)
        return RowGroups(
            opened=opened.cast(pa.int64()),
            file=pc.index_in(owner, opened.cast(pa.int64())).cast(pa.int64()),
            ordinal=pa.array(ordinals).take(chosen).cast(pa.int32()),
            bytes=sizes,
            ranges=pa.array([[[0, size]] for size in sizes.to_pylist()], _RANGES),
            containers=replace(measured, partition=of_files.partition, buckets=of_files.buckets),
        )

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:  # noqa: ARG002 - no rows
        """Raise an error: files that do not exist have no rows."""
        raise UsageError(f"{self.uri} has no files in this layout", hint="read the table itself")

    def recording(self, column: Column) -> Recording:
        """The statistics that the layout names, else those of the table's settings."""
        recording = self.base.recording(column)
        named = self.layout.statistics
        if named is None:
            return recording
        if column.path in named:
            return replace(recording, collected=Collected.YES)
        return replace(recording, collected=Collected.SWITCHED_OFF, why="the layout leaves it out")

    def traffic(self) -> Traffic:
        return self.base.traffic()


def hypothetical(
    base: Snapshot, layout: str | Layout, sample_bytes: int, drawn_sample: Sample | None = None
) -> HypotheticalSnapshot:
    """Return the snapshot of a table in another layout."""
    parsed = parse_layout(layout) if isinstance(layout, str) else layout
    laid_out = applied_layouts.apply(parsed, base)
    if not sample_bytes:
        proved_column(laid_out)
    return HypotheticalSnapshot(base, laid_out, sample_bytes, drawn_sample=drawn_sample)


def _no_row_groups(unreached: Unreached) -> RowGroups:
    none = pa.array([], pa.int64())
    return RowGroups(
        opened=none,
        file=none,
        ordinal=none.cast(pa.int32()),
        bytes=none,
        ranges=pa.array([], _RANGES),
        containers=Containers(0, none),
        unchecked=(unreached,) if unreached.files else (),
    )


def _is_identity(term: PartitionTerm) -> bool:
    return isinstance(term.transform, IdentityTransform)


def _name(term: PartitionTerm) -> str:
    name = ".".join(term.path)
    return name if _is_identity(term) else f"{name}_{str(term.transform).partition('[')[0]}"


def _readable(values: pa.Array) -> pa.Array:
    return values.cast(pa.string()) if pa.types.is_binary(values.type) else values
