"""The values of a column that a predicate can match, in words: `at least 41`, `'DE' or 'FR'`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.pruning.domains.ranges import successor, value_of
from whyscan.reports.values import json_values
from whyscan.reports.words import inert
from whyscan.tree import arrow
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
    from collections.abc import Iterator, Sequence

    from whyscan.pruning.domains import Domain, ValueRange
    from whyscan.pruning.domains.ranges import Key

MOST_NAMED = 6
MOST_MARKS = 500
PREFIX_END = b"\xff"
NO_FRACTION = re.compile(r"\.0+(?=Z?$)")


def domain_in_words(domain: Domain) -> str:
    """Write a domain in words; a long one is cut."""
    named = [*_values(domain), *(["NaN"] if domain.nan else []), *(["NULL"] if domain.null else [])]
    if not named:
        return "no value at all"
    more = len(named) - MOST_NAMED
    if more > 1:
        named = [*named[:MOST_NAMED], f"{more:,} more"]
    return " or ".join(named)


def range_ends(domain: Domain | None, kind: Type) -> tuple[pa.Array, pa.Array]:
    """Return the first and last value of each range of a domain, null for an open end."""
    values = () if domain is None else domain.values
    if not isinstance(values, tuple):
        ends = values if len(values) <= MOST_MARKS else None
        return (ends, ends) if ends is not None else (values[:1], values[-1:])
    discrete = isinstance(kind, IntegerType | DateType)
    lows = [r.low for r in values]
    highs = [_last(r.high, kind) if discrete and r.high is not None else r.high for r in values]
    return _key_array(lows, kind), _key_array(highs, kind)


def _key_array(keys: Sequence[Key | None], kind: Type) -> pa.Array:
    target = arrow.arrow_type(kind)
    if pa.types.is_binary(target):
        return pa.array(keys, target)
    return arrow.array([None if key is None else value_of(key, kind) for key in keys], kind)


def _values(domain: Domain) -> Iterator[str]:
    if isinstance(domain.values, tuple):
        yield from (_range(item, domain.type) for item in domain.values)
    else:
        yield from (_quoted(v, domain.type) for v in json_values(domain.values, domain.type))


def _range(item: ValueRange, kind: Type) -> str:
    if isinstance(kind, BooleanType) and item.high is not None:
        return "false"
    if item.low is not None and item.high == successor(item.low, kind):
        return _text(item.low, kind)
    if isinstance(kind, StringType) and item.low is not None and item.high == item.low + PREFIX_END:
        return f"what starts with {_text(item.low, kind)}" if item.low else "any value"
    ends = [
        *([] if item.low is None else [_start(item.low, kind)]),
        *([] if item.high is None else [_end(item.high, kind)]),
    ]
    return " and ".join(ends) or "any value"


def _start(low: Key, kind: Type) -> str:
    """Write the lower end of a range: `at least 41`, or `above 40` if that text is shorter."""
    return _shorter(("at least", low), ("above", _predecessor(low, kind)), kind)


def _end(high: Key, kind: Type) -> str:
    """Write the upper end of a range. Integers and dates are written with the last value inside."""
    last = ("at most", _predecessor(high, kind))
    if isinstance(kind, IntegerType | DateType | IntervalType | BooleanType):
        return (
            f"below {_text(high, kind)}" if last[1] is None else f"{last[0]} {_text(last[1], kind)}"
        )
    return _shorter(("below", high), last, kind)


def _shorter(first: tuple[str, Key], second: tuple[str, Key | None], kind: Type) -> str:
    first_text, second_text = (
        _text(first[1], kind),
        None if second[1] is None else _text(second[1], kind),
    )
    if second_text is None or len(second_text) >= len(first_text):
        return f"{first[0]} {first_text}"
    return f"{second[0]} {second_text}"


def _predecessor(key: Key, kind: Type) -> Key | None:
    """Return the greatest value below a key; None if there is none."""
    match kind:
        case StringType() | BinaryType() | UuidType():
            return key[:-1] if key.endswith(b"\0") else None
        case FloatType():
            return math.nextafter(key, -math.inf)
        case BooleanType():
            return False if key else None
        case DateType():
            return None if key <= INT.least else key - 1
        case DecimalType():
            return key - 1
        case _:
            return None if key <= BIGINT.least else key - 1


def _last(high: Key, kind: Type) -> Key:
    """Return the last value below `high`, or `high` itself if nothing is below it."""
    before = _predecessor(high, kind)
    return high if before is None else before


def _text(key: Key, kind: Type) -> str:
    array = arrow.array([value_of(key, kind)], kind)
    return _quoted(json_values(array, kind)[0], kind)


def _quoted(value: object, kind: Type) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = inert(str(value))
    match kind:
        case StringType():
            return f"'{text}'"
        case TimestampType() | FloatType():
            return NO_FRACTION.sub("", text)
        case _:
            return text
