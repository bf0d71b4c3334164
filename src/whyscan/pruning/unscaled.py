"""Decimals as their unscaled integer: 14.20 with scale 2 is 1420.

Python's decimal arithmetic would round them to 28 digits.
"""

from __future__ import annotations

from decimal import Decimal


def unscaled_of(value: Decimal, scale: int) -> int | None:
    """The unscaled integer; None if the value has more places than the scale."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return None
    coefficient = int("".join(map(str, digits))) * (-1 if sign else 1)
    factor: int = 10 ** abs(exponent + scale)
    if exponent + scale >= 0:
        return coefficient * factor
    return coefficient // factor if coefficient % factor == 0 else None


def scaled_to(unscaled: int, scale: int) -> Decimal:
    """The decimal with this unscaled integer and scale."""
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))
