"""Text bounds that a writer cut off, and where the values they stand for may end.

| stored | the value begins with |
|---|---|
| the first N characters of the least | them, and may go on |
| Iceberg: the greatest, its N characters raised by one in the last | what was raised |
| Delta: the greatest, its first N characters and one that is greater than any | the first N |
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


def tightest(interval: Interval, told: Recording) -> Interval | None:
    """The interval if each cut bound ended as near to the other as it may; None for none cut."""
    lower, upper = cut(interval, told)
    if lower is False and upper is False:
        return None
    return replace(
        interval,
        lower=interval.lower if lower is False else _raised(interval.lower, lower),
        upper=interval.upper if upper is False else _lowered(interval.upper, upper, told),
    )


def cut(interval: Interval, told: Recording) -> tuple[Mask, Mask]:
    """Where the lower and the upper bound have as many characters as writers keep."""
    lower, upper = _text(interval.lower), _text(interval.upper)
    if told.prefix is None or lower is None or upper is None:
        return False, False
    low, high = pc.utf8_length(lower), pc.utf8_length(upper)
    below = surely(pc.equal, low, pa.scalar(told.prefix))
    if told.appended:
        above = surely(pc.greater, high, pa.scalar(told.prefix))
        # A least value of just so many characters may be whole: believed cut beside a cut greatest.
        return both(below, above), above
    return below, surely(pc.equal, high, pa.scalar(told.prefix))


def _text(end: object) -> pa.Array | None:
    """A bound as text; None where it is none that can be measured."""
    if not isinstance(end, pa.Array):
        return None
    try:
        return end.cast(pa.string())
    except pa.ArrowInvalid:
        return None


def _raised(lower: pa.Array, mask: Mask) -> pa.Array:
    above = pc.binary_join_element_wise(lower, _ABOVE_ALL_TEXT, b"")
    return pc.if_else(mask, above, lower)


def _lowered(upper: pa.Array, mask: Mask, told: Recording) -> pa.Array:
    text = upper.cast(pa.string())
    if told.appended:
        kept = pc.utf8_slice_codeunits(text, 0, told.prefix)
    else:
        encoded = text.dictionary_encode()
        ends = [_one_less(value) for value in encoded.dictionary.to_pylist()]
        kept = pa.array(ends, pa.string()).take(encoded.indices)
    return pc.if_else(mask, kept.cast(pa.binary()), upper)


def _one_less(text: str) -> str:
    """What was raised by one in its last character; surrogates are no characters."""
    if not text or not ord(text[-1]):
        return text[:-1]
    before = ord(text[-1]) - 1
    return text[:-1] + chr(_BEFORE_SURROGATES if before in _SURROGATES else before)
