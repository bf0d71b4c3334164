"""How the rows of a snapshot are read: its columns as readers give them, and where files have them.

A format says it all here, and opens no data file; scan/ opens them, and knows no format.
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

    from whyscan.tables.iceberg.field_columns import MappedName
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Path

UTC = "UTC"
_VARIANT = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])
_INTEGERS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_OTHERS = {
    "time": pa.time64("us"),
    "variant": _VARIANT,
    "collated string": pa.string(),
    "geometry": pa.binary(),
    "geography": pa.binary(),
}


def given_as(kind: Type) -> pa.DataType | None:
    """The Arrow type in which readers give a column, None where its name alone does not say.

    Unlike tree/arrow.py it keeps widths and zones: it is what PySpark's `toArrow` has.
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
            return _other(kind.name)
        case StructType() | IntervalType():
            return None


def _other(name: str) -> pa.DataType | None:
    if name.lower().startswith(("char(", "varchar(")):
        return pa.string()
    return _OTHERS.get(name.partition("(")[0].strip())


class ReadColumn(Struct, frozen=True):
    """A column, or what lies in one: what readers give, and what files call it.

    `members` are those of a struct, the element of a list, or the key and the value of a map.
    `default` stands for it in files that are older than it, None for NULL.
    """

    name: str
    type: pa.DataType
    id: int | None = None
    stored: str = ""
    default: pa.Scalar | None = None
    members: tuple[ReadColumn, ...] = ()

    @property
    def in_files(self) -> str:
        return self.stored or self.name

    def only(self, members: tuple[ReadColumn, ...]) -> ReadColumn:
        """The same struct with fewer members."""
        kind = pa.struct([(m.name, m.type) for m in members])
        return ReadColumn(self.name, kind, self.id, self.stored, self.default, members)


def struct_of(name: str, members: tuple[ReadColumn, ...], **more: object) -> ReadColumn:
    """A struct of those members."""
    kind = pa.struct([(m.name, m.type) for m in members])
    return ReadColumn(name, kind, members=members, **more)  # type: ignore[arg-type]


def list_of(name: str, element: ReadColumn, **more: object) -> ReadColumn:
    """A list of such elements."""
    kind = pa.list_(pa.field("element", element.type))
    return ReadColumn(name, kind, members=(element,), **more)  # type: ignore[arg-type]


def map_of(name: str, key: ReadColumn, value: ReadColumn, **more: object) -> ReadColumn:
    """A map from such keys to such values."""
    kind = pa.map_(key.type, value.type)
    return ReadColumn(name, kind, members=(key, value), **more)  # type: ignore[arg-type]


class InlineVector(Struct, frozen=True):
    """A deletion vector that the table's metadata holds itself."""

    content: bytes


class VectorInFile(Struct, frozen=True):
    """A deletion vector in a file; at `start` is its size, and `length` is the vector's alone."""

    store: Store
    path: str
    start: int
    length: int


class PositionDeletes(Struct, frozen=True):
    """A file of (path, position) pairs; those that name `target` are meant."""

    file: DataFile
    target: str


class EqualityDeletes(Struct, frozen=True):
    """A file of rows: what equals one of them in `columns`, NULL being equal to NULL, is deleted.

    `columns` lead from a top-level column to the one that is compared.
    """

    file: DataFile
    columns: tuple[tuple[ReadColumn, ...], ...]


Deletes: TypeAlias = InlineVector | VectorInFile | PositionDeletes | EqualityDeletes


class DataFile(Struct, frozen=True):
    """One file, below its store; `constants` are values of columns that metadata says."""

    store: Store
    path: str
    format: str = "parquet"
    constants: Mapping[Path, pa.Scalar] = field(default_factory=lambda: MappingProxyType({}))
    deletes: tuple[Deletes, ...] = ()

    @property
    def shown(self) -> str:
        return self.store.shown(self.path)


class Naming(Struct, frozen=True):
    """How columns are found in a file.

    `by_id`: by field id; `mapping` gives ids to the columns of a file that has none, and without
    it they are counted from 1. Otherwise by name. `constants_win`: what metadata says of a column
    is believed before what the file holds.
    """

    by_id: bool = False
    mapping: tuple[MappedName, ...] | None = None
    counted: bool = False
    constants_win: bool = True


class FileReading(Struct, frozen=True):
    """The table's columns in their order, and the asked files."""

    columns: tuple[ReadColumn, ...]
    files: tuple[DataFile, ...]
    naming: Naming
