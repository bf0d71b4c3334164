"""Bucket partitions: a literal is hashed forward, because a hash has no preimage interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate import arrow
from whyscan.predicate.tree import Column, Comparator, Comparison, Expression, In, Literal
from whyscan.pruning.functions.rules import mapped
from whyscan.pruning.functions.ticks import ticks_of
from whyscan.pruning.mask import Mask, all_of
from whyscan.pruning.membership import any_within
from whyscan.pruning.representation import alike, column_below
from whyscan.pruning.transforms.forward import forward
from whyscan.pruning.transforms.transform import Bucket

if TYPE_CHECKING:
    from whyscan.predicate.types import Type
    from whyscan.pruning.containers import Buckets


def in_bucket(expression: Comparison | In, buckets: tuple[Buckets, ...]) -> Mask:
    """`column = v` and `column IN (v, …)` can be TRUE only where some v falls into a bucket.

    Whatever else the expression is, it may be TRUE anywhere.
    """
    asked = _column_and_values(expression)
    if asked is None:
        return True
    column, values = asked
    return all_of(_may_hold(b, column.type, values) for b in buckets if b.source == column.path)


def _may_hold(buckets: Buckets, kind: Type, values: pa.Array) -> Mask:
    numbers = forward(Bucket(buckets.count), kind, values)
    if numbers is None:
        return True
    distinct = pc.unique(numbers)
    lower, upper = (mapped(ticks_of, end) for end in (buckets.lower, buckets.upper))
    return any_within(lower, upper, distinct.take(pc.sort_indices(distinct)))


def _column_and_values(expression: Comparison | In) -> tuple[Column, pa.Array] | None:
    match expression:
        case In():
            column = column_below(expression.operand)
            return None if column is None else (column, expression.values)
        case Comparison(Comparator.EQUAL | Comparator.NULL_SAFE_EQUAL, Literal() as literal, other):
            return _column_and_value(other, literal)
        case Comparison(Comparator.EQUAL | Comparator.NULL_SAFE_EQUAL, other, Literal() as literal):
            return _column_and_value(other, literal)
        case _:
            return None


def _column_and_value(operand: Expression, literal: Literal) -> tuple[Column, pa.Array] | None:
    column = column_below(operand)
    if column is None or literal.value is None or not alike(column.type, literal.type):
        return None
    return column, arrow.array([literal.value], literal.type)
