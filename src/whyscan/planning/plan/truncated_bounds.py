"""Text bounds that a writer cut off, and where the real values may end.

| recorded bound | the real value begins with |
|---|---|
| the first N characters of the least value | these characters |
| Iceberg: the first N characters of the greatest, the last raised by one | them, not raised |
| Delta: the first N characters of the greatest, and one greater than any | the first N characters |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.mask import both, surely

if TYPE_CHECKING:
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Mask
    from whyscan.tables.snapshot import Recording

_ABOVE_ALL_TEXT = b"\xff"
_SURROGATES = range(0xD800, 0xE000)
_BEFORE_SURROGATES = 0xD7FF


def tightest(interval: Interval, recording: Recording) -> Interval | None:
    """The interval with each cut bound as near to the other as possible; None if none is cut."""
    lower, upper = cut(interval, recording)
    if lower is False and upper is False:
        return None
    return replace(
        interval,
        lower=interval.lower if lower is False else _raised(interval.lower, lower),
        upper=interval.upper if upper is False else _lowered(interval.upper, upper, recording),
    )


def cut(interval: Interval, recording: Recording) -> tuple[Mask, Mask]:
    """True where the lower bound, and where the upper bound, is as long as writers let it be."""
    lower, upper = _text(interval.lower), _text(interval.upper)
    if recording.prefix is None or lower is None or upper is None:
        return False, False
    low, high = pc.utf8_length(lower), pc.utf8_length(upper)
    below = surely(pc.equal, low, pa.scalar(recording.prefix))
    if recording.appended:
        above = surely(pc.greater, high, pa.scalar(recording.prefix))
        # A lower bound of N characters may be complete; it counts as cut if the upper bound is cut.
        return both(below, above), above
    return below, surely(pc.equal, high, pa.scalar(recording.prefix))


def _text(end: object) -> pa.Array | None:
    """A bound as text; None where it is no text."""
    if not isinstance(end, pa.Array):
        return None
    try:
        return end.cast(pa.string())
    except pa.ArrowInvalid:
        return None


def _raised(lower: pa.Array, mask: Mask) -> pa.Array:
    above = pc.binary_join_element_wise(lower, _ABOVE_ALL_TEXT, b"")
    return pc.if_else(mask, above, lower)


def _lowered(upper: pa.Array, mask: Mask, recording: Recording) -> pa.Array:
    text = upper.cast(pa.string())
    if recording.appended:
        kept = pc.utf8_slice_codeunits(text, 0, recording.prefix)
    else:
        encoded = text.dictionary_encode()
        ends = [_one_less(value) for value in encoded.dictionary.to_pylist()]
        kept = pa.array(ends, pa.string()).take(encoded.indices)
    return pc.if_else(mask, kept.cast(pa.binary()), upper)


def _one_less(text: str) -> str:
    """The text before its last character was raised by one; surrogates are no characters."""
    if not text or not ord(text[-1]):
        return text[:-1]
    before = ord(text[-1]) - 1
    return text[:-1] + chr(_BEFORE_SURROGATES if before in _SURROGATES else before)
