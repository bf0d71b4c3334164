"""Split-block bloom filters of column chunks: read one by one, and probed for some values.

A filter hashes the bytes of a value as the file has them (XXH64), not the value: value_bytes.py.
See BloomFilter.md of the format.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.pruning.value_filters import ValueFilter
from whyscan.tables import budget
from whyscan.tables.counts import is_number
from whyscan.tables.parquet.chunk_patterns import BLOOM_FILTER, BLOOM_FILTER_SIZE
from whyscan.tables.parquet.filter_tally import FilterTally
from whyscan.tables.parquet.footers import ENDING, all_bytes
from whyscan.tables.parquet.thrift import MalformedThrift, ThriftReader
from whyscan.tables.parquet.value_bytes import FormsInFiles
from whyscan.tables.parquet.xxhash import xxh64
from whyscan.tables.snapshot import FilterKind, ProbedFilters, Unreached
from whyscan.tables.storage.store import ByteRange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from whyscan.tables.parquet.statistics import FileFooter
    from whyscan.tables.parquet.value_bytes import Forms
    from whyscan.tables.snapshot import FilterCount, RowGroups
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column

    Flags = npt.NDArray[np.bool_]

HEADER = 64
"""More bytes than a filter's header takes."""

UNKNOWN_SIZE = 1 << 12
"""How many bytes are read at first if the footer does not say how long a filter is."""

DAMAGED = "damaged in a bloom filter"

_BLOCK = 32
_AT_ONCE = 1 << 14
"""In how many blocks the bits are counted at once: the counts take more memory than the bits."""
_SALTS = np.array(
    [
        0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
        0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
    ],
    np.uint64,
)  # fmt: skip
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_TO_BIT = np.uint64(27)


class BloomHeader(Struct, frozen=True):
    """Where the bits of a filter begin behind its offset, and how many bytes they are."""

    begin: int
    size: int


def read_header(data: bytes) -> BloomHeader:
    """The header of a filter (parquet.thrift, BloomFilterHeader) of the one kind that there is."""
    reader = ThriftReader(data)
    fields = reader.struct()
    size = fields.get(1)
    if not is_number(size) or size < _BLOCK or size % _BLOCK:
        raise MalformedThrift("a bloom filter without blocks")
    if any(_choice(fields.get(number)) != 1 for number in (2, 3, 4)):
        raise MalformedThrift("a bloom filter of another kind")
    return BloomHeader(reader.at, size)


def _choice(union: object) -> int | None:
    return next(iter(union), None) if isinstance(union, dict) else None


class BloomFilter(Struct, frozen=True):
    """The bits of a filter: one row per block, eight words of 32 bits each."""

    blocks: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, bits: bytes) -> BloomFilter:
        return cls(np.frombuffer(bits, "<u4").reshape(-1, 8))

    def holds(self, hashes: npt.NDArray[np.uint64]) -> Flags:
        """One flag per hash: all of its bits are set."""
        count = np.uint64(len(self.blocks))
        words = self.blocks[((hashes >> _HALF) * count) >> _HALF].astype(np.uint64)
        keys = (hashes & _LOW)[:, np.newaxis]
        bits = ((keys * _SALTS) & _LOW) >> _TO_BIT
        is_set: Flags = (((words >> bits) & np.uint64(1)) == 1).all(axis=1)
        return is_set

    @property
    def false_positive_rate(self) -> float:
        """How probable it is that a value is in the filter that no row has, by the bits set."""
        parts = (self.blocks[at : at + _AT_ONCE] for at in range(0, len(self.blocks), _AT_ONCE))
        shares = (np.bitwise_count(part).astype(np.float64) / _BLOCK for part in parts)
        return float(sum(share.prod(axis=1).sum() for share in shares)) / len(self.blocks)


class ProbedValues(Struct, frozen=True):
    """The hashes of some values: `certain` flags those that have one, and zero has two."""

    certain: Flags
    hashes: npt.NDArray[np.uint64]
    others: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, forms: Forms) -> ProbedValues:
        certain = np.array([bool(f) for f in forms], np.bool_)
        hashes = np.array([xxh64(f[0]) if f else 0 for f in forms], np.uint64)
        others = np.array([xxh64(f[-1]) if f else 0 for f in forms], np.uint64)
        return cls(certain, hashes, others)

    def possible(self, bloom: BloomFilter) -> Flags:
        """One flag per value: a row may have it."""
        return ~self.certain | bloom.holds(self.hashes) | bloom.holds(self.others)


class _FilterPlace(Struct, frozen=True):
    """A filter: the row group and the column that have it, and where it is in its file."""

    group: int
    column: int
    footer: FileFooter
    probed: ProbedValues
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The position behind the footer: the filters of the file end before it."""
        return self.footer.footer.size - ENDING


def bloom_filters(
    store: Store, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
) -> ProbedFilters:
    """Read the filters of the row groups at the positions `at`, and probe them for values.

    One filter is in memory at a time. The footers of the row groups must have been kept.
    """
    footers = groups.footers
    if footers is None or not values:
        return ProbedFilters({})
    possible = [np.ones((groups.count, len(probed)), np.bool_) for probed in values.values()]
    forms = FormsInFiles(values)
    places = [p for position in at.to_pylist() for p in _places(groups, footers, position, forms)]
    for place in places:
        budget.check_object_size(place.size, place.footer.footer.path)
    tallies = [FilterTally() for _ in values]
    read: Counter[str] = Counter()
    damaged: set[str] = set()
    ranges = [ByteRange(p.footer.footer.key, p.offset, p.size) for p in places]
    for place, content in zip(places, store.read_many(ranges, keep=all_bytes), strict=True):
        key = place.footer.footer.key
        try:
            bits = _bits(store, place, memoryview(content))
        except MalformedThrift:
            damaged.add(key)
            continue
        read[key] += len(bits)
        if read[key] > place.end:
            # Filters that overlap: reading each would take longer than the file is large.
            damaged.add(key)
            continue
        bloom = BloomFilter.of(bits)
        flags = place.probed.possible(bloom)
        possible[place.column][place.group] = flags
        tallies[place.column].add(key, len(bits), flags, bloom.false_positive_rate)
    files = len({p.footer.footer.key for p in places})
    return ProbedFilters(
        {
            column.path: ValueFilter(probed, flags)
            for (column, probed), flags in zip(values.items(), possible, strict=True)
        },
        tuple(
            tally.counted(FilterKind.BLOOM, column.path, groups, at)
            for column, tally in zip(values, tallies, strict=True)
        ),
        (Unreached(DAMAGED, len(damaged), files),) if damaged else (),
    )


def written_filters(groups: RowGroups, columns: Sequence[Column]) -> Iterator[FilterCount]:
    """For each column with a bloom filter how many there are, by the footers; reads none.

    Old writers do not write how many bytes a filter has: then their bytes are not counted.
    """
    footers = groups.footers
    if footers is None:
        return
    at = pa.array(range(groups.count), pa.int64())
    for column in columns:
        tally = FilterTally()
        for file, ordinal in zip(groups.file.to_pylist(), groups.ordinal.to_pylist(), strict=True):
            footer = footers[file]
            leaf = footer.leaves.get(column.path)
            chunk = {} if leaf is None else footer.metadata.row_groups[ordinal].chunks[leaf.index]
            if is_number(chunk.get(BLOOM_FILTER)):
                size = chunk.get(BLOOM_FILTER_SIZE, 0)
                tally.add(footer.footer.key, max(size, 0), np.ones(1, np.bool_))
        if tally.present:
            yield tally.counted(FilterKind.BLOOM, column.path, groups, at, read=False)


def _places(
    groups: RowGroups,
    footers: Sequence[FileFooter],
    position: int,
    values: FormsInFiles,
) -> Iterator[_FilterPlace]:
    """The filters of one row group that can be probed."""
    footer = footers[groups.file[position].as_py()]
    group = footer.metadata.row_groups[groups.ordinal[position].as_py()]
    for number, column in enumerate(values.columns):
        leaf = footer.leaves.get(column.path)
        if leaf is None:
            continue
        chunk = group.chunks[leaf.index]
        offset, size = chunk.get(BLOOM_FILTER), chunk.get(BLOOM_FILTER_SIZE)
        left = footer.footer.size - ENDING - (offset if is_number(offset) else 0)
        if not is_number(offset) or offset <= 0 or left <= HEADER // 2:
            continue
        forms = values.forms(column, leaf, footer.metadata)
        if forms is not None:
            is_written = is_number(size) and 0 < size <= left
            guess = min(size if is_written else UNKNOWN_SIZE, left)
            yield _FilterPlace(position, number, footer, ProbedValues.of(forms), offset, guess)


def _bits(store: Store, place: _FilterPlace, content: memoryview) -> bytes:
    """The bits of a filter of which `content` is the begin: old writers do not write its size."""
    header = read_header(bytes(content[:HEADER]))
    end = header.begin + header.size
    if end <= len(content):
        return bytes(content[header.begin : end])
    if end > place.end - place.offset:
        raise MalformedThrift("a bloom filter that is longer than its file")
    budget.check_object_size(end, place.footer.footer.path)
    return bytes(store.read(place.footer.footer.key, place.offset + header.begin, header.size))
