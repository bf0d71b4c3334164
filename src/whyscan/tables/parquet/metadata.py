"""Decodes footers: row groups, the chunks of some columns, the writer of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field

from whyscan.tables.counts import MOST, is_number
from whyscan.tables.parquet import thrift
from whyscan.tables.parquet.calendars import has_hybrid_calendar
from whyscan.tables.parquet.chunk_patterns import (
    DATA_PAGE,
    DICTIONARY_PAGE,
    SIZE,
    STATISTICS_KEYS,
    ColumnPatterns,
    Keys,
    SchemaPatterns,
)
from whyscan.tables.parquet.schemas import FileSchema, read_schema
from whyscan.tables.parquet.thrift import Fields, MalformedThrift, ThriftReader

if TYPE_CHECKING:
    from collections.abc import Collection

_SCHEMA, _ROW_GROUPS, _KEYS, _CREATED_BY, _COLUMN_ORDERS = 2, 4, 5, 6, 7
_KEY, _VALUE = 1, 2
_COLUMNS, _ROWS, _COMPRESSED = 1, 3, 6
_MOST_FACTS = 64

Orders: TypeAlias = tuple[int | None, ...] | None
"""The column order of each column, as the number of its union field; None if none are written."""
FileFacts: TypeAlias = tuple[str, Orders, bool]
"""The writer of a file, its column orders, whether old dates are in another calendar."""


class RowGroup(Struct, frozen=True):
    """One row group: its rows, its bytes on disk, and the requested chunks by column position.

    `contiguous` is the byte range of all chunks, None if they are not adjacent.
    """

    rows: int
    size: int
    contiguous: tuple[int, int] | None
    chunks: dict[int, Fields]


class FooterMetadata(Struct, frozen=True):
    """A decoded footer: its row groups, and the facts about the file."""

    schema: FileSchema
    row_groups: tuple[RowGroup, ...]
    created_by: str
    orders: Orders
    hybrid_calendar: bool


class _Layout(Struct):
    """A schema, the bytes that encode it, and the patterns of its columns' chunks.

    `facts_by_bytes` caches the facts that follow the row groups, by their bytes.
    """

    schema: FileSchema
    prefix: bytes
    patterns: SchemaPatterns
    facts_by_bytes: dict[bytes, FileFacts] = field(default_factory=dict)

    def facts(self, behind: bytes) -> FileFacts:
        """The facts about the file, from the bytes behind the row groups.

        These bytes are the same in every file of one writer, so they are decoded once.
        """
        facts = self.facts_by_bytes.get(behind)
        if facts is None:
            if len(self.facts_by_bytes) >= _MOST_FACTS:
                self.facts_by_bytes.clear()
            facts = self.facts_by_bytes[behind] = self._read_facts(behind)
        return facts

    def _read_facts(self, behind: bytes) -> FileFacts:
        reader = ThriftReader(behind)
        fields = {number: reader.value(kind, 0) for number, kind in reader.fields(_ROW_GROUPS)}
        if _ROW_GROUPS in fields:
            raise MalformedThrift("row groups twice")
        created_by = fields.get(_CREATED_BY, b"")
        name = created_by.decode("utf-8", "replace") if isinstance(created_by, bytes) else ""
        orders = _orders(fields.get(_COLUMN_ORDERS), len(self.patterns.columns))
        return name, orders, has_hybrid_calendar(_keys(fields.get(_KEYS)))


class Decoder(Struct):
    """Decodes footers. It caches by schema, as most files of a table have one schema and writer.

    `keys` are the fields of column chunks that are read.
    """

    layouts: list[_Layout] = field(default_factory=list)
    keys: Keys = field(default_factory=lambda: STATISTICS_KEYS)

    def schema(self, footer: bytes) -> FileSchema:
        return self._layout(footer).schema

    def decode(self, footer: bytes, wanted: Collection[int] | None) -> FooterMetadata:
        """Decode a footer with the chunks of the column positions `wanted`, None for all."""
        layout = self._layout(footer)
        reader = ThriftReader(footer, len(layout.prefix))
        for number, kind in reader.fields(_SCHEMA):
            if number == _ROW_GROUPS:
                groups = _row_groups(reader, kind, layout.patterns, wanted)
                return FooterMetadata(layout.schema, groups, *layout.facts(footer[reader.at :]))
            reader.value(kind, 0)
        raise MalformedThrift("no row groups")

    def _layout(self, footer: bytes) -> _Layout:
        for layout in self.layouts:
            if footer.startswith(layout.prefix):
                return layout
        schema, end = read_schema(footer)
        columns = tuple(ColumnPatterns(leaf.fixed, self.keys) for leaf in schema.leaves)
        patterns = SchemaPatterns(columns)
        self.layouts.insert(0, _Layout(schema, footer[:end], patterns))
        return self.layouts[0]


def _keys(written: Any) -> dict[bytes, bytes]:
    """The key-value metadata of the file; malformed pairs are left out."""
    pairs = (
        [pair for pair in written if isinstance(pair, dict)] if isinstance(written, list) else []
    )
    entries = ((pair.get(_KEY), pair.get(_VALUE, b"")) for pair in pairs)
    return {k: v for k, v in entries if isinstance(k, bytes) and isinstance(v, bytes)}


def _row_groups(
    reader: ThriftReader, kind: int, patterns: SchemaPatterns, wanted: Collection[int] | None
) -> tuple[RowGroup, ...]:
    element, count = reader.list_head() if kind == thrift.LIST else (None, 0)
    if element != thrift.STRUCT and count:
        raise MalformedThrift("no row groups")
    return tuple(_row_group(reader, patterns, wanted) for _ in range(count))


def _row_group(
    reader: ThriftReader, patterns: SchemaPatterns, requested: Collection[int] | None
) -> RowGroup:
    start, count = reader.at, len(patterns.columns)
    # The first and last chunk are always read: they show whether all chunks are one range.
    wanted = None if requested is None or not count else {*requested, 0, count - 1}
    chunks, fields = _read_group(reader, patterns, wanted)
    size = fields.get(_COMPRESSED)
    span = None if size is None else _span(chunks, count, size)
    if wanted is not None and span is None:
        # The chunks are not adjacent, or their total size is not written: read every chunk.
        reread = ThriftReader(reader.data, start)
        chunks, _ = _read_group(reread, patterns, None)
    if len(chunks) == count:
        size = sum(number(chunk, SIZE) for chunk in chunks.values())
        span = _span(chunks, count, size)
    rows = fields.get(_ROWS)
    if not is_number(rows) or not 0 <= rows < MOST or not is_number(size):
        raise MalformedThrift("a row group that does not say how many rows it has")
    return RowGroup(rows, size, span, chunks)


def _read_group(
    reader: ThriftReader, patterns: SchemaPatterns, wanted: Collection[int] | None
) -> tuple[dict[int, Fields], Fields]:
    """The wanted chunks of a row group (None: all), and its other fields."""
    chunks: dict[int, Fields] = {}
    fields: Fields = {}
    for number_, kind in reader.fields():
        if number_ != _COLUMNS:
            fields[number_] = reader.value(kind, 0)
            continue
        if kind != thrift.LIST or reader.list_head() != (
            thrift.STRUCT,
            len(patterns.columns),
        ):
            raise MalformedThrift("a row group that contradicts the schema")
        behind = 0
        for at in range(len(patterns.columns)) if wanted is None else sorted(wanted):
            if at > behind:
                patterns.skip(reader, behind, at)
            chunks[at] = patterns.columns[at].read(reader)
            behind = at + 1
    if patterns.columns and not chunks:
        raise MalformedThrift("a row group without columns")
    return chunks, fields


def _span(chunks: dict[int, Fields], count: int, size: int) -> tuple[int, int] | None:
    if not count:
        return None
    first, last = chunks[0], chunks[count - 1]
    begin, end = start(first), start(last) + number(last, SIZE)
    return (begin, end) if end - begin == size else None


def start(chunk: Fields) -> int:
    """The offset of a chunk: that of its dictionary page, if it has one."""
    data = number(chunk, DATA_PAGE)
    dictionary = chunk.get(DICTIONARY_PAGE)
    return min(data, dictionary) if is_number(dictionary) and dictionary > 0 else data


def number(chunk: Fields, key: int) -> int:
    """A number field that a chunk must have."""
    value = chunk.get(key)
    if not is_number(value) or not 0 <= value < MOST:
        raise MalformedThrift("a column that does not say where it lies")
    return value


def _orders(written: Any, count: int) -> Orders:
    """The field number of each column's order, which is a union; None for a malformed list."""
    if not isinstance(written, list) or len(written) != count:
        return None
    return tuple(next(iter(o), None) if isinstance(o, dict) else None for o in written)
