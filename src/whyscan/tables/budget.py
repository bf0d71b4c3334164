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
"""How many times its stored bytes an object may inflate to; metadata of real tables needs less."""

_SHARE = 16
"""Whatever its ratio, an object may inflate to this part of the limit."""

_COPIES = 4
"""An object is held as it is stored, inflated and decoded, and copied once on the way."""


def limit() -> int:
    """The limit in bytes."""
    text = os.environ.get(VARIABLE) or DEFAULT
    try:
        return parse_size(text)
    except UsageError as error:
        raise UsageError(f"{VARIABLE} is {error.message}", hint=error.hint) from None


def check(claimed: int, name: str, what: str = "it takes") -> None:
    """Refuse an object that takes more than the limit; `name` is the object's name for people."""
    if claimed > limit():
        raise too_large(name, f"{what} {show_size(claimed)} of memory", claimed)


def check_stored(size: int, name: str) -> None:
    """Refuse an object whose bytes, held whole while they are decoded, exceed the limit."""
    if size > most_stored():
        raise too_large(name, f"it has {show_size(size)}, which are read whole", _COPIES * size)


def most_stored() -> int:
    """The most bytes of an object that is read whole."""
    return limit() // _COPIES


def most_at_once() -> int:
    """The most bytes that are decoded in one go: decoders take several times as many."""
    return limit() // _SHARE


def most_inflated(stored: int) -> int:
    """How many bytes `stored` bytes may inflate to: a ratio, a share of the limit, the limit."""
    whole = limit()
    return min(whole, max(whole // _SHARE, INFLATION * stored))


def bounded(pieces: Iterable[bytes], most: int, name: str) -> Iterator[bytes]:
    """The same pieces of an inflated object, as long as they have at most `most` bytes together."""
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
    """The error about an object, with a limit in its hint that `needed` bytes fit into."""
    present = limit()
    enough = max(4 * present, 1 << (max(needed, 1) - 1).bit_length())
    return TooLarge(
        name,
        f"{why}, and the memory limit is {show_size(present)}",
        hint=f"a file that can be trusted is read with --memory {show_size(enough, '')}",
    )
