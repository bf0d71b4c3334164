"""The search for layouts: each candidate is replayed on the workload, and the best are combined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.layouts import candidates
from whyscan.layouts.applied import partitions_today
from whyscan.pruning.transforms import IdentityTransform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from whyscan.layouts.layout import Layout, OrderKind
    from whyscan.layouts.replay import Replayed, TableReplay
    from whyscan.tree.nodes import Column

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
    if replay.sample_bytes:
        progress("reading a sample")
    ranked = _distinct(_Search(replay.rough, progress).ranked())
    finalists = []
    for number, rough in enumerate(ranked[:_FINALISTS], 1):
        progress(f"replaying layout {number} of {min(len(ranked), _FINALISTS)} on every query")
        finalists.append(replay.replayed(rough.layout))
    return _distinct(_by_bytes(done for done in finalists if done is not None))[:ADVISED]


class _Search:
    """A beam search: orders of one column, of two to four, partitions, partitions with an order.

    Orders keep the partitions of today. Without partitions they are tried if no query filters by
    one of the partition columns.
    """

    def __init__(self, replay: TableReplay, progress: Callable[[str], None]) -> None:
        self.replay = replay
        self.progress = progress
        self.tried: dict[str, Replayed | None] = {}

    def ranked(self) -> list[Replayed]:
        """Every layout that was tried, the one that reads least first."""
        replay, columns = self.replay, self.replay.columns
        table_format, today = replay.snapshot.format, partitions_today(replay.snapshot)
        base = replay.base
        single = {t.path for t in today if isinstance(t.transform, IdentityTransform)}
        filtered = {column.path for column in columns}
        within = [column for column in columns if column.path not in single]
        in_partitions = candidates.curves(table_format, partitioned=True)
        anywhere = candidates.curves(table_format, partitioned=False)
        if base.statistics is not None:
            self.try_all([base])
        orders = self.orders(base, within, in_partitions if today else anywhere)
        if not all(term.path in filtered for term in today):
            orders += self.orders(replace(base, partitions=()), columns, anywhere)
        if not replay.sample_bytes:  # Bounds prove nothing about partitions.
            return _by_bytes(one for one in self.tried.values() if one is not None)
        distinct = {c.column.path: len(c.distinct) for c in replay.sample.columns(columns)}
        partitioned = self.try_all(
            candidates.partitionings(base, columns, distinct, table_format, replay.files.count)
        )
        self.try_all(
            both
            for outer in _by_bytes(partitioned)[:BEAM]
            for inner in _by_bytes(orders)[:BEAM]
            if (both := candidates.with_order(outer.layout, inner.layout, in_partitions))
            is not None
        )
        return _by_bytes(one for one in self.tried.values() if one is not None)

    def orders(
        self, base: Layout, columns: Sequence[Column], kinds: Sequence[OrderKind]
    ) -> list[Replayed]:
        """Replay the base layout in orders of one column, and the best with more columns."""
        orders = self.try_all(candidates.single_orders(base, columns))
        for _ in range(candidates.MOST_TOGETHER - 1):
            best = [one.layout for one in _by_bytes(orders)[:BEAM]]
            orders += self.try_all(candidates.longer_orders(best, columns, kinds))
        return orders

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
    """The layouts that read the fewest bytes first.

    Of two equals the one of fewer columns is first, then the one that keeps the partitions.
    """

    def cost(one: Replayed) -> tuple[int, int, bool]:
        return one.bytes, len(one.layout.columns()), one.layout.partitions is not None

    return sorted(replayed, key=cost)
