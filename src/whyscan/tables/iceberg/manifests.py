"""Manifest lists and manifests as Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.mask import materialise, surely
from whyscan.tables.bounded_cache import BoundedCache
from whyscan.tables.iceberg.avro_schemas import layout
from whyscan.tables.iceberg.decoding import DecodedSizes, batches_of, decoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.tables.avro.containers import Container

_COUNTS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.int64())]))
_BOUNDS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.binary())]))
_SUMMARY = pa.struct(
    [
        ("contains_null", pa.bool_()),
        ("contains_nan", pa.bool_()),
        ("lower_bound", pa.binary()),
        ("upper_bound", pa.binary()),
    ]
)
LIST_FIELDS = {
    "manifest_path": pa.string(),
    "manifest_length": pa.int64(),
    "partition_spec_id": pa.int32(),
    "content": pa.int32(),
    "sequence_number": pa.int64(),
    "added_files_count": pa.int32(),
    "existing_files_count": pa.int32(),
    "deleted_files_count": pa.int32(),
    "added_rows_count": pa.int64(),
    "existing_rows_count": pa.int64(),
    "partitions": pa.list_(_SUMMARY),
    "key_metadata": pa.binary(),
}
ENTRY = {
    "status": pa.int32(),
    "content": pa.int32(),
    "file_path": pa.string(),
    "file_format": pa.string(),
    "record_count": pa.int64(),
    "file_size_in_bytes": pa.int64(),
}
"""The fields of an entry that are always read."""

SEQUENCED = {"sequence_number": pa.int64()}
STATISTICS = {
    "null_value_counts": _COUNTS,
    "nan_value_counts": _COUNTS,
    "lower_bounds": _BOUNDS,
    "upper_bounds": _BOUNDS,
}
OF_MEMBERS = {"value_counts": _COUNTS}
"""Additional fields for the members of structs."""

DELETING = {
    **SEQUENCED,
    "lower_bounds": _BOUNDS,
    "upper_bounds": _BOUNDS,
    "referenced_data_file": pa.string(),
    "content_offset": pa.int64(),
    "content_size_in_bytes": pa.int64(),
    "equality_ids": pa.list_(pa.int32()),
}
"""The fields of a delete file: the data files that it applies to, and its content."""


_lists: BoundedCache[pa.Table] = BoundedCache(1 << 27)
"""Cache of decoded manifest lists by the bytes of their files."""


def read_list(container: Container) -> pa.Table:
    """A manifest list: one row per manifest, with the columns of `LIST_FIELDS`.

    Opening a table reads its manifest list, and most of that time is decoding. So a process decodes
    the same bytes once.
    """
    return _lists.get(container.data, lambda: _decode_list(container))


def _decode_list(container: Container) -> pa.Table:
    record_layout = layout(container.path, container.header.schema)
    tables, sizes = [], DecodedSizes()
    for batch, table in decoded(batches_of(record_layout, LIST_FIELDS, container)):
        sizes.add(batch, table)
        tables.append(table)
    return pa.concat_tables(tables)


def list_of_paths(paths: Sequence[str], containers: Sequence[Container]) -> pa.Table:
    """The list of a version 1 snapshot without a manifest list, from the manifests' headers."""
    values = {
        "manifest_path": list(paths),
        "manifest_length": [len(container.data) for container in containers],
        "partition_spec_id": [_spec_id(container) for container in containers],
    }
    columns = {
        name: pa.array(values[name], kind) if name in values else pa.nulls(len(paths), kind)
        for name, kind in LIST_FIELDS.items()
    }
    return pa.table(columns)


_DIGITS = 9


def _spec_id(container: Container) -> int:
    text = container.header.metadata.get("partition-spec-id", b"0")
    return int(text) if text.isdigit() and len(text) <= _DIGITS else 0


def lookup(map_of: pa.Array, key: int) -> pa.Array:
    """The value of a key in each map; null if the map has no such key, or has it twice."""
    entries = pc.list_flatten(map_of)
    chosen = materialise(surely(pc.equal, pc.struct_field(entries, "key"), key), len(entries))
    at = pc.list_parent_indices(map_of).filter(chosen).to_numpy()
    values = pc.struct_field(entries, "value").filter(chosen)
    return _in_slots(values, at, len(map_of))


class SortedMaps(Struct, frozen=True):
    """Maps whose entries are sorted by key, for callers that look up many keys.

    `keys` are the sorted keys, `order` the position of each key's entry, and `maps` the number of
    the map of each entry, by the entry's position.
    """

    count: int
    order: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int64]
    maps: npt.NDArray[np.int64]
    values: pa.Array

    @classmethod
    def of(cls, map_of: pa.Array) -> SortedMaps:
        entries = pc.list_flatten(map_of)
        map_keys = pc.struct_field(entries, "key")
        positions = pc.indices_nonzero(pc.is_valid(map_keys)).to_numpy().astype(np.int64)
        keys = map_keys.drop_null().to_numpy().astype(np.int64)
        order = np.argsort(keys, kind="stable")
        return cls(
            len(map_of),
            positions[order],
            keys[order],
            pc.list_parent_indices(map_of).to_numpy().astype(np.int64),
            pc.struct_field(entries, "value"),
        )

    def lookup(self, key: int) -> pa.Array:
        """The same as the function `lookup`."""
        first, end = np.searchsorted(self.keys, (key, key + 1))
        chosen = self.order[first:end]
        return _in_slots(self.values.take(pa.array(chosen)), self.maps[chosen], self.count)


def _in_slots(values: pa.Array, at: npt.NDArray[np.int64], count: int) -> pa.Array:
    """One slot per map with the value for it; null in a slot with no or several values."""
    slots = np.full(count, -1, np.int64)
    slots[at] = np.arange(len(values))
    if np.count_nonzero(slots >= 0) < len(at):
        slots[np.bincount(at, minlength=count) > 1] = -1
    return values.take(pa.array(slots, mask=slots < 0))
