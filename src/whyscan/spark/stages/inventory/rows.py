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
from whyscan.pruning.interval import between
from whyscan.pruning.mask import as_array, materialise
from whyscan.pruning.transforms import result_type
from whyscan.reports.masked_records import masked_array
from whyscan.reports.values import json_values
from whyscan.tables.inventory.bounds import BOUND, bounds
from whyscan.tables.inventory.container_schema import (
    COLUMN,
    CONTAINERS,
    PARTITION,
    PARTITION_VALUES,
    STATISTICS,
)
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import Column
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.pruning.containers import Buckets, Containers
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Vector
    from whyscan.tables.snapshot import Files, SpecLine

SCHEMA = CONTAINERS.append(pa.field("error", pa.string()))
"""One row per container. Only the row of an unreadable part has an `error`, and nothing else."""


class ContainerRows(Struct, frozen=True):
    """The containers of one level; `values` are more columns of their rows, None if unknown."""

    level: str
    paths: pa.Array
    containers: Containers
    values: Mapping[str, pa.Array | None]

    def batch(self, about: Mapping[str, str], columns: Sequence[Column]) -> pa.RecordBatch:
        """The containers as rows; `about` has the values that are equal in all rows of a table."""
        count = self.containers.count
        arrays = {
            "level": pa.repeat(self.level, count),
            "position": pa.array(np.arange(count)),
            "path": masked_array(self.paths),
            "columns": described(self.containers, columns),
            **self.values,
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


def described(containers: Containers, columns: Sequence[Column]) -> pa.ListArray:
    """One list per container: what statistics, partition values and buckets say of each column."""
    lines = [
        *(
            _line(column, STATISTICS, interval, containers)
            for column in columns
            if (interval := containers.statistics.get(column.path)) is not None
        ),
        *(
            _line(column, PARTITION_VALUES, interval, containers)
            for column in columns
            if (interval := containers.partition.get(column.path)) is not None
        ),
        *(_transformed(buckets, columns, containers) for buckets in containers.buckets),
    ]
    items = in_lists([line.items for line in lines], containers.count, COLUMN)
    return _without(items, [line.says_nothing for line in lines])


class _Lines(Struct, frozen=True):
    """What one source says of a column, one struct per container.

    `says_nothing` flags the containers in which any value is possible as far as this source goes.
    """

    items: pa.StructArray
    says_nothing: pa.BooleanArray


def _without(lists: pa.ListArray, unwanted: Sequence[pa.BooleanArray]) -> pa.ListArray:
    """Remove the items that say nothing from each list; `unwanted` has one array per position.

    Lists differ: a manifest of an older spec has no statistics of a newer spec's columns.
    """
    if not any(flags.true_count for flags in unwanted):
        return lists
    wanted = ~np.column_stack([flags.to_numpy(zero_copy_only=False) for flags in unwanted])
    offsets = np.concatenate(([0], wanted.sum(axis=1).cumsum())).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), lists.flatten().filter(pa.array(wanted.ravel()))
    )


def _line(column: Column, source: str, interval: Interval, containers: Containers) -> _Lines:
    count, path = containers.count, column.path
    measured = source == STATISTICS
    exact = containers.exact.get(path, NOTHING) if measured else NOTHING
    contradicted = containers.contradicted.get(path, False) if measured else False
    # The path is flagged once: in the line of its statistics, if there is one.
    flagged = measured or (source == PARTITION_VALUES and path not in containers.statistics)
    unreadable = containers.unreadable.get(path, False) if flagged else False
    values = {
        "name": pa.repeat(".".join(path), count),
        "type": pa.repeat(str(column.type), count),
        "source": pa.repeat(source, count),
        "lower": _ends(column, interval.lower, count),
        "upper": _ends(column, interval.upper, count),
        "lower_is_value": materialise(exact.lower, count),
        "upper_is_value": materialise(exact.upper, count),
        "nulls": _counts(exact.nulls, count),
        "nans": _counts(exact.nans, count),
        "may_be_value": materialise(interval.value, count),
        "may_be_null": materialise(interval.null, count),
        "may_be_nan": materialise(interval.nan, count),
        "may_raise": materialise(interval.raises, count),
        "nulls_counted": materialise(interval.counted, count),
        "contradicted": materialise(contradicted, count),
        "unreadable": materialise(unreadable, count),
    }
    unknown = [values[name].is_null() for name in ("lower", "upper", "nulls", "nans")]
    possible = [values["may_be_value"], values["may_be_null"]]
    if isinstance(column.type, FloatType):
        possible.append(values["may_be_nan"])
    # A container that lacks a line has not counted the NULLs.
    doubts = [pc.invert(values[name]) for name in ("contradicted", "unreadable")]
    if measured:
        doubts.append(pc.invert(values["nulls_counted"]))
    return _Lines(
        pa.StructArray.from_arrays([values[field.name] for field in COLUMN], fields=list(COLUMN)),
        reduce(pc.and_, [*unknown, *possible, *doubts]),
    )


def _counts(counts: pa.Array | None, count: int) -> pa.Array:
    return pa.nulls(count, pa.int64()) if counts is None else counts.cast(pa.int64())


def _transformed(buckets: Buckets, columns: Sequence[Column], containers: Containers) -> _Lines:
    """The partition values of a field without a preimage: its source is the transform's text."""
    source = next(column for column in columns if column.path == buckets.source)
    kind = result_type(buckets.transform, source.type)
    values = between(kind, buckets.lower, buckets.upper)
    return _line(Column(buckets.source, kind), str(buckets.transform), values, containers)


def _ends(column: Column, end: Vector | None, count: int) -> pa.StructArray:
    kind = arrow_type(column.type)
    if end is None or pa.types.is_null(kind):
        return pa.nulls(count, BOUND)
    return bounds(column.type, as_array(end, count, kind))


def partition_types(files: Files, values: pa.Array) -> pa.Array:
    """One map per file with the names of `values`: the Arrow types of the partition values."""
    types = {
        name: str(files.partition.schema.field(name).type) for name in files.partition.column_names
    }
    names = list(types)
    if not names:
        return pa.nulls(files.count, PARTITION)
    at = pc.index_in(values.keys, pa.array(names, pa.string()))
    items = pa.array(list(types.values()), pa.string()).take(at)
    return pa.MapArray.from_arrays(values.offsets, values.keys, items, mask=None)


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
