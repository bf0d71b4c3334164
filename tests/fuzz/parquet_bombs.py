"""Parquet files: footers that claim, and footers of more values than fit into memory."""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.bombs import STATS, Bomb
from tables.by_hand import varint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MB = 1_000_000


def with_footer(folder: Path, change: Callable[[bytes], bytes]) -> None:
    """A file of one column whose footer is changed."""
    folder.mkdir()
    place = folder / "f.parquet"
    pq.write_table(pa.table({"a": [1, 2, 3]}), place, store_schema=False)
    whole = place.read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    footer = change(whole[start:-8])
    place.write_bytes(whole[:start] + footer + struct.pack("<I", len(footer)) + b"PAR1")


def pairs(footer: bytes, count: int) -> bytes:
    """Keys and values without end, as a field 5 behind everything else."""
    pair = b"\x18\x04aaaa\x18\x04bbbb\x00"
    return footer[:-1] + b"\x09" + varint(10) + b"\xfc" + varint(count) + pair * count + b"\x00"


def claimed_pairs(footer: bytes, count: int) -> bytes:
    return footer[:-1] + b"\x09" + varint(10) + b"\xfc" + varint(count) + b"\x00"


def wide(folder: Path, columns: int) -> None:
    folder.mkdir()
    table = pa.table({f"column_{n}": [n] for n in range(columns)})
    pq.write_table(table, folder / "f.parquet")


BOMBS = {
    "a footer of a million keys": Bomb(
        partial(with_footer, change=partial(pairs, count=MB)), "f.parquet"
    ),
    "a footer that claims a billion keys": Bomb(
        partial(with_footer, change=partial(claimed_pairs, count=1000 * MB)), "f.parquet"
    ),
    "a Parquet file of 20000 columns": Bomb(
        partial(wide, columns=20_000), None, ("explain", "-w", "column_7 = 1")
    ),
    "the statistics of 20000 columns of Parquet": Bomb(
        partial(wide, columns=20_000), "has 20,000 columns", STATS
    ),
}
