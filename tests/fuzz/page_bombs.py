"""Parquet files whose indexes of pages, bloom filters and dictionaries claim or repeat too much."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.bombs import Bomb
from tables.by_hand import (
    BINARY,
    I32,
    I64,
    MAX_VALUE,
    MIN_VALUE,
    STRUCT,
    Decoder,
    encode_struct,
    footer_of,
    varint,
    with_footer,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tables.by_hand import Struct

PAGES = 20_000
MEBIBYTE = 1 << 20
OFFSETS, OFFSETS_SIZE, BOUNDS, BOUNDS_SIZE = 4, 5, 6, 7
BLOOM, BLOOM_SIZE = 14, 15


class Rewritten:
    """A file of the columns `a` and `s` in one row group, with more bytes before its footer."""

    def __init__(self, folder: Path, rows: int = 200) -> None:
        folder.mkdir()
        self.place = folder / "f.parquet"
        table = pa.table({"a": range(rows), "s": ["s"] * rows})
        pq.write_table(table, self.place, use_dictionary=False, compression="none")
        self.data = self.place.read_bytes()
        self.footer = footer_of(self.data)
        self.body = bytearray(self.data[: -8 - len(self.footer)])
        self.metadata: Struct = Decoder(self.footer).struct()

    def chunk(self, column: int) -> Struct:
        """The chunk of a column, as the footer has it."""
        chunk: Struct = self.metadata[4][1][1][0][1][1][1][column]
        return chunk

    def extent(self, column: int) -> tuple[int, int]:
        """Where the pages of a column begin, and how many bytes they are."""
        metadata = self.chunk(column)[3][1]
        return metadata[9][1], metadata[7][1]

    def add(self, data: bytes) -> tuple[int, int]:
        """Put some bytes before the footer: where they are, and how many."""
        begin = len(self.body)
        self.body += data
        return begin, len(data)

    def index(self, column: int, offsets: bytes, bounds: bytes) -> None:
        """Give a column these indexes."""
        chunk = self.chunk(column)
        for field, data in ((OFFSETS, offsets), (BOUNDS, bounds)):
            begin, size = self.add(data)
            chunk[field], chunk[field + 1] = (I64, begin), (I32, size)

    def write(self) -> None:
        data = bytes(self.body) + self.data[len(self.data) - 8 - len(self.footer) :]
        self.place.write_bytes(with_footer(data, encode_struct(self.metadata)))


def signed(value: int) -> bytes:
    return varint(value << 1)


def locations(pages: list[tuple[int, int, int]]) -> bytes:
    """An offset index."""
    members = b"".join(
        b"\x16" + signed(at) + b"\x15" + signed(size) + b"\x16" + signed(row) + b"\0"
        for at, size, row in pages
    )
    return b"\x19\xfc" + varint(len(pages)) + members + b"\0"


def bounds(lower: list[bytes], upper: list[bytes]) -> bytes:
    """A column index of pages that have values."""
    flags = b"\x19\xf2" + varint(len(lower)) + b"\x02" * len(lower)
    texts = b"".join(
        b"\x19\xf8" + varint(len(values)) + b"".join(varint(len(v)) + v for v in values)
        for values in (lower, upper)
    )
    return flags + texts + b"\x15\x00\x00"


def long_bounds(folder: Path, *, of_pages: bool) -> None:
    """A text of one page whose bounds have a megabyte, beside a number of many pages."""
    file = Rewritten(folder, PAGES)
    begin, _ = file.extent(0)
    numbers = [n.to_bytes(8, "little") for n in range(PAGES)]
    file.index(0, locations([(begin + n, 1, n) for n in range(PAGES)]), bounds(numbers, numbers))
    text = b"a" * MEBIBYTE, b"z" * MEBIBYTE
    if of_pages:
        file.index(1, locations([(*file.extent(1), 0)]), bounds([text[0]], [text[1]]))
    else:
        statistics = {MIN_VALUE: (BINARY, text[0]), MAX_VALUE: (BINARY, text[1])}
        file.chunk(1)[3][1][12] = (STRUCT, statistics)
    file.write()


def padded(value: int, size: int) -> bytes:
    """A signed number in `size` bytes, more than it needs."""
    digits = [value << 1 >> 7 * n & 0x7F for n in range(size)]
    return bytes([*(d | 0x80 for d in digits[:-1]), digits[-1]])


def wide_numbers(folder: Path, pages: int) -> None:
    """An offset index whose numbers take nine bytes each."""
    file = Rewritten(folder)
    begin, size = file.extent(0)
    page = b"\x16" + padded(begin, 9) + b"\x15" + padded(size, 9) + b"\x16" + padded(0, 9) + b"\0"
    offsets = b"\x19\xfc" + varint(pages) + page * pages + b"\0"
    file.index(0, offsets, bounds([b"\0" * 8], [b"\0" * 8]))
    file.write()


def many_pages(folder: Path, pages: int) -> None:
    """As many pages as fit into an index that is not refused for its size; most have no row."""
    file = Rewritten(folder)
    begin, _ = file.extent(0)
    file.chunk(0)[3][1][7] = (I64, pages)
    one = (0).to_bytes(8, "little")
    spread = [(begin + n, 1, 0) for n in range(pages)]
    file.index(0, locations(spread), bounds([one] * pages, [one] * pages))
    file.write()


def bloom(folder: Path, size: int) -> None:
    """A bloom filter of `size` bytes, of which hardly any is on disk."""
    file = Rewritten(folder)
    kinds = {number: (STRUCT, {1: (STRUCT, {})}) for number in (2, 3, 4)}
    head = encode_struct({1: (I32, size), **kinds})
    begin, _ = file.add(head)
    metadata = file.chunk(0)[3][1]
    metadata[BLOOM], metadata[BLOOM_SIZE] = (I64, begin), (I32, size + len(head))
    metadata.pop(12)  # Statistics would decide before any filter is read.
    footer = encode_struct(file.metadata)
    tail = footer + len(footer).to_bytes(4, "little") + b"PAR1"
    with file.place.open("wb") as out:
        out.write(file.body)
        out.truncate(len(file.body) + size)
        out.seek(len(file.body) + size)
        out.write(tail)


def explain(where: str, depth: str = "pages") -> tuple[str, ...]:
    return ("explain", "-w", where, "--depth", depth, "--format", "json")


BOMBS = {
    "one page of a text with a bound of a megabyte beside 20000 pages": Bomb(
        partial(long_bounds, of_pages=True), None, explain("a >= 1 AND s = 's'")
    ),
    "a row group of 20000 pages whose other bound has a megabyte": Bomb(
        partial(long_bounds, of_pages=False), None, explain("a >= 1 AND s = 's'")
    ),
    "an index of pages with numbers of nine bytes": Bomb(
        partial(wide_numbers, pages=900_000), None, explain("a = 1")
    ),
    "an index of 330000 pages without rows": Bomb(
        partial(many_pages, pages=330_000), None, explain("a = 1")
    ),
    "a bloom filter of a quarter of a gigabyte that the file has": Bomb(
        partial(bloom, size=1 << 28), "which are read whole", explain("a = 1")
    ),
    "a bloom filter of 24 MB that the file has": Bomb(
        partial(bloom, size=24 << 20), None, explain("a = 1")
    ),
}
