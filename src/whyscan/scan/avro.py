"""Reads Avro data files: records to Arrow, some thousands at a time."""

from __future__ import annotations

import io
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whyscan.errors import CorruptFile
from whyscan.scan.columns_of_file import file_columns
from whyscan.scan.sources import Piece, ReadUnit, errors_of_file, open_bytes
from whyscan.tables.avro.containers import (
    SYNC_BYTES,
    AvroReader,
    blocks,
    joined,
    read_header,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from whyscan.tables.avro.containers import Block
    from whyscan.tables.file_columns import DataFile

_RECORDS = 1 << 14
_BYTES = 1 << 20
"""At least this many bytes of records are decoded at once."""

_PLAIN = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.binary(),
    "null": pa.null(),
}
_LOGICAL = {
    "date": pa.date32(),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms"),
    "timestamp-micros": pa.timestamp("us"),
    "timestamp-nanos": pa.timestamp("ns"),
    "local-timestamp-micros": pa.timestamp("us"),
    "local-timestamp-nanos": pa.timestamp("ns"),
}


def _takes_no_bytes(kind: pa.DataType) -> bool:
    """Whether a value takes no bytes: a list of them may claim any length."""
    if pa.types.is_struct(kind):
        return all(_takes_no_bytes(member.type) for member in kind)
    return bool(pa.types.is_null(kind) or kind == pa.binary(0))


class _StreamReader(AvroReader):
    """Reads a stream of `size` bytes in the same way."""

    stream: Any
    size: int

    def take(self, count: int) -> bytes:
        content: bytes = self.stream.read(count) if 0 <= count <= self.size - self.at else b""
        if len(content) != count:
            raise CorruptFile(self.path, "it is cut off, or a length in it is wrong")
        self.at += count
        return content

    def at_end(self) -> bool:
        return self.at >= self.size


class AvroSource:
    """An open Avro file. Its format stores rows, so all columns are decoded."""

    def __init__(self, file: DataFile) -> None:
        self._data = file
        with errors_of_file(file):
            source = open_bytes(file)
            stream = io.BufferedReader(source) if isinstance(source, io.RawIOBase) else source
            self._rest = _StreamReader(file.shown, b"", 0, stream, source.size())
            self._header = read_header(self._rest)
            self._sync = self._rest.take(SYNC_BYTES)
            self._named: dict[str, Any] = {}
            self._fields = [self._field(member) for member in self._header.schema["fields"]]
            self.columns = file_columns(self._fields)

    def units(self, ordinals: Sequence[int] | None) -> Iterator[ReadUnit]:
        """One unit: the whole file."""
        del ordinals
        yield ReadUnit(0, 0)

    def unit_bytes(self, unit: ReadUnit, leaves: Collection[int]) -> int:
        """None: the bytes are read when they are decoded."""
        del unit, leaves
        return 0

    def fetch(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Nothing to do: blocks are read when they are decoded."""

    def check_memory(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Nothing to do: each block is checked before it is inflated."""

    def pieces(self, unit: ReadUnit, leaves: Collection[int]) -> Iterator[Piece]:
        """The records in batches."""
        chosen = [
            (column, field)
            for column, field in zip(self.columns, self._fields, strict=True)
            if any(map(column.has, leaves))
        ]
        start = unit.start
        with errors_of_file(self._data):
            decoded = self._records()
            while records := list(islice(decoded, _RECORDS)):
                arrays = {
                    column.leaves[0]: pa.array([r[field.name] for r in records], field.type)
                    for column, field in chosen
                }
                yield Piece(start, len(records), arrays)
                start += len(records)

    def _records(self) -> Iterator[Any]:
        """The records. Several small blocks are decoded at once."""
        waiting: list[Block] = []
        for block in blocks(self._rest, self._header.codec, self._sync):
            waiting.append(block)
            if sum(len(part.data) for part in waiting) >= _BYTES:
                yield from self._decoded(waiting)
                waiting = []
        yield from self._decoded(waiting)

    def _decoded(self, some: Sequence[Block]) -> Iterator[Any]:
        import fastavro

        return iter(fastavro.reader(io.BytesIO(b"".join(joined(self._header.schema, some)))))

    def _field(self, member: Any) -> pa.Field:
        metadata = None
        if "field-id" in member:
            metadata = {b"PARQUET:field_id": str(member["field-id"]).encode()}
        return pa.field(member["name"], self._type(member["type"]), metadata=metadata)

    def _type(self, schema: Any) -> pa.DataType:
        match schema:
            case [*branches]:
                (branch,) = [b for b in branches if b != "null"] or ["null"]
                return self._type(branch)
            case str():
                return _PLAIN[schema] if schema in _PLAIN else self._type(self._named[schema])
            case {"type": "record"}:
                self._named[schema["name"]] = schema
                return pa.struct([self._field(member) for member in schema["fields"]])
            case {"type": "array", "items": items, "logicalType": "map"}:
                entry = self._type(items)
                return pa.map_(entry.field("key"), entry.field("value"))
            case {"type": "array", "items": items}:
                element = self._inner("element", items, schema.get("element-id"))
                if _takes_no_bytes(element.type):
                    raise ValueError("it has lists whose elements take no bytes")
                return pa.list_(element)
            case {"type": "map", "values": values}:
                key = self._inner("key", "string", schema.get("key-id"))
                return pa.map_(
                    key.with_nullable(nullable=False),
                    self._inner("value", values, schema.get("value-id")),
                )
            case {"logicalType": "decimal"}:
                return pa.decimal128(schema["precision"], schema.get("scale", 0))
            case {"logicalType": str() as logical} if logical in _LOGICAL:
                return _LOGICAL[logical]
            case {"type": "fixed", "size": size}:
                self._named[schema["name"]] = schema
                return pa.binary(size)
            case {"type": inner}:
                return self._type(inner)
            case _:
                raise ValueError(f"its schema has a type that is none: {str(schema)[:60]!r}")

    def _inner(self, name: str, schema: Any, number: int | None) -> pa.Field:
        metadata = None if number is None else {b"PARQUET:field_id": str(number).encode()}
        return pa.field(name, self._type(schema), metadata=metadata)

    def close(self) -> None:
        """Nothing to do: the file needs no closing."""
