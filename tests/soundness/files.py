"""A file as the counterexamples tell it: its rows, and what its writer said about them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from oracle.errors import Unsupported
from oracle.rows import possible
from oracle.tables import RecordedStatistics, World, exact
from support.verdicts import Verdict, verdicts
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.evaluate import evaluate
from whyscan.tree.types import Field, Schema, Type
from whyscan.tree.zones import zone as zone_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tree.nodes import Expression

NONE, SOME, ALL = Verdict.NONE, Verdict.SOME, Verdict.ALL


@dataclass(frozen=True)
class File:
    """One container. `columns`: values row by row; `told`: what its metadata says instead of
    the exact truth."""

    types: Mapping[str, Type]
    columns: Mapping[str, list[Any]]
    statistics: Mapping[str, RecordedStatistics] = field(default_factory=dict)
    zone: str = "UTC"
    counted: bool = True
    dialect: str = "spark"

    def world(self) -> World:
        schema = {(name,): kind for name, kind in self.types.items()}
        columns = zip(*self.columns.values(), strict=True)
        rows = tuple(dict(zip(schema, values, strict=True)) for values in columns)
        statistics = {
            (name,): self.statistics.get(name, exact(kind, self.columns[name]))
            for name, kind in self.types.items()
        }
        return World(schema, (rows,), (statistics,), (self.counted,), self.zone)

    def bound(self, sql: str) -> Expression:
        schema = Schema(tuple(Field(name, kind) for name, kind in self.types.items()))
        return bind(sql, schema, Session(self.dialect, self.zone)).expression

    def verdict(self, sql: str) -> Verdict:
        """The verdict, once the rows have agreed that it is none that loses or adds one."""
        world, expression = self.world(), self.bound(sql)
        truth = evaluate(expression, world.containers(), zone_named(self.zone))
        verdict = verdicts(truth, 1)[0]
        for row in world.rows[0]:
            try:
                answers = possible(expression, row, self.zone)
            except Unsupported:
                continue
            assert verdict is not NONE or True not in answers, f"{sql} loses {row}"
            assert verdict is not ALL or answers == {True}, f"{sql} adds {row}"
        return verdict


def column(kind: Type, values: list[Any], statistics: RecordedStatistics | None = None) -> File:
    """A file of one column, `x`."""
    return File({"x": kind}, {"x": values}, {} if statistics is None else {"x": statistics})


def pair(a: tuple[Type, list[Any]], b: tuple[Type, list[Any]]) -> File:
    """A file of two columns, `x` and `y`."""
    return File({"x": a[0], "y": b[0]}, {"x": a[1], "y": b[1]})


def with_statistics(file: File, **changes: Any) -> File:
    """The same rows, and something else said about `x`."""
    (truth,) = file.world().statistics
    return replace(file, statistics={"x": replace(truth[("x",)], **changes)})
