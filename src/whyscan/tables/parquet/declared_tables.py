"""Opens a Hive table as a catalog declares it: its columns, and its partitions where they are.

The folders of the table are not the table: a partition may be in any place, a registered partition
may have no folder, and a folder that is not registered is not read. A file is in a partition if it
is directly in the folder of the partition, as Spark, Hive and Trino read it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.tables.history import Registration
from whyscan.tables.parquet.partitions import Partitions
from whyscan.tables.parquet.paths import PartitionKeys, visible
from whyscan.tables.parquet.snapshot import ParquetSnapshot
from whyscan.tables.parquet.values import NULL_TEXT
from whyscan.tables.storage.disk import LISTING, is_folder
from whyscan.tables.storage.joined_store import JoinedStore
from whyscan.tables.storage.locations import recorded_location

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from whyscan.tables.storage.locations import Location
    from whyscan.tables.storage.store import Store
    from whyscan.tree.types import Field, Schema

    OpenStore = Callable[[str], Store]

PARQUET = "parquet"
_LISTED_AT_ONCE = 16
_S3 = ("s3a://", "s3n://")


class DeclaredPartition(Struct, frozen=True):
    """A partition of a catalog: its values as text, its folder, the format of its files."""

    values: tuple[str, ...]
    location: str
    format: str = PARQUET


class DeclaredTable(Struct, frozen=True):
    """A table of a catalog. A table without partition columns has one partition, its folder."""

    location: str
    columns: Schema
    partition_fields: tuple[Field, ...]
    partitions: Sequence[DeclaredPartition]


def open_declared(table: DeclaredTable, open_store: OpenStore) -> ParquetSnapshot:
    """The snapshot of a table with registered partitions. No file is opened."""
    root = _comparable(table.location)
    places = [_comparable(partition.location) for partition in table.partitions]
    keys = [_key(place, root) for place in places]
    store = _joined(table.location, root, places, open_store)
    elsewhere = {key: place for key, place in zip(keys, places, strict=True) if _is_far(key)}
    objects = _listing(store, elsewhere).sort_by("path").combine_chunks()
    snapshot, owner = _snapshot(table, store, objects, keys)
    return replace(snapshot, registration=_registration(objects, keys, owner))


def open_computed(
    table: DeclaredTable, store: Store, values: Callable[[str], tuple[str, ...] | None], kind: str
) -> ParquetSnapshot:
    """The snapshot of a table whose partitions are computed: `values` gives those of a folder."""
    objects = store.list().sort_by("path").combine_chunks()
    folders = _folders(objects["path"]).unique()
    is_shown = visible(pc.binary_join_element_wise(folders, "", "/")).to_pylist()
    pairs = zip(folders.to_pylist(), is_shown, strict=True)
    valued = [(folder, values(folder)) for folder, shown in pairs if shown]
    keys = [folder for folder, of_folder in valued if of_folder is not None]
    partitions = [DeclaredPartition(v, folder, kind) for folder, v in valued if v is not None]
    return _snapshot(replace(table, partitions=partitions), store, objects, keys)[0]


def _snapshot(
    table: DeclaredTable, store: Store, objects: pa.Table, keys: Sequence[str]
) -> tuple[ParquetSnapshot, npt.NDArray[np.int32]]:
    """The snapshot of the files in the folders `keys` of the partitions, and their partitions."""
    at, owner = _matched(objects, keys)
    formats = [partition.format for partition in table.partitions]
    mixed = any(each != PARQUET for each in formats)
    snapshot = ParquetSnapshot(
        store,
        objects.take(pa.array(at)).combine_chunks(),
        Partitions(table.partition_fields, _partition_keys(table, owner)),
        declared=table.columns,
        formats=pa.array(formats, pa.string()).take(pa.array(owner)) if mixed else None,
    )
    return snapshot, owner


def _comparable(location: str) -> Location:
    """A location in one spelling: Hadoop writes `s3a://` or `s3n://` where AWS writes `s3://`."""
    parsed = recorded_location(location)
    address = parsed.store
    if address.startswith(_S3):
        address = "s3" + address[3:]
    return replace(parsed, store=address, path=parsed.path.rstrip("/"))


def _key(place: Location, root: Location) -> str:
    """A folder below the table's folder as a relative path, another folder as its address."""
    if place.store == root.store and f"{place.path}/".startswith(f"{root.path}/"):
        return place.path[len(root.path) :].strip("/")
    return f"{place.store}/{place.path.lstrip('/')}"


def _is_far(key: str) -> bool:
    return key.startswith("/") or "://" in key


def _joined(
    location: str, root: Location, places: Sequence[Location], open_store: OpenStore
) -> Store:
    """The store of the table's folder, with those of the other places that partitions are in."""
    store = open_store(location)
    far = {place.store for place in places if _is_far(_key(place, root))}
    if not far:
        return store
    elsewhere = {}
    for address in sorted(far):
        other = open_store(f"{address}/")
        elsewhere[address] = replace(other, uri=address, meter=store.meter)
    fields = {name: getattr(store, name) for name in store.__struct_fields__}
    return JoinedStore(**fields, elsewhere=elsewhere)


def _listing(store: Store, elsewhere: Mapping[str, Location]) -> pa.Table:
    """The objects below the table's folder, and those in the folders elsewhere."""

    def listed(key: str) -> pa.Table:
        other, under = store.place(key)
        if other.folder is not None and not is_folder(f"{other.folder.rstrip('/')}/{under}"):
            return LISTING.empty_table()
        objects = other.list(under)
        prefix = f"{elsewhere[key].store}/"
        return objects.set_column(
            0, "path", pc.binary_join_element_wise(prefix, objects["path"], "")
        )

    with ThreadPoolExecutor(_LISTED_AT_ONCE) as pool:
        return pa.concat_tables([store.list(), *pool.map(listed, elsewhere)])


def _matched(
    objects: pa.Table, keys: Sequence[str]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The data files of partitions, by position, and the partition of each.

    Two partitions may have one folder: then its files are read for both.
    """
    owners: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        owners.setdefault(key, []).append(number)
    folders = _folders(objects["path"]).dictionary_encode()
    owners_of = [owners.get(folder, []) for folder in folders.dictionary.to_pylist()]
    codes = folders.indices.to_numpy()
    names = pc.replace_substring_regex(objects["path"], ".*/", "").combine_chunks()
    is_data = pc.and_(visible(names), pc.greater(objects["size"].combine_chunks(), 0))
    at: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
    owner: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]
    for turn in range(max(map(len, owners_of), default=0)):
        numbers = np.array([o[turn] if turn < len(o) else -1 for o in owners_of], np.int32)[codes]
        chosen = np.flatnonzero((numbers >= 0) & is_data.to_numpy(zero_copy_only=False))
        at.append(chosen)
        owner.append(numbers[chosen])
    positions, numbers = np.concatenate(at), np.concatenate(owner)
    order = np.argsort(positions, kind="stable")
    return positions[order], numbers[order]


def _folders(paths: pa.ChunkedArray) -> pa.Array:
    """The folder of each path, '' for a file directly in the table's folder."""
    return pc.replace_substring_regex(paths, "/?[^/]*$", "").combine_chunks()


def _partition_keys(table: DeclaredTable, owner: npt.NDArray[np.int32]) -> PartitionKeys:
    """The values of the partitions, written as the names of folders write them."""
    if not table.partition_fields:
        return PartitionKeys((), ("",), (), pa.array(owner, pa.int32()))
    columns = zip(*(partition.values for partition in table.partitions), strict=True)
    texts = tuple(tuple(map(_as_in_a_folder, column)) for column in columns)
    return PartitionKeys(
        names=tuple(field.name for field in table.partition_fields),
        folders=tuple(partition.location for partition in table.partitions),
        texts=texts or tuple(() for _ in table.partition_fields),
        folder=pa.array(owner, pa.int32()),
    )


def _as_in_a_folder(value: str) -> str:
    return value if value == NULL_TEXT else value.replace("%", "%25")


def _registration(
    objects: pa.Table, keys: Sequence[str], owner: npt.NDArray[np.int32]
) -> Registration:
    """What the catalog has and the folders have not, and the other way round."""
    registered = set(keys)
    near = pc.invert(pc.match_substring_regex(objects["path"], "^/|^[A-Za-z0-9+.-]+://"))
    data = pc.and_(visible(objects["path"].combine_chunks()), pc.greater(objects["size"], 0))
    files = objects.filter(pc.and_(near, data))
    folders = _folders(files["path"]).dictionary_encode()
    kinds = [_kind(folder, registered) for folder in folders.dictionary.to_pylist()]
    kind = np.array(kinds, np.int8)[folders.indices.to_numpy()]
    weights = files["size"].to_numpy()
    return Registration(
        partitions=len(keys),
        without_files=len(keys) - len(np.unique(owner)),
        unregistered_folders=kinds.count(_UNREGISTERED),
        unregistered_files=int((kind == _UNREGISTERED).sum()),
        unregistered_bytes=int(weights[kind == _UNREGISTERED].sum()),
        nested_files=int((kind == _NESTED).sum()),
    )


_REGISTERED, _NESTED, _UNREGISTERED = range(3)


def _kind(folder: str, registered: set[str]) -> int:
    """Whether a folder is that of a partition, inside the folder of one, or another folder."""
    if folder in registered:
        return _REGISTERED
    parts = folder.split("/")
    above = ("/".join(parts[:count]) for count in range(len(parts)))
    return _NESTED if any(path in registered for path in above) else _UNREGISTERED
