"""Choices drawn from Hypothesis: as few and as plain as they can be, so that examples are cheap
and shrink towards the first option."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
LONG = os.environ.get("WHYSCAN_EXAMPLES")


def tried(times: int) -> Any:
    """So many examples in the suite; as many as asked for in a long run."""
    return settings(max_examples=int(LONG) if LONG else times)


@cache
def _numbers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@dataclass(frozen=True)
class Dice:
    """Hypothesis' `draw`, asked for small numbers only."""

    draw: Callable[[st.SearchStrategy[Any]], Any]

    def number(self, low: int, high: int) -> int:
        return low if low == high else self.draw(_numbers(low, high))

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)]

    def one_in(self, n: int) -> bool:
        return self.number(1, n) == n


class Rolled(Dice):
    """The same choices from a seed, without Hypothesis: Spark is asked once for all of them."""

    @classmethod
    def of(cls, seed: int) -> Rolled:
        return cls(random.Random(seed))

    def number(self, low: int, high: int) -> int:
        return self.draw.randint(low, high)
