"""Dates and timestamps as text, as Spark writes them by a pattern.

The text has the order of time if its fields have a fixed width, coarse fields come before fine
ones, and the year has four digits. Years before 0000 or after 9999 have a sign, which sorts below
every digit; in DuckDB and Postgres years before 0001 end in `(BC)` or `BC` and have no sign.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.functions.rules import mapped, strict
from whyscan.pruning.functions.time import gregorian
from whyscan.pruning.functions.time.kernels import (
    SECONDS_A_DAY,
    bounds_of,
    clock_type,
    contained,
    floor_divide,
)
from whyscan.pruning.mask import both, keep, surely
from whyscan.tree.types import STRING

if TYPE_CHECKING:
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Vector

FIRST_YEAR, LAST_YEAR = 1, 9999


class PatternUnit(IntEnum):
    """The units of a pattern, coarse before fine."""

    YEAR = 0
    MONTH = 1
    DAY = 2
    HOUR = 3
    MINUTE = 4
    SECOND = 5
    FRACTION = 6


class PatternField(Struct, frozen=True):
    """A field of a pattern, with leading zeros up to its width; a fraction has `width` digits."""

    level: PatternUnit
    width: int


class DatePattern(Struct, frozen=True):
    """A datetime pattern: fields and the constant texts between them.

    `trimmed`: the fraction is the last field and has no trailing zeros.
    """

    parts: tuple[PatternField | str, ...]
    trimmed: bool = False

    def fields(self) -> tuple[PatternField, ...]:
        return tuple(part for part in self.parts if isinstance(part, PatternField))

    def is_ordered(self) -> bool:
        """All fields have a fixed width, and each is one level finer than the one before it."""
        levels = [field.level for field in self.fields()]
        fixed = all(f.width > 1 or f.level is PatternUnit.FRACTION for f in self.fields())
        return fixed and levels == list(range(levels[0], levels[0] + len(levels)))


_LETTERS = {
    "yyyy": PatternUnit.YEAR,
    "MM": PatternUnit.MONTH,
    "M": PatternUnit.MONTH,
    "dd": PatternUnit.DAY,
    "d": PatternUnit.DAY,
    "HH": PatternUnit.HOUR,
    "H": PatternUnit.HOUR,
    "mm": PatternUnit.MINUTE,
    "m": PatternUnit.MINUTE,
    "ss": PatternUnit.SECOND,
    "s": PatternUnit.SECOND,
    **{"S" * width: PatternUnit.FRACTION for width in range(1, 10)},
}
_TOKEN = re.compile(r"([A-Za-z])\1*|'((?:[^']|'')*)'|[^A-Za-z'\[\]{}#]")


@cache
def pattern(text: str) -> DatePattern | None:
    """Spark's pattern, parsed; None if it has no field or a letter that is not supported."""
    parts: list[PatternField | str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        if token.start() != end:
            return None
        end = token.end()
        if token[1] is None:
            parts.append(token[0] if token[2] is None else token[2].replace("''", "'") or "'")
        elif token[0] in _LETTERS:
            parts.append(PatternField(_LETTERS[token[0]], len(token[0])))
        else:
            return None
    date_pattern = DatePattern(tuple(parts))
    return date_pattern if end == len(text) and date_pattern.fields() else None


_DATE_PARTS = (
    PatternField(PatternUnit.YEAR, 4),
    "-",
    PatternField(PatternUnit.MONTH, 2),
    "-",
    PatternField(PatternUnit.DAY, 2),
)
_TIME_PARTS = (
    PatternField(PatternUnit.HOUR, 2),
    ":",
    PatternField(PatternUnit.MINUTE, 2),
    ":",
    PatternField(PatternUnit.SECOND, 2),
)
DATE_TEXT = DatePattern(_DATE_PARTS)
SECONDS_TEXT = DatePattern((*_DATE_PARTS, " ", *_TIME_PARTS))
TIMESTAMP_TEXT = DatePattern(
    (*SECONDS_TEXT.parts, ".", PatternField(PatternUnit.FRACTION, 9)), trimmed=True
)


def written(local: Interval, how: DatePattern) -> Interval:
    """Clock readings as text: the texts of the bounds, if the texts have the order of time.

    | pattern | in the order of time |
    |---|---|
    | `yyyy-MM`, from the year without a gap | in years 0001 to 9999 |
    | `HH:mm`, from a finer field without a gap | within one unit of the next coarser field |
    | any other | where it is constant: within one unit of its finest field |
    """
    per_second = clock_type(local).unit.per_second
    lower, upper = bounds_of(local)
    below, above = (mapped(lambda b: _write(b, how, per_second), b) for b in (lower, upper))
    first = how.fields()[0].level
    if how.is_ordered() and first is PatternUnit.YEAR:
        # A sign sorts below every digit, and a year without one above early years.
        bounded = both(surely(pc.is_valid, below), surely(pc.is_valid, above))
        return strict(STRING, [local], (keep(bounded, below), keep(bounded, above)))
    unit = (
        PatternUnit(first - 1) if how.is_ordered() else max(field.level for field in how.fields())
    )
    same = surely(
        pc.equal, *(mapped(lambda b: _units(b, unit, per_second), b) for b in (lower, upper))
    )
    return strict(STRING, [local], (keep(same, below), keep(same, above)))


def _units(ticks: Vector, level: PatternUnit, per_second: int) -> Vector:
    """Whole units of a level since 1970; for a fraction, the ticks themselves."""
    days = floor_divide(ticks, SECONDS_A_DAY * per_second)
    match level:
        case PatternUnit.YEAR:
            return gregorian.year(days)
        case PatternUnit.MONTH:
            return gregorian.months_of(days)
        case PatternUnit.DAY:
            return days
        case PatternUnit.HOUR:
            return floor_divide(ticks, 3600 * per_second)
        case PatternUnit.MINUTE:
            return floor_divide(ticks, 60 * per_second)
        case PatternUnit.SECOND:
            return floor_divide(ticks, per_second)
        case PatternUnit.FRACTION:
            return ticks


def _write(ticks: Vector, how: DatePattern, per_second: int) -> Vector:
    """The text of each reading; unknown for years that do not have four digits."""
    texts = [
        _digits(ticks, part, per_second) if isinstance(part, PatternField) else pa.scalar(part)
        for part in how.parts
    ]
    text = pc.binary_join_element_wise(*texts, "")
    if how.trimmed:
        text = pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".")
    return text.cast(pa.binary())


def _digits(ticks: Vector, field: PatternField, per_second: int) -> Vector:
    number = _number(_units(ticks, field.level, per_second), field, per_second)
    return pc.utf8_lpad(number.cast(pa.string()), field.width, "0")


def _number(units: Vector, field: PatternField, per_second: int) -> Vector:
    match field.level:
        case PatternUnit.YEAR:
            return contained(units, FIRST_YEAR, LAST_YEAR)
        case PatternUnit.MONTH:
            return pc.add(pc.modulo(units, gregorian.MONTHS_A_YEAR), 1)
        case PatternUnit.DAY:
            return gregorian.day(units)
        case PatternUnit.HOUR:
            return pc.modulo(units, 24)
        case PatternUnit.MINUTE | PatternUnit.SECOND:
            return pc.modulo(units, 60)
        case PatternUnit.FRACTION:
            nanos = pc.multiply(pc.modulo(units, per_second), 10**9 // per_second)
            return floor_divide(nanos, 10 ** (9 - field.width))
