"""Column chunks of one shape, read by one regular expression.

A writer gives every chunk of a column the same fields: only numbers and bounds differ. Where a
field stands is fixed by the bytes before it, so the fields of one chunk, read the slow way, make
a pattern that matches the same bytes as a reader would read, and nothing else. A chunk of
another shape is read the slow way, and makes a pattern of its own once it proves common:
compiling one takes as long as reading some dozens of chunks.
"""

from __future__ import annotations

import re
from contextlib import suppress

from msgspec import Struct, field

from whyscan.tables.parquet import thrift
from whyscan.tables.parquet.thrift import Fields, MalformedThrift, ThriftReader

SIZE, DATA_PAGE, DICTIONARY_PAGE, STATISTICS = 7, 9, 11, 12
"""Fields of a chunk's metadata (parquet.thrift, ColumnMetaData)."""

_METADATA = 3
_PATH_IN_SCHEMA = (_METADATA, 3)
_PLACES = (SIZE, DATA_PAGE, DICTIONARY_PAGE)
_LONGEST_FIXED = 32
_VARINT = rb"[\x80-\xff]{0,9}+[\x00-\x7f]"
_FEW = 8
_COMMON = 16


def statistic(number: int) -> int:
    """The key of a field of a chunk's statistics among those of its metadata."""
    return STATISTICS << 8 | number


_BOUNDS = tuple(map(statistic, (1, 2, 5, 6)))
_NUMBERS = (*_PLACES, *map(statistic, (3, 9)))
_CAPTURED: dict[tuple[int, ...], int] = {
    **{(_METADATA, number): number for number in _PLACES},
    **{(_METADATA, STATISTICS, key & 0xFF): key for key in (*_BOUNDS, *_NUMBERS[len(_PLACES) :])},
}


class _Segment(Struct, frozen=True):
    """Bytes that a pattern matches, then, unless it is the last, bytes behind their length.

    `keys` are those of the pattern's groups: a number, or True for one that is bytes.
    """

    pattern: re.Pattern[bytes]
    keys: tuple[tuple[int, bool], ...]
    then: int | None
    last: bool


class Shapes(Struct):
    """The shapes of one column's chunks that were met so far."""

    fixed: bool
    known: list[tuple[_Segment, ...]] = field(default_factory=list)
    slow: int = 0

    def read(self, reader: ThriftReader) -> Fields:
        """A chunk's metadata by number; its statistics by `statistic(number)`."""
        for shape in self.known:
            fields: Fields = {}
            end = _match(shape, reader.data, reader.at, fields)
            if end is not None:
                reader.at = end
                return fields
        return self._slowly(reader)

    def skip(self, reader: ThriftReader) -> None:
        """Move on behind a chunk."""
        for shape in self.known:
            end = _match(shape, reader.data, reader.at, None)
            if end is not None:
                reader.at = end
                return
        self._slowly(reader)

    def _slowly(self, reader: ThriftReader) -> Fields:
        start = reader.at
        metadata = reader.struct().get(_METADATA)
        if not isinstance(metadata, dict):
            raise MalformedThrift("a column without metadata, or an encrypted one")
        self.slow += 1
        if self.slow % _COMMON == 0 and len(self.known) < _FEW:
            with suppress(MalformedThrift):
                self.known.append(_shape(reader.data[start : reader.at], fixed=self.fixed))
        statistics = metadata.get(STATISTICS)
        told = statistics if isinstance(statistics, dict) else {}
        fields = {**metadata, **{statistic(number): value for number, value in told.items()}}
        return {key: value for key, value in fields.items() if _is_expected(key, value)}


class Skips(Struct):
    """The columns of one schema; chunks side by side that nobody asks for are skipped in one go.

    A column that holds texts of any length has no pattern of its own end: its runs are skipped
    chunk by chunk.
    """

    columns: tuple[Shapes, ...]
    joined: dict[tuple[int, int], re.Pattern[bytes]] = field(default_factory=dict)

    def skip(self, reader: ThriftReader, first: int, end: int) -> None:
        """Move on behind the chunks of the columns from `first` to before `end`."""
        pattern = self.joined.get((first, end)) or self._join(first, end)
        found = None if pattern is None else pattern.match(reader.data, reader.at)
        if found is not None:
            reader.at = found.end()
            return
        for column in self.columns[first:end]:
            column.skip(reader)

    def _join(self, first: int, end: int) -> re.Pattern[bytes] | None:
        """The patterns of a run behind each other, None while one of them is not known."""
        shapes = [column.known[0] for column in self.columns[first:end] if column.known]
        if len(shapes) < end - first or any(len(shape) > 1 for shape in shapes):
            return None
        whole = b"".join(shape[0].pattern.pattern for shape in shapes)
        self.joined[first, end] = re.compile(whole, re.DOTALL)
        return self.joined[first, end]


def _is_expected(key: int, value: object) -> bool:
    """A field that somebody will ask for, and of the type that it should have."""
    if key in _BOUNDS:
        return isinstance(value, bytes)
    return key in _NUMBERS and isinstance(value, int) and not isinstance(value, bool)


def _match(shape: tuple[_Segment, ...], data: bytes, at: int, fields: Fields | None) -> int | None:
    """Where a chunk of that shape ends, None where it has another; its fields, where asked."""
    for segment in shape:
        found = segment.pattern.match(data, at)
        if found is None:
            return None
        at = found.end()
        if fields is not None:
            for (key, is_bytes), text in zip(segment.keys, found.groups(), strict=True):
                fields[key] = text if is_bytes else _zigzag(text)
        if not segment.last:
            reader = ThriftReader(data, at)
            text = reader.take(reader.varint())
            at = reader.at
            if fields is not None and segment.then is not None:
                fields[segment.then] = text
    return at


def _zigzag(varint: bytes) -> int:
    """A signed number from the bytes of its variable-length encoding."""
    value = shift = 0
    for byte in varint:
        value |= (byte & 0x7F) << shift
        shift += 7
    return (value >> 1) ^ -(value & 1)


class _Sketch(Struct):
    """A pattern in the making."""

    fixed: bool
    reader: ThriftReader
    pattern: bytearray = field(default_factory=bytearray)
    keys: list[tuple[int, bool]] = field(default_factory=list)
    segments: list[_Segment] = field(default_factory=list)

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
            self.reader.varint()
            self.put(_VARINT, trail, is_bytes=False)
        elif kind in (thrift.BYTE, thrift.DOUBLE):
            if trail in _CAPTURED:
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
        elif self.fixed and _CAPTURED.get(trail) in _BOUNDS and size <= _LONGEST_FIXED:
            self.pattern += re.escape(head)
            self.put(b".{%d}" % size, trail, is_bytes=True)
        else:
            key = _CAPTURED.get(trail)
            self.end(key if key in _BOUNDS else None, last=False)

    def put(self, pattern: bytes, trail: tuple[int, ...], *, is_bytes: bool) -> None:
        key = _CAPTURED.get(trail)
        if key is None or (key in _BOUNDS) is not is_bytes:
            self.pattern += pattern
        else:
            self.pattern += b"(" + pattern + b")"
            self.keys.append((key, is_bytes))

    def end(self, then: int | None, *, last: bool) -> None:
        compiled = re.compile(bytes(self.pattern), re.DOTALL)
        self.segments.append(_Segment(compiled, tuple(self.keys), then, last))
        self.pattern.clear()
        self.keys.clear()


def _shape(chunk: bytes, *, fixed: bool) -> tuple[_Segment, ...]:
    """The shape of a chunk that a reader could read."""
    sketch = _Sketch(fixed, ThriftReader(chunk))
    sketch.struct(())
    sketch.end(None, last=True)
    return tuple(sketch.segments)
