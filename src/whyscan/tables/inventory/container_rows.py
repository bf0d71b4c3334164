"""Reads the containers of one table from the Parquet files of an inventory, level by level.

A file has lines about every column of the table, and a query names few of them. So the files are
read batch by batch, and of each batch only the lines about the wanted columns stay in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.containers import Buckets
from whyscan.pruning.exact import Exact
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import Mask, either, simplified
from whyscan.pruning.transforms import result_type
from whyscan.tables.inventory.bounds import ends, families
from whyscan.tables.inventory.container_schema import (
    COLUMN,
    CONTAINERS,
    PARTITION_VALUES,
    STATISTICS,
)
from whyscan.tables.inventory.description import without_preimage
from whyscan.tables.snapshot import Traffic
from whyscan.tree.lazy import lazy
from whyscan.tree.types import INT, FloatType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt
    from pyarrow.parquet import ParquetFile

    from whyscan.pruning.transforms import Bucket, Substring
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column

    Positions = npt.NDArray[np.int64]

_BATCH = 16_384
_LINES = "columns"
_LINE = f"{_LINES}.list.element"
_NOT_OF_A_CONTAINER = {"table", "snapshot", "uri", "format", _LINES}
_FLAGS = {
    "lower_is_value": False,
    "upper_is_value": False,
    "may_be_value": True,
    "may_be_null": True,
    "may_raise": False,
    "contradicted": False,
    "unreadable": False,
}
"""What a container without a line about a column says of it."""
_NO_LINES = pa.RecordBatch.from_pylist([], pa.schema([("owner", pa.int64())]))


class ContainerFile(Struct, frozen=True):
    """One Parquet file of an inventory."""

    store: Store
    path: str
    size: int

    def opened(self) -> ParquetFile:
        import pyarrow.parquet as pq

        content = self.store.read(self.path, 0, self.size)
        # Spark may write times as INT96, which Arrow would read as nanoseconds: they end in 2262.
        return pq.ParquetFile(pa.BufferReader(content), coerce_int96_timestamp_unit="us")


class ContainerFiles(Struct, frozen=True):
    """The files with the containers of one table; `parts` are the parts to read, None for all."""

    files: tuple[ContainerFile, ...]
    parts: frozenset[int] | None = None

    def traffic(self) -> Traffic:
        """The objects and bytes that were read of the files so far."""
        meters = {id(file.store.meter): file.store.meter.traffic() for file in self.files}
        read = list(meters.values())
        return Traffic(sum(each.objects for each in read), sum(each.bytes for each in read))

    def level(
        self, level: str, columns: Sequence[Column] = (), *, chunks: bool = False
    ) -> LevelRows:
        """The containers of one level in the table's order, with the lines about `columns`.

        `chunks` reads the byte ranges of the columns of row groups, too.
        """
        unread = _NOT_OF_A_CONTAINER if chunks else {*_NOT_OF_A_CONTAINER, "chunks"}
        fields = [field.name for field in CONTAINERS if field.name not in unread]
        rows: list[pa.RecordBatch] = []
        lines: list[pa.RecordBatch] = []
        names = pa.array([".".join(column.path) for column in columns], pa.string())
        count = 0
        for batch in self._batches(level, [*fields, *_line_fields(columns)]):
            rows.append(batch.select(fields))
            if columns:
                lines.append(_lines_about(names, batch.column(_LINES), count))
            count += batch.num_rows
        schema = pa.schema([CONTAINERS.field(name) for name in fields])
        table = pa.Table.from_batches([row.cast(schema) for row in rows], schema)
        return _in_order(table.combine_chunks(), _joined(lines))

    def _batches(self, level: str, fields: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for file in self.files:
            parquet = file.opened()
            groups = [
                at for at in range(parquet.num_row_groups) if self._may_have(parquet, at, level)
            ]
            if not groups:
                continue
            for batch in parquet.iter_batches(_BATCH, groups, fields):
                wanted = pc.equal(batch.column("level"), level)
                if self.parts is not None:
                    numbers = pa.array(sorted(self.parts), pa.int32())
                    wanted = pc.and_(wanted, pc.is_in(batch.column("part"), numbers))
                yield batch.filter(wanted)

    def _may_have(self, parquet: ParquetFile, at: int, level: str) -> bool:
        """Whether a row group of the file may have containers of this level and these parts."""
        for number in range(parquet.metadata.num_columns):
            chunk = parquet.metadata.row_group(at).column(number)
            if chunk.path_in_schema not in {"level", "part"} or not chunk.is_stats_set:
                continue
            if not chunk.statistics.has_min_max:
                continue
            low, high = chunk.statistics.min, chunk.statistics.max
            if chunk.path_in_schema == "level" and not low <= level <= high:
                return False
            wanted = self.parts
            if chunk.path_in_schema == "part" and not any(
                low <= part <= high for part in wanted or (low,)
            ):
                return False
        return True


def _line_fields(columns: Sequence[Column]) -> list[str]:
    """The fields of lines that hold what is said about `columns`."""
    if not columns:
        return []
    kinds = [column.type for column in columns]
    used = sorted({name for kind in (*kinds, INT) for name in families(kind)})
    plain = [field.name for field in COLUMN if field.name not in {"type", "lower", "upper"}]
    bounds = [f"{end}.{family}" for end in ("lower", "upper") for family in used]
    return [f"{_LINE}.{name}" for name in (*plain, *bounds)]


def _lines_about(names: pa.Array, lists: pa.ListArray, before: int) -> pa.RecordBatch:
    """The lines about these columns, with the positions of their containers."""
    lines = lists.flatten()
    wanted = pc.is_in(pc.struct_field(lines, "name"), names)
    chosen = lines.filter(wanted)
    owners = pc.add(pc.list_parent_indices(lists).filter(wanted).cast(pa.int64()), before)
    values = {field.name: pc.struct_field(chosen, field.name) for field in chosen.type}
    return pa.record_batch({"owner": owners, **values})


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    joined = pa.Table.from_batches(batches or [_NO_LINES]).combine_chunks().to_batches()
    return joined[0] if joined else _NO_LINES


class LevelRows(Struct, frozen=True, dict=True):
    """The containers of one level: their rows in `containers`, and lines about some columns.

    `at` has the positions of each column's lines from each source, by its name and the source.
    """

    rows: pa.Table
    lines: pa.RecordBatch
    owners: Positions

    @property
    def count(self) -> int:
        return int(self.rows.num_rows)

    def values(self, name: str) -> pa.Array:
        return self.rows[name].combine_chunks()

    @lazy
    def _at(self) -> Mapping[tuple[str, str], Positions]:
        if not self.lines.num_rows:
            return {}
        # A source has no NUL; the name of a column may have any character.
        keys = pc.binary_join_element_wise(
            self.lines.column("source"), self.lines.column("name"), "\0", null_handling="replace"
        ).dictionary_encode()
        codes = keys.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(keys.dictionary) + 1))
        names = [key.partition("\0") for key in keys.dictionary.to_pylist()]
        return {
            (name, source): order[starts[at] : starts[at + 1]]
            for at, (source, _, name) in enumerate(names)
        }

    def statistics(self, column: Column) -> Interval | None:
        """What statistics say of a column; None if no container has a line about it."""
        return self._interval(column, STATISTICS, counted=False)

    def partition(self, column: Column) -> Interval | None:
        """What partition values say of a column; None if no container has a line about it."""
        return self._interval(column, PARTITION_VALUES, counted=True)

    def exact(self, column: Column) -> Exact:
        """The counts of a column's statistics, and which of its bounds are values of rows."""
        at = self._at.get((".".join(column.path), STATISTICS))
        if at is None:
            return Exact()
        return Exact(
            self._values(at, "nulls"),
            self._flags(at, "lower_is_value"),
            self._flags(at, "upper_is_value"),
            self._values(at, "nans"),
        )

    def contradicted(self, column: Column) -> Mask:
        """The containers that lost a statistic of the column, because it contradicts itself."""
        return self._flag("contradicted", column, STATISTICS)

    def unreadable(self, column: Column) -> Mask:
        """The containers with a statistic or a partition value of the column that is unreadable."""
        return either(
            self._flag("unreadable", column, STATISTICS),
            self._flag("unreadable", column, PARTITION_VALUES),
        )

    def _flag(self, name: str, column: Column, source: str) -> Mask:
        at = self._at.get((".".join(column.path), source))
        return False if at is None else self._flags(at, name)

    def buckets(self, columns: Sequence[Column]) -> tuple[Buckets, ...]:
        """The partition fields of these columns that have no preimage.

        A container without a line may have any partition value.
        """
        by_name = {".".join(column.path): column for column in columns}
        return tuple(
            self._buckets(by_name[name], transform, at)
            for (name, source), at in self._at.items()
            if name in by_name and (transform := without_preimage(source)) is not None
        )

    def _buckets(self, column: Column, transform: Bucket | Substring, at: Positions) -> Buckets:
        kind = result_type(transform, column.type)
        lower, upper = (ends(kind, self._values(at, end)) for end in ("lower", "upper"))
        return Buckets(column.path, transform, lower, upper)

    def _interval(self, column: Column, source: str, *, counted: bool) -> Interval | None:
        at = self._at.get((".".join(column.path), source))
        if at is None:
            return None
        nan = isinstance(column.type, FloatType)
        return Interval(
            column.type,
            ends(column.type, self._values(at, "lower")),
            ends(column.type, self._values(at, "upper")),
            value=self._flags(at, "may_be_value"),
            null=self._flags(at, "may_be_null"),
            nan=self._filled(at, "may_be_nan", default=nan),
            raises=self._flags(at, "may_raise"),
            counted=self._filled(at, "nulls_counted", default=counted),
        )

    def _values(self, at: Positions, name: str) -> pa.Array:
        """One value per container from the lines at `at`; null without a line."""
        chosen = np.zeros(self.count, np.int64)
        missing = np.ones(self.count, np.bool_)
        chosen[self.owners[at]] = at
        missing[self.owners[at]] = False
        return self.lines.column(name).take(pa.array(chosen, mask=missing))

    def _flags(self, at: Positions, name: str) -> Mask:
        return self._filled(at, name, default=_FLAGS[name])

    def _filled(self, at: Positions, name: str, *, default: bool) -> Mask:
        return simplified(self._values(at, name).fill_null(default))

    def filtered(self, wanted: pa.Array) -> LevelRows:
        """The containers that are wanted, in the same order."""
        keep = wanted.to_numpy(zero_copy_only=False)
        rank = np.cumsum(keep) - 1
        with_line = keep[self.owners]
        return LevelRows(
            self.rows.filter(wanted),
            self.lines.filter(pa.array(with_line)),
            rank[self.owners[with_line]],
        )

    def ordered(self, order: Positions) -> LevelRows:
        """The containers in another order: `order` has the position of each one of the result."""
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return LevelRows(self.rows.take(pa.array(order)), self.lines, rank[self.owners])


def _in_order(rows: pa.Table, lines: pa.RecordBatch) -> LevelRows:
    level = LevelRows(rows, lines, lines.column("owner").to_numpy())
    keys = [level.values(name).fill_null(0).to_numpy() for name in ("ordinal", "position", "part")]
    return level.ordered(np.lexsort(keys))
