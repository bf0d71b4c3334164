"""Derives conditions on one side of `f(a) = g(b)` from conditions on the other: the image of f.

Conditions leave the values of a column in ranges. f maps each range to a range that contains all
its results, and a point to a point where possible. So g(b) lies in these ranges for every pair that
the equality joins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.equivalence import LISTED_AT_MOST
from whyscan.planning.why.equivalence import where_true as spans_of
from whyscan.predicate.binding.comparisons import all_of, as_set
from whyscan.pruning.containers import Containers
from whyscan.pruning.domains import where_true
from whyscan.pruning.domains.ranges import ValueRange, successor, value_of
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.interval import between
from whyscan.pruning.mask import as_array
from whyscan.statements.joins.supply import extreme
from whyscan.statements.roles import Origin
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    And,
    Cast,
    Column,
    Comparator,
    Comparison,
    In,
    Literal,
    columns_of,
    type_of,
)
from whyscan.tree.rewrite import substituted
from whyscan.tree.types import DateType, DecimalType, IntegerType, StringType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.interval import Interval
    from whyscan.statements.findings.equalities import Side
    from whyscan.statements.placement.facts import Fact
    from whyscan.tree.nodes import Expression, Value
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone

Ends: TypeAlias = "tuple[Value, Value]"
"""The least and the greatest value of a range; None is an open end."""

_STEPPED = (IntegerType, DateType, TimestampType, DecimalType)
"""Types in which the value before the end of a range is the end minus one."""


def image(side: Side, facts: Sequence[Fact], other: Side, zone: Zone) -> Expression | None:
    """A condition on the other side that follows from the facts about this side's column."""
    conditions = tuple(fact.expression for fact in facts if fact.origin is not Origin.JOIN)
    domain = where_true(And(conditions)).get(side.base) if conditions else None
    # A function may turn NULL into a value, and NaN is in no range.
    if domain is None or domain.null or domain.nan or not len(domain.values):
        return None
    ends = _ends(domain.values, side.base.type)
    if all(low is None and high is None for low, high in ends):
        return None
    condition = _mapped(side, ends, other, zone)
    single = _single_values(ends, side.base.type) if condition is None else None
    return condition if single is None else _mapped(side, single, other, zone)


def _mapped(side: Side, ends: Sequence[Ends], other: Side, zone: Zone) -> Expression | None:
    """A condition from the results of the function where its column lies between these ends."""
    expression = substituted(side.expression, lambda _: side.base)
    if expression is None:
        return None
    lower, upper = (arrow.array([end[at] for end in ends], side.base.type) for at in (0, 1))
    rows = pa.repeat(pa.scalar(2, pa.int64()), len(ends))
    statistics = {side.base.path: between(side.base.type, lower, upper)}
    interval = interval_of(
        expression, ContainerBatch(Containers(len(ends), rows, statistics), zone)
    )
    return _lies_in(interval, len(ends), other)


def _single_values(ends: Sequence[Ends], kind: Type) -> list[Ends] | None:
    """Short ranges of integers or days as single values; None where a range is not short."""
    values: list[Ends] = []
    for low, high in ends:
        if not isinstance(low, int) or not isinstance(high, int) or high - low >= LISTED_AT_MOST:
            return None
        values += [(value, value) for value in range(low, high + 1)]
    plain = isinstance(kind, IntegerType | DateType) and len(values) <= LISTED_AT_MOST
    return values if plain else None


def _ends(values: tuple[ValueRange, ...] | pa.Array, kind: Type) -> list[Ends]:
    """The least and greatest value of each range; None is an open end."""
    if isinstance(values, pa.Array):
        return [(v, v) for v in (arrow.value(value, kind) for value in values)]
    return [_closed(item, kind) for item in values]


def _closed(item: ValueRange, kind: Type) -> Ends:
    """The least and the greatest value of a range whose upper end is excluded."""
    low = None if item.low is None else value_of(item.low, kind)
    if item.high is None:
        return low, None
    if item.low is not None and successor(item.low, kind) == item.high:
        return low, low
    last = item.high - 1 if isinstance(kind, _STEPPED) else item.high
    return low, value_of(last, kind)


def _lies_in(interval: Interval, count: int, other: Side) -> Expression | None:
    """The condition that `other` lies in the interval; None where it may be any value or none."""
    if flags(interval.nan, count).any() or not flags(interval.value, count).all():
        return None
    kind = arrow.arrow_type(interval.type)
    lower, upper = (as_array(end, count, kind) for end in (interval.lower, interval.upper))
    if not lower.null_count and lower.equals(upper):
        points = [extreme(lower.slice(at, 1), interval.type, least=True) for at in range(count)]
        return _listed([_in_type(point, other) for point in points], other)
    low, high = (
        extreme(lower, interval.type, least=True),
        extreme(upper, interval.type, least=False),
    )
    ends = [
        (operator, _in_type(end, other))
        for operator, end in ((Comparator.GREATER_EQUAL, low), (Comparator.LESS_EQUAL, high))
        if end is not None
    ]
    conditions = [
        Comparison(operator, other.expression, end) for operator, end in ends if end is not None
    ]
    return all_of(conditions) if conditions and len(conditions) == len(ends) else None


def _listed(literals: Sequence[Literal | None], other: Side) -> Expression | None:
    values = [literal for literal in literals if literal is not None]
    if len(values) < len(literals):
        return None
    if len(set(values)) == 1:
        return Comparison(Comparator.EQUAL, other.expression, values[0])
    return In(other.expression, *as_set([literal.value for literal in values], values[0].type))


def _in_type(literal: Literal | None, other: Side) -> Literal | None:
    """The value in the other side's type, maybe a narrower integer; None if it does not fit."""
    target = type_of(other.expression)
    match literal:
        case None:
            return None
        case Literal(type=kind) if kind == target:
            return literal
        case Literal(value=int() as value, type=IntegerType()) if isinstance(target, IntegerType):
            return Literal(value, target) if target.least <= value <= target.greatest else None
        case _:
            return None


def bare(expression: Expression, zone: Zone) -> tuple[Expression, str] | None:
    """The same condition on the bare column, with the proof; None where there is no proof."""
    spans = spans_of(expression, zone)
    ranges = None if spans is None else spans.as_ranges()
    if spans is not None and ranges is not None:
        return ranges, spans.proof
    return _number_of_text(expression)


def _number_of_text(expression: Expression) -> tuple[Expression, str] | None:
    """`i = 5` for `CAST(i AS STRING) = '5'`: an integer is written in one way only."""
    match expression:
        case Comparison(
            Comparator.EQUAL,
            Cast(operand=Column(type=IntegerType() as kind) as column, type=StringType()),
            Literal(value=str() as text),
        ):
            number = int(text) if text.removeprefix("-").isdecimal() and text.isascii() else None
            if number is None or str(number) != text or not kind.least <= number <= kind.greatest:
                return None
            equality = Comparison(Comparator.EQUAL, column, Literal(number, kind))
            return equality, "an integer is written in one way only"
        case _:
            return None


def as_text(expression: Expression) -> Expression | None:
    """`s = '5'` for `CAST(s AS BIGINT) = 5`, which is not the same: '05' is 5 too."""
    match expression:
        case Comparison(
            Comparator.EQUAL,
            Cast(operand=Column(type=StringType() as kind) as column),
            Literal(value=int() as number, type=IntegerType()),
        ):
            return Comparison(Comparator.EQUAL, column, Literal(str(number), kind))
        case _:
            return None


def is_bare(expression: Expression) -> bool:
    """Whether no column is inside a function."""
    match expression:
        case Comparison(left=Column(), right=Literal()) | In(operand=Column()):
            return True
        case And():
            return all(map(is_bare, expression.operands))
        case _:
            return not columns_of(expression)
