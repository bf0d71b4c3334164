"""How an interval passes through a function: the combinators that the catalogue is written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.pruning.mask import Mask, any_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.interval import Interval


def any_raises(arguments: Sequence[Interval]) -> Mask:
    """An error of any argument is an error of the whole."""
    return any_of(x.raises for x in arguments)
