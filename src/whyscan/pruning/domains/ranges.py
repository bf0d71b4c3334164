"""Sets of values as half-open ranges: each includes its lower end and excludes its upper end.

Every type has a next value: integers and dates add one, decimals add one in the last digit, doubles
change their last bit, strings append a NUL. So `x <= 5` is `x < 6`, and `x > 5 AND x < 6` is empty
for integers; a range needs no flag for open or closed ends.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from whyscan.pruning.unscaled import scaled_to, unscaled_of
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS
from whyscan.tree.types import (
    BIGINT,
    INT,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    StringType,
    TimestampType,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from whyscan.tree.nodes import Value

Key: TypeAlias = Any
"""A value in the order of its type, and of one Python type in one set: a boolean, an integer (of a
decimal the unscaled one), a float that is not NaN, or bytes (of a string its UTF-8)."""


class ValueRange(Struct, frozen=True):
    """The values >= `low` and < `high`; None is an open end."""

    low: Key | None
    high: Key | None


Ranges: TypeAlias = tuple[ValueRange, ...]
"""Ranges in normal form: none is empty, they are sorted, and there is a gap between any two."""

EVERYTHING: Ranges = (ValueRange(None, None),)
NOTHING: Ranges = ()

_GREATEST_UNSCALED: int = 10**MAX_DECIMAL_DIGITS - 1

FEW = 32
"""The greatest number of ranges in a set: each costs two comparisons per container."""


def below(key: Key) -> Ranges:
    """x < key."""
    return (ValueRange(None, key),)


def at_least(key: Key) -> Ranges:
    """x >= key."""
    return (ValueRange(key, None),)


def exactly(key: Key, kind: Type) -> Ranges:
    """x = key."""
    return (ValueRange(key, successor(key, kind)),)


def up_to(key: Key, kind: Type) -> Ranges:
    """x <= key."""
    return (ValueRange(None, successor(key, kind)),)


def above(key: Key, kind: Type) -> Ranges:
    """x > key."""
    return complement(up_to(key, kind))


def starting_with(prefix: bytes) -> Ranges:
    """All UTF-8 texts with the prefix: no UTF-8 text contains the byte 0xff."""
    return (ValueRange(prefix, prefix + b"\xff"),)


def union(first: Ranges, second: Ranges) -> Ranges:
    """The values in at least one set. More than `FEW` ranges become one range, a superset."""
    merged: list[ValueRange] = []
    for item in sorted((*first, *second), key=lambda r: (r.low is not None, r.low)):
        if merged and _meet(merged[-1], item):
            merged[-1] = ValueRange(merged[-1].low, _later(merged[-1].high, item.high))
        else:
            merged.append(item)
    if len(merged) > FEW:
        return (ValueRange(merged[0].low, merged[-1].high),)
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """The gaps before, between and after the ranges."""
    gaps = []
    start: Key | None = None
    for item in ranges:
        if item.low is not None:
            gaps.append(ValueRange(start, item.low))
        if item.high is None:
            return tuple(gaps)
        start = item.high
    return (*gaps, ValueRange(start, None))


def intersection(first: Ranges, second: Ranges) -> Ranges:
    """The values that are in both sets."""
    common = tuple(
        ValueRange(_later_start(a.low, b.low), _earlier(a.high, b.high))
        for a in first
        for b in second
        if _overlap(a, b)
    )
    return union(common, ())


def _meet(earlier: ValueRange, later: ValueRange) -> bool:
    """No value lies between the two ranges. `earlier` starts first."""
    return earlier.high is None or later.low is None or later.low <= earlier.high


def _overlap(a: ValueRange, b: ValueRange) -> bool:
    return _starts_before_end(a, b) and _starts_before_end(b, a)


def _starts_before_end(a: ValueRange, b: ValueRange) -> bool:
    return a.low is None or b.high is None or a.low < b.high


def _later(a: Key | None, b: Key | None) -> Key | None:
    return None if a is None or b is None else max(a, b)


def _earlier(a: Key | None, b: Key | None) -> Key | None:
    return min((k for k in (a, b) if k is not None), default=None)


def _later_start(a: Key | None, b: Key | None) -> Key | None:
    return max((k for k in (a, b) if k is not None), default=None)


def successor(key: Key, kind: Type) -> Key | None:
    """The next value of the type; None after the last one."""
    match kind:
        case StringType() | BinaryType() | UuidType():
            return key + b"\0"
        case FloatType():
            return None if key == math.inf else math.nextafter(key, math.inf)
        case BooleanType():
            return None if key else True
        case _:
            return None if key >= _greatest(kind) else key + 1


def _greatest(kind: Type) -> int:
    match kind:
        case DateType():
            return INT.greatest
        case DecimalType():
            return _GREATEST_UNSCALED
        case _:
            return BIGINT.greatest


def key_of(value: Value, kind: Type) -> Key | None:
    """The value of a literal as a key; None if the type has no order or no such value."""
    match kind, value:
        case FloatType(), float() | int():
            return None if math.isnan(value) else float(value)
        case BooleanType(), bool():
            return value
        case ((IntegerType() | DateType() | TimestampType() | IntervalType()), int()):
            return value
        case DecimalType(), Decimal():
            return unscaled_of(value, kind.scale)
        case ((StringType() | BinaryType() | UuidType()), str() | bytes()):
            return value.encode() if isinstance(value, str) else value
        case _:
            return None


def value_of(key: Key, kind: Type) -> Value:
    """The literal's value of a key."""
    if isinstance(kind, DecimalType):
        return scaled_to(key, kind.scale)
    value: Value = key
    return value
