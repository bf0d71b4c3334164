"""Parts of texts: what all texts between two bounds begin with may decide the part.

| function | the bounds decide it where |
|---|---|
| substring(x, p, n) | all texts share the characters before p: it increases with x |
| split_part, substring_index | the part, or its beginning, is within the shared prefix |
| ltrim, trim | all texts begin with the same number of blanks |
| rtrim | always, except for blanks and control characters of the lower bound |

Single points are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import all_points, constant, exact_or, mapped, strict
from whyscan.pruning.functions.text.points import by_distinct, on_points
from whyscan.pruning.functions.text.utf8 import (
    ABOVE,
    LONGEST_PREFIX,
    MOST_CHARACTERS,
    first_characters,
    has_characters,
    joined,
    shared_prefix,
)
from whyscan.pruning.interval import Interval, equal
from whyscan.pruning.mask import Vector, both, choose, either, has_value, keep, surely
from whyscan.tree.types import StringType

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.tree.types import Type

_ALL = 2**31 - 1
BEHIND_BLANKS = pa.scalar(b" \xff")
"""A bound above every text that begins with a blank."""


def substring(
    kind: Type, x: Interval, position: Interval, length: Interval | None = None
) -> Interval:
    """`substring(x, p, n)`: increases with x if all texts share the characters before p.

    From the end, or after characters that differ, it is exact for points only.
    """
    arguments = [x, position] if length is None else [x, position, length]
    start, count = constant(position), _ALL if length is None else constant(length)
    exact = on_points(_substring_of)(kind, *arguments)
    if not (isinstance(start, int) and isinstance(count, int) and isinstance(x.type, StringType)):
        return exact
    if not 0 <= start <= LONGEST_PREFIX:
        return exact
    if start > 1:
        x = _without_start(x, pa.scalar(start - 1), _common_length(x))
    lower, upper = (x.lower, x.upper) if count >= _ALL else head(x, max(count, 0))
    single = all_points(arguments)
    return exact_or(exact, single, (lower, upper))


def head(x: Interval, count: int) -> tuple[Vector | None, Vector | None]:
    """The bounds of the first `count` characters.

    An upper bound that is cut inside these characters becomes its complete characters and 0xFF.
    """
    counted = min(count, MOST_CHARACTERS)
    lower = None if x.lower is None else first_characters(x.lower, counted)
    if x.upper is None:
        return lower, None
    head = first_characters(x.upper, counted)
    complete = equal(head, x.upper)
    if counted == count:
        complete = pc.or_(complete, has_characters(x.upper, count))
    return lower, pc.if_else(complete, head, joined(head, ABOVE))


def _common_length(x: Interval) -> Vector | None:
    """The number of ASCII characters that all texts begin with; unknown without both bounds."""
    if x.lower is None or x.upper is None:
        return None
    length = pc.binary_length(shared_prefix(x.lower, x.upper))
    return keep(both(has_value(x.lower), has_value(x.upper)), length)


def _without_start(x: Interval, count: Vector, common: Vector | None) -> Interval:
    """The texts without their first `count` characters, which they must share."""
    sure = surely(pc.greater_equal, common, count)
    lower, upper = (mapped(lambda end: _cut(end, count), keep(sure, e)) for e in (x.lower, x.upper))
    return replace(x, lower=lower, upper=upper)


def _cut(values: Vector, count: Vector) -> Vector:
    """Each text without its first `count` bytes."""
    if isinstance(count, pa.Scalar):
        # `binary_slice` without a stop fails on texts that are shorter than where it starts.
        return pc.binary_slice(values, count.as_py(), _ALL)
    if isinstance(values, pa.Scalar):
        values = pa.repeat(values, len(count))
    pairs = zip(values.to_pylist(), count.to_pylist(), strict=True)
    return pa.array([None if v is None or n is None else v[n:] for v, n in pairs], pa.binary())


def ltrim(kind: Type, x: Interval) -> Interval:
    """`ltrim(x)`: x if no text begins with a blank; else x without the blanks all texts share."""
    exact = on_points(lambda text: text.lstrip(" "))(kind, x)
    if not isinstance(x.type, StringType) or x.lower is None or x.upper is None:
        return exact
    single = x.point()
    if single is True:
        return exact
    above = surely(lambda end: pc.greater(end, BEHIND_BLANKS), x.lower)
    below = surely(lambda end: pc.less(end, pa.scalar(b" ")), x.upper)
    plain = both(either(above, below), has_value(x.lower), has_value(x.upper))
    prefix = shared_prefix(x.lower, x.upper)
    letters = pc.utf8_ltrim(prefix.cast(pa.string()), " ").cast(pa.binary())
    blanks = pc.subtract(pc.binary_length(prefix), pc.binary_length(letters))
    # If the prefix has only blanks, the number of blanks is unknown.
    counted = keep(surely(lambda rest: pc.greater(pc.binary_length(rest), 0), letters), blanks)
    cut = _without_start(x, counted, pc.binary_length(prefix)) if counted is not None else None
    lower = choose(plain, x.lower, None if cut is None else cut.lower)
    upper = choose(plain, x.upper, None if cut is None else cut.upper)
    return exact_or(exact, single, (lower, upper))


def rtrim(kind: Type, x: Interval) -> Interval:
    """`rtrim(x)`: a prefix of x, and so at most x.

    It is below the lower bound only if the lower bound has a blank or a control character, which
    sorts before the removed blanks: `abc ` is above `abc` followed by a tab.
    """
    exact = on_points(lambda text: text.rstrip(" "))(kind, x)
    if not isinstance(x.type, StringType):
        return exact
    single = x.point()
    first = mapped(
        lambda end: pc.replace_substring_regex(end, pattern=r"(?s)[\x00-\x20].*$", replacement=""),
        x.lower,
    )
    return exact_or(exact, single, (first, x.upper))


def trim(kind: Type, x: Interval) -> Interval:
    """`trim(x)`: rtrim of ltrim."""
    return rtrim(kind, ltrim(kind, x))


def split_part(kind: Type, x: Interval, by: Interval, nth: Interval) -> Interval:
    """`split_part(x, d, n)`: the n-th part if the shared prefix contains it, else its beginning."""
    separator, count = constant(by), constant(nth)
    if not (isinstance(separator, bytes) and separator and isinstance(count, int) and count):
        return replace(strict(kind, [x, by, nth]), raises=True)
    exact = on_points(_split_part_of)(kind, x, by, nth)
    return _by_prefix(exact, x, lambda prefix: _nth_part(prefix, separator, count))


def substring_index(kind: Type, x: Interval, by: Interval, nth: Interval) -> Interval:
    """`substring_index(x, d, n)`: the text before the n-th separator, or its beginning."""
    exact = on_points(_substring_index_of)(kind, x, by, nth)
    separator, count = constant(by), constant(nth)
    if not (isinstance(separator, bytes) and separator and isinstance(count, int)):
        return exact
    return _by_prefix(exact, x, lambda prefix: _before_nth(prefix, separator, count))


def _by_prefix(
    exact: Interval, x: Interval, read: Callable[[bytes], tuple[bytes, bool] | None]
) -> Interval:
    """The bounds of a result that the shared prefix decides, completely or only its beginning."""
    if not isinstance(x.type, StringType) or x.lower is None or x.upper is None:
        return exact
    single = x.point()
    if single is True:
        return exact
    prefixes = shared_prefix(x.lower, x.upper)
    kept = keep(both(has_value(x.lower), has_value(x.upper)), prefixes)
    lower = by_distinct(lambda p: _first_of(p, read), kept, pa.binary())
    upper = by_distinct(lambda p: _last_of(p, read), kept, pa.binary())
    return exact_or(exact, single, (lower, upper))


def _first_of(prefix: object, read: Callable[[bytes], tuple[bytes, bool] | None]) -> object:
    beginning = read(prefix) if isinstance(prefix, bytes) else None
    return None if beginning is None else beginning[0]


def _last_of(prefix: object, read: Callable[[bytes], tuple[bytes, bool] | None]) -> object:
    beginning = read(prefix) if isinstance(prefix, bytes) else None
    if beginning is None:
        return None
    text, complete = beginning
    return text if complete else text + ABOVE.as_py()


def _nth_part(prefix: bytes, separator: bytes, count: int) -> tuple[bytes, bool] | None:
    """The n-th part of texts with this prefix, and whether it ends within the prefix.

    The last letters of the prefix may be the first letters of a separator.
    """
    parts = prefix.split(separator)
    if not 0 < count <= len(parts):
        return None
    part = parts[count - 1]
    if count < len(parts):
        return part, True
    return part[: max(len(part) - len(separator) + 1, 0)], False


def _before_nth(prefix: bytes, separator: bytes, count: int) -> tuple[bytes, bool] | None:
    """The text before the n-th separator, for texts with this prefix; separators may overlap."""
    if count <= 0:
        return None
    at = -1
    for _ in range(count):
        at = prefix.find(separator, at + 1)
        if at < 0:
            return prefix[: max(len(prefix) - len(separator) + 1, 0)], False
    return prefix[:at], True


def _substring_of(text: str, position: int, length: int = _ALL) -> str:
    """Counted from 1, from the end if negative; positions before the start count, but are empty."""
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    stop = start + max(length, 0)
    return text[max(start, 0) : max(stop, 0)]


def _split_part_of(text: str, separator: str, count: int) -> str | None:
    """Counted from 1, from the end if negative; empty if there are fewer parts."""
    parts = text.split(separator)
    if count == 0:
        return None
    at = count - 1 if count > 0 else len(parts) + count
    return parts[at] if 0 <= at < len(parts) else ""


def _substring_index_of(text: str, separator: str, count: int) -> str:
    """Before the n-th separator, or after the n-th from the end; separators may overlap."""
    if not separator or count == 0:
        return ""
    at = -1 if count > 0 else len(text) - len(separator) + 1
    for _ in range(min(abs(count), len(text) + 1)):
        if count > 0:
            at = text.find(separator, at + 1)
        else:
            at = text.rfind(separator, 0, at - 1 + len(separator)) if at > 0 else -1
        if at < 0:
            return text
    return text[:at] if count > 0 else text[at + len(separator) :]
