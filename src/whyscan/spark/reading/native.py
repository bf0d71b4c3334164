"""Decide whether Spark's Parquet reader gives exactly the rows of a plan; any doubt means no.

Spark finds columns by name, ignores delete files and reads partition columns from paths. So the
files must have the columns with the names and types of the table, no row may be deleted, and the
partition values in the paths must be those of the table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from whyscan.scan.columns_of_file import file_columns
from whyscan.tables.column_finder import finder
from whyscan.tables.parquet.calendars import has_hybrid_calendar
from whyscan.tables.parquet.file_columns import from_arrow
from whyscan.tree.names import AmbiguousName, all_named, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.scan.columns_of_file import FileColumn
    from whyscan.scan.plan_portions import Portion
    from whyscan.tables.column_finder import Finder
    from whyscan.tables.file_columns import DataFile, ReadColumn
    from whyscan.tree.nodes import Path

COMPARED_FILES = 1_000
"""The most files whose schemas are compared; with more files, Spark's reader is not used."""

# Spark reads other characters in a path as a glob pattern or as a part of an address.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./=+,@~ -]+")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_PLAIN = frozenset(
    {
        pa.bool_(),
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.float32(),
        pa.float64(),
        pa.string(),
        pa.binary(),
        pa.date32(),
        pa.timestamp("us"),
        pa.timestamp("us", "UTC"),
    }
)
_INT96 = "INT96"


class NativeFiles(Struct, frozen=True):
    """The files for Spark's reader; `root` is the folder below which partition folders begin."""

    paths: tuple[str, ...]
    root: str | None


class NativeRefusal(Exception):
    """The reason why Spark's reader may give other rows than the plan."""


def native(portion: Portion) -> NativeFiles:
    """The files that Spark's reader can read; raises NativeRefusal."""
    files, naming = portion.reading.files, portion.reading.naming
    if not files:
        raise NativeRefusal("there is nothing to read")
    if len(files) > COMPARED_FILES:
        raise NativeRefusal(f"{len(files)} files are too many to compare their schemas")
    names = {path[0] for path in portion.result_columns.paths}
    columns = [column for column in portion.reading.columns if column.name in names]
    from_paths = _from_paths(files, columns) if naming.constants_win else ()
    for file in files:
        _plain_file(file)
    for column in columns:
        if column.name not in from_paths:
            _plain_column(column, by_id=naming.by_id)
    file_columns = [column for column in columns if column.name not in from_paths]
    for file in files:
        _same_columns(file, file_columns, portion)
    root = files[0].store.folder if from_paths else None
    return NativeFiles(tuple(f"{file.store.folder}/{file.path}" for file in files), root)


def _plain_file(file: DataFile) -> None:
    if file.store.folder is None:
        raise NativeRefusal(f"{file.store.uri} is a store, for which Spark has settings of its own")
    if file.format != "parquet":
        raise NativeRefusal(f"there are files of the format {file.format}")
    if file.deletes:
        raise NativeRefusal("rows were deleted")
    hidden = any(part.startswith(("_", ".")) for part in file.path.split("/"))
    if hidden or not _PLAIN_PATH.fullmatch(f"{file.store.folder}/{file.path}"):
        raise NativeRefusal(f"Spark may not take the path as it is: {file.path}")


def _plain_column(column: ReadColumn, *, by_id: bool) -> None:
    if column.key[0] != column.name:
        raise NativeRefusal(f"files have the column {column.name} under another name")
    if column.default is not None:
        raise NativeRefusal(f"the column {column.name} has a default")
    if column.members and by_id:
        raise NativeRefusal(f"what lies in {column.name} is found by its field id")
    if not _is_plain(column):
        raise NativeRefusal(f"Spark may read {column.name} as something else than {column.type}")


def _is_plain(column: ReadColumn) -> bool:
    if column.members:
        inner = (m.key[0] == m.name and m.default is None for m in column.members)
        return all(inner) and all(map(_is_plain, column.members))
    return column.type in _PLAIN or pa.types.is_decimal128(column.type)


def _from_paths(files: Sequence[DataFile], columns: Sequence[ReadColumn]) -> tuple[str, ...]:
    """The partition columns that Spark reads from paths; the values must be the table's."""
    partition_columns = {path for file in files for path in file.constants}
    if not {path[0] for path in partition_columns} & {column.name for column in columns}:
        return ()
    folder_names = {tuple(name for name, _ in _parts(file)) for file in files}
    if (
        len(folder_names) != 1
        or {(name,) for name in next(iter(folder_names))} != partition_columns
    ):
        raise NativeRefusal("folders are not called after the partition columns")
    for file in files:
        for name, text in _parts(file):
            if not _is_text_of(text, file.constants[name,]):
                raise NativeRefusal(f"the folder {name}={text} is not how Spark would write it")
    return next(iter(folder_names))


def _parts(file: DataFile) -> list[tuple[str, str]]:
    folders = [folder.partition("=") for folder in file.path.split("/")[:-1]]
    return [(unquote(name), unquote(text)) for name, _, text in folders]


def _is_text_of(text: str, value: pa.Scalar) -> bool:
    """Whether Spark reads the text of a partition folder as this value."""
    if not value.is_valid:
        return text == _NO_VALUE
    if pa.types.is_string(value.type):
        return text not in ("", _NO_VALUE) and bool(value.as_py() == text)
    if pa.types.is_integer(value.type):
        return str(value.as_py()) == text
    if pa.types.is_date32(value.type):
        return str(value.cast(pa.string()).as_py()) == text
    return False


def _same_columns(file: DataFile, columns: Sequence[ReadColumn], portion: Portion) -> None:
    footer = pq.read_metadata(f"{file.store.folder}/{file.path}")
    columns_of_file = file_columns(footer.schema.to_arrow_schema())
    if len(set(folded(column.name for column in columns_of_file))) != len(columns_of_file):
        raise NativeRefusal(f"{file.path} has columns whose names differ in case alone")
    in_file = finder(columns_of_file, portion.reading.naming)
    for column in columns:
        match = _match(in_file, column, file)
        if match is None:
            _same_absence(file, column, columns_of_file)
            continue
        if match.name != column.name:
            raise NativeRefusal(f"{file.path} has the column {column.name} under another name")
        int96 = footer.schema.column(match.leaves[0]).physical_type == _INT96
        kind = pa.timestamp("us", "UTC") if int96 else from_arrow(match.name, match.type).type
        if kind != column.type or _is_unsigned(match):
            raise NativeRefusal(f"{file.path} has {column.name} as {match.type}")
    _same_calendar(file, footer.metadata or {})


def _match(in_file: Finder[FileColumn], column: ReadColumn, file: DataFile) -> FileColumn | None:
    try:
        return in_file.find([column.key])
    except AmbiguousName:
        raise NativeRefusal(f"{file.path} has the column {column.name} twice") from None


def _same_absence(
    file: DataFile, column: ReadColumn, columns_of_file: Sequence[FileColumn]
) -> None:
    """Require that Spark reads a column that a file lacks as NULL, as the table does."""
    if any(path[0] == column.name for path in file.constants):
        raise NativeRefusal(f"{column.name} is in the table's metadata and not in {file.path}")
    if all_named(columns_of_file, column.name):
        raise NativeRefusal(f"the column {column.name} of {file.path} is another one")


def _is_unsigned(column: FileColumn) -> bool:
    return pa.types.is_unsigned_integer(column.type) or any(map(_is_unsigned, column.members))


def _same_calendar(file: DataFile, metadata: dict[bytes, bytes]) -> None:
    """Refuse files of Spark before 3.0: their dates may be Julian, and Spark converts them."""
    if has_hybrid_calendar(metadata):
        raise NativeRefusal(f"{file.path} has dates of another calendar")


def needed(projection: Sequence[Path] | None, named: Sequence[Path]) -> tuple[Path, ...] | None:
    """The top-level columns of the projection and of the predicate; None means all columns."""
    if projection is None:
        return None
    return tuple(dict.fromkeys((path[0],) for path in (*projection, *named)))
