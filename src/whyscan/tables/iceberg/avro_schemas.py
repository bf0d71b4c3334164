"""Rewrites the Avro schemas of manifests for decoders: a simpler schema for the same bytes.

| in the file | rewritten | reason |
|---|---|---|
| a record in a record | its fields in the outer record | a decoder can skip single fields |
| a record without fields | removed: it takes no bytes | DataFusion rejects it |
| logical types, defaults, names | plain types, new names | decoders disagree on them |
| a partition field | `p` and its field id | writers change names, not ids |

A schema is untrusted input: one that refers to itself, or has lists of empty values, is rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, field

from whyscan.errors import CorruptFile
from whyscan.tables.avro.containers import encoded_number
from whyscan.tables.counts import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

_FLATTENED = ("data_file", "partition")
_RENAMED = {
    "added_data_files_count": "added_files_count",
    "existing_data_files_count": "existing_files_count",
    "deleted_data_files_count": "deleted_files_count",
}
"""The field names of version 1, with the present names."""

_PLAIN: dict[str, tuple[pa.DataType, int]] = {
    "null": (pa.null(), 0),
    "boolean": (pa.bool_(), 1),
    "int": (pa.int32(), 1),
    "long": (pa.int64(), 1),
    "float": (pa.float32(), 4),
    "double": (pa.float64(), 8),
    "string": (pa.string(), 1),
    "bytes": (pa.binary(), 1),
}
"""Avro's plain types: the Arrow type, and the fewest bytes of a value."""

_DEEPEST = 24
_LARGEST = 10_000
_LARGEST_RECORD = 1 << 20


class RecordLayout(Struct, frozen=True):
    """The layout of a container's records: `schema` is one flat record of plain types.

    `columns` are its fields by name with their Arrow types, None if a type is not plain.
    `partition` are the names of the partition fields, by field id or, without ids, by position.
    `least_bytes` is the fewest bytes of a record.
    """

    schema: Any
    columns: Mapping[str, pa.DataType | None]
    partition: Mapping[int, str]
    least_bytes: int

    @property
    def plain_partition(self) -> dict[str, pa.DataType]:
        """The partition fields of plain types: name and Arrow type."""
        kinds = ((name, self.columns[name]) for name in self.partition.values())
        return {name: kind for name, kind in kinds if kind is not None}


def layout(path: str, schema: Any) -> RecordLayout:
    """Return how the records of a manifest or manifest list are laid out, by its Avro schema."""
    rewriter = _Rewriter(path)
    rewriter.record(schema, 0)
    record = {"type": "record", "name": "entry", "fields": rewriter.fields}
    # Every manifest has an integer field (status), and every list (length).
    if not any(member["type"] in ("int", "long") for member in rewriter.fields):
        raise rewriter.wrong("its records have no integers")
    columns = {f["name"]: _arrow(f["type"]) for f in rewriter.fields}
    least_bytes = _least_bytes(record)
    if _zeros(record) > _LARGEST_RECORD:
        raise rewriter.wrong(f"a record takes {least_bytes} bytes")
    return RecordLayout(record, columns, rewriter.partition, least_bytes)


class _Rewriter(Struct):
    path: str
    fields: list[dict[str, Any]] = field(default_factory=list)
    partition: dict[int, str] = field(default_factory=dict)
    named: dict[str, Any] = field(default_factory=dict)
    parts: int = 0

    def wrong(self, why: str) -> CorruptFile:
        return CorruptFile(self.path, f"its schema is malformed: {why}")

    def record(self, schema: Any, depth: int, inside: str = "") -> None:
        """Add the fields of a record to the flat record."""
        for position, member in enumerate(self.members(schema)):
            name, kind = member["name"], member["type"]
            if name in _FLATTENED and _is_record(kind) and depth < len(_FLATTENED):
                self.record(kind, depth + 1, name)
                continue
            if inside == "partition":
                number = member.get("field-id")
                number = number if is_number(number) else position
                self.partition[number] = name = f"p{number}"
            self.put(_RENAMED.get(name, name), self.type(kind, 0))

    def put(self, name: str, kind: Any) -> None:
        is_used = any(f["name"] == name for f in self.fields)
        plain = name if name.isidentifier() and name.isascii() and not is_used else ""
        self.fields.append({"name": plain or f"unnamed_{len(self.fields)}", "type": kind})

    def members(self, schema: Any) -> list[dict[str, Any]]:
        fields = schema.get("fields") if isinstance(schema, dict) else None
        if not isinstance(fields, list):
            raise self.wrong("a record has no fields")
        for member in fields:
            if not isinstance(member, dict) or "type" not in member:
                raise self.wrong("a field has no type")
            if not isinstance(member.get("name"), str):
                raise self.wrong("a field has no name")
        return fields

    def type(self, schema: Any, depth: int) -> Any:
        self.parts += 1
        if depth > _DEEPEST or self.parts > _LARGEST:
            raise self.wrong("it has no end")
        match schema:
            case str() if schema in _PLAIN:
                return schema
            case str() if schema in self.named:
                return self.type(self.named[schema], depth + 1)
            case [*branches]:
                return [self.type(branch, depth + 1) for branch in branches]
            case {"type": "record" | "error", "name": str() as name}:
                self.named[name] = schema
                members = [
                    {"name": member["name"], "type": self.type(member["type"], depth + 1)}
                    for member in self.members(schema)
                ]
                return {"type": "record", "name": f"t{self.parts}_{depth}", "fields": members}
            case {"type": "fixed", "name": str() as name, "size": int() as size} if size >= 0:
                self.named[name] = schema
                return {"type": "fixed", "name": f"t{self.parts}_{depth}", "size": size}
            case {"type": "enum"}:
                return "int"  # A symbol is written as its number.
            case {"type": "array", "items": items}:
                return {"type": "array", "items": self.non_empty(self.type(items, depth + 1))}
            case {"type": "map", "values": values}:
                return {"type": "map", "values": self.type(values, depth + 1)}
            case {"type": inner}:
                return self.type(inner, depth + 1)
            case _:
                raise self.wrong(f"{str(schema)[:80]!r} is not a type")

    def non_empty(self, items: Any) -> Any:
        if _least_bytes(items) < 1:
            raise self.wrong("a list of nothing")
        return items


class Marker(Struct, frozen=True):
    """The record that we append: its bytes, and the `value` of its field `field`."""

    data: bytes
    field: str
    value: int


_MARK = 0x2A5A_5A5A


def last_record(layout: RecordLayout) -> Marker:
    """A record of zero bytes, except for a marker value in its first integer field.

    Zero bytes are a zero, an empty text or list, or the first branch of a union.
    """
    data, field_name = b"", ""
    for member in layout.schema["fields"]:
        if not field_name and member["type"] in ("int", "long"):
            field_name = member["name"]
            data += encoded_number(_MARK)
        else:
            data += bytes(_zeros(member["type"]))
    return Marker(data, field_name, _MARK)


def _zeros(schema: Any) -> int:
    """How many zero bytes are a valid value of the schema."""
    match schema:
        case [first, *_]:
            return 1 + _zeros(first)
        case {"type": "record", "fields": fields}:
            return sum(_zeros(member["type"]) for member in fields)
        case _:
            return _least_bytes(schema)


def _is_record(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "record"


def _least_bytes(schema: Any) -> int:
    """The fewest bytes of a value of the schema."""
    match schema:
        case str():
            return _PLAIN[schema][1]
        case {"type": "record", "fields": fields}:
            return sum(_least_bytes(member["type"]) for member in fields)
        case {"type": "fixed", "size": size}:
            return int(size)
        case _:
            return 1


def _arrow(schema: Any) -> pa.DataType | None:
    """The Arrow type of a plain type, nullable or not; None for other types."""
    match schema:
        case str():
            return _PLAIN[schema][0]
        case {"type": "fixed"}:
            return pa.binary()
        case ["null", branch] | [branch, "null"]:
            return _arrow(branch)
        case _:
            return None
