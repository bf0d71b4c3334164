"""Decimals by their unscaled integer: 14.20 of scale 2 is 1420.

Python's own arithmetic would round them to 28 digits.
"""

from __future__ import annotations

from decimal import Decimal


def unscaled_of(value: Decimal, scale: int) -> int | None:
    """The integer of last digits; None where the scale has no room for the fraction."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return None
    coefficient = int("".join(map(str, digits))) * (-1 if sign else 1)
    factor: int = 10 ** abs(exponent + scale)
    if exponent + scale >= 0:
        return coefficient * factor
    return coefficient // factor if coefficient % factor == 0 else None


def scaled_to(unscaled: int, scale: int) -> Decimal:
    """The decimal of so many last digits."""
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))
