"""Read query logs with one row per run, or per query: CSV, Parquet or lines of JSON.

Columns are identified by name, without regard to case and punctuation.
"""

from __future__ import annotations

import csv
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BufferedReader, RawIOBase, TextIOWrapper
from math import inf, isnan
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import CorruptFile
from whyscan.spark.stages.workload.codecs import (
    INFLATION,
    longest_document,
    longest_line,
    too_long,
)
from whyscan.spark.stages.workload.engine_documents import columns_of_entry
from whyscan.spark.stages.workload.log_columns import engine_of, meanings, without_texts
from whyscan.spark.stages.workload.parameters import arguments_of, filled, values_of
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed
from whyscan.spark.stages.workload.sql_files import NEVER_RAN, problem_of
from whyscan.tables import budget
from whyscan.tables.sizes import show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa
    import pyarrow.parquet as pq

    from whyscan.spark.stages.workload.logs import QueryLogFile

_CUT_AT = {"redshift": 4_000, "snowflake": 100_000}
"""The most characters of a text that the history of an engine keeps."""
_ZONE = re.compile(r"\s+(?=(?:[+-]\d\d:?\d\d|Z)$)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CSV_LINE = re.compile(rb"[^\n\r]*(?:\r\n|\n|\r)|[^\n\r]+")
_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 1 << 24
_BATCH = 10_000
_BYTES_A_ROW = 100
"""The approximate memory of a row without its text."""
_MOST = 1 << 63
# A number of seconds since 1970 that is larger would be thousands of years from now.
_MILLISECONDS, _MICROSECONDS, _NANOSECONDS = 10**11, 10**14, 10**17


class Row(Struct, frozen=True):
    """A row of a log: its origin, and its values by meaning."""

    origin: str
    values: Mapping[str, Any]


def read_row(row: Row, dialect: str) -> Query | Unparsed:
    """The query of a row."""
    written = str(row.values.get("text") or "").rstrip()
    text = written.strip()
    if not text:
        return Unparsed(row.origin, "", "the row has no query")
    if not _is_text(text):
        return Unparsed(row.origin, "", "its query is not UTF-8")
    named = str(row.values.get("dialect") or dialect).lower()
    if len(written) >= _CUT_AT.get(named, inf):
        return Unparsed(row.origin, text, f"the log keeps {_CUT_AT[named]:,} characters of a text")
    if named == "redshift" and "\\n" in text and problem_of(text, named) is not None:
        text = text.replace("\\n", "\n")  # Its system views write line breaks so.
    values = values_of(row.values.get("parameters"))
    text = filled(text, values | arguments_of(row.values.get("arguments")), named)
    times = _count(row.values.get("times"), default=1)
    if times is None:
        times_text = row.values["times"]
        return Unparsed(row.origin, text, f"times of the row are no count: {times_text}")
    if not times:
        return Unparsed(row.origin, text, NEVER_RAN)
    when, notes = parsed_time(row.values.get("when"))
    size = row.values.get("bytes")
    read = _count(size, default=None)
    if read is None and size not in (None, "") and not _is_nan(size):
        notes = (*notes, f"how many bytes it read cannot be read: {size}")
    return Query(
        text,
        named,
        times,
        first=when,
        last=when,
        days={} if when is None else {when.date().isoformat(): times},
        bytes_read=read,
        origins=(row.origin,),
        notes=notes,
        namespace=_namespace(row.values),
        actual=_actual(row.values, times),
        users={str(row.values["user"]): times} if row.values.get("user") else {},
    )


def _actual(values: Mapping[str, Any], times: int) -> tuple[ActualScan, ...]:
    """What the query read of how many files, for all its tables together; empty if not told."""
    files, pruned = (_count(values.get(part), default=None) for part in ("files", "files_pruned"))
    there = _count(values.get("files_total"), default=None)
    partitions = _count(values.get("partitions"), default=None)
    if there is None and files is not None and pruned is not None:
        there = files + pruned
    if files is None and there is None and partitions is None:
        return ()
    return (ActualScan("", runs=times, files=files, partitions=partitions, files_total=there),)


def _namespace(values: Mapping[str, Any]) -> str:
    """Catalog and schema of the session; empty without a schema."""
    schema, catalog = (str(values.get(part) or "") for part in ("schema", "catalog"))
    return f"{catalog}.{schema}" if schema and catalog else schema


def _count(value: Any, default: int | None) -> int | None:
    """A count, also written as `1,000` or `1000.0`; None if the value is no count."""
    if value is None or value == "" or _is_nan(value):
        return default
    if isinstance(value, bool):
        return None
    try:
        number = Decimal(value.replace(",", "") if isinstance(value, str) else value)
    except (ArithmeticError, ValueError, TypeError):
        return None
    # Compared first: as an int, `1e999999999` would take all memory.
    is_count = number.is_finite() and 0 <= number < _MOST and number == number.to_integral_value()
    return int(number) if is_count else None


def _is_nan(value: Any) -> bool:
    """Whether a value is NaN, which pandas writes for a missing number."""
    return isinstance(value, float) and isnan(value)


def parsed_time(value: Any) -> tuple[datetime | None, tuple[str, ...]]:
    """A time in UTC, None if it is missing, and a note if it cannot be read."""
    if value is None or value == "":
        return None, ()
    try:
        return _moment(value), ()
    except (ValueError, TypeError, OverflowError, OSError):
        return None, (f"when it ran cannot be read: {value}",)


def _moment(value: Any) -> datetime:
    """A time in UTC, from ISO text or a number since 1970; a time without a zone is UTC."""
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        text = value.strip()
        text = f"{text[:-4]}Z" if text.endswith(" UTC") else text
        value = datetime.fromisoformat(_ZONE.sub("", text))  # Snowflake writes ` -0800`
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    seconds = float(value)
    for limit, each in ((_NANOSECONDS, 1e9), (_MICROSECONDS, 1e6), (_MILLISECONDS, 1e3)):
        if abs(seconds) >= limit:
            return datetime.fromtimestamp(seconds / each, UTC)
    return datetime.fromtimestamp(seconds, UTC)


class _Chunked(RawIOBase):
    """A file object that reads chunks of bytes."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._buffer = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._buffer:
            self._buffer = memoryview(next((chunk for chunk in self._chunks if chunk), b""))
        count = min(len(buffer), len(self._buffer))
        buffer[:count], self._buffer = self._buffer[:count], self._buffer[count:]
        return count


def csv_rows(chunks: Iterable[bytes], origin: str) -> Iterator[Row | Unparsed]:
    """The rows of a CSV file; the line number of a row is that of its last line."""
    # An invalid byte makes only its own row unreadable.
    skipped: list[int] = []
    raw = BufferedReader(_Chunked(_short_lines(chunks, skipped)))
    text = TextIOWrapper(raw, "utf-8-sig", errors="surrogateescape", newline="")
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        header = text.readline()
        delimiter = max(_DELIMITERS, key=header.count)
        names = next(csv.reader([header], delimiter=delimiter), [])
        columns = meanings(names)
        if "text" not in columns:
            rest = sum(map(bool, csv.reader(text, delimiter=delimiter)))
            yield Unparsed(origin, header.strip(), without_texts(names), max(rest, 1))
            return
        rows = csv.reader(text, delimiter=delimiter)
        engine = engine_of(names)
        places = {meaning: names.index(column) for meaning, column in columns.items()}
        for row in rows:
            where = f"{origin}:{rows.line_num + 1}"
            values = {meaning: row[at] for meaning, at in places.items() if at < len(row)}
            if row:
                yield Row(where, engine | values)
    except (csv.Error, _InsideQuotes) as error:
        yield Unparsed(origin, "", f"the rest cannot be read: {error}")
    finally:
        csv.field_size_limit(before)
    for number in skipped:
        yield Unparsed(f"{origin}:{number}", "", too_long())


class _InsideQuotes(Exception):
    """A line that is too long is inside a quoted field, so that the end of its row is unknown."""


def _short_lines(chunks: Iterable[bytes], skipped: list[int]) -> Iterator[bytes]:
    """The lines, with an empty line for each one that is too long; `skipped` gets its number.

    Only whole rows may be skipped: the quotes before the line and in it must come in pairs.
    """
    longest, number, quotes = longest_line(), 1, 0
    parts: list[bytes] = []
    size = quotes_of_line = 0
    for chunk in chunks:
        # The short lines of a chunk are joined: one yield per chunk is faster.
        short: list[bytes] = []
        for piece in _CSV_LINE.findall(chunk):
            size += len(piece)
            quotes_of_line += piece.count(b'"')
            parts = [] if size > longest else [*parts, piece]
            if not piece.endswith((b"\n", b"\r")):
                continue
            if size > longest:
                if quotes % 2 or quotes_of_line % 2:
                    yield b"".join(short)
                    raise _InsideQuotes(f"line {number}: {too_long('a row')}")
                skipped.append(number)
                parts = [b"\n"]
            short += parts
            quotes += quotes_of_line
            number, parts, size, quotes_of_line = number + 1, [], 0, 0
        yield b"".join(short)
    if size > longest and quotes % 2:
        raise _InsideQuotes(f"line {number}: {too_long('a row')}")
    if size > longest:
        skipped.append(number)
    yield b"".join(parts)


def _is_text(value: str) -> bool:
    """Whether a text has no surrogate escapes, which stand for invalid bytes."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def parquet_rows(file: QueryLogFile) -> Iterator[Row | Unparsed]:
    """The rows of a Parquet file, read in batches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    on_disk = file.on_disk()
    if on_disk is None:
        budget.check(file.size, file.shown, "it is read whole, and takes")
    source = pa.BufferReader(b"".join(file.chunks())) if on_disk is None else on_disk
    try:
        opened = pq.ParquetFile(source)
        schema = opened.schema_arrow
        names = schema.names
        columns = meanings(names)
        if "text" not in columns:
            rows = max(opened.metadata.num_rows, 1)
            yield Unparsed(file.name, "", without_texts(names), rows)
            return
        # With dictionaries, a text that a million rows share is in memory once.
        texts = [name for name in columns.values() if _is_text_column(schema.field(name).type)]
        opened = pq.ParquetFile(source, read_dictionary=texts)
        yield from _groups(opened, columns, file)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptFile(file.shown, f"it is not whole Parquet: {error}") from error


def _is_text_column(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _groups(
    opened: pq.ParquetFile, columns_by_meaning: Mapping[str, str], file: QueryLogFile
) -> Iterator[Row | Unparsed]:
    """The rows of each row group that fits into memory, up to a limit.

    A file of a few bytes may claim a billion rows of one value: the limit follows the file's size.
    """
    metadata = opened.metadata
    engine = engine_of(opened.schema_arrow.names)
    wanted = set(columns_by_meaning.values())
    at = size = 0
    most = max(longest_document(), INFLATION * file.size)
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        where = f"{file.name}:{at + 1}"
        columns = map(metadata.row_group(group).column, range(metadata.num_columns))
        claimed = sum(
            column.total_uncompressed_size
            for column in columns
            if column.path_in_schema.split(".")[0] in wanted
        )
        if claimed > longest_document():
            why = f"row group {group} unpacks to {show_size(claimed)}, and was skipped"
            yield Unparsed(where, "", why, max(rows, 1))
            at += rows
            continue
        for batch in opened.iter_batches(_BATCH, row_groups=[group], columns=list(wanted)):
            values = {
                meaning: _values(batch.column(name)) for meaning, name in columns_by_meaning.items()
            }
            for index in range(batch.num_rows):
                at += 1
                row_values = {meaning: column[index] for meaning, column in values.items()}
                size += len(str(row_values.get("text"))) + _BYTES_A_ROW
                yield Row(f"{file.name}:{at}", engine | row_values)
            if size > most:
                left = metadata.num_rows - at
                why = f"it unpacks to more than {INFLATION:,} times its size: the rest was left"
                yield Unparsed(f"{file.name}:{at + 1}", "", why, max(left, 1))
                return


def _values(column: pa.Array) -> list[Any]:
    """The values of a column; a value that Python cannot have (year 10000) becomes text."""
    import pyarrow as pa

    if isinstance(column, pa.DictionaryArray):
        distinct = _values(column.dictionary)
        return [None if at is None else distinct[at] for at in column.indices.to_pylist()]
    try:
        values = column.to_pylist()
    except (OverflowError, ValueError):
        values = [_value(scalar) for scalar in column]
    return [_text(value) if isinstance(value, bytes) else value for value in values]


def _value(scalar: pa.Scalar) -> Any:
    import pyarrow as pa

    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return f"{scalar.cast(pa.int64()).as_py()} as {scalar.type}"


def _text(value: bytes) -> str:
    """The text of a binary value: Hive and Impala write texts without the string type."""
    return value.decode("utf-8", "surrogateescape")


def json_row(entry: Mapping[str, Any], origin: str) -> Row | Unparsed:
    """A JSON object as a row."""
    values = columns_of_entry(entry)
    columns = meanings(list(values))
    if "text" not in columns:
        return Unparsed(origin, "", without_texts(list(entry)))
    row_values = {meaning: values[column] for meaning, column in columns.items()}
    return Row(origin, engine_of(values) | row_values)
