"""Thrift's compact protocol, as far as a Parquet footer uses it.

PyArrow decodes the row groups faster, and hides two things: the schema's own bytes, and
statistics that it does not know. Every length is checked against what is left to read.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

Fields: TypeAlias = dict[int, Any]
"""A struct: values by field id, lists as lists, bytes as bytes, a nested struct as Fields."""

DEEPEST = 32
_LONGEST_VARINT = 10
_LONG_LIST = 15


class Wire(IntEnum):
    """The types on the wire. A boolean field is its type."""

    STOP = 0
    TRUE = 1
    FALSE = 2
    BYTE = 3
    I16 = 4
    I32 = 5
    I64 = 6
    DOUBLE = 7
    BINARY = 8
    LIST = 9
    SET = 10
    MAP = 11
    STRUCT = 12


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
            if kind == Wire.STOP:
                return fields
            known = known + (head >> 4) if head >> 4 else self.zigzag()
            fields[known] = self.value(kind, depth)
            if known == last:
                return fields

    def value(self, kind: int, depth: int) -> Any:
        match kind:
            case Wire.TRUE | Wire.FALSE:
                return kind == Wire.TRUE
            case Wire.BYTE:
                return self.byte()
            case Wire.I16 | Wire.I32 | Wire.I64:
                return self.zigzag()
            case Wire.DOUBLE:
                return struct.unpack("<d", self.take(8))[0]
            case Wire.BINARY:
                return self.take(self.varint())
            case Wire.LIST | Wire.SET:
                return self.sequence(depth + 1)
            case Wire.STRUCT:
                return self.struct(depth=depth + 1)
            case _:
                # A map: the format has none.
                raise Malformed(f"type {kind}")

    def sequence(self, depth: int) -> list[Any]:
        head = self.byte()
        count = head >> 4 if head >> 4 < _LONG_LIST else self.varint()
        # Every element takes a byte at least.
        if count > len(self.data) - self.at:
            raise Malformed(f"a list of {count}")
        kind = head & 0x0F
        if kind in (Wire.TRUE, Wire.FALSE):
            return [self.byte() == Wire.TRUE for _ in range(count)]
        return [self.value(kind, depth) for _ in range(count)]

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise Malformed("cut off")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise Malformed("cut off")
        self.at += size
        return self.data[self.at - size : self.at]

    def varint(self) -> int:
        value = 0
        for shift in range(0, 7 * _LONGEST_VARINT, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004  the bit that says: more to come
                return value
        raise Malformed("an integer of more than 64 bits")

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)
