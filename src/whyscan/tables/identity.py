"""What tells one snapshot of a table from another: whether a table has changed since it was read.

| format | the snapshot is named by | and told apart by |
|---|---|---|
| Delta | its version | the files of the log: a table that was made anew counts from 0 again |
| Iceberg | its id | its schema and spec too: both may change without a snapshot |
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
    """A snapshot's name, for people and in paths, and a mark that no other snapshot has."""

    name: str
    mark: str


def identity(snapshot: Snapshot) -> SnapshotIdentity:
    """The identity of a snapshot. Nothing is read for it but what opening has read."""
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
    told = (f"{f.path} {f.size} {f.modified}" for f in snapshot.log.files)
    return SnapshotIdentity(str(snapshot.version), _digest("\n".join(told).encode()))


def _of_iceberg(snapshot: IcebergSnapshot) -> SnapshotIdentity:
    record = snapshot.at.record
    name = EMPTY if record is None else str(record.id)
    told = [name, snapshot.metadata.current_schema, snapshot.metadata.default_spec]
    return SnapshotIdentity(name, " ".join(map(str, told)))


def _of_listing(snapshot: ParquetSnapshot) -> SnapshotIdentity:
    """Never a number: a reader that guesses the types of folders' names would round it."""
    digest = hashlib.blake2b(digest_size=_DIGITS // 2)
    for batch in snapshot.objects.to_batches(max_chunksize=_ROWS):
        times = batch.column("modified").cast(pa.int64()).cast(pa.string())
        sizes = batch.column("size").cast(pa.string())
        lines = pc.binary_join_element_wise(batch.column("path"), sizes, times, "\0")
        digest.update("\n".join(lines.to_pylist()).encode())
    name = f"files-{digest.hexdigest()}"
    return SnapshotIdentity(name, name)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGITS // 2).hexdigest()
