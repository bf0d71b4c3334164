"""Replays a workload on layouts: what every scan would read, by the planner of real tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import EvaluationProblem, UsageError
from whyscan.layouts import candidates
from whyscan.layouts.sample import choose
from whyscan.layouts.snapshot import HypotheticalSnapshot, hypothetical
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import leaf_columns
from whyscan.planning.plan.scan_plan import Depth
from whyscan.scan.rows import FileRows, matching
from whyscan.tree import zones
from whyscan.tree.arrow import arrow_type
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from whyscan.layouts.layout import Layout
    from whyscan.layouts.sample import Sample
    from whyscan.layouts.table_scans import TableScan
    from whyscan.planning.plan.scan_plan import Options
    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Column, Path

    Numbers = npt.NDArray[np.int64]

BEAM = 4
"""The layouts of one step of the search that are built upon in the next."""
ADVISED = 3
_DRAWS = 10


class Amounts(Struct, frozen=True):
    """What every scan of a workload reads once, in the order of the scans."""

    bytes: Numbers
    files: Numbers

    def total(self, runs: Numbers) -> tuple[int, int]:
        """The bytes and files of all runs."""
        return int(self.bytes @ runs), int(self.files @ runs)


class Replayed(Struct, frozen=True, eq=False):
    """A layout with what it would read."""

    snapshot: HypotheticalSnapshot
    amounts: Amounts
    bytes: int
    files: int

    @property
    def layout(self) -> Layout:
        return self.snapshot.layout.layout


class TableReplay(Struct, frozen=True, eq=False, dict=True):
    """A table with the scans of its workload, which are replayed on layouts of it."""

    snapshot: Snapshot
    scans: tuple[TableScan, ...]
    options: Options
    sample_bytes: int

    @lazy
    def runs(self) -> Numbers:
        return np.array([scan.runs for scan in self.scans], np.int64)

    @lazy
    def today(self) -> Amounts:
        return self.amounts(self.snapshot)

    @lazy
    def files(self) -> Files:
        return self.snapshot.files(self.columns, zones.zone("UTC"))

    @lazy
    def columns(self) -> tuple[Column, ...]:
        """The columns that predicates name and rows can be ordered by, the costliest first."""
        sizes = self.today.bytes * self.runs
        costs: dict[Path, int] = {}
        for scan, size in zip(self.scans, sizes.tolist(), strict=True):
            for column in scan.predicate.columns():
                costs[column.path] = costs.get(column.path, 0) + size
        columns = {column.path: column for column in leaf_columns(self.snapshot)}
        usable = [
            p for p in costs if p in columns and not pa.types.is_null(arrow_type(columns[p].type))
        ]
        return tuple(columns[path] for path in sorted(usable, key=lambda path: -costs[path]))

    @lazy
    def sample(self) -> Sample:
        drawn = choose(self.snapshot, self.files, self.columns, self.sample_bytes)
        drawn.columns(self.columns)
        return drawn

    def amounts(self, snapshot: Snapshot, chosen: Iterable[int] | None = None) -> Amounts:
        """What each scan reads of a snapshot; scans that are not `chosen` count nothing."""
        read = np.zeros((2, len(self.scans)), np.int64)
        options = replace(self.options, depth=Depth.FILES)
        for at in range(len(self.scans)) if chosen is None else chosen:
            summary = make_plan(snapshot, self.scans[at].predicate, options).summary
            read[:, at] = summary.bytes_kept or 0, summary.files_kept
        return Amounts(read[0], read[1])

    def replayed(self, layout: Layout) -> Replayed | None:
        """Replay all scans on a layout; None if the table or the sample is not fit for it."""
        try:
            snapshot = hypothetical(self.snapshot, layout, self.sample_bytes, self.sample)
            amounts = self.amounts(snapshot)
        except UsageError:
            return None
        return Replayed(snapshot, amounts, *amounts.total(self.runs))

    def best(self) -> list[Replayed]:
        """Search layouts: single columns, then together, then partitions with an order.

        A layout of more columns that reads no less than one of some of them is left out.
        """
        if not self.columns:
            return []
        distinct = {c.column.path: len(c.distinct) for c in self.sample.columns(self.columns)}
        table_format, count = self.snapshot.format, self.files.count
        singles = self._tried(candidates.single_orders(self.columns))
        together = self._tried(candidates.orders_together(self.columns, table_format))
        partitioned = self._tried(
            candidates.partitionings(self.columns, distinct, table_format, count)
        )
        orders = _ranked([*singles, *together])[:BEAM]
        both = self._tried(
            candidates.with_order(outer.layout, inner.layout)
            for outer in _ranked(partitioned)[:BEAM]
            for inner in orders
        )
        chosen: list[Replayed] = []
        for one in _ranked([*singles, *together, *partitioned, *both]):
            columns = set(one.layout.columns())
            if not any(columns.issuperset(better.layout.columns()) for better in chosen):
                chosen.append(one)
        return chosen[:ADVISED]

    def _tried(self, layouts: Iterable[Layout]) -> list[Replayed]:
        return [done for layout in layouts if (done := self.replayed(layout)) is not None]

    def interval(self, replayed: Replayed) -> tuple[tuple[int, int], tuple[int, int]]:
        """The bytes and the files of all runs in other tables that the sample allows: low, high."""
        totals = [(replayed.bytes, replayed.files)]
        for number in range(_DRAWS):
            amounts = self.amounts(replayed.snapshot.other_draw(number))
            totals.append(amounts.total(self.runs))
        sizes, files = zip(*totals, strict=True)
        return (min(sizes), max(sizes)), (min(files), max(files))

    def floor_bytes(self) -> int:
        """The least that any layout reads: matching rows packed into files of today's size."""
        if not self.columns:
            return self.today.total(self.runs)[0]
        as_it_is = next(candidates.single_orders(self.columns))
        some = hypothetical(self.snapshot, as_it_is, self.sample_bytes, self.sample)
        values = {sampled.column: sampled.values for sampled in self.sample.columns(self.columns)}
        total = 0
        for scan, today in zip(self.scans, self.today.bytes.tolist(), strict=True):
            rows = self._matching_rows(scan, values)
            files = -(-rows // some.rows_a_file) if rows is not None else None
            least = today if files is None else files * some.rows_a_file * some.bytes_a_row
            total += scan.runs * min(today, round(least))
        return total

    def _matching_rows(self, scan: TableScan, values: dict[Column, pa.Array]) -> float | None:
        """How many rows of the table match, by the sample; None if it cannot be computed."""
        named = {column: values.get(column) for column in scan.predicate.columns()}
        if any(array is None for array in named.values()):
            return None
        rows = FileRows(self.sample.rows, named, {}, zones.zone(scan.predicate.zone))
        try:
            matches = matching([c.expression for c in scan.predicate.conjuncts], rows)
        except EvaluationProblem:
            return None
        return float(np.count_nonzero(matches)) * self.sample.weight

    def table_bytes(self) -> int:
        return pc.sum(self.files.bytes).as_py() or 0


def _ranked(replayed: Sequence[Replayed]) -> list[Replayed]:
    """The layouts that read the fewest bytes first; of two equals the one of fewer columns."""
    return sorted(replayed, key=lambda one: (one.bytes, len(one.layout.columns())))
