"""Runs work on several tables in parallel: most of it waits for a store or runs outside Python."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    T = TypeVar("T")
    R = TypeVar("R")

AT_ONCE = 8


def in_parallel(
    work: Callable[[T], R], items: Sequence[T], *, by: Callable[[T], Hashable]
) -> list[R]:
    """The result of `work` for each item, in the order of the items.

    Items with the same key `by(item)` run one after another, the others in parallel.
    """
    groups: dict[Hashable, list[int]] = {}
    for position, item in enumerate(items):
        groups.setdefault(by(item), []).append(position)
    if len(groups) < 2:  # noqa: PLR2004
        return [work(item) for item in items]
    results: dict[int, R] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in pool.map(
            lambda position: {i: work(items[i]) for i in position}, groups.values()
        ):
            results |= done
    return [results[position] for position in range(len(items))]
