"""The identity of a snapshot: it shows whether a table has changed since it was read.

| format | the name of a snapshot | what its mark contains |
|---|---|---|
| Delta | its version | the files of the log: a table that is created again counts from 0 again |
| Iceberg | its id | also its schema and spec: both may change without a new snapshot |
| Hive, Parquet | a digest of the listing: paths, sizes, times | the same |
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

if TYPE_CHECKING:
    from whyscan.tables.delta.snapshot import DeltaSnapshot
    from whyscan.tables.iceberg.snapshot import IcebergSnapshot
    from whyscan.tables.parquet.snapshot import ParquetSnapshot
    from whyscan.tables.snapshot import Snapshot

_ROWS = 10_000
_DIGITS = 16
EMPTY = "empty"


class SnapshotIdentity(Struct, frozen=True):
    """A name of a snapshot for people and paths, and a mark that is unique to the snapshot."""

    name: str
    mark: str


def identity(snapshot: Snapshot) -> SnapshotIdentity:
    """The identity of a snapshot. It needs no further reads after opening."""
    from whyscan.tables.delta.snapshot import DeltaSnapshot
    from whyscan.tables.iceberg.snapshot import IcebergSnapshot
    from whyscan.tables.parquet.snapshot import ParquetSnapshot

    match snapshot:
        case DeltaSnapshot():
            return _of_delta(snapshot)
        case IcebergSnapshot():
            return _of_iceberg(snapshot)
        case ParquetSnapshot():
            return _of_listing(snapshot)
        case _:
            raise TypeError(f"{type(snapshot).__name__} has no identity")


def _of_delta(snapshot: DeltaSnapshot) -> SnapshotIdentity:
    lines = (f"{f.path} {f.size} {f.modified}" for f in snapshot.log.files)
    return SnapshotIdentity(str(snapshot.version), _digest("\n".join(lines).encode()))


def _of_iceberg(snapshot: IcebergSnapshot) -> SnapshotIdentity:
    record = snapshot.at.record
    name = EMPTY if record is None else str(record.id)
    facts = [name, snapshot.metadata.current_schema, snapshot.metadata.default_spec]
    return SnapshotIdentity(name, " ".join(map(str, facts)))


def _of_listing(snapshot: ParquetSnapshot) -> SnapshotIdentity:
    """The identity from a listing. It has a prefix: a number in a folder name might be rounded."""
    digest = hashlib.blake2b(digest_size=_DIGITS // 2)
    for batch in snapshot.objects.to_batches(max_chunksize=_ROWS):
        times = batch.column("modified").cast(pa.int64()).cast(pa.string())
        sizes = batch.column("size").cast(pa.string())
        lines = pc.binary_join_element_wise(batch.column("path"), sizes, times, "\0")
        digest.update("\n".join(lines.to_pylist()).encode())
    if snapshot.declared is not None:
        # A catalog may change the columns, or the values of a folder, and no file with them.
        keys = snapshot.partitions.keys
        digest.update(repr((snapshot.declared, keys.names, keys.texts)).encode())
        digest.update(keys.folder.to_numpy().tobytes())
    name = f"files-{digest.hexdigest()}"
    return SnapshotIdentity(name, name)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGITS // 2).hexdigest()
