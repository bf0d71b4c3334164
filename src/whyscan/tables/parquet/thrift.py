"""Thrift's compact protocol, as far as a Parquet footer uses it.

PyArrow decodes the row groups faster, and hides two things: the schema's own bytes, and
statistics that it does not know. Every length is checked against what is left to read.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, TypeAlias

Fields: TypeAlias = dict[int, Any]
"""A struct: values by field id, lists as lists, bytes as bytes, a nested struct as Fields."""

DEEPEST = 32

# The types on the wire. A boolean field is its type. Plain integers: an Enum's members take
# several times as long to compare.
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)
_LONG_LIST = 15
_MORE = 0x80
_LONGEST_VARINT = 64


class Malformed(ValueError):
    """The bytes are no such struct."""


@dataclass(slots=True)
class Reader:
    """A position in some bytes, moved on by every read."""

    data: bytes
    at: int = 0

    def struct(self, last: int | None = None, depth: int = 0) -> Fields:
        """The fields of a struct; with `last`, only up to that field, and the rest unread."""
        if depth > DEEPEST:
            raise Malformed("nested too deep")
        fields: Fields = {}
        known = 0
        while True:
            head = self.byte()
            kind = head & 0x0F
            if kind == STOP:
                return fields
            known = known + (head >> 4) if head >> 4 else self.zigzag()
            fields[known] = self.value(kind, depth)
            if known == last:
                return fields

    def value(self, kind: int, depth: int) -> Any:
        if I16 <= kind <= I64:
            return self.zigzag()
        if kind == BINARY:
            return self.take(self.varint())
        if kind == STRUCT:
            return self.struct(depth=depth + 1)
        if kind in (LIST, SET):
            return self.sequence(depth + 1)
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self.byte()
        if kind == DOUBLE:
            return struct.unpack("<d", self.take(8))[0]
        # A map: the format has none.
        raise Malformed(f"type {kind}")

    def sequence(self, depth: int) -> list[Any]:
        head = self.byte()
        count = head >> 4 if head >> 4 < _LONG_LIST else self.varint()
        # Every element takes a byte at least.
        if count > len(self.data) - self.at:
            raise Malformed(f"a list of {count}")
        kind = head & 0x0F
        if kind in (TRUE, FALSE):
            return [self.byte() == TRUE for _ in range(count)]
        return [self.value(kind, depth) for _ in range(count)]

    def byte(self) -> int:
        at = self.at
        if at >= len(self.data):
            raise Malformed("cut off")
        self.at = at + 1
        return self.data[at]

    def take(self, size: int) -> bytes:
        start = self.at
        if size > len(self.data) - start:
            raise Malformed("cut off")
        self.at = start + size
        return self.data[start : self.at]

    def varint(self) -> int:
        value = self.byte()
        if value < _MORE:
            return value
        value &= 0x7F
        for shift in range(7, _LONGEST_VARINT, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < _MORE:
                return value
        raise Malformed("an integer of more than 64 bits")

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)
