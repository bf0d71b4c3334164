"""Predicates made from a table's own values, each with its truth on the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.mask import materialise
from whyscan.pruning.truth import matches_all
from whyscan.tree import arrow
from whyscan.tree.nodes import Comparator, Comparison, In, IsNull, Literal, Not
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Column

KERNELS = {
    Comparator.EQUAL: pc.equal,
    Comparator.NOT_EQUAL: pc.not_equal,
    Comparator.LESS: pc.less,
    Comparator.LESS_EQUAL: pc.less_equal,
    Comparator.GREATER: pc.greater,
    Comparator.GREATER_EQUAL: pc.greater_equal,
}
ABOVE = {pc.not_equal, pc.greater, pc.greater_equal}


@dataclass(frozen=True)
class PredicateCase:
    expression: Any
    truth_of: Callable[[pa.Array], pa.Array]


def complaints(
    column: Column, containers: Containers, data: Sequence[pa.Array | None], at_most: int = 12
) -> Iterator[str]:
    """Rows lost and false `all`s; `data` are the values of each container, None where unknown.

    `at_most` values of the column, and its ends, are asked for.
    """
    filled = [values for values in data if values is not None]
    if not filled:
        return
    for case in predicates(column, pa.concat_arrays(filled), at_most):
        possible = evaluate(case.expression, containers, zone("UTC"))
        kept = materialise(possible.true, containers.count).to_pylist()
        every = materialise(matches_all(possible), containers.count).to_pylist()
        for at, values in enumerate(data):
            if values is None:
                continue
            truth = case.truth_of(values)
            if not kept[at] and pc.any(truth, min_count=0).as_py():
                yield f"lost a row: {case.expression} in container {at}"
            if every[at] and truth.fill_null(False).false_count:
                yield f"false all: {case.expression} in container {at}"


def predicates(column: Column, values: pa.Array, at_most: int) -> Iterator[PredicateCase]:
    yield PredicateCase(IsNull(column), pc.is_null)
    yield PredicateCase(Not(IsNull(column)), pc.is_valid)
    for value in chosen(values, at_most):
        literal = Literal(arrow.value(value, column.type), column.type)
        for operator, kernel in KERNELS.items():
            comparison = Comparison(operator, column, literal)
            yield PredicateCase(comparison, against(kernel, value))
            yield PredicateCase(Not(comparison), against(kernel, value, negated=True))
        one = pa.array([value.as_py()], values.type)
        yield PredicateCase(In(column, one, null=False, nan=False), against(pc.equal, value))


def chosen(values: pa.Array, at_most: int) -> list[pa.Scalar]:
    """The ends and some between; NaN is none of them."""
    distinct = values.unique().drop_null()
    if pa.types.is_floating(distinct.type):
        distinct = distinct.filter(pc.invert(pc.is_nan(distinct)))
    if not pa.types.is_boolean(distinct.type):
        distinct = distinct.take(pc.sort_indices(distinct))
    step = max(1, (len(distinct) - 1) // (at_most - 1))
    picked = {*range(0, len(distinct), step), max(len(distinct) - 1, 0)}
    return [distinct[at] for at in sorted(picked)] if len(distinct) else []


def against(kernel: Any, value: pa.Scalar, *, negated: bool = False) -> Any:
    """NaN is the greatest value."""

    def truth(values: pa.Array) -> pa.Array:
        truth_values = kernel(values, value)
        if pa.types.is_floating(values.type):
            truth_values = pc.if_else(pc.is_nan(values), kernel in ABOVE, truth_values)
        return pc.invert(truth_values) if negated else truth_values

    return truth
