"""Sizes in bytes as text: `10GB`, `64 MiB`."""

from __future__ import annotations

import re

from whyscan.errors import UsageError

# Compiled when it is first used: each command imports this module, and few have a size.
_SIZE = r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgtp]?)(i?)b?)\s*"
_POWERS = " kmgtp"
_WHOLE = 100


def parse_size(text: str) -> int:
    """`10GB`, `500MiB`, `1.5 TB` or a plain number, in bytes."""
    match = re.fullmatch(_SIZE, text, re.IGNORECASE)
    if match is None or (match[3] and not match[2]):
        raise UsageError(f"not a size: {text!r}", hint="a number and a unit: 10GB, 500MiB, 4096")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * base ** _POWERS.index(match[2].lower() or " "))


def show_size(size: int, gap: str = " ") -> str:
    """Bytes in the largest binary unit that they fill: `64 MiB`, `1.5 GiB`, `900 bytes`.

    Without a gap it is text that `parse_size` reads.
    """
    for power in range(len(_POWERS) - 1, 0, -1):
        if size >= 1024**power:
            number = size / 1024**power
            digits = f"{number:.0f}" if number >= _WHOLE else f"{number:.3g}"
            return f"{digits}{gap}{_POWERS[power].upper()}iB"
    return f"{size}{gap}bytes" if gap else str(size)
