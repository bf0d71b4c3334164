"""The memory that one object of a table may take: `--memory`, or the variable WHYSCAN_MEMORY.

Every reader of a file checks a size against this limit before it allocates memory for it. A file
may claim any size, any number of records and any depth; only its length on disk is a fact.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from whyscan.errors import TooLarge, UsageError
from whyscan.tables.sizes import parse_size, show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

VARIABLE = "WHYSCAN_MEMORY"
DEFAULT = "1GiB"
INFLATION = 128
"""An object may inflate to this many times its compressed bytes; real metadata needs less."""

_SHARE = 16
"""An object may always inflate to the limit divided by this number, whatever its ratio."""

_COPIES = 4
"""An object is in memory compressed, inflated and decoded, and is copied once on the way."""


def limit() -> int:
    """The limit in bytes."""
    text = os.environ.get(VARIABLE) or DEFAULT
    try:
        return parse_size(text)
    except UsageError as error:
        raise UsageError(f"{VARIABLE} is {error.message}", hint=error.hint) from None


def check(claimed: int, name: str, claim: str = "it takes") -> None:
    """Refuse an object that takes more than the limit; `name` is the object's name for people."""
    if claimed > limit():
        raise too_large(name, f"{claim} {show_size(claimed)} of memory", claimed)


def check_object_size(size: int, name: str) -> None:
    """Refuse an object whose bytes stay in memory while they are decoded and exceed the limit."""
    if size > largest_object():
        raise too_large(name, f"it has {show_size(size)}, which are read whole", _COPIES * size)


def largest_object() -> int:
    """The largest size in bytes of an object that is read in one piece."""
    return limit() // _COPIES


def most_at_once() -> int:
    """The most bytes that are decoded at once; decoders take several times as much memory."""
    return limit() // _SHARE


def most_inflated(compressed: int) -> int:
    """How many bytes `compressed` bytes may inflate to: by ratio, at least a share of the limit."""
    most = limit()
    return min(most, max(most // _SHARE, INFLATION * compressed))


def bounded(pieces: Iterable[bytes], most: int, name: str) -> Iterator[bytes]:
    """The same pieces of an inflated object; an error as soon as their sum exceeds `most` bytes."""
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise inflates(name, most)
        yield piece


def inflates(name: str, most: int) -> TooLarge:
    """The error about an object that inflates to more than `most` bytes."""
    return too_large(name, f"it inflates to more than {show_size(most)}", 0)


def too_large(name: str, why: str, needed: int) -> TooLarge:
    """The error about an object. Its hint names a limit that `needed` bytes fit into."""
    allowed = limit()
    enough = max(4 * allowed, 1 << (max(needed, 1) - 1).bit_length())
    return TooLarge(
        name,
        f"{why}, and the memory limit is {show_size(allowed)}",
        hint=f"a file that can be trusted is read with --memory {show_size(enough, '')}",
    )
