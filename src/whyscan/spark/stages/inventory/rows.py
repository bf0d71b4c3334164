"""Turn containers (manifests, files, row groups) with their statistics into Arrow rows.

The arrays of a batch are the columns that the readers made; no row becomes a Python object.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.exact import NOTHING
from whyscan.pruning.mask import as_array, materialise
from whyscan.reports.masked_records import masked_array
from whyscan.reports.values import json_values
from whyscan.spark.stages.inventory.bounds import BOUND, bounds
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import Column
from whyscan.tree.types import StructType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.pruning.containers import Containers
    from whyscan.pruning.mask import Vector
    from whyscan.tables.snapshot import Files, SpecLine
    from whyscan.tree.nodes import Path
    from whyscan.tree.types import Field

COLUMN = pa.struct(
    [
        ("name", pa.string()),
        ("type", pa.string()),
        ("lower", BOUND),
        ("upper", BOUND),
        ("lower_is_value", pa.bool_()),
        ("upper_is_value", pa.bool_()),
        ("nulls", pa.int64()),
        ("nans", pa.int64()),
    ]
)
PARTITION = pa.map_(pa.string(), pa.string())
SCHEMA = pa.schema(
    [
        ("uri", pa.string()),
        ("format", pa.string()),
        ("level", pa.string()),
        ("path", pa.string()),
        ("ordinal", pa.int32()),
        ("partition", PARTITION),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
        ("deleted", pa.int64()),
        ("files", pa.int64()),
        ("columns", pa.list_(pa.field("element", COLUMN))),
        ("table", pa.string()),
        ("snapshot", pa.string()),
        ("error", pa.string()),
    ]
)
"""One row per container. Only the row of an unreadable part has an `error`, and nothing else."""

MANIFEST, FILE, ROW_GROUP = "manifest", "file", "row_group"


class ContainerRows(Struct, frozen=True):
    """The containers of one level; an array is None if it is unknown for all of them."""

    level: str
    paths: pa.Array
    containers: Containers
    partition: pa.Array | None = None
    ordinal: pa.Array | None = None
    bytes: pa.Array | None = None
    rows: pa.Array | None = None
    deleted: pa.Array | None = None
    files: pa.Array | None = None

    def batch(self, about: Mapping[str, str], columns: Sequence[Column]) -> pa.RecordBatch:
        """The containers as rows; `about` has the values that are equal in all rows of a table."""
        count = self.containers.count
        arrays = {
            "level": pa.repeat(self.level, count),
            "path": masked_array(self.paths),
            "partition": self.partition,
            "ordinal": self.ordinal,
            "bytes": self.bytes,
            "rows": self.rows,
            "deleted": self.deleted,
            "files": self.files,
            "columns": described(self.containers, columns),
            **{name: pa.repeat(value, count) for name, value in about.items()},
        }
        return pa.record_batch(
            [_of_type(arrays.get(field.name), field.type, count) for field in SCHEMA], schema=SCHEMA
        )


def failed(about: Mapping[str, str], error: str) -> pa.RecordBatch:
    """The row of a part that could not be read."""
    row = {**about, "error": error}
    return pa.RecordBatch.from_pylist([row], SCHEMA)


def _of_type(array: pa.Array | None, kind: pa.DataType, count: int) -> pa.Array:
    if array is None:
        return pa.nulls(count, kind)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array if array.type == kind else array.cast(kind)


def leaves(fields: Sequence[Field], above: Path = ()) -> Iterator[Column]:
    """Every column of a schema; a struct gives one column per member."""
    for field in fields:
        path = (*above, field.name)
        if isinstance(field.type, StructType):
            yield from leaves(field.type.fields, path)
        else:
            yield Column(path, field.type)


def described(containers: Containers, columns: Sequence[Column]) -> pa.ListArray:
    """One list per container: the columns with any statistic, in the order of the schema."""
    arrays = [
        _column(containers, column) for column in columns if _has_metadata(containers, column)
    ]
    return _without_empty_columns(in_lists(arrays, containers.count, COLUMN), len(arrays))


def _without_empty_columns(columns: pa.ListArray, width: int) -> pa.ListArray:
    """Remove the columns without any statistic from each list of `width` columns.

    Lists differ: a manifest of an older spec has no statistics of a newer spec's columns.
    """
    items = columns.values
    has_value = [items.field(name).is_valid() for name in ("lower", "upper", "nulls", "nans")]
    has_any = reduce(pc.or_, has_value)
    if has_any.true_count == len(items):
        return columns
    counts = has_any.to_numpy(zero_copy_only=False).reshape(len(columns), width).sum(axis=1)
    offsets = np.concatenate(([0], counts.cumsum())).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), items.filter(has_any))


def _has_metadata(containers: Containers, column: Column) -> bool:
    return any(
        column.path in source
        for source in (containers.partition, containers.statistics, containers.exact)
    )


def _column(containers: Containers, column: Column) -> pa.StructArray:
    count, kind = containers.count, column.type
    interval = containers.interval(column)
    exact = containers.exact.get(column.path, NOTHING)
    # The bound of a partition value may differ from the recorded bound.
    of_rows = column.path not in containers.partition
    return pa.StructArray.from_arrays(
        [
            pa.repeat(".".join(column.path), count),
            pa.repeat(str(kind), count),
            _ends(column, interval.lower, count),
            _ends(column, interval.upper, count),
            materialise(exact.lower, count) if of_rows else pa.repeat(False, count),
            materialise(exact.upper, count) if of_rows else pa.repeat(False, count),
            pa.nulls(count, pa.int64()) if exact.nulls is None else exact.nulls.cast(pa.int64()),
            pa.nulls(count, pa.int64()) if exact.nans is None else exact.nans.cast(pa.int64()),
        ],
        fields=list(COLUMN),
    )


def _ends(column: Column, end: Vector | None, count: int) -> pa.StructArray:
    kind = arrow_type(column.type)
    if end is None or pa.types.is_null(kind):
        return pa.nulls(count, BOUND)
    return bounds(column.type, as_array(end, count, kind))


def partition_values(files: Files, specs: Sequence[SpecLine]) -> pa.Array:
    """One map per file: the names and texts of its partition values.

    A value may be NULL. A field that the spec of the file does not have is not in its map.
    """
    values = files.partition
    names = values.column_names
    if not names:
        return pa.nulls(files.count, PARTITION)
    texts = [_texts(values[name].combine_chunks()) for name in names]
    items = pa.concat_arrays(texts).take(_interleaved(len(names), files.count))
    keys = pa.array(names, pa.string()).take(pa.array(np.tile(np.arange(len(names)), files.count)))
    if files.spec is None or len(specs) == 1:
        offsets = pa.array(np.arange(files.count + 1, dtype=np.int32) * len(names))
        return pa.MapArray.from_arrays(offsets, keys, items)
    in_spec = _names_in_spec(names, files.spec, specs)
    kept, counts = pa.array(in_spec.ravel()), in_spec.sum(axis=1)
    ends = np.concatenate([[0], counts.cumsum()]).astype(np.int32)
    offsets = pa.array(ends, mask=np.append(counts == 0, False))
    return pa.MapArray.from_arrays(offsets, keys.filter(kept), items.filter(kept))


def _names_in_spec(
    names: Sequence[str], written: pa.Array, specs: Sequence[SpecLine]
) -> np.ndarray:
    """One boolean per file and name: whether the spec of the file has the field."""
    numbers = written.to_numpy()
    in_spec = np.ones((len(numbers), len(names)), dtype=bool)
    for spec in specs:
        in_spec[numbers == spec.id] = [name in spec.names for name in names]
    return in_spec


def _texts(values: pa.Array) -> pa.Array:
    """The values as text; each distinct value is converted once."""
    if pa.types.is_string(values.type):
        return values
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.string())
    distinct = values.dictionary_encode()
    texts = [_text(value) for value in json_values(distinct.dictionary)]
    return pa.array(texts, pa.string()).take(distinct.indices)


def _text(value: object) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_lists(arrays: Sequence[pa.Array], count: int, kind: pa.DataType) -> pa.ListArray:
    """One list per container: its items of all arrays, in the order of the arrays."""
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * len(arrays))
    items = pa.concat_arrays(arrays) if arrays else pa.nulls(0, kind)
    if len(arrays) > 1:
        items = items.take(_interleaved(len(arrays), count))
    return pa.ListArray.from_arrays(offsets, items)


def _interleaved(width: int, count: int) -> pa.Array:
    return pa.array(np.arange(width * count).reshape(width, count).T.ravel())
