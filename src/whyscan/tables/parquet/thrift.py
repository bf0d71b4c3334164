"""Reads Thrift's compact protocol, as far as a Parquet footer uses it.

PyArrow is not used: a bound of the wrong length crashes the process, and it hides `nan_count`.
This reader checks every length against the bytes that are left.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from whyscan.tables import budget

if TYPE_CHECKING:
    from collections.abc import Iterator

Fields: TypeAlias = dict[int, Any]
"""A struct: values by field id, lists as lists, bytes as bytes, a nested struct as Fields."""

DEEPEST = 32
MOST_VALUES = 1 << 22
"""How many values a footer may have; a larger footer one for three bytes. Objects are large."""

_FEW_VALUES = 1 << 18
"""How many values fit into any memory limit."""

_VALUE_BYTES = 128
"""About how many bytes Python takes for a value, with its share of a struct."""

# The types on the wire. A boolean field is its type. Plain integers: an Enum's members take
# several times as long to compare.
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)
_LONG_LIST = 15
_MORE = 0x80
_LONGEST_VARINT = 64
_FIELDS = 1 << 15
"""Field numbers have sixteen bits."""


class MalformedThrift(ValueError):
    """The bytes are no valid Thrift struct."""


class ThriftReader(Struct):
    """Some bytes and a position in them, which every read moves forward.

    `allowed` is how many values the memory limit allows, 0 until it is needed.
    """

    data: bytes
    at: int = 0
    values: int = 0
    allowed: int = 0

    def struct(self, depth: int = 0) -> Fields:
        """All fields of a struct."""
        if depth > DEEPEST:
            raise MalformedThrift("nested too deep")
        fields = {number: self.value(kind, depth) for number, kind in self.fields()}
        self.count(len(fields) + 1)
        return fields

    def count(self, values: int) -> None:
        self.values += values
        if self.values <= _FEW_VALUES:
            return
        if self.values > MOST_VALUES and self.values > len(self.data) // 3:
            raise MalformedThrift("more values than bytes allow")
        if not self.allowed:
            self.allowed = budget.limit() // _VALUE_BYTES
        if self.values > self.allowed:
            raise MalformedThrift(f"more values than the memory limit allows: {self.values}")

    def fields(self, number: int = 0) -> Iterator[tuple[int, int]]:
        """Number and type of each field after field `number`; the caller reads its value first."""
        while True:
            head = self.byte()
            kind = head & 0x0F
            if kind == STOP:
                return
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            if number >= _FIELDS:
                raise MalformedThrift(f"field {number}")
            yield number, kind

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
        raise MalformedThrift(f"type {kind}")

    def sequence(self, depth: int) -> list[Any]:
        if depth > DEEPEST:
            raise MalformedThrift("nested too deep")
        kind, count = self.list_head()
        if kind in (TRUE, FALSE):
            return [self.byte() == TRUE for _ in range(count)]
        return [self.value(kind, depth) for _ in range(count)]

    def list_head(self) -> tuple[int, int]:
        """The type and the number of a list's elements, each of which takes a byte at least."""
        head = self.byte()
        count = head >> 4 if head >> 4 < _LONG_LIST else self.varint()
        if count > len(self.data) - self.at:
            raise MalformedThrift(f"a list of {count}")
        self.count(count)
        return head & 0x0F, count

    def byte(self) -> int:
        at = self.at
        if at >= len(self.data):
            raise MalformedThrift("cut off")
        self.at = at + 1
        return self.data[at]

    def take(self, size: int) -> bytes:
        start = self.at
        if size > len(self.data) - start:
            raise MalformedThrift("cut off")
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
        raise MalformedThrift("an integer of more than 64 bits")

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)
