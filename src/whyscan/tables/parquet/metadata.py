"""What a footer says below its schema: row groups, the chunks of some columns, who wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field

from whyscan.tables.counts import MOST
from whyscan.tables.parquet import thrift
from whyscan.tables.parquet.calendars import has_hybrid_calendar
from whyscan.tables.parquet.chunk_patterns import DATA_PAGE, DICTIONARY_PAGE, SIZE, Shapes, Skips
from whyscan.tables.parquet.schemas import FileSchema, read_schema
from whyscan.tables.parquet.thrift import Fields, MalformedThrift, ThriftReader

if TYPE_CHECKING:
    from collections.abc import Collection

_SCHEMA, _ROW_GROUPS, _KEYS, _CREATED_BY, _COLUMN_ORDERS = 2, 4, 5, 6, 7
_KEY, _VALUE = 1, 2
_COLUMNS, _ROWS, _COMPRESSED = 1, 3, 6
_FEW_RESTS = 64

Orders: TypeAlias = tuple[int | None, ...] | None
"""The number of each column's order; None where none are written."""
Rest: TypeAlias = tuple[str, Orders, bool]
"""Who wrote a file, how its columns are ordered, whether old days are of another calendar."""


class RowGroup(Struct, frozen=True):
    """One row group: its rows, its bytes on disk, and the chunks that were asked for by position.

    `contiguous` is where all of its chunks lie side by side, None where they do not.
    """

    rows: int
    size: int
    contiguous: tuple[int, int] | None
    chunks: dict[int, Fields]


class FooterMetadata(Struct, frozen=True):
    """A footer: its row groups, and what it says of the whole file."""

    schema: FileSchema
    row_groups: tuple[RowGroup, ...]
    created_by: str
    orders: Orders
    hybrid_calendar: bool


class _Layout(Struct):
    """A schema, the bytes that it stands in, and the shapes of its columns' chunks."""

    schema: FileSchema
    prefix: bytes
    shapes: Skips
    rests: dict[bytes, Rest] = field(default_factory=dict)

    def rest(self, behind: bytes) -> Rest:
        """What is said of the whole file, by the bytes behind row groups.

        They are the same in every file of one writer, and are read once.
        """
        known = self.rests.get(behind)
        if known is None:
            if len(self.rests) >= _FEW_RESTS:
                self.rests.clear()
            known = self.rests[behind] = self._read_rest(behind)
        return known

    def _read_rest(self, behind: bytes) -> Rest:
        reader = ThriftReader(behind)
        found = {number: reader.value(kind, 0) for number, kind in reader.fields(_ROW_GROUPS)}
        if _ROW_GROUPS in found:
            raise MalformedThrift("row groups twice")
        created_by = found.get(_CREATED_BY, b"")
        name = created_by.decode("utf-8", "replace") if isinstance(created_by, bytes) else ""
        orders = _orders(found.get(_COLUMN_ORDERS), len(self.shapes.columns))
        return name, orders, has_hybrid_calendar(_keys(found.get(_KEYS)))


class Decoder(Struct):
    """Decodes footers, and learns: most files of a table have one schema and one writer."""

    layouts: list[_Layout] = field(default_factory=list)

    def schema(self, footer: bytes) -> FileSchema:
        return self._layout(footer).schema

    def decode(self, footer: bytes, asked: Collection[int] | None) -> FooterMetadata:
        """A footer with the chunks of the columns at the positions `asked`, None for all."""
        layout = self._layout(footer)
        reader = ThriftReader(footer, len(layout.prefix))
        for number, kind in reader.fields(_SCHEMA):
            if number == _ROW_GROUPS:
                groups = _row_groups(reader, kind, layout.shapes, asked)
                return FooterMetadata(layout.schema, groups, *layout.rest(footer[reader.at :]))
            reader.value(kind, 0)
        raise MalformedThrift("no row groups")

    def _layout(self, footer: bytes) -> _Layout:
        for layout in self.layouts:
            if footer.startswith(layout.prefix):
                return layout
        schema, end = read_schema(footer)
        shapes = Skips(tuple(Shapes(leaf.fixed) for leaf in schema.leaves))
        self.layouts.insert(0, _Layout(schema, footer[:end], shapes))
        return self.layouts[0]


def _keys(found: Any) -> dict[bytes, bytes]:
    """The writer's own keys and values; what is none of them is left out."""
    pairs = [pair for pair in found if isinstance(pair, dict)] if isinstance(found, list) else []
    told = ((pair.get(_KEY), pair.get(_VALUE, b"")) for pair in pairs)
    return {k: v for k, v in told if isinstance(k, bytes) and isinstance(v, bytes)}


def _row_groups(
    reader: ThriftReader, kind: int, shapes: Skips, asked: Collection[int] | None
) -> tuple[RowGroup, ...]:
    element, count = reader.list_head() if kind == thrift.LIST else (None, 0)
    if element != thrift.STRUCT and count:
        raise MalformedThrift("no row groups")
    return tuple(_row_group(reader, shapes, asked) for _ in range(count))


def _row_group(reader: ThriftReader, shapes: Skips, asked: Collection[int] | None) -> RowGroup:
    start, count = reader.at, len(shapes.columns)
    # The ends of the group are looked at in any case: they say whether its chunks are one range.
    wanted = None if asked is None or not count else {*asked, 0, count - 1}
    chunks, fields = _read_group(reader, shapes, wanted)
    size = fields.get(_COMPRESSED)
    span = None if size is None else _span(chunks, count, size)
    if wanted is not None and span is None:
        # Not side by side, or nobody wrote how large they are together: look at every chunk.
        again = ThriftReader(reader.data, start)
        chunks, _ = _read_group(again, shapes, None)
    if len(chunks) == count:
        size = sum(number(chunk, SIZE) for chunk in chunks.values())
        span = _span(chunks, count, size)
    rows = fields.get(_ROWS)
    if not isinstance(rows, int) or not 0 <= rows < MOST or not isinstance(size, int):
        raise MalformedThrift("a row group that does not say how many rows it has")
    return RowGroup(rows, size, span, chunks)


def _read_group(
    reader: ThriftReader, shapes: Skips, wanted: Collection[int] | None
) -> tuple[dict[int, Fields], Fields]:
    """The wanted chunks of a row group, and its own fields."""
    chunks: dict[int, Fields] = {}
    fields: Fields = {}
    for number_, kind in reader.fields():
        if number_ != _COLUMNS:
            fields[number_] = reader.value(kind, 0)
            continue
        if kind != thrift.LIST or reader.list_head() != (
            thrift.STRUCT,
            len(shapes.columns),
        ):
            raise MalformedThrift("a row group that contradicts the schema")
        behind = 0
        for at in range(len(shapes.columns)) if wanted is None else sorted(wanted):
            if at > behind:
                shapes.skip(reader, behind, at)
            chunks[at] = shapes.columns[at].read(reader)
            behind = at + 1
    if shapes.columns and not chunks:
        raise MalformedThrift("a row group without columns")
    return chunks, fields


def _span(chunks: dict[int, Fields], count: int, size: int) -> tuple[int, int] | None:
    if not count:
        return None
    first, last = chunks[0], chunks[count - 1]
    begin, end = start(first), start(last) + number(last, SIZE)
    return (begin, end) if end - begin == size else None


def start(chunk: Fields) -> int:
    """Where a chunk begins: with its dictionary, if it has one."""
    data = number(chunk, DATA_PAGE)
    dictionary = chunk.get(DICTIONARY_PAGE)
    return min(data, dictionary) if isinstance(dictionary, int) and dictionary > 0 else data


def number(chunk: Fields, key: int) -> int:
    """A number that a chunk must have."""
    value = chunk.get(key)
    if not isinstance(value, int) or not 0 <= value < MOST:
        raise MalformedThrift("a column that does not say where it lies")
    return value


def _orders(written: Any, count: int) -> Orders:
    """The one field of each column's order, which is a union; None for what is none."""
    if not isinstance(written, list) or len(written) != count:
        return None
    return tuple(next(iter(o), None) if isinstance(o, dict) else None for o in written)
