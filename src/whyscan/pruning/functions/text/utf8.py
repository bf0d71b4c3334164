"""Text as the bytes of its UTF-8. A bound may be cut inside a character; no value is.

Byte 0xFF occurs in no text: `prefix + 0xFF` lies above all texts that start with the prefix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.pruning.mask import Vector

CHARACTER = (
    r"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    r"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    r"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})"
)
"""One well-formed character, as a pattern of bytes: kernels match binary byte by byte."""

_CUT_CHARACTER = (
    r"(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\x9f]?"
    r"|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|[\xf1-\xf3][\x80-\xbf]{0,2}"
    r"|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)"
)
_TEXT = rf"\A{CHARACTER}*{_CUT_CHARACTER}?\z"

LAST_ASCII = 0x7F
ABOVE = pa.scalar(b"\xff")
LONGEST_PREFIX = 32
"""Bytes of a common prefix that are looked at: a shorter prefix gives wider bounds."""

MOST_CHARACTERS = 100
"""Characters that a pattern counts: one of a thousand grows too large for the matcher."""


def count_characters(values: Vector) -> Vector:
    """Code points: the bytes that do not continue a character."""
    return pc.count_substring_regex(values, pattern=r"[^\x80-\xbf]").cast(pa.int64())


def first_characters(values: Vector, count: int) -> Vector:
    """The first `count` characters, or as many as are well formed."""
    pattern = f"^(?P<head>{CHARACTER}{{0,{count}}})"
    return pc.struct_field(pc.extract_regex(values, pattern=pattern), [0])


def has_characters(values: Vector, count: int) -> Vector:
    """At least `count` well-formed characters come first."""
    return pc.match_substring_regex(values, pattern=f"^{CHARACTER}{{{count}}}")


def joined(*parts: Vector) -> Vector:
    """The parts one after the other; unknown where one is."""
    return pc.binary_join_element_wise(*parts, pa.scalar(b""))


def shared_prefix(lower: Vector, upper: Vector) -> Vector:
    """The ASCII prefix that both have, and so has every text between them; empty if unknown."""
    if isinstance(lower, pa.Scalar) and isinstance(upper, pa.Scalar):
        return shared_prefix(_one_element(lower), upper)[0]
    first, second = np.broadcast_arrays(_letters(lower), _letters(upper))
    # NUL pads the shorter text, so that it ends the prefix as it ends a text.
    same = (first == second) & (first <= LAST_ASCII) & (first > 0)
    prefix = np.where(np.logical_and.accumulate(same, axis=1), first, 0)
    texts = np.ascontiguousarray(prefix, np.uint8).view(f"S{LONGEST_PREFIX}")
    return pa.array(texts.ravel().tolist(), pa.binary())


def _one_element(value: pa.Scalar) -> pa.Array:
    return pa.array([value.as_py()], value.type)


def _letters(values: Vector) -> npt.NDArray[np.uint8]:
    """One row of bytes a text, cut or padded with NUL to the longest prefix."""
    if isinstance(values, pa.Scalar):
        return _letters(_one_element(values))
    head = pc.binary_slice(pc.fill_null(values, b""), 0, LONGEST_PREFIX)
    texts = np.array(head.to_pylist(), f"S{LONGEST_PREFIX}")
    return texts.view(np.uint8).reshape(len(texts), LONGEST_PREFIX)


def text_or_unknown(lower: pa.Array, upper: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Bounds of texts; both unknown where one of them is neither UTF-8 nor UTF-8 that was cut.

    Such bytes were written by somebody for whom text, and its order, is something else.
    """
    wrong = pc.or_(_is_no_text(lower), _is_no_text(upper))
    if not wrong.true_count:
        return lower, upper
    nothing = pa.scalar(None, lower.type)
    return pc.if_else(wrong, nothing, lower), pc.if_else(wrong, nothing, upper)


def _is_no_text(values: pa.Array) -> pa.Array:
    try:
        # Many times faster than the pattern.
        values.cast(pa.string())
    except pa.ArrowInvalid:
        return pc.fill_null(pc.invert(pc.match_substring_regex(values, pattern=_TEXT)), False)  # noqa: FBT003
    return pa.repeat(pa.scalar(value=False), len(values))
