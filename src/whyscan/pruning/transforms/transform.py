"""Partition transforms: what a partition field does to its source column."""

from __future__ import annotations

import re
from typing import TypeAlias

from msgspec import Struct

from whyscan.errors import TableError
from whyscan.tree.types import (
    DATE,
    INT,
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    OtherType,
    StringType,
    TimestampType,
    Type,
)


class IdentityTransform(Struct, frozen=True):
    """The source value itself."""

    def __str__(self) -> str:
        return "identity"


class Year(Struct, frozen=True):
    """Years since 1970."""

    def __str__(self) -> str:
        return "year"


class Month(Struct, frozen=True):
    """Months since 1970-01."""

    def __str__(self) -> str:
        return "month"


class Day(Struct, frozen=True):
    """Days since 1970-01-01, in UTC for instants."""

    def __str__(self) -> str:
        return "day"


class Hour(Struct, frozen=True):
    """Hours since 1970-01-01 00:00, in UTC for instants."""

    def __str__(self) -> str:
        return "hour"


class Truncate(Struct, frozen=True):
    """A number rounded down to a multiple of `width`, or the first `width` of a string or binary.

    The unit is the last digit for decimals, the code point for strings and the byte for binaries.
    """

    width: int

    def __str__(self) -> str:
        return f"truncate[{self.width}]"


class Bucket(Struct, frozen=True):
    """A hash of the source value, modulo `count`."""

    count: int

    def __str__(self) -> str:
        return f"bucket[{self.count}]"


class Substring(Struct, frozen=True):
    """`length` characters of a string, after the first `start` ones."""

    start: int
    length: int

    def __str__(self) -> str:
        return f"substring[{self.start + 1}, {self.length}]"


class Void(Struct, frozen=True):
    """Always NULL: the transform of a dropped partition field."""

    def __str__(self) -> str:
        return "void"


class Unknown(Struct, frozen=True):
    """A transform that whyscan does not know: its values say nothing about the source."""

    name: str

    def __str__(self) -> str:
        return self.name


Temporal: TypeAlias = Year | Month | Day | Hour
Transform: TypeAlias = IdentityTransform | Temporal | Truncate | Bucket | Substring | Void | Unknown

_PLAIN: dict[str, Transform] = {
    str(t): t for t in (IdentityTransform(), Year(), Month(), Day(), Hour(), Void())
}
_WIDE: dict[str, type[Bucket | Truncate]] = {"bucket": Bucket, "truncate": Truncate}
_WORD = re.compile(r"([a-z]+)(.*)", re.DOTALL)
_WIDTH = re.compile(r"\[([0-9]{1,10})\]")
_GREATEST_WIDTH = INT.greatest
_SUBSTRING = re.compile(r"substring\[([1-9][0-9]{0,9}), ([1-9][0-9]{0,9})\]")


def parse_transform(text: str) -> Transform:
    """The transform with this name in table metadata; an unknown name gives `Unknown`."""
    lowered = text.strip().lower()
    if lowered in _PLAIN:
        return _PLAIN[lowered]
    word = _WORD.fullmatch(lowered)
    if word is None or word[1] not in _WIDE or word[2][:1].isalnum():
        return Unknown(text)
    return _WIDE[word[1]](_width(word[2], text))


def transform_of_text(text: str) -> Transform:
    """The transform whose `str` is the text. Table metadata has no name for a substring."""
    if (substring := _SUBSTRING.fullmatch(text)) is not None:
        return Substring(int(substring[1]) - 1, int(substring[2]))
    return parse_transform(text)


def _width(parameter: str, text: str) -> int:
    matched = _WIDTH.fullmatch(parameter)
    width = int(matched[1]) if matched else 0
    if not 0 < width <= _GREATEST_WIDTH:
        raise TableError(
            f"cannot read the partition transform {text!r}",
            hint=f"its parameter must be a whole number from 1 to {_GREATEST_WIDTH}",
        )
    return width


def supports(transform: Transform, source: Type) -> bool:
    """The transform is defined on values of this type."""
    match transform:
        case IdentityTransform() | Void() | Unknown() | Bucket():
            return True
        case Year() | Month() | Day():
            return isinstance(source, DateType | TimestampType)
        case Hour():
            return isinstance(source, TimestampType)
        case Truncate():
            return isinstance(source, IntegerType | DecimalType | StringType | BinaryType)
        case Substring():
            return isinstance(source, StringType)


def result_type(transform: Transform, source: Type) -> Type:
    """The type of the partition values: dates for days, integers for the other units of time."""
    if not supports(transform, source):
        raise TableError(f"a column of type {source} cannot be partitioned by {transform}")
    match transform:
        case IdentityTransform() | Truncate() | Substring() | Void():
            return source
        case Year() | Month() | Hour() | Bucket():
            return INT
        case Day():
            return DATE
        case Unknown():
            return OtherType(transform.name)
