"""Aggregates that metadata alone answers: no file is read.

| aggregate | what must be known |
|---|---|
| `count(*)` | for every file: none or all of its live rows match, and how many these are |
| `count(x)` | the same, and how many of the matching rows are NULL |
| `max(x)` | a bound that a live, matching row has, and no bound of another file exceeds; no NaN |
| `min(x)` | likewise; NaN is the greatest value, so it does not matter beside another value |
"""

from __future__ import annotations

from enum import Enum
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.matching_rows import (
    UNCOUNTED,
    of_files,
    of_row_groups,
    perhaps_matching,
    surely_matching,
)
from whyscan.planning.plan.planner import plus, total
from whyscan.planning.rows.expression_level import ExpressionLevel
from whyscan.planning.rows.limit import LimitedPart, Unproven, before_limit, cut
from whyscan.pruning.interval import greater, less
from whyscan.pruning.mask import may
from whyscan.tree import arrow
from whyscan.tree.nodes import Literal
from whyscan.tree.types import BIGINT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.tree.nodes import Expression


class Function(Enum):
    """The aggregates that metadata may answer."""

    COUNT = "count"
    MIN = "min"
    MAX = "max"


class MetadataAggregate(Struct, frozen=True):
    """One aggregate over all matching rows. Only `count(*)` has no expression."""

    function: Function
    expression: Expression | None = None


class Answers(Struct, frozen=True):
    """One value for each aggregate, and the plan that is left: it reads no file."""

    values: tuple[Literal, ...]
    plan: PlannedSnapshot


def answers(plan: PlannedSnapshot, aggregates: Sequence[MetadataAggregate]) -> Answers | Unproven:
    """The values of all aggregates from metadata alone, or why one of them has none.

    The columns of their expressions must be among the predicate's, or `measured` in the plan's
    options.
    """
    parts = plan.each(partial(_AnswerPart.of, aggregates=tuple(aggregates)))
    rows = _rows(reduce(plus, (part.low for part in parts)), reduce(plus, (p.high for p in parts)))
    values = []
    for position, aggregate in enumerate(aggregates):
        value = rows
        if aggregate.expression is not None:
            levels = (part.levels[position] for part in parts)
            value = _answer(reduce(add, filter(None, levels)), aggregate, rows)
        if isinstance(value, Unproven):
            return value
        values.append(value)
    nothing = [np.zeros(part.files, np.bool_) for part in parts]
    left = cut(plan, [LimitedPart(0, ordered=False, files=files, groups=None) for files in nothing])
    return Answers(tuple(values), left)


def _answer(
    levels: _ExpressionLevels, aggregate: MetadataAggregate, rows: Literal | Unproven
) -> Literal | Unproven:
    answer: Literal | Unproven = Unproven("not every file was looked into")
    for level in levels.usable():
        if level.raises.any():
            return Unproven(f"{level.name} may fail")
        if aggregate.function is Function.COUNT:
            answer = _present(level, rows)
        else:
            answer = _extreme(level, aggregate.function)
        if isinstance(answer, Literal):
            return answer
    return answer


def _rows(low: int | None, high: int | None) -> Literal | Unproven:
    """The value of `count(*)`."""
    if low is None or high is None:
        return Unproven("not every file says how many rows it has")
    return Literal(low, BIGINT) if low == high else Unproven(f"{low:,} to {high:,} rows match")


class _AnswerPart(Struct, frozen=True):
    """One part: its number of files, and at least and at most how many of its rows match.

    `levels` has one entry per aggregate, None for an aggregate without an expression.
    """

    files: int
    low: int | None
    high: int | None
    levels: tuple[_ExpressionLevels | None, ...]

    @classmethod
    def of(cls, plan: ScanPlan, aggregates: tuple[MetadataAggregate, ...]) -> _AnswerPart:
        plan = before_limit(plan)
        evidence = plan.evidence
        low, high = (total(f(evidence)) for f in (surely_matching, perhaps_matching))
        levels = (
            None if a.expression is None else _ExpressionLevels.of(plan, a.expression)
            for a in aggregates
        )
        return cls(evidence.files.count, low, high, tuple(levels))


class _ExpressionLevels(Struct, frozen=True):
    """The metadata of an expression on each level.

    `files` is None where only footers describe files, `groups` where no footer was opened. `seen`:
    the footers of all files that may match were opened.
    """

    files: ExpressionLevel | None
    groups: ExpressionLevel | None
    seen: bool

    @classmethod
    def of(cls, plan: ScanPlan, expression: Expression) -> _ExpressionLevels:
        evidence = plan.evidence
        files, groups = of_files(evidence), of_row_groups(evidence)
        return cls(
            None
            if evidence.describing_groups is not None
            else ExpressionLevel.of(files, files.kept, expression, plan),
            None if groups is None else ExpressionLevel.of(groups, groups.kept, expression, plan),
            bool(evidence.file_level.opened[files.kept].all()),
        )

    def __add__(self, other: _ExpressionLevels) -> _ExpressionLevels:
        return _ExpressionLevels(
            _sum_of_levels(self.files, other.files),
            _sum_of_levels(self.groups, other.groups),
            self.seen and other.seen,
        )

    def usable(self) -> Iterator[ExpressionLevel]:
        if self.files is not None:
            yield self.files
        if self.groups is not None and self.seen:
            yield self.groups


def _sum_of_levels(
    left: ExpressionLevel | None, right: ExpressionLevel | None
) -> ExpressionLevel | None:
    if left is None or right is None:
        return left or right
    return left + right


def _present(level: ExpressionLevel, rows: Literal | Unproven) -> Literal | Unproven:
    """The value of `count(x)`: all rows minus those that are NULL."""
    if isinstance(rows, Unproven) or not level.null.any():
        return rows
    nulls = np.where(level.null, level.nulls, 0)
    if (level.present & ~(level.whole & (nulls != UNCOUNTED))).any():
        return Unproven(f"no metadata says in how many of the matching rows {level.name} is NULL")
    return Literal(int((level.rows - nulls)[level.present].sum()), BIGINT)


def _extreme(level: ExpressionLevel, function: Function) -> Literal | Unproven:
    """The value of `min(x)` or `max(x)`: the outermost bound, if a row surely has it."""
    name, value = level.name, level.value
    if level.nan.any() and (function is Function.MAX or not value.any()):
        return Unproven(f"{name} may be NaN")
    if not value.any():
        return Literal(None, level.type)
    if pa.types.is_null(level.lower.type):
        return Unproven(f"{name} has no order")
    upper = function is Function.MAX
    ends = level.upper if upper else level.lower
    sure = pa.array((level.upper_attained if upper else level.lower_attained) & value)
    if not sure.true_count:
        return Unproven(f"no bound of {name} is sure to be a value of a row that matches")
    outermost = (pc.max if upper else pc.min)(ends.filter(sure))
    beyond = flags(may(greater if upper else less, ends, outermost), len(value))
    if (beyond & value).any():
        return Unproven(f"{name} may go beyond the values that bounds are sure of")
    return _literal(outermost, level)


def _literal(outermost: pa.Scalar, level: ExpressionLevel) -> Literal | Unproven:
    kind = level.type
    try:
        value = arrow.value(outermost, kind)
    except UnicodeDecodeError:
        return Unproven(f"a bound of {level.name} is no text")
    # Writers make a least zero -0.0: the two are equal, and people write 0.0.
    return Literal(value + 0.0 if isinstance(value, float) else value, kind)
