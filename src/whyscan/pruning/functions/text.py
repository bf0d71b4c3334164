"""Functions of text. Most are exact on points alone; a few keep the order of strings."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.predicate.arrow import arrow_type
from whyscan.predicate.types import BinaryType, IntegerType, StringType
from whyscan.pruning.functions.letters import lowered, uppered
from whyscan.pruning.functions.like import starts_with
from whyscan.pruning.functions.rules import Entry, all_points, as_vector, constant, strict
from whyscan.pruning.functions.utf8 import (
    ABOVE,
    MOST_CHARACTERS,
    count_characters,
    first_characters,
    has_characters,
    joined,
    shared_prefix,
)
from whyscan.pruning.interval import Interval, anything, equal
from whyscan.pruning.mask import Vector, both, choose, either, keep, surely
from whyscan.pruning.truth import to_boolean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whyscan.predicate.types import Type
    from whyscan.pruning.functions.rules import Kernel
    from whyscan.pruning.mask import Mask

Plain: TypeAlias = str | int | bool
LONGEST_RESULT = 10_000
"""Characters that `repeat` and the pads may make here: a plan does not fill the memory."""


def _substring(
    kind: Type, x: Interval, position: Interval, length: Interval | None = None
) -> Interval:
    """substring(x, 1, n): rises with x. From elsewhere it is exact on points alone."""
    arguments = [x, position] if length is None else [x, position, length]
    count = None if length is None else constant(length)
    if constant(position) in (0, 1) and isinstance(count, int) and isinstance(x.type, StringType):
        return strict(kind, arguments, _head(x, max(count, 0)))
    return on_points(_substring_of)(kind, *arguments)


def _left(kind: Type, x: Interval, length: Interval) -> Interval:
    """left(x, n): rises with x."""
    count = constant(length)
    if not isinstance(count, int) or not isinstance(x.type, StringType):
        return strict(kind, [x, length])
    return strict(kind, [x, length], _head(x, max(count, 0)))


def _head(x: Interval, count: int) -> tuple[Vector | None, Vector | None]:
    """The bounds of the first `count` characters.

    An upper bound that is cut inside them is taken up to the cut, and whatever may follow it.
    """
    counted = min(count, MOST_CHARACTERS)
    lower = None if x.lower is None else first_characters(x.lower, counted)
    if x.upper is None:
        return lower, None
    head = first_characters(x.upper, counted)
    whole = equal(head, x.upper)
    if counted == count:
        whole = pc.or_(whole, has_characters(x.upper, count))
    return lower, pc.if_else(whole, head, joined(head, ABOVE))


def _concat(kind: Type, *parts: Interval) -> Interval:
    """x || y: rises with y behind a point x; behind a range, what its ends share comes first.

    'a' < 'ab', yet 'a' || 'z' > 'ab' || 'a'. A text is never above itself with more behind it.
    """
    whole = strict(kind, parts)
    if not all(isinstance(part.type, StringType) for part in parts):
        return whole
    lower: Vector = pa.scalar(b"")
    upper: Vector = lower
    exact: Mask = True
    for part in parts:
        first, last = _text_ends(part)
        closed = joined(shared_prefix(lower, upper), ABOVE)
        lower = _chosen(exact, joined(lower, first), lower)
        upper = _chosen(exact, joined(upper, last), closed)
        exact = both(exact, part.point())
    return replace(whole, lower=lower, upper=upper)


def _text_ends(x: Interval) -> tuple[Vector, Vector]:
    """Both bounds; the empty text and what is above all texts where one is unknown."""
    lower = pa.scalar(b"") if x.lower is None else pc.coalesce(x.lower, pa.scalar(b""))
    upper = ABOVE if x.upper is None else pc.coalesce(x.upper, ABOVE)
    return lower, upper


def _chosen(mask: Mask, one: Vector, other: Vector) -> Vector:
    return pc.if_else(as_vector(mask), one, other)


def _length(kind: Type, x: Interval) -> Interval:
    """length(x): exact on points; at least 1 above the empty text."""
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
    """startswith(x, p): as x LIKE 'p%'."""
    text = constant(prefix)
    if isinstance(text, bytes) and isinstance(x.type, StringType):
        found = to_boolean(starts_with(x, text))
        return replace(found, type=kind, raises=either(found.raises, prefix.raises))
    return strict(kind, [x, prefix])


# Exact on points: functions of Python's own text, each of whose laws was measured on Spark.


def on_points(function: Callable[..., Plain | None]) -> Callable[..., Interval]:
    """The function on each distinct point; all but one argument must be constants.

    None, and bytes that are no text, stand for a result that is not known.
    """

    def rule(kind: Type, *arguments: Interval) -> Interval:
        whole = strict(kind, arguments)
        varying = [i for i, x in enumerate(arguments) if constant(x) is None]
        texts = all(isinstance(x.type, StringType | IntegerType) for x in arguments)
        if len(varying) > 1 or not texts or all_points(arguments) is False:
            return whole
        index = varying[0] if varying else 0
        fixed = [_plain(constant(x)) for x in arguments]

        def result(point: object) -> Plain | bytes | None:
            given = [*fixed[:index], _plain(point), *fixed[index + 1 :]]
            found = None if None in given else function(*given)
            return found.encode() if isinstance(found, str) else found

        argument = arguments[index]
        point = _by_distinct(result, keep(argument.point(), argument.lower), arrow_type(kind))
        return replace(whole, lower=point, upper=point)

    return rule


def _plain(value: object) -> Plain | None:
    """A constant as Python has it; None for bytes that are no text."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    return value if isinstance(value, int) else None


def _by_distinct(
    function: Callable[[object], object], values: Vector | None, kind: pa.DataType
) -> Vector | None:
    if values is None:
        return None
    if isinstance(values, pa.Scalar):
        return pa.scalar(function(values.as_py()), kind)
    encoded = values.dictionary_encode()
    results = [function(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(results, kind).take(encoded.indices)


def _substring_of(text: str, position: int, length: int = 2**31 - 1) -> str:
    """Counted from 1, from the end if negative; a part before the start counts and is empty."""
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    stop = start + max(length, 0)
    return text[max(start, 0) : max(stop, 0)]


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
    return (pad * missing)[:missing]


def _replace_of(text: str, search: str, new: str = "") -> str:
    return text.replace(search, new) if search else text


def _instr_of(text: str, search: str) -> int:
    return text.find(search) + 1


def _locate_of(search: str, text: str, position: int = 1) -> int:
    """0 for a position before the first; the empty text is found at 1 wherever the search began."""
    if position < 1:
        return 0
    return text.find(search, position - 1) + 1 if search else 1


def _initcap_of(text: str) -> str | None:
    """Words end at blanks. Cases beyond ASCII are not ours to say."""
    return " ".join(w.capitalize() for w in text.split(" ")) if text.isascii() else None


TEXT: Mapping[str, Entry] = MappingProxyType(
    {
        "ascii": Entry(on_points(lambda text: ord(text[0]) if text else 0), 1),
        "btrim": Entry(on_points(lambda text: text.strip(" ")), 1),
        "char_length": Entry(_length, 1),
        "character_length": Entry(_length, 1),
        "concat": Entry(_concat, 1, None),
        "contains": Entry(on_points(lambda text, part: part in text), 2),
        "endswith": Entry(on_points(lambda text, end: text.endswith(end)), 2),
        "initcap": Entry(on_points(_initcap_of), 1),
        "instr": Entry(on_points(_instr_of), 2),
        "lcase": Entry(lowered, 1),
        "left": Entry(_left, 2),
        "len": Entry(_length, 1),
        "length": Entry(_length, 1),
        "locate": Entry(on_points(_locate_of), 2, 3),
        "lower": Entry(lowered, 1),
        "lpad": Entry(on_points(_lpad_of), 2, 3),
        "ltrim": Entry(on_points(lambda text: text.lstrip(" ")), 1),
        "octet_length": Entry(on_points(lambda text: len(text.encode())), 1),
        "position": Entry(on_points(_locate_of), 2, 3),
        "repeat": Entry(on_points(_repeat_of), 2),
        "replace": Entry(on_points(_replace_of), 2, 3),
        "reverse": Entry(on_points(lambda text: text[::-1]), 1),
        "right": Entry(on_points(_right_of), 2),
        "rpad": Entry(on_points(_rpad_of), 2, 3),
        "rtrim": Entry(on_points(lambda text: text.rstrip(" ")), 1),
        "startswith": Entry(_startswith, 2),
        "substr": Entry(_substring, 2, 3),
        "substring": Entry(_substring, 2, 3),
        "trim": Entry(on_points(lambda text: text.strip(" ")), 1),
        "ucase": Entry(uppered, 1),
        "upper": Entry(uppered, 1),
    }
)
