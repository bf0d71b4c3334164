"""The interpreter: evaluates a predicate over containers, to one truth set per container.

`truth_of` evaluates predicates and `interval_of` evaluates values; they call each other.
"""

from __future__ import annotations

from functools import cache, partial, reduce
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning import truth
from whyscan.pruning.comparison import (
    compare,
    compare_with_itself,
    with_signed_nan,
    with_unordered_nan,
)
from whyscan.pruning.domains import may_satisfy_together
from whyscan.pruning.functions import apply, arithmetic, cast, coalesced, like
from whyscan.pruning.interval import Interval, anything, hull, of_literal, only_null, restrict
from whyscan.pruning.mask import Mask, both, either
from whyscan.pruning.membership import member
from whyscan.pruning.representable_values import compared_on_grid, listed_on_grid
from whyscan.pruning.transforms import in_bucket, is_transform, transform_interval
from whyscan.pruning.value_filters import in_filter
from whyscan.tree.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparator,
    Comparison,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    NanOrder,
    Not,
    Opaque,
    Or,
    type_of,
    walk,
)
from whyscan.tree.types import BinaryType, StringType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.pruning.containers import Containers
    from whyscan.pruning.functions import Zone
    from whyscan.pruning.truth import Truth


class ContainerBatch(Struct, frozen=True):
    """The input of an evaluation: the containers, and the time zone in which instants are shown."""

    containers: Containers
    zone: Zone


def evaluate(expression: Expression, containers: Containers, zone: Zone) -> Truth:
    """The truth values that rows of each container may have; none for a container without rows."""
    possible = truth_of(expression, ContainerBatch(containers, zone))
    return possible.map(lambda mask: both(containers.occupied, mask))


def truth_of(expression: Expression, batch: ContainerBatch) -> Truth:
    """The truth set of a predicate."""
    match expression:
        case And():
            return _conjunction(expression, batch)
        case Or():
            return _disjunction(expression, batch)
        case Not():
            return truth.negation(truth_of(expression.operand, batch))
        case Comparison():
            return _comparison(expression, batch)
        case Between():
            low = Comparison(Comparator.GREATER_EQUAL, expression.operand, expression.low)
            high = Comparison(Comparator.LESS_EQUAL, expression.operand, expression.high)
            return _conjunction(And((low, high)), batch)
        case In():
            listed = member(interval_of(expression.operand, batch), listed_on_grid(expression))
            return _hashed(listed, expression, batch)
        case IsNull():
            return truth.is_null(interval_of(expression.operand, batch))
        case Like():
            return like(_text_argument(expression.operand, batch), expression)
        case Opaque():
            return truth.ANY
        case _:
            return truth.of_boolean(interval_of(expression, batch))


def interval_of(expression: Expression, batch: ContainerBatch) -> Interval:
    """The interval of the values of an expression."""
    match expression:
        case Column():
            return batch.containers.interval(expression)
        case Literal():
            return of_literal(expression)
        case Opaque():
            return anything(expression.type, raises=True)
        case Cast():
            return cast(interval_of(expression.operand, batch), expression, batch.zone)
        case Arithmetic():
            left, right = (interval_of(e, batch) for e in (expression.left, expression.right))
            return arithmetic(expression, left, right, batch.zone)
        case Call(function="nullif", arguments=(first, second)) if _are_the_same(first, second):
            return replace(only_null(expression.type), raises=interval_of(first, batch).raises)
        case Call():
            arguments = [_text_argument(e, batch) for e in expression.arguments]
            if is_transform(expression):
                return transform_interval(expression, arguments, batch.containers)
            return apply(expression, arguments, batch.zone)
        case Coalesce():
            return coalesced([interval_of(e, batch) for e in expression.operands])
        case Case():
            return _case(expression, batch)
        case _:
            return truth.to_boolean(truth_of(expression, batch))


def _text_argument(expression: Expression, batch: ContainerBatch) -> Interval:
    """The interval of a function's argument, without bounds where a text may not be UTF-8.

    The rules of text functions hold for UTF-8, above whose bytes 0xFF stands. A cast from binary
    to string keeps every byte, 0xFF among them.
    """
    x = interval_of(expression, batch)
    if isinstance(x.type, StringType) and any(_is_text_of_bytes(node) for node in walk(expression)):
        return replace(x, lower=None, upper=None)
    return x


def _is_text_of_bytes(node: Expression) -> bool:
    return (
        isinstance(node, Cast)
        and isinstance(node.type, StringType)
        and isinstance(type_of(node.operand), BinaryType)
    )


def conjoin(
    expressions: Sequence[Expression], truths: Sequence[Truth], containers: Containers
) -> Truth:
    """AND. Conjuncts on the same column must be TRUE for one common value of that column."""
    together = partial(may_satisfy_together, expressions, containers)
    return truth.conjunction(truths).only_if(true=together)


def _conjunction(expression: And, batch: ContainerBatch) -> Truth:
    operands = expression.operands
    return conjoin(operands, [truth_of(e, batch) for e in operands], batch.containers)


def _disjunction(expression: Or, batch: ContainerBatch) -> Truth:
    """OR. If an operand tests a column for NULL, evaluate with the column NULL and not NULL.

    `c IS NULL OR NOT c LIKE 'x%'` is NULL only if c is NULL, and for such a row it is TRUE. The
    possibility of TRUE needs no second evaluation: one operand alone decides it.
    """
    combined = truth.disjunction([truth_of(e, batch) for e in expression.operands])
    column = next((c for e in expression.operands if (c := _tested_for_null(e)) is not None), None)
    if column is None:
        return combined
    x = batch.containers.interval(column)

    @cache
    def turns() -> tuple[Truth, Truth]:
        null = _disjoined(expression, batch, column, only_null(x.type))
        return null, _disjoined(expression, batch, column, replace(x, null=False))

    def by_turns(of: Callable[[Truth], Mask]) -> Mask:
        null, value = turns()
        return either(both(x.null, of(null)), both(x.present, of(value)))

    return combined.only_if(
        false=lambda: by_turns(lambda turn: turn.false),
        null=lambda: by_turns(lambda turn: turn.null),
    )


def _disjoined(expression: Or, batch: ContainerBatch, column: Column, x: Interval) -> Truth:
    """The OR over the same containers, with the interval `x` for one column."""
    containers = batch.containers
    statistics = {path: i for path, i in containers.statistics.items() if path != column.path}
    turned = replace(
        containers, partition={**containers.partition, column.path: x}, statistics=statistics
    )
    inside = ContainerBatch(turned, batch.zone)
    return truth.disjunction([truth_of(e, inside) for e in expression.operands])


def _tested_for_null(expression: Expression) -> Column | None:
    match expression:
        case IsNull(operand=Column() as column) | Not(operand=IsNull(operand=Column() as column)):
            return column
        case _:
            return None


def _comparison(expression: Comparison, batch: ContainerBatch) -> Truth:
    left = interval_of(expression.left, batch)
    are_the_same = _are_the_same(expression.left, expression.right)
    if are_the_same:
        right = left
        compared = compare_with_itself(expression.operator, left)
    else:
        right = interval_of(expression.right, batch)
        compared = compared_on_grid(compare(expression.operator, left, right), expression)
    if expression.nan_order is NanOrder.SIGNED:
        # A value and itself have one sign.
        return compared if are_the_same else with_signed_nan(compared, left, right)
    if expression.nan_unordered:
        never_greatest = expression.nan_order is NanOrder.UNORDERED
        return with_unordered_nan(
            expression.operator, compared, left, right, never_greatest=never_greatest
        )
    return compared if are_the_same else _in_buckets(compared, expression, batch)


def _in_buckets(compared: Truth, expression: Comparison, batch: ContainerBatch) -> Truth:
    """The truth of a comparison, where an equality is TRUE only within a container's buckets."""
    if expression.operator in (Comparator.EQUAL, Comparator.NULL_SAFE_EQUAL):
        return _hashed(compared, expression, batch)
    if expression.operator is Comparator.NOT_EQUAL:
        # FALSE means that both are equal: `NOT (x <> 5)` uses the buckets of `x = 5`.
        equal = Comparison(Comparator.EQUAL, expression.left, expression.right)
        return truth.negation(_hashed(truth.negation(compared), equal, batch))
    return compared


def _are_the_same(first: Expression, second: Expression) -> bool:
    """Both expressions have the same value in each row. An opaque expression may be random."""
    return first == second and not any(isinstance(node, Opaque) for node in walk(first))


def _hashed(compared: Truth, expression: Comparison | In, batch: ContainerBatch) -> Truth:
    """An equality can be TRUE only if a bucket and a filter of the container may hold its value."""
    containers = batch.containers
    if containers.filters:
        compared = compared.only_if(true=lambda: in_filter(expression, containers))
    if not containers.buckets:
        return compared
    return compared.only_if(true=lambda: in_bucket(expression, containers))


def _case(expression: Case, batch: ContainerBatch) -> Interval:
    """The hull of the branches that a row may take.

    A row may take a branch if its condition may be TRUE and every earlier condition may be FALSE or
    NULL.
    """
    branches: list[Interval] = []
    reached: Mask = True
    raises: Mask = False
    for condition, value in expression.branches:
        tested = truth_of(condition, batch)
        branches.append(restrict(interval_of(value, batch), both(reached, tested.true)))
        raises = either(raises, both(reached, tested.raises))
        reached = both(reached, either(tested.false, tested.null))
    branches.append(restrict(interval_of(expression.otherwise, batch), reached))
    union = reduce(hull, branches)
    return replace(union, type=type_of(expression), raises=either(union.raises, raises))
