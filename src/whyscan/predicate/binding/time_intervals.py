"""Interval literals.

An interval is a number of months or a number of microseconds, as in Spark, never both.
"""

from __future__ import annotations

import re
from fractions import Fraction

from whyscan.predicate.binding.scope import Uninterpreted
from whyscan.tree import time_text, zones
from whyscan.tree.nodes import Literal
from whyscan.tree.types import IntervalType, Type

MONTHS = IntervalType(months=True)
MICROSECONDS = IntervalType(months=False)

_UNIT_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_UNIT_MICROSECONDS = {
    "week": 7 * zones.DAY,
    "day": zones.DAY,
    "hour": 3600 * zones.SECOND,
    "minute": 60 * zones.SECOND,
    "second": zones.SECOND,
    "millisecond": 1000,
    "microsecond": 1,
}
_FIELDS = ("day", "hour", "minute", "second")
_PAIR = re.compile(r"([+-]?\d+(?:\.\d+)?)\s+([a-z]+)", re.ASCII)
_YEAR_MONTH = re.compile(r"([+-]?)(\d+)-(\d{1,2})", re.ASCII)


def of_units(count: str | int, unit: str) -> Literal:
    """The interval of `count` units. The unit may be singular or plural."""
    name = unit.lower().removesuffix("s")
    number = Fraction(count)
    for table, kind in ((_UNIT_MONTHS, MONTHS), (_UNIT_MICROSECONDS, MICROSECONDS)):
        if name in table:
            total = number * table[name]
            if total.denominator != 1 and kind is MONTHS:
                raise Uninterpreted("a fraction of a month")
            return _literal(int(total), kind)
    raise Uninterpreted(f"an interval in {unit}")


def of_text(text: str) -> Literal:
    """The interval of a text such as `1 day 2 hours`: the sum of its units."""
    pairs = _PAIR.findall(text.lower())
    if not pairs or _PAIR.sub("", text.lower()).strip():
        raise Uninterpreted(f"the interval {text!r}")
    return total([of_units(count, unit) for count, unit in pairs])


def of_range(text: str, first: str, last: str) -> Literal:
    """The interval `'1-2' YEAR TO MONTH` or `'1 02:03:04.5' DAY TO SECOND`."""
    text = text.strip()
    if (first, last) == ("year", "month"):
        match = _YEAR_MONTH.fullmatch(text)
        if match is None:
            raise Uninterpreted(f"the interval {text!r}")
        months = int(match[2]) * 12 + int(match[3])
        return _literal(-months if match[1] == "-" else months, MONTHS)
    return _day_time(text, first, last)


def _day_time(text: str, first: str, last: str) -> Literal:
    if first not in _FIELDS or last not in _FIELDS:
        raise Uninterpreted(f"an interval from {first} to {last}")
    names = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    parts = re.split(r"[ :]+", text.lstrip("+-"))
    if len(parts) != len(names) or not all(re.fullmatch(r"\d+(\.\d+)?", p) for p in parts):
        raise Uninterpreted(f"the interval {text!r}")
    span = sum(Fraction(p) * _UNIT_MICROSECONDS[n] for p, n in zip(parts, names, strict=True))
    return _literal(-int(span) if text.startswith("-") else int(span), MICROSECONDS)


def total(intervals: list[Literal]) -> Literal:
    """The sum of intervals, which must be all of months or all of microseconds."""
    kinds = {interval.type for interval in intervals}
    if len(kinds) != 1:
        raise Uninterpreted("months and days in one interval")
    return _literal(sum(integer_value(interval) for interval in intervals), kinds.pop())


def negated(interval: Literal) -> Literal:
    return Literal(-integer_value(interval), interval.type)


def integer_value(literal: Literal) -> int:
    """The integer of an interval, date or timestamp literal; NULL raises Uninterpreted."""
    if not isinstance(literal.value, int):
        raise Uninterpreted("a span of time that is NULL")
    return literal.value


def _literal(value: int, kind: Type) -> Literal:
    if not time_text.fits_int64(value):
        raise Uninterpreted("an interval out of range")
    return Literal(value, kind)
