"""Predicates that differ in their literals alone are evaluated together, by the law of columns.

A literal is an interval of one point. So a literal can be a column with one value per container:
100 predicates of one form on 1,000 files are one predicate on 100,000 containers, each a file
together with the literals of one predicate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.judgement import flags
from whyscan.pruning.evaluate import conjoin, evaluate
from whyscan.pruning.interval import Interval
from whyscan.tree import arrow, zones
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import (
    And,
    Between,
    Column,
    Comparator,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
    Or,
    children,
    walk,
    with_children,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Expression, Predicate, Value

    Flags = npt.NDArray[np.bool_]

LISTED_AT_MOST = 16
"""A longer list of `IN` is not written as comparisons."""
_CONTAINERS_AT_MOST = 1 << 20
_LITERALS = ("literals of the query",)
_PLAIN = (And, Or, Not, Comparison, Between, IsNull, Column, Literal)


class SimilarPredicates(Struct, frozen=True, dict=True):
    """Predicates of one form. `at` are their positions; `literals` has one row per predicate."""

    expressions: tuple[Expression, ...]
    zone: str
    at: tuple[int, ...]
    literals: tuple[tuple[Value, ...], ...]

    @lazy
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table and of the literals."""
        nodes = (node for expression in self.expressions for node in walk(expression))
        return tuple(dict.fromkeys(node for node in nodes if isinstance(node, Column)))

    def kept(self, containers: Containers) -> Flags:
        """One row per predicate, one flag per container: the container may match."""
        step = max(1, _CONTAINERS_AT_MOST // max(1, containers.count))
        batches = [self.literals[at : at + step] for at in range(0, len(self.at), step)]
        return np.concatenate([self._kept(containers, batch) for batch in batches])

    def _kept(self, containers: Containers, literals: Sequence[tuple[Value, ...]]) -> Flags:
        count, many = containers.count, len(literals)
        unrelated = replace(containers, exact={}, contradicted={}, unreadable={}, blocks=None)
        repeated = unrelated.only(self.columns).take(pa.array(np.tile(np.arange(count), many)))
        owner = pa.array(np.repeat(np.arange(many), count))
        points = {}
        for column in self.columns:
            if is_literal(column):
                number = int(column.path[-1])
                values = arrow.array([row[number] for row in literals], column.type).take(owner)
                points[column.path] = Interval(column.type, values, values, null=False)
        joined = replace(repeated, statistics={**repeated.statistics, **points})
        zone = zones.zone(self.zone)
        truths = [evaluate(expression, joined, zone) for expression in self.expressions]
        possible = conjoin(self.expressions, truths, joined).true
        return flags(possible, count * many).reshape(many, count)


def is_literal(column: Column) -> bool:
    """Whether a column stands for a literal."""
    return column.path[:-1] == _LITERALS


def group_similar(
    predicates: Iterable[Predicate],
) -> tuple[list[SimilarPredicates], list[int]]:
    """Group predicates by their form; also return the positions of those that stand alone.

    A predicate stands alone if it has expressions other than comparisons of columns and literals,
    or two conditions on one column: how they exclude each other is computed from the literals.
    """
    groups: dict[tuple[tuple[Expression, ...], str], list[tuple[int, tuple[Value, ...]]]] = {}
    alone = []
    for at, predicate in enumerate(predicates):
        values: list[Value] = []
        forms = tuple(_form(conjunct.expression, values) for conjunct in predicate.conjuncts)
        named = [column for conjunct in predicate.conjuncts for column in conjunct.columns]
        is_plain = all(isinstance(node, _PLAIN) for form in forms for node in walk(form))
        if values and is_plain and len(set(named)) == len(named):
            groups.setdefault((forms, predicate.zone), []).append((at, tuple(values)))
        else:
            alone.append(at)
    similar = [
        SimilarPredicates(
            forms, zone, tuple(at for at, _ in members), tuple(row for _, row in members)
        )
        for (forms, zone), members in groups.items()
    ]
    return similar, alone


def _form(expression: Expression, values: list[Value]) -> Expression:
    """The expression with columns for its literals, whose values are added to `values`."""

    def column(literal: Literal) -> Column:
        values.append(literal.value)
        return Column((*_LITERALS, str(len(values) - 1)), literal.type)

    match expression:
        # That no value lies between 3 and 2 is computed from the literals: such a range stays.
        case Comparison(left=Column(), right=Literal() as literal) if _is_point(literal):
            return replace(expression, right=column(literal))
        case Comparison(left=Literal() as literal, right=Column()) if _is_point(literal):
            return replace(expression, left=column(literal))
        case Between(operand=Column(), low=Literal() as low, high=Literal() as high) if (
            _is_point(low) and _is_point(high) and _is_ascending(low, high)
        ):
            return replace(expression, low=column(low), high=column(high))
        case In(operand=Column() as operand, null=False, nan=False) if (
            0 < len(expression.values) <= LISTED_AT_MOST
        ):
            # Lists of 3 and of 4 values have one form: the last value stands more than once.
            count = 1 << (len(expression.values) - 1).bit_length()
            places = [min(place, len(expression.values) - 1) for place in range(count)]
            listed = [arrow.value(expression.values[place], operand.type) for place in places]
            literals = [column(Literal(value, operand.type)) for value in listed]
            comparisons = tuple(Comparison(Comparator.EQUAL, operand, c) for c in literals)
            return comparisons[0] if count == 1 else Or(comparisons)
        case Or() | And() | Not():
            return with_children(expression, [_form(e, values) for e in children(expression)])
        case _:
            return expression


def _is_point(literal: Literal) -> bool:
    """Whether the literal is a value: neither NULL nor NaN."""
    return literal.value is not None and literal.value == literal.value


def _is_ascending(low: Literal, high: Literal) -> bool:
    return bool(pc.less_equal(low.scalar, high.scalar).as_py())
