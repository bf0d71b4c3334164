"""Footers by hand: read a file's Thrift, change what no writer would write, put it back."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# A struct is {field id: (wire type, value)}, a list is (element type, values).
Struct = dict[int, tuple[int, Any]]

TRUE, FALSE, BYTE, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 5, 6, 7, 8, 9, 12

CREATED_BY = 6
COLUMN_ORDERS = 7
MAX, MIN, NULL_COUNT, MAX_VALUE, MIN_VALUE, NAN_COUNT = 1, 2, 3, 5, 6, 9


class Decoder:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self) -> Struct:
        fields, number = {}, 0
        while True:
            head = self.data[self.at]
            self.at += 1
            if head == 0:
                return fields
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            fields[number] = (head & 15, self.value(head & 15))

    def value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == STRUCT:
            return self.struct()
        if kind == LIST:
            head = self.data[self.at]
            self.at += 1
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return (head & 15, [self.value(head & 15) for _ in range(count)])
        if kind in (BINARY, BYTE, DOUBLE):
            size = self.varint() if kind == BINARY else {BYTE: 1, DOUBLE: 8}[kind]
            self.at += size
            return self.data[self.at - size : self.at]
        return self.zigzag()


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def encode(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind == STRUCT:
        return encode_struct(value)
    if kind == LIST:
        element, values = value
        head = bytes([min(len(values), 15) << 4 | element])
        size = varint(len(values)) if len(values) >= 15 else b""
        return head + size + b"".join(encode(element, v) for v in values)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind in (BYTE, DOUBLE):
        return value
    return varint(value << 1 ^ value >> 63)


def encode_struct(fields: Struct) -> bytes:
    out, previous = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        wire = (TRUE if value else FALSE) if kind in (TRUE, FALSE) else kind
        delta = number - previous
        out += bytes([delta << 4 | wire]) if 0 < delta < 16 else bytes([wire]) + varint(number << 1)
        out += encode(wire, value)
        previous = number
    return out + b"\0"


def footer_of(data: bytes) -> bytes:
    length = struct.unpack("<I", data[-8:-4])[0]
    return data[-8 - length : -8]


def with_footer(data: bytes, footer: bytes) -> bytes:
    body = data[: -8 - len(footer_of(data))]
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def patch(path: Path, change: Callable[[Struct], None]) -> None:
    """Change a file's metadata."""
    data = path.read_bytes()
    metadata = Decoder(footer_of(data)).struct()
    change(metadata)
    path.write_bytes(with_footer(data, encode_struct(metadata)))


def chunks(metadata: Struct, column: int) -> list[Struct]:
    """A column's metadata in every row group."""
    groups = metadata[4][1][1]
    return [group[1][1][1][column][3][1] for group in groups]


def set_statistics(path: Path, column: int, **said: Any) -> None:
    """Replace a column's statistics: lower, upper, null_count, nan_count, old_lower, old_upper.

    Bounds are the bytes as they stand in the file; what is not given is not written.
    """
    fields = {
        "old_upper": (MAX, BINARY),
        "old_lower": (MIN, BINARY),
        "null_count": (NULL_COUNT, I64),
        "upper": (MAX_VALUE, BINARY),
        "lower": (MIN_VALUE, BINARY),
        "nan_count": (NAN_COUNT, I64),
    }
    statistics = {fields[name][0]: (fields[name][1], value) for name, value in said.items()}

    def change(metadata: Struct) -> None:
        for chunk in chunks(metadata, column):
            chunk[12] = (STRUCT, statistics)

    patch(path, change)


def set_created_by(path: Path, text: str) -> None:
    patch(path, lambda metadata: metadata.update({CREATED_BY: (BINARY, text.encode())}))
