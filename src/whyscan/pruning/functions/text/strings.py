"""Functions of text. Most are exact for points only; a few keep the order of strings."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import FunctionRule, as_vector, constant, strict
from whyscan.pruning.functions.text.letter_case import lowered, uppered
from whyscan.pruning.functions.text.like import starts_with
from whyscan.pruning.functions.text.points import on_points, plain_value
from whyscan.pruning.functions.text.regular_expressions import beginnings
from whyscan.pruning.functions.text.substrings import (
    head,
    ltrim,
    rtrim,
    split_part,
    substring,
    substring_index,
    trim,
)
from whyscan.pruning.functions.text.utf8 import ABOVE, count_characters, joined, shared_prefix
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import (
    Vector,
    any_of,
    both,
    choose,
    either,
    keep,
    opposite,
    surely,
)
from whyscan.pruning.truth import Truth, disjunction, to_boolean
from whyscan.tree.types import BinaryType, StringType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.pruning.functions.rules import Kernel
    from whyscan.pruning.mask import Mask
    from whyscan.tree.types import Type

LONGEST_RESULT = 10_000
"""The greatest length of a result in characters: it limits the memory that a plan needs."""


def _concat_ws(kind: Type, separator: Interval, *parts: Interval) -> Interval:
    """concat_ws(d, x, …) ignores NULLs; if no argument may be NULL, it is x || d || y."""
    between = [p for part in parts for p in (separator, part)][1:]
    if not all(isinstance(part.type, StringType) for part in (separator, *parts)):
        return anything(kind, raises=True)
    sure = opposite(any_of(part.null for part in parts))
    text = _concat(kind, *between) if parts else None
    return Interval(
        kind,
        None if text is None else keep(sure, text.lower),
        None if text is None else keep(sure, text.upper),
        value=separator.value,
        null=separator.null,
        raises=any_of(part.raises for part in (separator, *parts)),
    )


def _rlike(kind: Type, x: Interval, pattern: Interval) -> Interval:
    """rlike(x, p): by the texts with which a match begins (see regular_expressions.py)."""
    text = plain_value(constant(pattern))
    start = beginnings(text) if isinstance(text, str) and isinstance(x.type, StringType) else None
    if start is None:
        return replace(strict(kind, [x, pattern]), raises=True)
    prefixed = disjunction([starts_with(x, beginning.encode()) for beginning in start.texts])
    result = to_boolean(prefixed)
    if not start.complete:
        result = replace(
            to_boolean(Truth(lambda: prefixed.true, lambda: x.value, lambda: x.null, lambda: True)),
            raises=True,
        )
    return replace(result, type=kind)


def _left(kind: Type, x: Interval, length: Interval) -> Interval:
    """left(x, n): increases with x."""
    count = constant(length)
    if not isinstance(count, int) or not isinstance(x.type, StringType):
        return strict(kind, [x, length])
    return strict(kind, [x, length], head(x, max(count, 0)))


def _concat(kind: Type, *parts: Interval) -> Interval:
    """x || y increases with y if x is a point; else only the prefix that x's bounds share is known.

    'a' < 'ab', but 'a' || 'z' > 'ab' || 'a'. A text is never above itself with more text appended.
    """
    result = strict(kind, parts)
    if not all(isinstance(part.type, StringType) for part in parts):
        return result
    lower: Vector = pa.scalar(b"")
    upper: Vector = lower
    exact: Mask = True
    for part in parts:
        first, last = _text_ends(part)
        closed = joined(shared_prefix(lower, upper), ABOVE)
        lower = _chosen(exact, joined(lower, first), lower)
        upper = _chosen(exact, joined(upper, last), closed)
        exact = both(exact, part.point())
    return replace(result, lower=lower, upper=upper)


def _text_ends(x: Interval) -> tuple[Vector, Vector]:
    """Both bounds; the empty text, and a bound above all texts, where a bound is unknown."""
    lower = pa.scalar(b"") if x.lower is None else pc.coalesce(x.lower, pa.scalar(b""))
    upper = ABOVE if x.upper is None else pc.coalesce(x.upper, ABOVE)
    return lower, upper


def _chosen(mask: Mask, if_yes: Vector, if_no: Vector) -> Vector:
    return pc.if_else(as_vector(mask), if_yes, if_no)


def _length(kind: Type, x: Interval) -> Interval:
    """length(x): exact for points; at least 1 above the empty text."""
    match x.type:
        case StringType():
            count: Kernel = count_characters
        case BinaryType():
            count = pc.binary_length
        case _:
            return anything(kind, raises=True)
    single = x.point()
    exact = None if single is False else pc.cast(count(keep(single, x.lower)), pa.int64())
    filled = as_vector(surely(lambda end: pc.greater(end, pa.scalar(b"")), x.lower))
    least = pc.if_else(filled, pa.scalar(1), pa.scalar(0))
    return strict(kind, [x], (choose(single, exact, least), exact))


def _startswith(kind: Type, x: Interval, prefix: Interval) -> Interval:
    """startswith(x, p): the same as x LIKE 'p%'."""
    text = constant(prefix)
    if isinstance(text, bytes) and isinstance(x.type, StringType):
        prefixed = to_boolean(starts_with(x, text))
        return replace(prefixed, type=kind, raises=either(prefixed.raises, prefix.raises))
    return strict(kind, [x, prefix])


# Exact for points: functions of Python strings, whose behaviour was measured on Spark.


def _right_of(text: str, count: int) -> str:
    return text[-count:] if count > 0 else ""


def _repeat_of(text: str, count: int) -> str | None:
    return text * count if len(text) * count <= LONGEST_RESULT else None


def _lpad_of(text: str, size: int, pad: str = " ") -> str | None:
    missing = _padding(text, size, pad)
    return None if missing is None else missing + text[: max(size, 0)]


def _rpad_of(text: str, size: int, pad: str = " ") -> str | None:
    missing = _padding(text, size, pad)
    return None if missing is None else text[: max(size, 0)] + missing


def _padding(text: str, size: int, pad: str) -> str | None:
    if size > LONGEST_RESULT:
        return None
    missing = max(size - len(text), 0)
    return (pad * -(-missing // len(pad)))[:missing] if pad else ""


def _replace_of(text: str, search: str, new: str = "") -> str | None:
    if not search:
        return text
    longer = text.count(search) * (len(new) - len(search))
    return text.replace(search, new) if len(text) + longer <= LONGEST_RESULT else None


def _instr_of(text: str, search: str) -> int:
    return text.find(search) + 1


def _locate_of(search: str, text: str, position: int = 1) -> int:
    """0 for a position below 1; the empty text is at 1, wherever the search starts."""
    if position < 1:
        return 0
    return text.find(search, position - 1) + 1 if search else 1


def _initcap_of(text: str) -> str | None:
    """Blanks separate words. Letters outside ASCII are not converted."""
    return " ".join(w.capitalize() for w in text.split(" ")) if text.isascii() else None


TEXT: Mapping[str, FunctionRule] = MappingProxyType(
    {
        "ascii": FunctionRule(on_points(lambda text: ord(text[0]) if text else 0), 1),
        "btrim": FunctionRule(trim, 1),
        "char_length": FunctionRule(_length, 1),
        "character_length": FunctionRule(_length, 1),
        "concat": FunctionRule(_concat, 1, None),
        "concat_ws": FunctionRule(_concat_ws, 1, None),
        "contains": FunctionRule(on_points(lambda text, part: part in text), 2),
        "endswith": FunctionRule(on_points(lambda text, end: text.endswith(end)), 2),
        "initcap": FunctionRule(on_points(_initcap_of), 1),
        "instr": FunctionRule(on_points(_instr_of), 2),
        "lcase": FunctionRule(lowered, 1),
        "left": FunctionRule(_left, 2),
        "len": FunctionRule(_length, 1),
        "length": FunctionRule(_length, 1),
        "locate": FunctionRule(on_points(_locate_of), 2, 3),
        "lower": FunctionRule(lowered, 1),
        "lpad": FunctionRule(on_points(_lpad_of), 2, 3),
        "ltrim": FunctionRule(ltrim, 1),
        "octet_length": FunctionRule(on_points(lambda text: len(text.encode())), 1),
        "position": FunctionRule(on_points(_locate_of), 2, 3),
        "repeat": FunctionRule(on_points(_repeat_of), 2),
        "replace": FunctionRule(on_points(_replace_of), 2, 3),
        "reverse": FunctionRule(on_points(lambda text: text[::-1]), 1),
        "rlike": FunctionRule(_rlike, 2),
        "right": FunctionRule(on_points(_right_of), 2),
        "rpad": FunctionRule(on_points(_rpad_of), 2, 3),
        "rtrim": FunctionRule(rtrim, 1),
        "split_part": FunctionRule(split_part, 3),
        "startswith": FunctionRule(_startswith, 2),
        "substr": FunctionRule(substring, 2, 3),
        "substring": FunctionRule(substring, 2, 3),
        "substring_index": FunctionRule(substring_index, 3),
        "trim": FunctionRule(trim, 1),
        "ucase": FunctionRule(uppered, 1),
        "upper": FunctionRule(uppered, 1),
    }
)
