"""The SQL types of columns and literals, and the schema of a table.

A type has its width or unit: `1 == True == 1.0` in Python, and never in SQL.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from whyscan.errors import shortened
from whyscan.tree.names import folded

if TYPE_CHECKING:
    from collections.abc import Iterable


class BooleanType(Struct, frozen=True):
    """TRUE and FALSE, in the order FALSE < TRUE."""

    def __str__(self) -> str:
        return "boolean"


class IntegerType(Struct, frozen=True):
    """A signed integer of 8, 16, 32 or 64 bits. Unsigned columns get the next wider type."""

    bits: int

    def __str__(self) -> str:
        return {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}[self.bits]

    @property
    def least(self) -> int:
        return -(1 << (self.bits - 1))

    @property
    def greatest(self) -> int:
        return (1 << (self.bits - 1)) - 1


class FloatType(Struct, frozen=True):
    """An IEEE 754 number of 32 or 64 bits. NaN is the greatest value, NaN = NaN, -0.0 = 0.0."""

    bits: int

    def __str__(self) -> str:
        return {32: "float", 64: "double"}[self.bits]


class DecimalType(Struct, frozen=True):
    """An exact number of `precision` digits, of which `scale` are after the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


class StringType(Struct, frozen=True):
    """Text, ordered by the bytes of its UTF-8."""

    def __str__(self) -> str:
        return "string"


class BinaryType(Struct, frozen=True):
    """Bytes, compared as unsigned numbers."""

    def __str__(self) -> str:
        return "binary"


class UuidType(Struct, frozen=True):
    """Sixteen bytes, compared as unsigned numbers and written as text in SQL."""

    def __str__(self) -> str:
        return "uuid"


class DateType(Struct, frozen=True):
    """A date: days since 1970-01-01 in the proleptic Gregorian calendar."""

    def __str__(self) -> str:
        return "date"


class TimeUnit(StrEnum):
    """The unit in which a timestamp counts."""

    MICROSECOND = "us"
    NANOSECOND = "ns"

    @property
    def per_second(self) -> int:
        return 1_000_000 if self is TimeUnit.MICROSECOND else 1_000_000_000


class TimestampType(Struct, frozen=True):
    """A timestamp with a time zone (`instant`) or without one.

    SQL shows an instant in the time zone of the session. Without a zone a timestamp is what a
    clock on the wall shows.
    """

    instant: bool = True
    unit: TimeUnit = TimeUnit.MICROSECOND

    def __str__(self) -> str:
        name = "timestamp" if self.instant else "timestamp_ntz"
        return name if self.unit is TimeUnit.MICROSECOND else f"{name}_ns"


class IntervalType(Struct, frozen=True):
    """An interval: a number of months if `months` is true, else a number of microseconds."""

    months: bool

    def __str__(self) -> str:
        return "interval year to month" if self.months else "interval day to second"


class NullType(Struct, frozen=True):
    """The type of a NULL without a cast."""

    def __str__(self) -> str:
        return "void"


class StructType(Struct, frozen=True):
    """A struct. The evaluator treats each field as a separate column."""

    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return "struct<" + ", ".join(f"{f.name}: {f.type}" for f in self.fields) + ">"


class OtherType(Struct, frozen=True):
    """A type that whyscan does not compare: arrays, maps, variants, geometries, time of day."""

    name: str

    def __str__(self) -> str:
        return self.name


Type: TypeAlias = (
    BooleanType
    | IntegerType
    | FloatType
    | DecimalType
    | StringType
    | BinaryType
    | UuidType
    | DateType
    | TimestampType
    | IntervalType
    | NullType
    | StructType
    | OtherType
)

BOOLEAN = BooleanType()
TINYINT = IntegerType(8)
SMALLINT = IntegerType(16)
INT = IntegerType(32)
BIGINT = IntegerType(64)
FLOAT = FloatType(32)
DOUBLE = FloatType(64)
STRING = StringType()
BINARY = BinaryType()
UUID = UuidType()
DATE = DateType()
TIMESTAMP = TimestampType(instant=True)
TIMESTAMP_NTZ = TimestampType(instant=False)
NULL = NullType()


class Field(Struct, frozen=True):
    """One column of a schema or one member of a struct.

    `id` is the field id of the table format; None if the format has no ids.
    """

    name: str
    type: Type
    id: int | None = None


_SHOWN = 10
"""How many columns `repr` of a schema names."""


class Schema(Struct, frozen=True):
    """The columns of a table, in order."""

    fields: tuple[Field, ...]

    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    def has_all(self, names: Iterable[str]) -> bool:
        """Whether each name is the name of a top-level column, in any case."""
        return set(folded(names)).issubset(folded(self.names()))

    def __repr__(self) -> str:
        columns = ", ".join(f"{field.name!r} {field.type}" for field in self.fields[:_SHOWN])
        more = f" and {len(self.fields) - _SHOWN:,} more" if len(self.fields) > _SHOWN else ""
        return f"<{type(self).__name__} of {shortened(columns)}{more}>"
