"""Avro containers: reads headers, inflates blocks, and joins blocks for a fast decoder.

A container is a header (schema, codec, sync marker) and blocks. Containers whose records have the
same layout can be joined: one new header, and then the inflated blocks of all containers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from whyscan.errors import CorruptFile
from whyscan.tables import budget
from whyscan.tables.avro.codecs import Overflow, inflate
from whyscan.tables.json_text import read_json
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
OUR_SYNC = bytes(SYNC_BYTES)
MOST_KEYS = 10_000
"""The most keys of a header; writers use about a dozen."""

_VARINT_BYTES = 10
_MORE = 0x80
_HEADERS_KEPT = 8


class Header(Struct, frozen=True, eq=False, dict=True):
    """The header of a container, without the sync marker. Many containers may share one."""

    path: str
    metadata: Mapping[str, bytes]

    @lazy
    def codec(self) -> str:
        return self.metadata.get("avro.codec", b"null").decode("ascii", "replace")

    @lazy
    def schema(self) -> Any:
        try:
            return read_json(self.metadata["avro.schema"], self.path)
        except (ValueError, RecursionError) as error:
            raise CorruptFile(self.path, f"its schema is not JSON: {error}") from None


class Container(Struct, frozen=True):
    """One Avro file: its header and sync marker; its blocks begin at `body` in `data`."""

    path: str
    header: Header
    sync: bytes
    data: bytes
    body: int

    def blocks(self) -> Iterator[Block]:
        """The blocks, inflated one by one; together they are bounded, too."""
        reader = AvroReader(self.path, self.data, self.body)
        left = most = budget.most_inflated(len(self.data))
        for block in blocks(reader, self.header.codec, self.sync):
            left -= len(block.data)
            if left < 0:
                raise budget.inflates(self.path, most)
            yield block


def blocks(reader: AvroReader, codec: str, sync: bytes) -> Iterator[Block]:
    """The blocks from the reader's position on, inflated one by one within the memory limit."""
    most = budget.most_at_once()
    while not reader.at_end():
        count, size = reader.number(), reader.number()
        compressed = reader.take(size)
        if reader.take(SYNC_BYTES) != sync:
            raise CorruptFile(reader.path, "a block does not end with the file's sync marker")
        try:
            inflated = inflate(codec, compressed, most, reader.path)
        except Overflow:
            raise budget.inflates(reader.path, most) from None
        # A record takes at least one byte.
        if not 0 <= count <= len(inflated):
            raise overcounted(reader.path, count, len(inflated))
        yield Block(count, inflated)


def overcounted(path: str, count: int, size: int) -> CorruptFile:
    """The error for a block that counts more records than fit into its `size` bytes."""
    return CorruptFile(path, f"a block of {size} bytes counts {count} records")


class Block(Struct, frozen=True):
    """An inflated block with `count` records."""

    count: int
    data: bytes


class Headers(Struct):
    """Reads containers, with a cache of headers: most manifests of a table share one."""

    by_prefix: list[tuple[bytes, Header]] = field(default_factory=list)

    def container(self, path: str, data: bytes) -> Container:
        """Read a container's header."""
        for prefix, header in self.by_prefix:
            if data.startswith(prefix):
                return _container_at(path, header, data, len(prefix))
        reader = AvroReader(path, data, 0)
        header = read_header(reader)
        if len(self.by_prefix) < _HEADERS_KEPT:
            self.by_prefix.append((data[: reader.at], header))
        return _container_at(path, header, data, reader.at)


def _container_at(path: str, header: Header, data: bytes, at: int) -> Container:
    reader = AvroReader(path, data, at)
    return Container(path, header, reader.take(SYNC_BYTES), data, reader.at)


def read_header(reader: AvroReader) -> Header:
    """The header at the beginning of a container; the sync marker follows it."""
    if reader.take(len(MAGIC)) != MAGIC:
        raise CorruptFile(reader.path, "it is not an Avro file")
    metadata = dict(_metadata(reader))
    if "avro.schema" not in metadata:
        raise CorruptFile(reader.path, "its header has no schema")
    return Header(reader.path, metadata)


def _metadata(reader: AvroReader) -> Iterator[tuple[str, bytes]]:
    keys = 0
    while count := reader.number():
        keys += abs(count)
        if keys > MOST_KEYS:
            raise CorruptFile(reader.path, f"its header claims {keys} keys")
        if count < 0:  # A negative count is followed by the size of the block in bytes.
            reader.number()
        for _ in range(abs(count)):
            key = reader.take(reader.number()).decode("utf-8", "replace")
            yield key, reader.take(reader.number())


def joined(schema: Any, blocks: Sequence[Block]) -> list[bytes]:
    """One uncompressed container, in byte parts, with the records of all blocks in one block."""
    metadata = {b"avro.schema": json.dumps(schema).encode(), b"avro.codec": b"null"}
    parts = [MAGIC, encoded_number(len(metadata))]
    for key, value in metadata.items():
        parts += (encoded_number(len(key)), key, encoded_number(len(value)), value)
    parts += (encoded_number(0), OUR_SYNC)
    parts.append(encoded_number(sum(block.count for block in blocks)))
    parts.append(encoded_number(sum(len(block.data) for block in blocks)))
    return [*parts, *(block.data for block in blocks), OUR_SYNC]


class AvroReader(Struct):
    """Reads bytes and numbers from the position `at`; `path` is for error messages."""

    path: str
    data: bytes
    at: int

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise CorruptFile(self.path, "it is cut off, or a length in it is wrong")
        content = self.data[self.at : self.at + count]
        self.at += count
        return content

    def at_end(self) -> bool:
        return self.at >= len(self.data)

    def number(self) -> int:
        """A zigzag variable-length integer."""
        value = 0
        for shift in range(0, 7 * _VARINT_BYTES, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < _MORE:
                return (value >> 1) ^ -(value & 1)
        raise CorruptFile(self.path, "a number in it has no end")


def encoded_number(value: int) -> bytes:
    """A zigzag variable-length integer."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    varint = bytearray()
    while rest >= _MORE:
        varint.append(rest & 0x7F | _MORE)
        rest >>= 7
    varint.append(rest)
    return bytes(varint)
