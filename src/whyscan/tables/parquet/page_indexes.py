"""Decodes the indexes of a column chunk's pages (parquet.thrift, OffsetIndex and ColumnIndex).

The offset index says where each page is and with which row it begins. The column index has the
bounds and the number of NULLs of each page. A file may claim anything: an index that contradicts
itself or its chunk raises MalformedThrift, and the chunk is then planned without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct

from whyscan.tables.parquet import thrift
from whyscan.tables.parquet.thrift import MalformedThrift, ThriftReader

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers: TypeAlias = npt.NDArray[np.int64]
    Flags: TypeAlias = npt.NDArray[np.bool_]

_LOCATIONS = 1
_NULL_PAGES, _LOWER, _UPPER, _NULL_COUNTS = 1, 2, 3, 5
_LOCATION_HEADS = (0x16, 0x15, 0x16, 0x00)
"""The bytes before the three numbers of a page location and behind them: i64, i32, i64, the end."""
_TOKENS = 7
_LONGEST = 9
"""Nine bytes of a variable-length integer have 63 bits; no count and no offset needs more."""
_AT_ONCE = 1 << 16
"""How many integers are decoded at once: temporary arrays take many times their bytes."""


class PageLocations(Struct, frozen=True):
    """Where the pages of a column chunk are, one number per page in each array.

    `first_rows` are the numbers of the rows in the row group with which the pages begin.
    """

    offsets: Numbers
    sizes: Numbers
    first_rows: Numbers

    @property
    def count(self) -> int:
        return len(self.offsets)

    def row_counts(self, rows: int) -> Numbers:
        """The number of rows of each page; `rows` are those of the row group."""
        return np.diff(self.first_rows, append=rows)


class PageStatistics(Struct, frozen=True):
    """The statistics of the pages of a column chunk, one value per page, as they are encoded.

    `only_null` flags pages without a value. `nulls` are the numbers of NULLs, None if the writer
    did not count them. The bounds of text may be cut.
    """

    only_null: Flags
    lower: list[bytes]
    upper: list[bytes]
    nulls: Numbers | None

    @property
    def count(self) -> int:
        return len(self.only_null)


def page_locations(data: bytes, rows: int, chunk: tuple[int, int]) -> PageLocations:
    """The pages of an offset index; `chunk` is the byte range of the chunk, with `rows` rows."""
    reader = ThriftReader(data)
    for number, kind in reader.fields():
        if number == _LOCATIONS and kind == thrift.LIST:
            locations = _locations(reader)
            _check_locations(locations, rows, chunk)
            return locations
        reader.value(kind, 0)
    raise MalformedThrift("an offset index without pages")


def _locations(reader: ThriftReader) -> PageLocations:
    element, count = reader.list_head()
    if element != thrift.STRUCT or not count:
        raise MalformedThrift("an offset index without pages")
    start = reader.at
    tokens = _varints(reader, _TOKENS * count).reshape(count, _TOKENS)
    if (tokens[:, ::2] == _LOCATION_HEADS).all():
        offsets, sizes, first_rows = (_signed(tokens[:, at]) for at in (1, 3, 5))
        return PageLocations(offsets, sizes, first_rows)
    # A writer may number the fields in the longer way.
    reader.at = start
    pages = [reader.struct() for _ in range(count)]
    columns = ([_number(page.get(field)) for page in pages] for field in (1, 2, 3))
    return PageLocations(*(np.array(column, np.int64) for column in columns))


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 1 << 62:
        raise MalformedThrift("a page that does not say where it is")
    return value


def _check_locations(pages: PageLocations, rows: int, chunk: tuple[int, int]) -> None:
    start, end = chunk
    inside = (pages.offsets >= start) & (pages.sizes > 0) & (pages.sizes <= end - pages.offsets)
    # The sizes are below the chunk's, so that this sum fits into 64 bits.
    if not inside.all() or (np.diff(pages.offsets) < pages.sizes[:-1]).any():
        raise MalformedThrift("pages that are not inside their column chunk")
    first = pages.first_rows
    if first[0] != 0 or (np.diff(first) < 0).any() or first[-1] > rows:
        raise MalformedThrift("pages whose rows are not in order")


def page_statistics(data: bytes, count: int) -> PageStatistics:
    """The statistics of a column index of `count` pages. The order of its bounds is not used."""
    reader = ThriftReader(data)
    only_null: Flags | None = None
    nulls: Numbers | None = None
    bounds: dict[int, list[bytes]] = {}
    for number, kind in reader.fields():
        match number, kind:
            case 1, thrift.LIST:
                only_null = _flags(reader)
            case ((2 | 3), thrift.LIST):
                bounds[number] = _texts(reader)
            case 5, thrift.LIST:
                nulls = _counts(reader)
            case _:
                reader.value(kind, 0)
    lower, upper = bounds.get(_LOWER), bounds.get(_UPPER)
    if only_null is None or lower is None or upper is None:
        raise MalformedThrift("a column index without bounds")
    lengths = {len(only_null), len(lower), len(upper), count}
    if len(lengths) > 1 or (nulls is not None and len(nulls) != count):
        raise MalformedThrift("a column index of other pages than its offset index")
    return PageStatistics(only_null, lower, upper, nulls)


def _flags(reader: ThriftReader) -> Flags:
    kind, count = reader.list_head()
    if kind not in {thrift.TRUE, thrift.FALSE}:
        raise MalformedThrift("a column index whose flags are none")
    flags: Flags = np.frombuffer(reader.take(count), np.uint8) == thrift.TRUE
    return flags


def _texts(reader: ThriftReader) -> list[bytes]:
    kind, count = reader.list_head()
    if kind != thrift.BINARY and count:
        raise MalformedThrift("a column index whose bounds are no bytes")
    return [reader.take(reader.varint()) for _ in range(count)]


def _counts(reader: ThriftReader) -> Numbers:
    kind, count = reader.list_head()
    if kind != thrift.I64 and count:
        raise MalformedThrift("a column index whose counts are no numbers")
    return _signed(_varints(reader, count))


def _varints(reader: ThriftReader, count: int) -> npt.NDArray[np.uint64]:
    """The next `count` variable-length integers; the reader moves behind them."""
    starts = range(0, count, _AT_ONCE)
    blocks = [_next_varints(reader, min(_AT_ONCE, count - start)) for start in starts]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint64)


def _next_varints(reader: ThriftReader, count: int) -> npt.NDArray[np.uint64]:
    raw = np.frombuffer(reader.data, np.uint8, offset=reader.at)[: (_LONGEST + 1) * count]
    ends = np.flatnonzero(raw < 0x80)[:count]  # noqa: PLR2004 - the bit that says that more follows
    if len(ends) < count:
        raise MalformedThrift("cut off")
    lengths = np.diff(ends, prepend=-1)
    if lengths.max() > _LONGEST:
        raise MalformedThrift("an integer of more than 63 bits")
    starts = ends - lengths + 1
    shifts = 7 * (np.arange(ends[-1] + 1) - np.repeat(starts, lengths))
    digits = (raw[: ends[-1] + 1] & 0x7F).astype(np.uint64) << shifts.astype(np.uint64)
    reader.at += int(ends[-1]) + 1
    numbers: npt.NDArray[np.uint64] = np.add.reduceat(digits, starts)
    return numbers


def _signed(zigzag: npt.NDArray[np.uint64]) -> Numbers:
    half, odd = zigzag >> np.uint64(1), zigzag & np.uint64(1)
    return half.astype(np.int64) ^ -odd.astype(np.int64)
