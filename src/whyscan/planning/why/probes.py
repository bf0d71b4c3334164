"""Imagined containers that answer: could statistics of this kind ever decide this conjunct?

A probe gives each column one value, or only NULL. The values are the ends of the column's type and
the values around the literals that the conjunct names: if none of them excludes TRUE, no statistic
will.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import islice, product
from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.planning.plan.judgement import flags, kept_and_every
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import Interval, points
from whyscan.pruning.mask import simplified
from whyscan.pruning.unscaled import scaled_to, unscaled_of
from whyscan.tree import arrow, time_text
from whyscan.tree.nodes import In, Literal, columns_of, type_of, walk
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from whyscan.tree.nodes import Column, Expression, Path, Value
    from whyscan.tree.zones import Zone

PROBES_AT_MOST = 4_096
LITERALS_AT_MOST = 8


def probes(
    expression: Expression, paths: Collection[Path], *, printable: bool = False
) -> Containers:
    """Containers with exact values of the columns `paths`; the other columns may have any value.

    `printable` leaves out text that is not printable ASCII, for which text functions have no rule.
    """
    columns = [column for column in columns_of(expression) if column.path in paths]
    pools = [_pool(column, expression) for column in columns]
    if printable:
        pools = [[value for value in pool if _is_printable(value)] for pool in pools]
    tuples = list(islice(product(*pools), PROBES_AT_MOST))
    return Containers(
        count=len(tuples),
        rows=pa.repeat(pa.scalar(1, pa.int64()), len(tuples)),
        partition={
            column.path: _points(column.type, [values[i] for values in tuples])
            for i, column in enumerate(columns)
        },
    )


def leaves_one_answer(expression: Expression, paths: Collection[Path], zone: Zone) -> bool:
    """True if for each probed value of the columns `paths` TRUE is impossible or the only answer.

    Text that is not printable ASCII is not probed: text functions have no rule for it. A value on
    which the condition may raise either raises or gives the one answer.
    """
    probed = probes(expression, paths, printable=True)
    truth = evaluate(expression, probed, zone)
    may_not = flags(truth.false, probed.count) | flags(truth.null, probed.count)
    return not (flags(truth.true, probed.count) & may_not).any()


def can_exclude(expression: Expression, paths: Collection[Path], zone: Zone) -> bool:
    """Some container with values of the columns `paths` could be pruned."""
    probed = probes(expression, paths)
    may, _ = kept_and_every(expression, probed, zone)
    return not may.all()


def _is_printable(value: Value) -> bool:
    return not isinstance(value, str) or (value.isascii() and value.isprintable())


def _points(kind: Type, values: list[Value]) -> Interval:
    ends = arrow.array(values, kind)
    return points(kind, ends, simplified(ends.is_null()))


def _pool(column: Column, expression: Expression) -> list[Value]:
    """NULL, the ends of the type, and every literal of the type with its neighbours."""
    named = [v for v in _literals(expression, column.type) if v is not None][:LITERALS_AT_MOST]
    near = [n for value in named for n in _neighbours(value, column.type)]
    return list(dict.fromkeys([None, *_ends(column.type), *near]))


def _literals(expression: Expression, kind: Type) -> list[Value]:
    """The literals with the same Arrow type as the column's values."""
    target = arrow.arrow_type(kind)
    values: list[Value] = []
    for node in walk(expression):
        match node:
            case Literal() if arrow.arrow_type(node.type) == target:
                values.append(node.value)
            case In() if node.values.type == target:
                listed = type_of(node.operand)
                values.extend(arrow.value(v, listed) for v in node.values[:LITERALS_AT_MOST])
            case _:
                pass
    return values


def _ends(kind: Type) -> list[Value]:
    match kind:
        case BooleanType():
            return [False, True]
        case IntegerType():
            return [kind.least, 0, kind.greatest]
        case FloatType():
            return [-1e30, 0.0, 1e30]
        case DecimalType():
            greatest = 10**kind.precision - 1
            return [scaled_to(n, kind.scale) for n in (-greatest, 0, greatest)]
        case DateType():
            return [-700_000, 0, 2_900_000]
        case TimestampType():
            return [-60_000_000 * kind.unit.per_second, 0, 9_000_000_000 * kind.unit.per_second]
        case StringType():
            return ["", "\U0010ffff"]
        case BinaryType() | UuidType():
            return [b"", b"\xff" * 16]
        case _:
            return []


def _neighbours(value: Value, kind: Type) -> list[Value]:
    match value:
        case bool() | None | bytes():
            return [value]
        case int():
            return [n for n in range(value - 1, value + 2) if _is_of(n, kind)]
        case float():
            return [value, value - 1, value + 1]
        case Decimal() if isinstance(kind, DecimalType):
            return _around_decimal(value, kind)
        case Decimal():
            return [value]
        case str():
            return [value, value + "\0", value[:-1]]


def _is_of(number: int, kind: Type) -> bool:
    """The integer, or the time that it stands for, is a value of the type."""
    match kind:
        case IntegerType():
            return kind.least <= number <= kind.greatest
        case DateType():
            return time_text.fits_date(number)
        case _:
            return time_text.fits_int64(number)


def _around_decimal(value: Decimal, kind: DecimalType) -> list[Value]:
    """One below and one above, by the unscaled integer: Python would round to 28 digits."""
    middle = unscaled_of(value, kind.scale)
    if middle is None:
        return [value]
    inside = (middle + step * 10**kind.scale for step in (0, -1, 1))
    return [scaled_to(n, kind.scale) for n in inside if abs(n) < 10**kind.precision]
