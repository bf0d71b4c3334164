"""Generated tables: rows in row groups in files, deletes, and what honest writers say of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import strategies as st

from oracle.dice import Dice
from oracle.rows import evaluate_row
from oracle.tables import exact, honest
from oracle.values import any_value
from support.memory_table import RANGES, MemoryTable
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.scan_plan import Depth, Options
from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.tables.snapshot import Files, RowGroups
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    Column,
    Comparator,
    Comparison,
    Conjunct,
    IsNull,
    Literal,
    Not,
    Predicate,
)
from whyscan.tree.types import BOOLEAN, DATE, DOUBLE, FLOAT, INT, STRING, TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.tables import RecordedStatistics
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.tree.nodes import Expression, Path
    from whyscan.tree.types import Type

SORT, FILTER = ("k",), ("w",)
KINDS = (INT, DOUBLE, STRING, FLOAT, DATE, TIMESTAMP, BOOLEAN)
Row = dict[Any, Any]


@dataclass(frozen=True)
class Group:
    rows: list[Row]
    statistics: dict[Path, RecordedStatistics]


@dataclass(frozen=True)
class Data:
    """One file. `dead` are the places of deleted rows; metadata counts `surely` and `maybe`."""

    groups: list[Group]
    statistics: dict[Path, RecordedStatistics]
    dead: frozenset[int]
    surely: int
    maybe: int | None

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    def live(self, ordinals: Sequence[int] | None = None) -> list[Row]:
        """The rows that are left, of some row groups or of all."""
        rows, place = [], 0
        for ordinal, group in enumerate(self.groups):
            for row in group.rows:
                if place not in self.dead and (ordinals is None or ordinal in ordinals):
                    rows.append(row)
                place += 1
        return rows


@dataclass
class Generated(MemoryTable):
    """A snapshot of generated files."""

    made: Sequence[Data] = field(default_factory=list)

    def files(self, columns, zone=None, manifests=None):  # noqa: ARG002 - the protocol's
        rows = pa.array([len(f.rows) for f in self.made], pa.int64())
        counted = not self.footers_describe_files
        surely = pa.array([f.surely for f in self.made], pa.int64())
        live = pa.array([len(f.rows) - f.surely for f in self.made], pa.int64())
        unknown = pa.nulls(len(self.made), pa.int64())
        recorded_statistics = [(f.statistics, f.rows) for f in self.made]
        return Files(
            read_paths=lambda: pa.array([str(at) for at in range(len(self.made))], pa.string()),
            bytes=pa.array([100] * len(self.made), pa.int64()),
            rows=rows if counted else unknown,
            partition=pa.table({}),
            containers=self._containers(recorded_statistics, live)
            if counted
            else Containers(len(self.made)),
            deleted=surely,
            maybe_deleted=pa.array([f.maybe for f in self.made], pa.int64()),
        )

    def row_groups(self, files, opened, columns, projection, *, keep_footers=False):  # noqa: ARG002 - the protocol's
        chosen = [self.made[at] for at in opened.to_pylist()]
        groups = [(i, o, g) for i, f in enumerate(chosen) for o, g in enumerate(f.groups)]
        rows = pa.array([len(g.rows) for _, _, g in groups], pa.int64())
        return RowGroups(
            opened=opened,
            file=pa.array([i for i, _, _ in groups], pa.int64()),
            ordinal=pa.array([o for _, o, _ in groups], pa.int32()),
            bytes=pa.array([10] * len(groups), pa.int64()),
            ranges=pa.array([[(4, 9)] for _ in groups], RANGES),
            containers=self._containers([(g.statistics, g.rows) for _, _, g in groups], rows),
        )

    def _containers(self, recorded_statistics, rows):
        recorded = pa.array([len(container) for _, container in recorded_statistics], pa.int64())
        believed = {
            (name,): checked(kind, _statistics(kind, (name,), recorded_statistics), recorded)
            for name, kind in self.columns.items()
        }
        return Containers(
            count=len(recorded_statistics),
            rows=rows,
            statistics={path: b.interval for path, b in believed.items()},
            exact={path: b.exact for path, b in believed.items()},
        )


def _statistics(kind, path, recorded_statistics):
    whole = [exact(kind, [row[path] for row in container]) for _, container in recorded_statistics]
    statistics = [one[path] for one, _ in recorded_statistics]
    return ColumnStatistics(
        lower=arrow.array([t.lower for t in statistics], kind),
        upper=arrow.array([t.upper for t in statistics], kind),
        null_count=pa.array([t.nulls for t in statistics], pa.int64()),
        nan=pa.array([t.nan for t in statistics], pa.bool_()),
        attained=pa.array(
            [
                (t.lower, t.upper) == (w.lower, w.upper)
                for t, w in zip(statistics, whole, strict=True)
            ],
            pa.bool_(),
        ),
    )


@dataclass(frozen=True)
class Case:
    """A plan over generated files, and the rows behind it."""

    made: Sequence[Data]
    plan: ScanPlan
    dice: Dice

    @property
    def key(self) -> Column:
        return Column(SORT, self.plan.snapshot.columns["k"])

    def matching(self, plan: ScanPlan | None = None) -> list[Row]:
        """The live rows that make the predicate TRUE: of all files, or of what a plan reads."""
        if plan is None:
            rows = [row for file in self.made for row in file.live()]
        else:
            rows = [r for scan in plan for r in self.made[int(scan.path)].live(scan.row_groups)]
        conjuncts = self.plan.predicate.conjuncts
        return [r for r in rows if all(evaluate_row(c.expression, r) is True for c in conjuncts)]


@st.composite
def cases(draw: Any, kinds: Sequence[Type] = KINDS) -> Case:
    """A plan of a predicate that many files match whole, or of none at all."""
    dice = Dice(draw)
    columns = {"k": dice.pick(kinds), "w": INT}
    made = [_any_file(dice, columns) for _ in range(dice.number(2, 5))]
    table = Generated(columns, (), footers_describe_files=dice.one_in(2), made=made)
    depth = dice.pick((Depth.FILES, Depth.ROW_GROUPS))
    options = Options(depth=depth, measured=(Column(SORT, columns["k"]),))
    return Case(made, make_plan(table, _any_predicate(dice, columns), options), dice)


def _any_file(dice: Dice, columns: dict[str, Type]) -> Data:
    groups = []
    for _ in range(dice.number(1, 2)):
        rows = [_any_row(dice, columns) for _ in range(dice.pick((1, 2, 3, 0)))]
        groups.append(Group(rows, _honest_statistics(dice, columns, rows)))
    rows = [row for group in groups for row in group.rows]
    dead = frozenset(at for at in range(len(rows)) if dice.one_in(5))
    counted, doubt = dice.one_in(2), dice.number(0, 2)
    surely = len(dead) if counted else 0
    maybe = 0 if counted else min(len(dead) + doubt, len(rows)) if doubt else None
    maybe = 0 if not dead and dice.one_in(2) else maybe
    return Data(groups, _honest_statistics(dice, columns, rows), dead, surely, maybe)


def _any_row(dice: Dice, columns: dict[str, Type]) -> Row:
    few = {SORT: None if dice.one_in(5) else any_value(dice, columns["k"])}
    return few | {FILTER: None if dice.one_in(8) else dice.number(0, 3)}


def _honest_statistics(
    dice: Dice, columns: dict[str, Type], rows: list[Row]
) -> dict[Path, RecordedStatistics]:
    return {
        (name,): honest(dice, kind, [row[(name,)] for row in rows])
        for name, kind in columns.items()
    }


def _any_predicate(dice: Dice, columns: dict[str, Type]) -> Predicate:
    w = Column(FILTER, INT)
    conditions: list[Expression] = [
        Comparison(dice.pick(tuple(Comparator)), w, Literal(dice.number(0, 3), INT)),
        Not(IsNull(w)),
        Not(IsNull(Column(SORT, columns["k"]))),
    ]
    chosen = [e for e in conditions if dice.one_in(3)]
    return Predicate("", "spark", "UTC", None, tuple(Conjunct(e, "") for e in chosen))
