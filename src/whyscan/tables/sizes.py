"""Sizes as people write them."""

from __future__ import annotations

import re

from whyscan.errors import UsageError

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgtp]?)(i?)b?)\s*", re.IGNORECASE)
_POWERS = " kmgtp"


def parse_size(text: str) -> int:
    """`10GB`, `500MiB`, `1.5 TB` or a plain number, in bytes."""
    found = _SIZE.fullmatch(text)
    if found is None or (found[3] and not found[2]):
        raise UsageError(f"not a size: {text!r}", hint="a number and a unit: 10GB, 500MiB, 4096")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** _POWERS.index(found[2].lower() or " "))
