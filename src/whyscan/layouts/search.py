"""The search for layouts: each candidate is replayed on the workload, and the best are combined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.layouts import candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from whyscan.layouts.layout import Layout
    from whyscan.layouts.replay import Replayed, TableReplay

BEAM = 4
"""The layouts of one step of the search that are built upon in the next."""
ADVISED = 3
_FINALISTS = 6


def best_layouts(
    replay: TableReplay, progress: Callable[[str], None] = lambda _: None
) -> list[Replayed]:
    """Search the layouts of a table, and return those that read least, the best first.

    The search is rough: it ranks candidates by the costliest scans and a thinned sample. What it
    finds is replayed on every scan with the whole sample.
    """
    if not replay.columns:
        return []
    progress("reading a sample")
    ranked = _distinct(_Search(replay.rough, progress).ranked())
    finalists = []
    for number, rough in enumerate(ranked[:_FINALISTS], 1):
        progress(f"replaying layout {number} of {min(len(ranked), _FINALISTS)} on every query")
        finalists.append(replay.replayed(rough.layout))
    return _distinct(_by_bytes(done for done in finalists if done is not None))[:ADVISED]


class _Search:
    """A beam search: orders of one column, of two to four, partitions, partitions with an order."""

    def __init__(self, replay: TableReplay, progress: Callable[[str], None]) -> None:
        self.replay = replay
        self.progress = progress
        self.tried: dict[str, Replayed | None] = {}

    def ranked(self) -> list[Replayed]:
        """Every layout that was tried, the one that reads least first."""
        replay, columns = self.replay, self.replay.columns
        table_format = replay.snapshot.format
        orders = self.try_all(candidates.single_orders(columns))
        for _ in range(candidates.MOST_TOGETHER - 1):
            best = [one.layout for one in _by_bytes(orders)[:BEAM]]
            orders += self.try_all(candidates.longer_orders(best, columns, table_format))
        distinct = {c.column.path: len(c.distinct) for c in replay.sample.columns(columns)}
        partitioned = self.try_all(
            candidates.partitionings(columns, distinct, table_format, replay.files.count)
        )
        self.try_all(
            both
            for outer in _by_bytes(partitioned)[:BEAM]
            for inner in _by_bytes(orders)[:BEAM]
            if (both := candidates.with_order(outer.layout, inner.layout)) is not None
        )
        return _by_bytes(one for one in self.tried.values() if one is not None)

    def try_all(self, layouts: Iterable[Layout]) -> list[Replayed]:
        """Replay the layouts that were not tried before."""
        replayed = []
        for layout in layouts:
            if str(layout) not in self.tried:
                self.progress(f"{len(self.tried):,} layouts tried: {layout}")
                done = self.replay.replayed(layout)
                self.tried[str(layout)] = done
                replayed += [] if done is None else [done]
        return replayed


def _distinct(ranked: Sequence[Replayed]) -> list[Replayed]:
    """Leave out a layout that has all columns of a better one."""
    chosen: list[Replayed] = []
    for one in ranked:
        columns = set(one.layout.columns())
        if not any(columns.issuperset(better.layout.columns()) for better in chosen):
            chosen.append(one)
    return chosen


def _by_bytes(replayed: Iterable[Replayed]) -> list[Replayed]:
    """The layouts that read the fewest bytes first; of two equals the one of fewer columns."""
    return sorted(replayed, key=lambda one: (one.bytes, len(one.layout.columns())))
