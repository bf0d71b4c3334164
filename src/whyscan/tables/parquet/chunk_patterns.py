"""Reads the metadata of column chunks with regular expressions, which is faster than Thrift.

A writer gives every chunk of a column the same fields (its shape): only numbers and bounds differ.
The bytes before a field fix where it begins. So one chunk, read with ThriftReader, makes a pattern
that matches exactly the bytes that ThriftReader would read. Chunks of another shape are read with
ThriftReader, and get a pattern only if they are common: compiling a pattern takes as long as
reading some dozens of chunks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeAlias

from msgspec import Struct, field

from whyscan.tables.counts import is_number
from whyscan.tables.parquet import thrift
from whyscan.tables.parquet.thrift import Fields, MalformedThrift, ThriftReader

SIZE, DATA_PAGE, DICTIONARY_PAGE, STATISTICS = 7, 9, 11, 12
"""Fields of a chunk's metadata (parquet.thrift, ColumnMetaData)."""

BLOOM_FILTER, BLOOM_FILTER_SIZE = 14, 15
"""The field for the position of the bloom filter; decoders with `LOCATION_KEYS` return it."""

CODEC, WHOLLY_DICTIONARY = 4, 1 << 17
"""The compression of a chunk, and 1 if all of its data pages are encoded by a dictionary."""

_METADATA = 3
_PATH_IN_SCHEMA = (_METADATA, 3)
_OFFSETS_AND_SIZE = (SIZE, DATA_PAGE, DICTIONARY_PAGE)
_LONGEST_FIXED = 32
_VARINT = rb"[\x80-\xff]{0,9}+[\x00-\x7f]"
_FEW = 8
_COMMON = 16


def statistic(number: int) -> int:
    """The key for a field of a chunk's statistics, distinct from the keys of its metadata."""
    return STATISTICS << 8 | number


def _outside(number: int) -> int:
    """The key for a field of a chunk that is not in its metadata (parquet.thrift, ColumnChunk)."""
    return 1 << 16 | number


OFFSET_INDEX, OFFSET_INDEX_SIZE, COLUMN_INDEX, COLUMN_INDEX_SIZE = map(_outside, (4, 5, 6, 7))
"""The fields for the positions of the page indexes; decoders with `LOCATION_KEYS` return them."""

_BOUNDS = tuple(map(statistic, (1, 2, 5, 6)))
_NUMBERS = (*_OFFSETS_AND_SIZE, *map(statistic, (3, 9)))
Keys: TypeAlias = Mapping[tuple[int, ...], int]
"""The fields that are read: the numbers of the structs around each and its own, and its key."""

STATISTICS_KEYS: Keys = {
    **{(_METADATA, number): number for number in _OFFSETS_AND_SIZE},
    **{
        (_METADATA, STATISTICS, key & 0xFF): key
        for key in (*_BOUNDS, *_NUMBERS[len(_OFFSETS_AND_SIZE) :])
    },
}
LOCATION_KEYS: Keys = {
    **STATISTICS_KEYS,
    **{(_METADATA, number): number for number in (CODEC, BLOOM_FILTER, BLOOM_FILTER_SIZE)},
    **{
        (key & 0xFF,): key
        for key in (OFFSET_INDEX, OFFSET_INDEX_SIZE, COLUMN_INDEX, COLUMN_INDEX_SIZE)
    },
}
"""The same, and where the metadata is that lies outside of the footer."""

_ENCODINGS, _PAGE_ENCODINGS = (_METADATA, 2, 0), (_METADATA, 13, 0)
_CHOICES = {_ENCODINGS, (*_PAGE_ENCODINGS, 1), (*_PAGE_ENCODINGS, 2)}
"""Numbers that say which encodings a chunk has: they belong to its shape."""

_DATA_PAGES, _DICTIONARIES = {0, 3}, {2, 8}
_PLAIN_DICTIONARY, _OF_LEVELS = 2, {3, 4}


def is_wholly_dictionary(metadata: Fields) -> bool:
    """Whether all data pages of a chunk are encoded by its dictionary.

    Old writers do not count pages by encoding. Their files have one encoding for the dictionary
    and its pages, so that any other encoding than those of levels is that of other pages.
    """
    pages = metadata.get(13)
    if isinstance(pages, list) and pages:
        if not all(map(_is_encoding_count, pages)):
            return False
        encodings = {page[2] for page in pages if page[1] in _DATA_PAGES}
        return bool(encodings) and encodings <= _DICTIONARIES
    written = metadata.get(2)
    if not isinstance(written, list) or not all(map(is_number, written)):
        return False
    return _PLAIN_DICTIONARY in written and set(written) <= {_PLAIN_DICTIONARY, *_OF_LEVELS}


def _is_encoding_count(page: object) -> bool:
    """Whether an entry names the type of some pages and their encoding by number."""
    return isinstance(page, dict) and is_number(page.get(1)) and is_number(page.get(2))


class _Segment(Struct, frozen=True):
    """A piece of an encoded chunk: a regular expression, then a text of any length.

    The text follows the match: its length and its bytes. The last segment has no text. `keys` has
    the Thrift field of each group of the expression, and True if its value is bytes and no number.
    `then` is the Thrift field of the text, None if the text is not needed. `constants` are fields
    that are the same in all chunks of the shape.
    """

    pattern: re.Pattern[bytes]
    keys: tuple[tuple[int, bool], ...]
    then: int | None
    last: bool
    constants: tuple[tuple[int, int], ...] = ()


class ColumnPatterns(Struct):
    """The patterns of one column's chunks so far; `slow` counts reads without a pattern."""

    fixed: bool
    keys: Keys = field(default_factory=lambda: STATISTICS_KEYS)
    patterns: list[tuple[_Segment, ...]] = field(default_factory=list)
    slow: int = 0

    def read(self, reader: ThriftReader) -> Fields:
        """The fields of a chunk's metadata by number; its statistics by `statistic(number)`."""
        for shape in self.patterns:
            fields: Fields = {}
            end = _match(shape, reader.data, reader.at, fields)
            if end is not None:
                reader.at = end
                return fields
        return self._slowly(reader)

    def skip(self, reader: ThriftReader) -> None:
        """Move the reader behind a chunk."""
        for shape in self.patterns:
            end = _match(shape, reader.data, reader.at, None)
            if end is not None:
                reader.at = end
                return
        self._slowly(reader)

    def _slowly(self, reader: ThriftReader) -> Fields:
        start = reader.at
        chunk = reader.struct()
        metadata = chunk.get(_METADATA)
        if not isinstance(metadata, dict):
            raise MalformedThrift("a column without metadata, or an encrypted one")
        self.slow += 1
        if self.slow % _COMMON == 0 and len(self.patterns) < _FEW:
            with suppress(MalformedThrift):
                self.patterns.append(
                    _shape(
                        reader.data[start : reader.at],
                        fixed=self.fixed,
                        keys=self.keys,
                        constants=self._constants(metadata),
                    )
                )
        statistics = metadata.get(STATISTICS)
        members = statistics if isinstance(statistics, dict) else {}
        fields = {
            **metadata,
            **{statistic(number): value for number, value in members.items()},
            **{_outside(number): value for number, value in chunk.items()},
        }
        expected = self.keys.values()
        read = {k: value for k, value in fields.items() if k in expected and _is_typed(k, value)}
        return {**read, **dict(self._constants(metadata))}

    def _constants(self, metadata: Fields) -> tuple[tuple[int, int], ...]:
        """What the encodings of a chunk say, if the decoder is to say where metadata is."""
        if self.keys is not LOCATION_KEYS:
            return ()
        return ((WHOLLY_DICTIONARY, int(is_wholly_dictionary(metadata))),)


class SchemaPatterns(Struct):
    """The columns of one schema. Adjacent chunks that are not needed are skipped with one match.

    A column with text of any length has no single pattern: then the chunks are skipped one by one.
    """

    columns: tuple[ColumnPatterns, ...]
    joined: dict[tuple[int, int], re.Pattern[bytes]] = field(default_factory=dict)

    def skip(self, reader: ThriftReader, first: int, end: int) -> None:
        """Move the reader behind the chunks of the columns from `first` to before `end`."""
        pattern = self.joined.get((first, end)) or self._join(first, end)
        match = None if pattern is None else pattern.match(reader.data, reader.at)
        if match is not None:
            reader.at = match.end()
            return
        for column in self.columns[first:end]:
            column.skip(reader)

    def _join(self, first: int, end: int) -> re.Pattern[bytes] | None:
        """Return one pattern for several adjacent chunks.

        None means that one of the columns has no pattern yet, or one in several segments.
        """
        shapes = [column.patterns[0] for column in self.columns[first:end] if column.patterns]
        if len(shapes) < end - first or any(len(shape) > 1 for shape in shapes):
            return None
        pattern = b"".join(shape[0].pattern.pattern for shape in shapes)
        self.joined[first, end] = re.compile(pattern, re.DOTALL)
        return self.joined[first, end]


def _is_typed(key: int, value: object) -> bool:
    """Whether the value of a field has the right type: bounds are bytes, the others numbers."""
    if key in _BOUNDS:
        return isinstance(value, bytes)
    return is_number(value)


def _match(shape: tuple[_Segment, ...], data: bytes, at: int, fields: Fields | None) -> int | None:
    """The end of a chunk of this shape, None for another shape; adds its values to `fields`."""
    for segment in shape:
        match = segment.pattern.match(data, at)
        if match is None:
            return None
        at = match.end()
        if fields is not None:
            for (key, is_bytes), text in zip(segment.keys, match.groups(), strict=True):
                fields[key] = text if is_bytes else _zigzag(text)
            fields.update(segment.constants)
        if not segment.last:
            reader = ThriftReader(data, at)
            text = reader.take(reader.varint())
            at = reader.at
            if fields is not None and segment.then is not None:
                fields[segment.then] = text
    return at


def _zigzag(varint: bytes) -> int:
    """The signed number of a variable-length encoding."""
    value = shift = 0
    for byte in varint:
        value |= (byte & 0x7F) << shift
        shift += 7
    return (value >> 1) ^ -(value & 1)


class _Sketch(Struct):
    """Builds the pattern of a chunk while it reads the chunk."""

    fixed: bool
    wanted: Keys
    reader: ThriftReader
    pattern: bytearray = field(default_factory=bytearray)
    keys: list[tuple[int, bool]] = field(default_factory=list)
    segments: list[_Segment] = field(default_factory=list)
    constants: tuple[tuple[int, int], ...] = ()

    def struct(self, trail: tuple[int, ...]) -> None:
        start = self.reader.at
        for number, kind in self.reader.fields():
            head = self.reader.data[start : self.reader.at]
            if kind in (thrift.TRUE, thrift.FALSE):
                either = (
                    bytes([head[0] & 0xF0 | thrift.TRUE]),
                    bytes([head[0] & 0xF0 | thrift.FALSE]),
                )
                self.pattern += b"[" + b"".join(map(re.escape, either)) + b"]" + re.escape(head[1:])
            else:
                self.pattern += re.escape(head)
            self.value(kind, (*trail, number))
            start = self.reader.at
        self.pattern += re.escape(b"\0")

    def value(self, kind: int, trail: tuple[int, ...]) -> None:
        if kind == thrift.BINARY:
            self.binary(trail)
        elif kind == thrift.STRUCT:
            self.struct(trail)
        elif kind in (thrift.LIST, thrift.SET):
            self.sequence(trail)
        elif thrift.I16 <= kind <= thrift.I64:
            start = self.reader.at
            self.reader.varint()
            if self.constants and trail in _CHOICES:
                self.pattern += re.escape(self.reader.data[start : self.reader.at])
            else:
                self.put(_VARINT, trail, is_bytes=False)
        elif kind in (thrift.BYTE, thrift.DOUBLE):
            if trail in self.wanted:
                raise MalformedThrift("a number of another type than it should be")
            size = 1 if kind == thrift.BYTE else 8
            self.reader.take(size)
            self.pattern += b".{%d}" % size

    def sequence(self, trail: tuple[int, ...]) -> None:
        start = self.reader.at
        kind, count = self.reader.list_head()
        self.pattern += re.escape(self.reader.data[start : self.reader.at])
        for _ in range(count):
            if kind in (thrift.TRUE, thrift.FALSE):
                kind = thrift.BYTE
            self.value(kind, (*trail, 0))

    def binary(self, trail: tuple[int, ...]) -> None:
        start = self.reader.at
        size = self.reader.varint()
        head = self.reader.data[start : self.reader.at]
        text = self.reader.take(size)
        if trail == (*_PATH_IN_SCHEMA, 0):
            self.pattern += re.escape(head + text)
        elif self.fixed and self.wanted.get(trail) in _BOUNDS and size <= _LONGEST_FIXED:
            self.pattern += re.escape(head)
            self.put(b".{%d}" % size, trail, is_bytes=True)
        else:
            key = self.wanted.get(trail)
            self.end(key if key in _BOUNDS else None, last=False)

    def put(self, pattern: bytes, trail: tuple[int, ...], *, is_bytes: bool) -> None:
        key = self.wanted.get(trail)
        if key is None or (key in _BOUNDS) is not is_bytes:
            self.pattern += pattern
        else:
            self.pattern += b"(" + pattern + b")"
            self.keys.append((key, is_bytes))

    def end(self, then: int | None, *, last: bool) -> None:
        compiled = re.compile(bytes(self.pattern), re.DOTALL)
        self.segments.append(
            _Segment(compiled, tuple(self.keys), then, last, self.constants if last else ())
        )
        self.pattern.clear()
        self.keys.clear()


def _shape(
    chunk: bytes, *, fixed: bool, keys: Keys, constants: tuple[tuple[int, int], ...]
) -> tuple[_Segment, ...]:
    """The pattern segments of a chunk that ThriftReader can read."""
    sketch = _Sketch(fixed, keys, ThriftReader(chunk), constants=constants)
    sketch.struct(())
    sketch.end(None, last=True)
    return tuple(sketch.segments)
