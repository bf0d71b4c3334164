"""Dictionaries of column chunks: a chunk that is wholly encoded by one has no other value.

They are exact, and are data: they are read only when a plan asks for them.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.pruning.value_filters import ValueFilter
from whyscan.tables import budget
from whyscan.tables.counts import is_number
from whyscan.tables.parquet.chunk_patterns import (
    CODEC,
    DATA_PAGE,
    DICTIONARY_PAGE,
    WHOLLY_DICTIONARY,
)
from whyscan.tables.parquet.filter_tally import FilterTally
from whyscan.tables.parquet.footers import ENDING
from whyscan.tables.parquet.schemas import Physical
from whyscan.tables.parquet.thrift import MalformedThrift, ThriftReader
from whyscan.tables.parquet.value_bytes import FormsInFiles
from whyscan.tables.snapshot import FilterKind, ProbedFilters, Unreached
from whyscan.tables.storage.store import ByteRange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.tables.parquet.schemas import ParquetColumn
    from whyscan.tables.parquet.statistics import FileFooter
    from whyscan.tables.parquet.value_bytes import Forms
    from whyscan.tables.snapshot import FilterCount, RowGroups
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column

DAMAGED = "damaged in a dictionary"
_CODECS = {0: None, 1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_WIDTHS: dict[int, int] = {
    int(Physical.INT32): 4,
    int(Physical.INT64): 8,
    int(Physical.FLOAT): 4,
    int(Physical.DOUBLE): 8,
}
_DICTIONARY_PAGE = 2
_PLAIN = (0, 2)
_TYPE, _INFLATED, _COMPRESSED, _HEADER = 1, 2, 3, 7
_COUNT, _ENCODING = 1, 2


class _DictionaryPlace(Struct, frozen=True):
    """A dictionary: the row group and the column that have it, and where it is in its file."""

    group: int
    column: int
    footer: FileFooter
    leaf: ParquetColumn
    forms: Forms
    codec: int
    begin: int
    end: int

    @property
    def range(self) -> ByteRange:
        return ByteRange(self.footer.footer.key, self.begin, self.end - self.begin)


def dictionaries(
    store: Store, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
) -> ProbedFilters:
    """Read the dictionaries of the row groups at the positions `at`, and probe them for values.

    One dictionary is in memory at a time. The footers of the row groups must have been kept.
    """
    places = _all_places(groups, at, values)
    tallies = [FilterTally() for _ in values]
    for place in places:
        budget.check_object_size(place.end - place.begin, place.footer.footer.path)
    possible = [np.ones((groups.count, len(probed)), np.bool_) for probed in values.values()]
    damaged: set[str] = set()
    contents = store.read_many([place.range for place in places])
    for place, content in zip(places, contents, strict=True):
        try:
            entries = read_dictionary(bytes(content), place.leaf, place.codec)
            wanted = {form for forms in place.forms for form in forms}
            # Of a dictionary of any size only what was looked for stays in memory.
            present = {entry for entry in entries if entry in wanted}
        except MalformedThrift:
            damaged.add(place.footer.footer.key)
            continue
        flags = [not forms or not present.isdisjoint(forms) for forms in place.forms]
        possible[place.column][place.group] = flags
        tally = tallies[place.column]
        tally.add(place.footer.footer.key, place.end - place.begin, np.array(flags, np.bool_))
    files = len({place.footer.footer.key for place in places})
    return ProbedFilters(
        {
            column.path: ValueFilter(probed, flags)
            for (column, probed), flags in zip(values.items(), possible, strict=True)
        },
        tuple(
            tally.counted(FilterKind.DICTIONARY, column.path, groups, at)
            for column, tally in zip(values, tallies, strict=True)
        ),
        (Unreached(DAMAGED, len(damaged), files),) if damaged else (),
    )


def dictionary_counts(
    groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
) -> tuple[FilterCount, ...]:
    """How many dictionaries would be read, and how many bytes they have; reads none."""
    tallies = [FilterTally() for _ in values]
    for place in _all_places(groups, at, values):
        size = place.end - place.begin
        tallies[place.column].add(place.footer.footer.key, size, np.ones(1, np.bool_))
    return tuple(
        tally.counted(FilterKind.DICTIONARY, column.path, groups, at, read=False)
        for column, tally in zip(values, tallies, strict=True)
    )


def _all_places(
    groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
) -> list[_DictionaryPlace]:
    """The dictionaries of the row groups at `at` whose footers were kept."""
    footers = groups.footers
    if footers is None:
        return []
    forms = FormsInFiles(values)
    return [p for position in at.to_pylist() for p in _places(groups, footers, position, forms)]


def _places(
    groups: RowGroups, footers: Sequence[FileFooter], position: int, values: FormsInFiles
) -> Iterator[_DictionaryPlace]:
    """The dictionaries of one row group that hold all values of their chunks."""
    footer = footers[groups.file[position].as_py()]
    group = footer.metadata.row_groups[groups.ordinal[position].as_py()]
    for number, column in enumerate(values.columns):
        leaf = footer.leaves.get(column.path)
        if leaf is None:
            continue
        chunk = group.chunks[leaf.index]
        codec, begin, end = (chunk.get(key) for key in (CODEC, DICTIONARY_PAGE, DATA_PAGE))
        if not is_number(begin) or not is_number(end) or chunk.get(WHOLLY_DICTIONARY) != 1:
            continue
        if not 0 < begin < end <= footer.footer.size - ENDING or codec not in _CODECS:
            continue
        forms = values.forms(column, leaf, footer.metadata)
        if forms is not None:
            yield _DictionaryPlace(position, number, footer, leaf, forms, codec, begin, end)


def read_dictionary(data: bytes, leaf: ParquetColumn, codec: int) -> Iterator[bytes]:
    """The values of a dictionary page, as the bytes that a file has for them."""
    reader = ThriftReader(data)
    header = reader.struct()
    inflated, compressed = header.get(_INFLATED), header.get(_COMPRESSED)
    page = header.get(_HEADER)
    if header.get(_TYPE) != _DICTIONARY_PAGE or not isinstance(page, dict):
        raise MalformedThrift("a dictionary that is none")
    count = page.get(_COUNT)
    if not is_number(inflated) or not is_number(compressed) or not is_number(count):
        raise MalformedThrift("a dictionary that does not say how large it is")
    if page.get(_ENCODING) not in _PLAIN or not 0 <= count <= max(inflated, 0):
        raise MalformedThrift("a dictionary that is not plain")
    body = reader.take(compressed) if compressed >= 0 else b""
    return _entries(_inflated(body, inflated, codec), count, leaf)


def _inflated(body: bytes, size: int, codec: int) -> bytes:
    """The `size` bytes that a page inflates to.

    PyArrow fills what is missing with any bytes. So a page must not fit into one byte less.
    """
    name = _CODECS[codec]
    if name is None:
        return body
    if size > budget.most_inflated(len(body)):
        raise MalformedThrift("a dictionary that inflates to more than the memory limit allows")
    try:
        inflated = bytes(pa.decompress(body, decompressed_size=size, codec=name, asbytes=True))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise MalformedThrift(f"a dictionary that does not inflate: {error}") from None
    if size and _fits(body, size - 1, name):
        raise MalformedThrift("a dictionary that inflates to fewer bytes than it says")
    return inflated


def _fits(body: bytes, size: int, codec: str) -> bool:
    try:
        pa.decompress(body, decompressed_size=size, codec=codec)
    except (pa.ArrowException, OSError, ValueError):
        return False
    return True


def _entries(data: bytes, count: int, leaf: ParquetColumn) -> Iterator[bytes]:
    """`count` values that are encoded one after the other."""
    if leaf.physical == Physical.BYTE_ARRAY:
        return _texts(data, count)
    width: Any = leaf.length if leaf.physical == Physical.FIXED else _WIDTHS.get(leaf.physical, 0)
    if not is_number(width) or width <= 0 or width * count != len(data):
        raise MalformedThrift("a dictionary of another size than its values")
    return (data[at : at + width] for at in range(0, width * count, width))


def _texts(data: bytes, count: int) -> Iterator[bytes]:
    at = 0
    for _ in range(count):
        if at + 4 > len(data):
            raise MalformedThrift("a dictionary that is cut off")
        (size,) = struct.unpack_from("<I", data, at)
        at += 4 + size
        if at > len(data):
            raise MalformedThrift("a dictionary that is cut off")
        yield data[at - size : at]
    if at < len(data):
        raise MalformedThrift("a dictionary of another size than its values")
