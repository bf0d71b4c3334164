"""Text as its UTF-8 bytes. A bound may be cut inside a character; a value is not.

No text contains the byte 0xFF: `prefix + 0xFF` is above all texts that start with the prefix.
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
"""A pattern of bytes for one well-formed character: kernels match binary byte by byte."""

_CUT_CHARACTER = (
    r"(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\x9f]?"
    r"|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|[\xf1-\xf3][\x80-\xbf]{0,2}"
    r"|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)"
)
_TEXT = rf"\A{CHARACTER}*{_CUT_CHARACTER}?\z"

LAST_ASCII = 0x7F
ABOVE = pa.scalar(b"\xff")
LONGEST_PREFIX = 32
"""The greatest length of a common prefix in bytes: a shorter prefix gives wider bounds."""

MOST_CHARACTERS = 100
"""The greatest repetition in a pattern: a thousand characters are too many for the matcher."""


def count_characters(values: Vector) -> Vector:
    """The number of code points: the bytes that do not continue a character."""
    return pc.count_substring_regex(values, pattern=r"[^\x80-\xbf]").cast(pa.int64())


def first_characters(values: Vector, count: int) -> Vector:
    """The first `count` characters, or fewer if only those are well formed."""
    pattern = f"^(?P<head>{CHARACTER}{{0,{count}}})"
    return pc.struct_field(pc.extract_regex(values, pattern=pattern), [0])


def has_characters(values: Vector, count: int) -> Vector:
    """The text begins with at least `count` well-formed characters."""
    return pc.match_substring_regex(values, pattern=f"^{CHARACTER}{{{count}}}")


def joined(*parts: Vector) -> Vector:
    """The concatenated texts; unknown if one of them is."""
    return pc.binary_join_element_wise(*parts, pa.scalar(b""))


def shared_prefix(lower: Vector, upper: Vector) -> Vector:
    """The ASCII prefix of both bounds, and of every text between them; empty if unknown."""
    if isinstance(lower, pa.Scalar) and isinstance(upper, pa.Scalar):
        return shared_prefix(_one_element(lower), upper)[0]
    first, second = np.broadcast_arrays(_letters(lower), _letters(upper))
    # NUL pads the shorter text, so a NUL ends the prefix.
    same = (first == second) & (first <= LAST_ASCII) & (first > 0)
    prefix = np.where(np.logical_and.accumulate(same, axis=1), first, 0)
    texts = np.ascontiguousarray(prefix, np.uint8).view(f"S{LONGEST_PREFIX}")
    return pa.array(texts.ravel().tolist(), pa.binary())


def _one_element(value: pa.Scalar) -> pa.Array:
    return pa.array([value.as_py()], value.type)


def _letters(values: Vector) -> npt.NDArray[np.uint8]:
    """One row of bytes per text, cut or padded with NUL to the longest prefix."""
    if isinstance(values, pa.Scalar):
        return _letters(_one_element(values))
    head = pc.binary_slice(pc.fill_null(values, b""), 0, LONGEST_PREFIX)
    texts = np.array(head.to_pylist(), f"S{LONGEST_PREFIX}")
    return texts.view(np.uint8).reshape(len(texts), LONGEST_PREFIX)


def text_or_unknown(lower: pa.Array, upper: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The bounds; both unknown where one is neither UTF-8 nor truncated UTF-8.

    The writer of such bytes has another encoding and perhaps another order.
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
