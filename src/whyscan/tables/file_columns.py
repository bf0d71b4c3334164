"""How the rows of a snapshot are read: the types of the columns, and where files have them.

A table format fills these records and opens no data file; `scan/` opens the data files and does
not depend on a format.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
from msgspec import Struct, field

from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    NullType,
    OtherType,
    StringType,
    StructType,
    TimestampType,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tables.column_finder import Key, Naming
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Path

RowRanges: TypeAlias = tuple[tuple[int, int], ...]
"""The (first, end) of consecutive rows, by their numbers in a row group."""

UTC = "UTC"
_VARIANT = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])
_INTEGERS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_OTHER_TYPES = {
    "time": pa.time64("us"),
    "variant": _VARIANT,
    "collated string": pa.string(),
    "geometry": pa.binary(),
    "geography": pa.binary(),
}


def result_type(kind: Type) -> pa.DataType | None:
    """The Arrow type of a column in the rows of a scan; None for nested types and intervals.

    Unlike `tree/arrow.py` it keeps widths and time zones: these are the types that PySpark's
    `toArrow` gives.
    """
    match kind:
        case BooleanType():
            return pa.bool_()
        case IntegerType():
            return _INTEGERS[kind.bits]
        case FloatType():
            return pa.float32() if kind.bits == 32 else pa.float64()  # noqa: PLR2004 - bits
        case DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case StringType():
            return pa.string()
        case BinaryType():
            return pa.binary()
        case UuidType():
            return pa.uuid()
        case DateType():
            return pa.date32()
        case TimestampType():
            return pa.timestamp(kind.unit.value, UTC if kind.instant else None)
        case NullType():
            return pa.null()
        case OtherType():
            return _other_type(kind.name)
        case StructType() | IntervalType():
            return None


def _other_type(name: str) -> pa.DataType | None:
    if name.lower().startswith(("char(", "varchar(")):
        return pa.string()
    return _OTHER_TYPES.get(name.partition("(")[0].strip())


def is_list(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's list types."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


class ReadColumn(Struct, frozen=True):
    """A column or a nested field: its name and type in the result, and its name in the files.

    `name_in_files` is empty if it is `name`. `id` is the field id, None without one.
    `members` are the fields of a struct, the element of a list, or the key and the value of a map.
    `default` is the value in files that are older than the column, None for NULL.
    """

    name: str
    type: pa.DataType
    id: int | None = None
    name_in_files: str = ""
    default: pa.Scalar | None = None
    members: tuple[ReadColumn, ...] = ()

    @property
    def key(self) -> Key:
        """What the column is found by in a file."""
        return self.name_in_files or self.name, self.id

    def only(self, members: tuple[ReadColumn, ...]) -> ReadColumn:
        """The same struct with fewer members."""
        kind = pa.struct([(m.name, m.type) for m in members])
        return ReadColumn(self.name, kind, self.id, self.name_in_files, self.default, members)


def struct_of(name: str, members: tuple[ReadColumn, ...], **attributes: object) -> ReadColumn:
    """A struct column with these members; `attributes` are other fields of ReadColumn."""
    kind = pa.struct([(m.name, m.type) for m in members])
    return ReadColumn(name, kind, members=members, **attributes)  # type: ignore[arg-type]


def list_of(name: str, element: ReadColumn, **attributes: object) -> ReadColumn:
    """A list column with this element; `attributes` are other fields of ReadColumn."""
    kind = pa.list_(pa.field("element", element.type))
    return ReadColumn(name, kind, members=(element,), **attributes)  # type: ignore[arg-type]


def map_of(name: str, key: ReadColumn, value: ReadColumn, **attributes: object) -> ReadColumn:
    """A map column with this key and value; `attributes` are other fields of ReadColumn."""
    kind = pa.map_(key.type, value.type)
    return ReadColumn(name, kind, members=(key, value), **attributes)  # type: ignore[arg-type]


class InlineVector(Struct, frozen=True):
    """A deletion vector whose bytes are in the table's metadata."""

    content: bytes


class VectorInFile(Struct, frozen=True):
    """A deletion vector in a file: its size is written at `start`, then come `length` bytes."""

    store: Store
    path: str
    start: int
    length: int


class PositionDeletes(Struct, frozen=True):
    """A file of (path, position) pairs; only pairs with the path `target` count."""

    file: DataFile
    target: str


class EqualityDeletes(Struct, frozen=True):
    """A file of rows: a data row that equals one of them in all `columns` is deleted.

    NULL equals NULL. Each of `columns` is the way from a top-level column to the compared field.
    """

    file: DataFile
    columns: tuple[tuple[ReadColumn, ...], ...]


Deletes: TypeAlias = InlineVector | VectorInFile | PositionDeletes | EqualityDeletes


class DataFile(Struct, frozen=True):
    """One data file: its path in the store, and the rows that are deleted from it.

    `constants` are column values that come from metadata, such as partition values. `size` are the
    bytes of the file; where it is None, the store is asked for it.
    """

    store: Store
    path: str
    format: str = "parquet"
    constants: Mapping[Path, pa.Scalar] = field(default_factory=lambda: MappingProxyType({}))
    deletes: tuple[Deletes, ...] = ()
    size: int | None = None

    @property
    def shown(self) -> str:
        return self.store.shown(self.path)


class FileReading(Struct, frozen=True):
    """The table's columns in their order, the files to read, and how columns are looked up."""

    columns: tuple[ReadColumn, ...]
    files: tuple[DataFile, ...]
    naming: Naming
