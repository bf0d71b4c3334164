"""Aggregates that metadata alone answers: no file is read.

| aggregate | what must be known |
|---|---|
| `count(*)` | of every file whether none or all of its live rows match, and how many they are |
| `count(x)` | the same, and how many of the matching rows are NULL |
| `max(x)` | a bound that a live, matching row has, which no bound of another file exceeds; no NaN |
| `min(x)` | likewise; NaN is the greatest value, so that it does not matter beside another |
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.judgement import flags
from whyscan.planning.limit import Unproven, before_limit, cut
from whyscan.planning.matching import (
    UNCOUNTED,
    counts,
    of_files,
    of_row_groups,
    perhaps_matching,
    surely_matching,
)
from whyscan.planning.plan import Limit
from whyscan.planning.planner import total
from whyscan.predicate import arrow
from whyscan.predicate.render import to_sql
from whyscan.predicate.tree import Literal
from whyscan.predicate.types import BIGINT
from whyscan.pruning.interval import greater, less
from whyscan.pruning.mask import both, may, opposite, written_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.judgement import Flags
    from whyscan.planning.matching import Population
    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.predicate.tree import Expression
    from whyscan.pruning.exact import Exact
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Mask


class Function(Enum):
    """The aggregates that metadata may answer."""

    COUNT = "count"
    MIN = "min"
    MAX = "max"


class Aggregate(Struct, frozen=True):
    """One of them, over all matching rows. `count(*)` has no expression, the others have one."""

    function: Function
    expression: Expression | None = None


class Answers(Struct, frozen=True):
    """One value for each aggregate, and the plan that is left: it reads no file."""

    values: tuple[Literal, ...]
    plan: ScanPlan


def answers(plan: ScanPlan, asked: Sequence[Aggregate]) -> Answers | Unproven:
    """What metadata alone answers, for all aggregates or for none.

    The columns of their expressions must be among the predicate's, or `measured` in the plan's
    options.
    """
    plan = before_limit(plan)
    values = []
    for aggregate in asked:
        value = _answer(plan, aggregate)
        if isinstance(value, Unproven):
            return value
        values.append(value)
    nothing = np.zeros(plan.evidence.files.count, np.bool_)
    left = cut(plan, Limit(0, ordered=False, before=plan.evidence), nothing, None)
    return Answers(tuple(values), left)


def _answer(plan: ScanPlan, aggregate: Aggregate) -> Literal | Unproven:
    if aggregate.expression is None:
        return _rows(plan)
    found: Literal | Unproven = Unproven("not every file was looked into")
    for level in _levels(plan, aggregate.expression):
        if (level.here(level.interval.raises) & level.kept).any():
            return Unproven(f"{level.name} may fail")
        if aggregate.function is Function.COUNT:
            found = _present(level, _rows(plan))
        else:
            found = _extreme(level, aggregate.function)
        if isinstance(found, Literal):
            return found
    return found


def _rows(plan: ScanPlan) -> Literal | Unproven:
    """`count(*)`."""
    low, high = (total(f(plan.evidence)) for f in (surely_matching, perhaps_matching))
    if low is None or high is None:
        return Unproven("not every file says how many rows it has")
    return Literal(low, BIGINT) if low == high else Unproven(f"{low:,} to {high:,} rows match")


class _Level(Struct, frozen=True):
    """Containers that hold every row which may match, and what is known of an expression there."""

    name: str
    rows: Population
    interval: Interval
    exact: Exact

    @property
    def kept(self) -> Flags:
        return self.rows.kept

    def here(self, mask: Mask) -> Flags:
        return flags(mask, self.rows.containers.count)


def _levels(plan: ScanPlan, expression: Expression) -> Iterator[_Level]:
    """Files, where more than footers describes them; row groups, where those of all were seen."""
    files, groups = of_files(plan.evidence), of_row_groups(plan.evidence)
    chosen = [] if plan.snapshot.footers_describe_files else [files]
    if groups is not None and _seen(plan.evidence, files.kept):
        chosen.append(groups)
    for rows in chosen:
        interval = rows.interval(expression, plan)
        yield _Level(to_sql(expression), rows, interval, rows.exact(expression))


def _seen(evidence: Evidence, files: Flags) -> bool:
    seen = np.zeros(len(files), np.bool_)
    if evidence.groups is not None:
        seen[evidence.groups.opened.to_numpy()] = True
    return bool(seen[files].all())


def _present(level: _Level, rows: Literal | Unproven) -> Literal | Unproven:
    """`count(x)`: all rows less those that are NULL."""
    null, present = level.here(level.interval.null), level.here(level.interval.present)
    if isinstance(rows, Unproven) or not (null & level.kept).any():
        return rows
    told = level.exact.nulls
    known = np.full(len(null), UNCOUNTED) if told is None else counts(told, UNCOUNTED)
    nulls = np.where(null, known, 0)
    asked = level.kept & present
    if (asked & ~(level.rows.whole & (nulls != UNCOUNTED))).any():
        return Unproven(f"nobody counted in how many of the matching rows {level.name} is NULL")
    return Literal(int((level.rows.rows - nulls)[asked].sum()), BIGINT)


def _extreme(level: _Level, function: Function) -> Literal | Unproven:
    """`min(x)` or `max(x)`: the outermost bound, where a row has it."""
    interval, name = level.interval, level.name
    nan, value = (level.here(mask) & level.kept for mask in (interval.nan, interval.value))
    if nan.any() and (function is Function.MAX or not value.any()):
        return Unproven(f"{name} may be NaN")
    if not value.any():
        return Literal(None, interval.type)
    kind = arrow.arrow_type(interval.type)
    if pa.types.is_null(kind):
        return Unproven(f"{name} has no order")
    upper = function is Function.MAX
    ends = written_out(interval.upper if upper else interval.lower, len(value), kind)
    sure = pa.array(_attained(level, upper=upper) & value)
    if not sure.true_count:
        return Unproven(f"no bound of {name} is sure to be a value of a row that matches")
    outermost = (pc.max if upper else pc.min)(ends.filter(sure))
    beyond = level.here(may(greater if upper else less, ends, outermost))
    if (beyond & value).any():
        return Unproven(f"{name} may go beyond the values that bounds are sure of")
    return _literal(outermost, level)


def _attained(level: _Level, *, upper: bool) -> Flags:
    """Where some live row that matches has the bound: it was recorded so, or is the only value."""
    interval = level.interval
    recorded = level.here(level.exact.upper if upper else level.exact.lower) & level.rows.whole
    single = both(interval.point(), opposite(interval.null), opposite(interval.nan))
    found: Flags = recorded | (level.here(single) & level.rows.every & (level.rows.sure > 0))
    return found


def _literal(outermost: pa.Scalar, level: _Level) -> Literal | Unproven:
    kind = level.interval.type
    try:
        value = arrow.value(outermost, kind)
    except UnicodeDecodeError:
        return Unproven(f"a bound of {level.name} is no text")
    # Writers make a least zero -0.0: the two are equal, and people write 0.0.
    return Literal(value + 0.0 if isinstance(value, float) else value, kind)
