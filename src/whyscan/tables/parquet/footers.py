"""Fetches the footers of many Parquet files at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import CorruptFile
from whyscan.tables import budget
from whyscan.tables.storage.store import ByteRange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow.parquet as pq

    from whyscan.tables.storage.store import Store

MAGIC = b"PAR1"
ENCRYPTED_MAGIC = b"PARE"
ENDING = 8
LARGEST_FOOTER = 1 << 28
# In an object store a second request costs more than bytes; on disk bytes cost more.
REMOTE_TAIL = 1 << 16
LOCAL_TAIL = 1 << 14
NOT_PARQUET = "name the Parquet files by a glob: FOLDER/**/*.parquet"


class Footer(Struct, frozen=True):
    """The bytes of one file's footer.

    `path` is the file's address for messages, `key` its path below the folder of its store. `size`
    are the bytes of the whole file.
    """

    path: str
    data: bytes
    key: str = ""
    size: int = 0


def read_footers(store: Store, paths: Sequence[str], sizes: Sequence[int]) -> Iterator[Footer]:
    """The footers of files with these sizes, in their order."""
    tail = LOCAL_TAIL if store.folder is not None else REMOTE_TAIL
    ranges = []
    for path, size in zip(paths, sizes, strict=True):
        if size < len(MAGIC) + ENDING:
            raise CorruptFile(
                store.shown(path), f"{size} bytes are no Parquet file", hint=NOT_PARQUET
            )
        ranges.append(ByteRange(path, max(size - tail, 0), min(tail, size)))
    for piece, end in zip(ranges, store.read_many(ranges, _without_data), strict=True):
        size = piece.start + piece.length
        footer = _footer(store, piece, memoryview(end))
        if store.folder is None:
            store.keep_footer(piece.path, footer)
        yield Footer(store.shown(piece.path), footer, piece.path, size)


def _without_data(end: memoryview) -> memoryview:
    """The bytes of a file's end to cache: a complete footer, and never the rows before it."""
    length = ENDING + int.from_bytes(end[-ENDING:-4], "little")
    return end[-(length if length <= len(end) else ENDING) :]


def _footer(store: Store, piece: ByteRange, end: memoryview) -> bytes:
    where = store.shown(piece.path)
    magic = bytes(end[-4:])
    if magic == ENCRYPTED_MAGIC:
        raise CorruptFile(where, "its footer is encrypted")
    if magic != MAGIC:
        raise CorruptFile(where, "it is no Parquet file", hint=NOT_PARQUET)
    size = piece.start + piece.length
    length = int.from_bytes(end[-ENDING:-4], "little")
    if length > min(size - ENDING - len(MAGIC), LARGEST_FOOTER):
        raise CorruptFile(
            where,
            f"it declares a footer of {length} bytes, and has {size} bytes",
            hint="it was cut off or overwritten: restore it from a copy",
        )
    budget.check_object_size(length, where)
    if length + ENDING > len(end):
        footer_range = ByteRange(piece.path, size - ENDING - length, length)
        return bytes(next(store.read_many([footer_range], keep=all_bytes)))
    return bytes(end[-ENDING - length : -ENDING])


def file_of_footer(footer: bytes) -> bytes:
    """A Parquet file without data that has this footer."""
    return b"".join((MAGIC, footer, len(footer).to_bytes(4, "little"), MAGIC))


def metadata_of(footer: bytes) -> pq.FileMetaData:
    """The footer as PyArrow has it."""
    import pyarrow.parquet as pq

    return pq.read_metadata(pa.BufferReader(file_of_footer(footer)))


def all_bytes(metadata: memoryview) -> memoryview:
    """All bytes of a range are metadata and may be cached."""
    return metadata
