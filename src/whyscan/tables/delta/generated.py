"""Generation expressions: what a generated column is of its source, for the shapes we know.

| expression | shape |
|---|---|
| `CAST(x AS DATE)`, `DATE(x)`, `TO_DATE(x)` | the start of the day |
| `TRUNC(x, 'MM')`, `DATE_TRUNC('HOUR', x)` | the start of the unit |
| `YEAR(x)`, `MONTH(x)`, `DAY(x)`, `HOUR(x)` | one field of the calendar |
| `DATE_FORMAT(x, 'yyyy-MM')` | several fields as text, from the year down |
| `SUBSTRING(x, 1, n)`, `LEFT(x, n)` | the first n characters |
| `x` | the same |

Everything else is a function we know nothing about, and lifts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from whyscan.predicate.types import DateType, StringType, TimestampType

if TYPE_CHECKING:
    from whyscan.predicate.tree import Path
    from whyscan.tables.delta.schema import DeltaColumn, DeltaSchema


class Unit(IntEnum):
    """Units of the calendar that nest, the largest first."""

    YEAR = 0
    MONTH = 1
    DAY = 2
    HOUR = 3


class Start(Struct, frozen=True):
    """The first moment of the unit that the source lies in."""

    unit: Unit


class CalendarField(Struct, frozen=True):
    """One number of the source's calendar reading."""

    unit: Unit


class Formatted(Struct, frozen=True):
    """The reading as text: `pattern` matches it, with a group named after each unit."""

    pattern: str
    units: tuple[Unit, ...]


class Prefix(Struct, frozen=True):
    """The first `width` characters."""

    width: int


class Same(Struct, frozen=True):
    """The source itself."""


Shape: TypeAlias = Start | CalendarField | Formatted | Prefix | Same


class Generated(Struct, frozen=True):
    """A generated column: `shape` of `source`."""

    source: DeltaColumn
    shape: Shape


_NAME = r"(?:`(?:[^`]|``)+`|\w+)"
_COLUMN = rf"\s*(?P<x>{_NAME}(?:\s*\.\s*{_NAME})*)\s*"
_UNITS: Mapping[str, Unit] = {
    "YEAR": Unit.YEAR,
    "YYYY": Unit.YEAR,
    "YY": Unit.YEAR,
    "MONTH": Unit.MONTH,
    "MON": Unit.MONTH,
    "MM": Unit.MONTH,
    "DAY": Unit.DAY,
    "DAYOFMONTH": Unit.DAY,
    "DD": Unit.DAY,
    "HOUR": Unit.HOUR,
}
_LETTERS: Mapping[Unit, str] = {
    Unit.YEAR: "yyyy",
    Unit.MONTH: "MM",
    Unit.DAY: "dd",
    Unit.HOUR: "HH",
}
_SEPARATORS = "-_/. :"

_Reader: TypeAlias = Callable[[re.Match[str]], "Shape | None"]


def _unit(word: str, finest: Unit) -> Unit | None:
    unit = _UNITS.get(word.upper())
    return unit if unit is not None and unit <= finest else None


def _start(found: re.Match[str], finest: Unit) -> Shape | None:
    unit = _unit(found["unit"], finest)
    return None if unit is None else Start(unit)


def _field(found: re.Match[str]) -> Shape | None:
    return CalendarField(_UNITS[found["unit"].upper()])


def _formatted(found: re.Match[str]) -> Shape | None:
    """`yyyy`, then maybe `MM`, `dd` and `HH`, in that order, with separators between them."""
    rest, pattern = found["format"], ""
    units: list[Unit] = []
    for unit, letters in _LETTERS.items():
        if not rest.startswith(letters):
            break
        behind = rest[len(letters) :]
        rest = behind.lstrip(_SEPARATORS)
        separator = behind[: len(behind) - len(rest)]
        pattern += f"(?P<{unit.name}>[0-9]{{{len(letters)}}}){re.escape(separator)}"
        units.append(unit)
    return Formatted(pattern, tuple(units)) if units and not rest else None


_SHAPES: tuple[tuple[str, _Reader], ...] = (
    (rf"CAST\({_COLUMN}\sAS\s+DATE\s*\)", lambda _: Start(Unit.DAY)),
    (rf"(?:DATE|TO_DATE)\({_COLUMN}\)", lambda _: Start(Unit.DAY)),
    (rf"TRUNC\({_COLUMN},\s*'(?P<unit>\w+)'\s*\)", lambda m: _start(m, Unit.MONTH)),
    (rf"DATE_TRUNC\(\s*'(?P<unit>\w+)'\s*,{_COLUMN}\)", lambda m: _start(m, Unit.HOUR)),
    (rf"(?P<unit>YEAR|MONTH|DAY|DAYOFMONTH|HOUR)\({_COLUMN}\)", _field),
    (rf"DATE_FORMAT\({_COLUMN},\s*'(?P<format>[^']*)'\s*\)", _formatted),
    (
        rf"SUBSTR(?:ING)?\({_COLUMN},\s*[01]\s*,\s*(?P<width>[1-9]\d{{0,8}})\s*\)",
        lambda m: Prefix(int(m["width"])),
    ),
    (rf"LEFT\({_COLUMN},\s*(?P<width>[1-9]\d{{0,8}})\s*\)", lambda m: Prefix(int(m["width"]))),
    (_COLUMN, lambda _: Same()),
)
_COMPILED = tuple((re.compile(shape, re.IGNORECASE), reader) for shape, reader in _SHAPES)


def read_generation(schema: DeltaSchema, column: DeltaColumn) -> Generated | None:
    """What a generated column is of its source; None where it is not one, or of no known shape."""
    text = (column.generated_as or "").strip()
    for pattern, reader in _COMPILED:
        found = pattern.fullmatch(text)
        if found is None:
            continue
        shape = reader(found)
        source = _resolved(schema, _path(found["x"]))
        if shape is None or source is None or not _fits(shape, source, column):
            return None
        return Generated(source, shape)
    return None


def _path(text: str) -> Path:
    names = re.findall(_NAME, text)
    return tuple(n[1:-1].replace("``", "`") if n.startswith("`") else n for n in names)


def _resolved(schema: DeltaSchema, path: Path) -> DeltaColumn | None:
    """The column of that path, in any case."""
    lowered = tuple(name.casefold() for name in path)
    found = [c for p, c in schema.columns.items() if tuple(n.casefold() for n in p) == lowered]
    return found[0] if len(found) == 1 else None


def _fits(shape: Shape, source: DeltaColumn, column: DeltaColumn) -> bool:
    """The types are those for which the shape's law holds: a cast in between may raise."""
    match shape:
        case Start() | CalendarField() | Formatted():
            return isinstance(source.type, DateType | TimestampType)
        case Prefix():
            return isinstance(source.type, StringType) and isinstance(column.type, StringType)
        case Same():
            return source.type == column.type
