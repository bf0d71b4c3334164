"""Read every row of data files on executors, with its file, row group and position.

Nothing is pruned or filtered: deleted rows are read too and marked, as statistics include them.
A file that cannot be read gives one row with the reason and does not stop the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.pruning.transforms.forward import forward
from whyscan.scan.deletes import Deleted, DeleteReader
from whyscan.scan.file_reader import FileReader, open_file
from whyscan.scan.rows import represented

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from whyscan.pruning.transforms import Transform
    from whyscan.scan.sources import Piece
    from whyscan.tables.column_finder import Naming
    from whyscan.tables.file_columns import DataFile, ReadColumn
    from whyscan.tree.nodes import Column

FILE, GROUP, POSITION = "_whyscan_file", "_whyscan_group", "_whyscan_position"
LIVE, FAILURE = "_whyscan_live", "_whyscan_failure"
FILE_COLUMN, HAS = "_whyscan_stored_{}", "_whyscan_has_{}"
"""The names of a partition column's values in the data file, and of whether the file has it."""
BUCKET = "_whyscan_bucket_{}"
"""The name of the column with the bucket of each row, for one bucket field."""

_PLACE = (
    pa.field(FILE, pa.int64()),
    pa.field(GROUP, pa.int32()),
    pa.field(POSITION, pa.int64()),
    pa.field(LIVE, pa.bool_()),
    pa.field(FAILURE, pa.string()),
)


class NumberedFile(Struct, frozen=True):
    """A data file with its number in the run and its size."""

    number: int
    file: DataFile
    bytes: int


class Hashed(Struct, frozen=True):
    """A bucket field: its source column and its transform."""

    source: Column
    transform: Transform

    def numbers(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """The bucket of each row; NULL for a NULL value."""
        name, *inner = self.source.path
        values = columns[name]
        for field in inner:
            values = pc.struct_field(values, field)
        operand = represented(values, self.source.type)
        buckets = None if operand is None else forward(self.transform, self.source.type, operand)
        return pa.nulls(len(values), pa.int64()) if buckets is None else buckets.cast(pa.int64())


class RowReader(Struct, frozen=True):
    """Reads all rows of files.

    `columns` have the values of the table, `file_columns` the values in the data files of
    partition columns.
    """

    columns: tuple[ReadColumn, ...]
    file_columns: tuple[ReadColumn, ...]
    naming: Naming
    buckets: tuple[Hashed, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows that executors return."""
        table_fields = [pa.field(c.name, spark_type(c.type)) for c in self.columns]
        file_fields = [
            pa.field(FILE_COLUMN.format(i), spark_type(c.type))
            for i, c in enumerate(self.file_columns)
        ]
        has = [pa.field(HAS.format(i), pa.bool_()) for i in range(len(self.file_columns))]
        numbers = [pa.field(BUCKET.format(i), pa.int64()) for i in range(len(self.buckets))]
        return pa.schema([*_PLACE, *table_fields, *file_fields, *has, *numbers])

    def rows(
        self, tasks: Sequence[Sequence[NumberedFile]]
    ) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
        """The function for `mapInArrow` that turns numbers of tasks into rows."""

        def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            deletes = DeleteReader(self.naming)
            for batch in batches:
                for task in batch.column(0).to_pylist():
                    for file in tasks[task]:
                        yield from self._file(file, deletes)

        return work

    def _file(self, numbered: NumberedFile, deletes: DeleteReader) -> Iterator[pa.RecordBatch]:
        try:
            opened = open_file(numbered.file, self.naming)
            gone = deletes.read(numbered.file)
            bare = replace(opened, file=replace(numbered.file, constants={}))
            compared = tuple(c for each in gone.compared for c in each.columns)
            leaves = opened.leaves((*self.columns, *compared)) | bare.leaves(self.file_columns)
            has = [opened.finder.find([column.key]) is not None for column in self.file_columns]
            for unit in opened.source.units(None):
                opened.source.fetch(unit, leaves)
                for piece in opened.source.pieces(unit, leaves):
                    arrays = opened.shaped(piece, self.columns)
                    shaped = dict(zip((c.name for c in self.columns), arrays, strict=True))
                    arrays += bare.shaped(piece, self.file_columns)
                    arrays += [pa.repeat(pa.scalar(has_column), piece.count) for has_column in has]
                    arrays += [bucket.numbers(shaped) for bucket in self.buckets]
                    live = _live(opened, piece, gone)
                    yield self._batch((numbered.number, unit.ordinal), piece, live, arrays)
            opened.source.close()
        except WhyscanError as error:
            yield self._failed(numbered.number, error.message)

    def _batch(
        self, place: tuple[int, int], piece: Piece, live: pa.Array, arrays: Sequence[pa.Array]
    ) -> pa.RecordBatch:
        number, ordinal = place
        schema, count = self.schema, piece.count
        where = [
            pa.repeat(pa.scalar(number, pa.int64()), count),
            pa.repeat(pa.scalar(ordinal, pa.int32()), count),
            pa.array(np.arange(piece.start, piece.start + count)),
            live,
            pa.nulls(count, pa.string()),
        ]
        kinds = [field.type for field in schema][len(where) :]
        shown = [to_spark_type(array, kind) for array, kind in zip(arrays, kinds, strict=True)]
        return pa.RecordBatch.from_arrays([*where, *shown], schema=schema)

    def _failed(self, number: int, why: str) -> pa.RecordBatch:
        schema = self.schema
        row = {FILE: number, GROUP: -1, POSITION: None, LIVE: False, FAILURE: why}
        arrays = [pa.array([row.get(field.name)], field.type) for field in schema]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _live(opened: FileReader, piece: Piece, deleted: Deleted) -> pa.Array:
    """One boolean per row: whether it is not deleted."""
    gone = deleted.by_position(piece.start, piece.count)
    for compared in deleted.compared:
        hit = compared.deletes(opened.shaped(piece, compared.columns))
        gone = hit if gone is None else gone | hit
    return pa.array(np.ones(piece.count, np.bool_) if gone is None else ~gone)


def spark_type(kind: pa.DataType) -> pa.DataType:
    """The Arrow type of a column that Spark can read.

    Spark has no uuid, no fixed-length binary and no nanoseconds; it casts a time of day from text.
    """
    if isinstance(kind, pa.UuidType):
        return pa.string()
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.int64()
    if pa.types.is_null(kind) or pa.types.is_time(kind):
        return pa.string()
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, spark_type(f.type)) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(spark_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(spark_type(kind.key_type), spark_type(kind.item_type))
    return kind


def to_spark_type(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values in the Arrow type that `spark_type` gives."""
    if array.type == kind:
        return array
    if isinstance(array.type, pa.UuidType):
        return pa.array([None if v is None else str(v) for v in array.to_pylist()], pa.string())
    if pa.types.is_struct(kind):
        inner = [to_spark_type(part, f.type) for part, f in zip(array.flatten(), kind, strict=True)]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(inner, fields=list(kind), mask=mask)
    if pa.types.is_integer(kind):
        return array.view(pa.int64())
    return array.cast(kind)
