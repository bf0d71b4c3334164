"""Functions of text. Most are exact for points only; a few keep the order of strings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.function import Argument, ScalarFunction, by_type, type_of_first
from whyscan.pruning.functions.rules import as_vector, constant, strict
from whyscan.pruning.functions.text import duckdb_templates as templates
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
from whyscan.tree.types import BIGINT, BOOLEAN, INT, STRING, BinaryType, IntegerType, StringType

if TYPE_CHECKING:
    from collections.abc import Callable

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

    'a' < 'ab', but 'a' || 'z' > 'ab' || 'a'. A text is never above itself with more text appended,
    and x || '' is x.
    """
    result = strict(kind, parts)
    if not all(isinstance(part.type, StringType) for part in parts):
        return result
    lower: Vector = pa.scalar(b"")
    upper: Vector = lower
    exact: Mask = True
    for part in parts:
        if plain_value(constant(part)) == "":
            # Nothing is appended, so that what is before need not be a point.
            continue
        first, last = _text_ends(part)
        if exact is True:
            is_point = lower is upper and first is last
            lower = joined(lower, first)
            upper = lower if is_point else joined(upper, last)
        else:
            closed = joined(shared_prefix(lower, upper), ABOVE)
            lower = _chosen(exact, joined(lower, first), lower)
            upper = _chosen(exact, joined(upper, last), closed)
        exact = both(exact, part.point())
    return replace(result, lower=lower, upper=upper)


def _text_ends(x: Interval) -> tuple[Vector, Vector]:
    """Both bounds; the empty text, and a bound above all texts, where a bound is unknown."""
    if x.is_point and isinstance(x.lower, pa.Scalar) and x.lower.is_valid:
        return x.lower, x.lower
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


def _ascii_of(text: str) -> int:
    return ord(text[0]) if text else 0


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


def _initcap_of(text: str) -> str | None:
    """Blanks separate words. Letters outside ASCII are not converted."""
    return " ".join(w.capitalize() for w in text.split(" ")) if text.isascii() else None


def _translate_of(text: str, old: str, new: str) -> str | None:
    """Letter by letter. A letter without a partner is removed; its first partner counts.

    Spark removes a letter whose partner is NUL (measured). Other engines may keep it: unknown.
    """
    if "\0" in new:
        return None
    partner = {letter: new[at : at + 1] for at, letter in reversed(list(enumerate(old)))}
    return "".join(partner.get(letter, letter) for letter in text)


def _format_string(kind: Type, pattern: Interval, *arguments: Interval) -> Interval:
    """`%s` of strings and integers, `%d` or `%05d` of integers: Java and Python write the same."""
    text = plain_value(constant(pattern))
    kinds = [x.type for x in arguments]
    if not isinstance(text, str) or any(x.null is not False for x in arguments):
        return anything(kind, raises=True)
    fields = re.findall(r"%(?:0[1-9][0-9]?)?[sd]", text)
    other = "%" in re.sub(r"%(?:s|(?:0[1-9][0-9]?)?d)", "", text)
    if other or len(fields) != len(kinds) or not all(map(_is_written, fields, kinds)):
        return anything(kind, raises=True)
    return on_points(lambda text, *values: text % values)(kind, pattern, *arguments)


def _is_written(field: str, kind: Type) -> bool:
    return isinstance(kind, IntegerType) or (field == "%s" and isinstance(kind, StringType))


_TEXT, _TEXTS = (Argument.STRING,), (Argument.STRING, Argument.STRING)
_COUNTED, _BYTES = (Argument.STRING, Argument.INT), (Argument.BYTES,)
_COUNT = "CASE WHEN {1} < 0 THEN 0 ELSE {1} END"
"""The second argument, at least 0. DuckDB's `greatest` would turn NULL into 0."""


def _of_text(name: str, rule: Callable[..., Interval], duckdb: str) -> ScalarFunction:
    return ScalarFunction(name, _TEXT, STRING, by_type(rule), duckdb)


def _tested(name: str, rule: Callable[..., Interval], duckdb: str) -> ScalarFunction:
    return ScalarFunction(name, _TEXTS, BOOLEAN, by_type(rule), duckdb, any_text=True)


TEXT = (
    ScalarFunction("ascii", _TEXT, INT, by_type(on_points(_ascii_of)), "ascii({0})"),
    ScalarFunction("concat", _TEXT, STRING, by_type(_concat), templates.concat, repeats=True,
                   any_text=True),
    ScalarFunction("concat_ws", _TEXT, STRING, by_type(_concat_ws), templates.concat_ws,
                   repeats=True, strict=False),
    _tested("contains", on_points(lambda text, part: part in text), "contains({0}, {1})"),
    ScalarFunction("crc32", _BYTES, BIGINT),
    _tested("endswith", on_points(lambda text, end: text.endswith(end)), "ends_with({0}, {1})"),
    ScalarFunction("format_string", (Argument.STRING, Argument.ANY), STRING,
                   by_type(_format_string),
                   optional=1, repeats=True, strict=False),
    ScalarFunction("get_json_object", _TEXTS, STRING),
    ScalarFunction("initcap", _TEXT, STRING, by_type(on_points(_initcap_of))),
    ScalarFunction("instr", _TEXTS, INT, by_type(on_points(_instr_of)), "instr({0}, {1})"),
    ScalarFunction("left", _COUNTED, STRING, by_type(_left),
                   f"left({{0}}, CAST({_COUNT} AS BIGINT))", any_text=True),
    ScalarFunction("length", _BYTES, INT, by_type(_length), "length({0})", any_text=True),
    _of_text("lower", lowered, "lower({0})"),
    ScalarFunction("lpad", (*_COUNTED, Argument.STRING), STRING, by_type(on_points(_lpad_of)),
                   templates.padded("lpad"), optional=1),
    _of_text("ltrim", ltrim, "ltrim({0}, ' ')"),
    ScalarFunction("md5", _BYTES, STRING, None, "md5({0})"),
    ScalarFunction("octet_length", _BYTES, INT, by_type(on_points(lambda text: len(text.encode()))),
                   "strlen({0})"),
    ScalarFunction("regexp_extract", (*_TEXTS, Argument.INT), STRING, None,
                   templates.regexp_extract),
    ScalarFunction("regexp_replace", (*_TEXTS, Argument.STRING), STRING, None,
                   templates.regexp_replace),
    ScalarFunction("repeat", _COUNTED, STRING, by_type(on_points(_repeat_of)),
                   f"repeat({{0}}, {_COUNT})"),
    ScalarFunction("replace", (*_TEXTS, Argument.STRING), STRING, by_type(on_points(_replace_of)),
                   "replace({0}, {1}, {2})", any_text=True),
    _of_text("reverse", on_points(lambda text: text[::-1]), "reverse({0})"),
    ScalarFunction("right", _COUNTED, STRING, by_type(on_points(_right_of)),
                   f"right({{0}}, CAST({_COUNT} AS BIGINT))"),
    ScalarFunction("rlike", _TEXTS, BOOLEAN, by_type(_rlike), templates.rlike),
    ScalarFunction("rpad", (*_COUNTED, Argument.STRING), STRING, by_type(on_points(_rpad_of)),
                   templates.padded("rpad"), optional=1),
    _of_text("rtrim", rtrim, "rtrim({0}, ' ')"),
    ScalarFunction("sha2", (*_BYTES, Argument.INT), STRING),
    ScalarFunction("split_part", (*_TEXTS, Argument.INT), STRING, by_type(split_part),
                   templates.split_part),
    _tested("startswith", _startswith, "starts_with({0}, {1})"),
    ScalarFunction("substring", (*_BYTES, Argument.INT, Argument.INT), type_of_first,
                   by_type(substring),
                   templates.substring, any_text=True),
    ScalarFunction("substring_index", (*_TEXTS, Argument.INT), STRING, by_type(substring_index)),
    ScalarFunction("translate", (*_TEXTS, Argument.STRING), STRING,
                   by_type(on_points(_translate_of)),
                   "translate({0}, {1}, {2})"),
    _of_text("trim", trim, "trim({0}, ' ')"),
    _of_text("upper", uppered, "upper({0})"),
)  # fmt: skip
