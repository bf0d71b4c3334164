"""Avro containers: headers read, joined and re-headed, so that fast readers can decode them.

A container is a header (schema, codec, sync marker) and blocks. Containers of one schema and
one codec can be joined: their blocks are copied behind one header with one marker. A record
without fields takes no bytes, so dropping it from the schema leaves the blocks as they are;
DataFusion's reader refuses such records, and every manifest of an unpartitioned table has one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whyscan.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
VARINT_BYTES = 10


@dataclass(frozen=True, slots=True)
class Container:
    """One Avro file: its header, read, and where its blocks begin in `data`."""

    path: str
    metadata: dict[str, bytes]
    sync: bytes
    data: bytes
    body: int

    @property
    def codec(self) -> str:
        return self.metadata.get("avro.codec", b"null").decode()

    @property
    def schema(self) -> Any:
        return json.loads(self.metadata["avro.schema"])

    def count(self) -> int:
        """How many records there are, by the counts of the blocks."""
        return sum(_Reader(self.path, bytes(block[:VARINT_BYTES]), 0).number()
                   for block in self.blocks())

    def with_schema(self, schema: Any) -> bytes:
        """The same blocks behind a header with another schema for the same bytes."""
        return _header(self, schema) + self.data[self.body :]

    def blocks(self) -> Iterator[memoryview]:
        """Each block with its count and size, without the marker that ends it."""
        reader = _Reader(self.path, self.data, self.body)
        while reader.at < len(self.data):
            start = reader.at
            reader.number()
            reader.take(reader.number())
            end = reader.at
            if reader.take(SYNC_BYTES) != self.sync:
                raise CorruptFile(self.path, "a block does not end with the file's sync marker")
            yield memoryview(self.data)[start:end]


def parse(path: str, data: bytes) -> Container:
    """Read a container's header."""
    reader = _Reader(path, data, 0)
    if reader.take(len(MAGIC)) != MAGIC:
        raise CorruptFile(path, "it is not an Avro file")
    metadata = dict(_metadata(reader))
    if "avro.schema" not in metadata:
        raise CorruptFile(path, "its header has no schema")
    sync = reader.take(SYNC_BYTES)
    return Container(path, metadata, sync, data, reader.at)


def joined(containers: Sequence[Container]) -> bytes:
    """One container with the blocks of all; they must have one schema and one codec."""
    first = containers[0]
    parts: list[bytes | memoryview] = [_header(first, without_empty_records(first.schema))]
    for container in containers:
        for block in container.blocks():
            parts += (block, first.sync)
    return b"".join(parts)


def without_empty_records(schema: Any) -> Any:
    """The schema less every record field whose type is a record without fields."""
    match schema:
        case {"type": "record", "fields": fields}:
            kept = [
                {**field, "type": without_empty_records(field["type"])}
                for field in fields
                if not _is_empty(field["type"])
            ]
            return {**schema, "fields": kept}
        case {"type": inner} if not isinstance(inner, str):
            return {**schema, "type": without_empty_records(inner)}
        case {"items": items}:
            return {**schema, "items": without_empty_records(items)}
        case list():
            return [without_empty_records(branch) for branch in schema]
        case _:
            return schema


def _is_empty(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "record" and not schema["fields"]


def _header(container: Container, schema: Any) -> bytes:
    """A header of our own: another schema, the same codec and marker."""
    metadata = {"avro.schema": json.dumps(schema).encode(), "avro.codec": container.codec.encode()}
    entries = b"".join(_string(key.encode()) + _string(value) for key, value in metadata.items())
    return MAGIC + _number(len(metadata)) + entries + _number(0) + container.sync


def _metadata(reader: _Reader) -> Iterator[tuple[str, bytes]]:
    while count := reader.number():
        if count < 0:  # A negative count is followed by the size of the block in bytes.
            reader.number()
        for _ in range(abs(count)):
            key = reader.take(reader.number()).decode("utf-8", "replace")
            yield key, reader.take(reader.number())


@dataclass(slots=True)
class _Reader:
    path: str
    data: bytes
    at: int

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise CorruptFile(self.path, "it is cut off, or a length in it is wrong")
        taken = self.data[self.at : self.at + count]
        self.at += count
        return taken

    def number(self) -> int:
        """A zigzag variable-length integer."""
        value = 0
        for shift in range(0, 7 * VARINT_BYTES, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise CorruptFile(self.path, "a number in it has no end")


def _string(text: bytes) -> bytes:
    return _number(len(text)) + text


def _number(value: int) -> bytes:
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)
