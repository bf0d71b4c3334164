"""Bytes, damaged: cut off, flipped, swapped, spliced, doubled, with lengths that lie."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from fuzz.documents import damage_document, damage_lines
from tables.by_hand import varint

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTHS = (0, 1, 0x7F, 0x80, 0xFFFF, 1 << 24, (1 << 30), (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
LONG_LENGTHS = (*LENGTHS, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF, 0x22, 0x5C, 0x7B, 0x0A)
MOST_CHANGES = 4
LONGEST_RANGE = 64


class Kind(Enum):
    """What a file is made of, which is where damage to it goes."""

    BINARY = "binary"
    PARQUET = "parquet"
    DOCUMENT = "document"
    LINES = "lines"
    GZIP = "gzip"


@dataclass(frozen=True)
class Mutant:
    """Damaged bytes; `how` names what was done, `cut` that the end is missing and nothing else."""

    data: bytes
    how: str
    cut: bool = False


def mutant(whole: bytes, kind: Kind, name: str) -> Mutant:
    """The one mutant of that name: the same everywhere."""
    dice = random.Random(name)
    while True:
        mutant = _mutant(whole, kind, dice)
        if mutant.data != whole:
            return mutant


def _mutant(whole: bytes, kind: Kind, dice: random.Random) -> Mutant:
    if whole and dice.random() < 1 / 5:
        return Mutant(whole[: _cut_at(whole, dice)], "cut", cut=True)
    if kind in _DOCUMENTS and dice.random() < 2 / 3:
        return Mutant(_DOCUMENTS[kind](whole, dice), "document")
    data, names = bytearray(whole), []
    for _ in range(dice.randint(1, MOST_CHANGES)):
        change = dice.choice(CHANGES)
        change(data, _place(data, kind, dice), dice)
        names.append(change.__name__.strip("_"))
    return Mutant(bytes(data), "+".join(names))


def _cut_at(whole: bytes, dice: random.Random) -> int:
    """Where to cut: anywhere, or behind a line, or just before the end."""
    match dice.randrange(4):
        case 0:
            return max(len(whole) - dice.randint(1, 40), 0)
        case 1:
            lines = [at + 1 for at, byte in enumerate(whole) if byte == 0x0A]
            return dice.choice([*lines, 0])
        case _:
            return dice.randrange(len(whole))


def _place(data: bytearray, kind: Kind, dice: random.Random) -> int:
    """Where to change: in Parquet mostly the footer, which is what says where all else is."""
    if kind is Kind.PARQUET and dice.random() < 0.8 and len(data) > 12:
        length = int.from_bytes(data[-8:-4], "little")
        return dice.randrange(max(len(data) - 8 - length, 0), len(data))
    return dice.randrange(len(data) + 1)


def _flip(data: bytearray, at: int, dice: random.Random) -> None:
    if at < len(data):
        data[at] ^= 1 << dice.randrange(8)


def _replace(data: bytearray, at: int, dice: random.Random) -> None:
    data[at : at + 1] = bytes([dice.choice(BYTES)])


def _scramble(data: bytearray, at: int, dice: random.Random) -> None:
    size = dice.randint(1, 8)
    data[at : at + size] = dice.randbytes(size)


def _insert(data: bytearray, at: int, dice: random.Random) -> None:
    data[at:at] = dice.randbytes(dice.randint(1, 12))


def _delete(data: bytearray, at: int, dice: random.Random) -> None:
    del data[at : at + dice.randint(1, LONGEST_RANGE)]


def _double(data: bytearray, at: int, dice: random.Random) -> None:
    data[at:at] = data[at : at + dice.randint(1, LONGEST_RANGE)]


def _splice(data: bytearray, at: int, dice: random.Random) -> None:
    """Put bytes from elsewhere in the file over these."""
    size = dice.randint(1, LONGEST_RANGE)
    source = dice.randrange(len(data) + 1)
    data[at : at + size] = data[source : source + size]


def _swap(data: bytearray, at: int, dice: random.Random) -> None:
    other, size = dice.randrange(len(data) + 1), dice.randint(1, 16)
    low, high = sorted((at, other))
    if low + size <= high:
        data[low : low + size], data[high : high + size] = (
            data[high : high + size],
            data[low : low + size],
        )


def _length(data: bytearray, at: int, dice: random.Random) -> None:
    """A length as a fixed integer, low byte first."""
    code, of = dice.choice([("<I", LENGTHS), ("<Q", LONG_LENGTHS)])
    packed = struct.pack(code, dice.choice(of))
    data[at : at + len(packed)] = packed


def _varint(data: bytearray, at: int, dice: random.Random) -> None:
    """A length in groups of seven bits, over the number that stands there."""
    end = at
    while end < len(data) - 1 and end < at + 10 and data[end] >= 0x80:
        end += 1
    data[at : end + 1] = varint(dice.choice(LONG_LENGTHS))


CHANGES = (
    _flip,
    _flip,
    _replace,
    _scramble,
    _insert,
    _delete,
    _double,
    _splice,
    _swap,
    _length,
    _varint,
)


def _inside_gzip(whole: bytes, dice: random.Random) -> bytes:
    import gzip

    return gzip.compress(damage_document(gzip.decompress(whole), dice), mtime=0)


_DOCUMENTS: dict[Kind, Callable[[bytes, random.Random], bytes]] = {
    Kind.DOCUMENT: damage_document,
    Kind.LINES: damage_lines,
    Kind.GZIP: _inside_gzip,
}
