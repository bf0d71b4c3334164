"""The verdict of a container as one value: planning keeps two flags for it."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from whyscan.pruning.mask import materialise
from whyscan.pruning.truth import matches_all

if TYPE_CHECKING:
    from whyscan.pruning.truth import Truth


class Verdict(IntEnum):
    """How many rows of a container can match a predicate: none, some or all."""

    NONE = 0
    SOME = 1
    ALL = 2


def verdicts(truth: Truth, count: int) -> list[Verdict]:
    """One verdict per container."""
    possible = materialise(truth.true, count).to_pylist()
    every = materialise(matches_all(truth), count).to_pylist()
    return [Verdict(may + certainly) for may, certainly in zip(possible, every, strict=True)]
