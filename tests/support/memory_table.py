"""A table that lives in memory: what the planner and the report are tested on.

MemoryTable({"country": STRING, "age": INT}, [
    DataFile("country=DE/a.parquet", {"country": "DE"}, [RowGroup(4, {"age": (40, 60)})]),
], partitioned_by=("country",))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.pruning.interval import Interval
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tables.snapshot import (
    Collected,
    ContainersBelow,
    Files,
    Recording,
    RowGroups,
    Traffic,
    Unreached,
)
from whyscan.tree import arrow
from whyscan.tree.types import Field, FloatType, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tree.types import Type

BYTES_A_ROW = 100
RANGES = pa.list_(pa.list_(pa.int64(), 2))


@dataclass(frozen=True)
class RowGroup:
    """Rows and bounds; `nulls` counts NULLs of a column, `nan` says that NaN was not counted.

    `parts` are the containers of a level below, made of the same record; none were opened if empty.
    """

    rows: int
    bounds: Mapping[str, tuple] = field(default_factory=dict)
    nulls: Mapping[str, int] = field(default_factory=dict)
    nan: bool = False
    parts: Sequence[RowGroup] = ()


@dataclass(frozen=True)
class DataFile:
    """`deleted` rows are counted; up to `maybe_deleted` more, None if it is unknown how many.

    Of one that is `missing` the footer cannot be opened.
    """

    path: str
    partition: Mapping[str, object]
    groups: Sequence[RowGroup]
    deleted: int = 0
    maybe_deleted: int | None = 0
    missing: bool = False

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups)

    @property
    def bytes(self) -> int:
        return self.rows * BYTES_A_ROW + 100


@dataclass
class MemoryTable:
    """A snapshot. Without `footers_describe_files` its files have statistics of their own."""

    columns: Mapping[str, Type]
    data: Sequence[DataFile]
    partitioned_by: tuple[str, ...] = ()
    footers_describe_files: bool = True
    uri: str = "memory"
    version: int | None = None
    objects: int = 0
    notes: tuple[str, ...] = ()
    recordings: Mapping[str, Recording] = field(default_factory=dict)

    below = None

    @property
    def format(self) -> str:
        if not self.footers_describe_files:
            return "delta"
        return "hive" if self.partitioned_by else "parquet"

    @property
    def partition_sources(self):
        return tuple((name,) for name in self.partitioned_by)

    @property
    def specs(self):
        return ({path: (IdentityTransform(),) for path in self.partition_sources},)

    @property
    def numbered_specs(self):
        return ()

    def schema(self, named=()):  # noqa: ARG002 - the protocol's
        return Schema(tuple(Field(name, kind) for name, kind in self.columns.items()))

    def manifests(self):
        return None

    def files(self, columns, zone=None, manifests=None):  # noqa: ARG002 - the protocol's
        has_statistics = not self.footers_describe_files
        rows = [file.rows if has_statistics else None for file in self.data]
        partition = self._partition(self.data)
        merged = [_merged(file) for file in self.data]
        return Files(
            read_paths=lambda: pa.array([file.path for file in self.data], pa.string()),
            bytes=pa.array([file.bytes for file in self.data], pa.int64()),
            rows=pa.array(rows, pa.int64()),
            partition=pa.table(
                {n: [file.partition[n] for file in self.data] for n in self.partitioned_by}
            ),
            containers=Containers(
                count=len(self.data),
                rows=pa.array(rows, pa.int64()),
                partition=partition,
                statistics=self._statistics(merged) if has_statistics else {},
                exact=self._exact(merged) if has_statistics else {},
            ),
            **self._hidden(),
        )

    def row_groups(self, files, opened, columns, projection, *, keep_footers=False):  # noqa: ARG002 - the protocol's
        positions = opened.to_pylist()
        reached = [at for at in positions if not self.data[at].missing]
        chosen = [self.data[at] for at in reached]
        self.objects += len(chosen)
        gone = Unreached("missing", len(positions) - len(reached), len(positions))
        owners = [i for i, file in enumerate(chosen) for _ in file.groups]
        groups = [group for file in chosen for group in file.groups]
        contradicted = {
            (name,): checked(kind, *self._recorded(groups, name)).contradicted
            for name, kind in self.columns.items()
            if name not in self.partitioned_by
        }
        return RowGroups(
            opened=pa.array(reached, pa.int64()),
            file=pa.array(owners, pa.int64()),
            ordinal=pa.array([i for f in chosen for i in range(len(f.groups))], pa.int32()),
            bytes=pa.array([group.rows * BYTES_A_ROW for group in groups], pa.int64()),
            ranges=pa.array([[(4, 4 + g.rows * 10)] for g in groups], RANGES),
            containers=Containers(
                count=len(groups),
                rows=pa.array([group.rows for group in groups], pa.int64()),
                partition=self._partition([chosen[i] for i in owners]),
                statistics=self._statistics(groups),
                exact=self._exact(groups),
                contradicted=contradicted,
            ),
            unchecked=(gone,) if gone.files else (),
        )

    def recording(self, column):
        return self.recordings.get(column.path[0], Recording(Collected.YES))

    def traffic(self):
        return Traffic(self.objects, self.objects * 1000)

    def _hidden(self):
        if not any(file.deleted or file.maybe_deleted != 0 for file in self.data):
            return {}
        return {
            "deleted": pa.array([file.deleted for file in self.data], pa.int64()),
            "maybe_deleted": pa.array([file.maybe_deleted for file in self.data], pa.int64()),
        }

    def _partition(self, files):
        return {
            (name,): _points(self.columns[name], [file.partition[name] for file in files])
            for name in self.partitioned_by
        }

    def _statistics(self, groups):
        return {
            (name,): checked(kind, *self._recorded(groups, name)).interval
            for name, kind in self.columns.items()
            if name not in self.partitioned_by
        }

    def _exact(self, groups):
        return {
            (name,): checked(kind, *self._recorded(groups, name)).exact
            for name, kind in self.columns.items()
            if name not in self.partitioned_by
        }

    def _recorded(self, groups, name):
        kind = self.columns[name]
        lower, upper = (
            arrow.array([g.bounds.get(name, (None, None))[end] for g in groups], kind)
            for end in (0, 1)
        )
        nulls = pa.array([g.nulls.get(name, 0) for g in groups], pa.int64())
        nan = isinstance(kind, FloatType) and any(g.nan for g in groups)
        rows = pa.array([g.rows for g in groups], pa.int64())
        return ColumnStatistics(lower, upper, nulls, nan=nan, attained=True), rows


class DeepMemoryTable(MemoryTable):
    """A table with a level below row groups, their `parts`."""

    @property
    def below(self):
        return self

    def containers_below(self, above, opened, columns):  # noqa: ARG002 - the protocol's
        if not isinstance(above, RowGroups):
            return None
        files = zip(above.owners.to_pylist(), above.ordinal.to_pylist(), strict=True)
        groups = [self.data[file].groups[ordinal] for file, ordinal in files]
        owners = [at for at in opened.to_pylist() for _ in groups[at].parts]
        parts = [part for at in opened.to_pylist() for part in groups[at].parts]
        files_of_parts = above.owners.take(pa.array(owners, pa.int64())).to_pylist()
        return ContainersBelow(
            name="parts",
            owners=pa.array(owners, pa.int64()),
            bytes=pa.array([part.rows * BYTES_A_ROW for part in parts], pa.int64()),
            containers=Containers(
                count=len(parts),
                rows=pa.array([part.rows for part in parts], pa.int64()),
                partition=self._partition([self.data[file] for file in files_of_parts]),
                statistics=self._statistics(parts),
                exact=self._exact(parts),
            ),
        )


def _points(kind, values):
    ends = arrow.array(values, kind)
    return Interval(kind, ends, ends, value=ends.is_valid(), null=ends.is_null())


def _merged(file):
    """The statistics of a whole file, as Delta and Iceberg record them."""
    names = {name for group in file.groups for name in group.bounds}
    bounds = {
        name: (
            min(group.bounds[name][0] for group in file.groups),
            max(group.bounds[name][1] for group in file.groups),
        )
        for name in names
        if all(name in group.bounds for group in file.groups)
    }
    nulls = {n: sum(g.nulls.get(n, 0) for g in file.groups) for n in names}
    return RowGroup(file.rows, bounds, nulls, nan=any(g.nan for g in file.groups))
