"""Combinators for the rules of the catalogue: how an interval passes through a function.

A rule maps the bounds of an interval only if the function is monotone on the whole interval; other
functions map single points. A strict function is NULL if an argument is NULL, and raises if an
argument raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.interval import Interval, less, less_equal
from whyscan.pruning.mask import (
    Mask,
    Vector,
    all_of,
    any_of,
    both,
    choose,
    either,
    keep,
    may,
    opposite,
)
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS, scalar
from whyscan.tree.types import BooleanType, DecimalType, FloatType, IntegerType, Type

WIDE_DIGITS = 76
"""The digits of decimal256: enough for the product of any two numbers that occur."""

Kernel: TypeAlias = Callable[..., Vector]
"""A function of Arrow vectors: scalars for constants, null slots where an operand has one."""


def strict(
    kind: Type,
    arguments: Sequence[Interval],
    bounds: tuple[Vector | None, Vector | None] = (None, None),
    *,
    raises: Mask = False,
) -> Interval:
    """A value if all arguments are, NULL if any is. `raises`: the errors of the function itself."""
    return Interval(
        kind,
        *bounds,
        value=all_of(x.value for x in arguments),
        null=any_of(x.null for x in arguments),
        nan=isinstance(kind, FloatType) and any_of(x.nan for x in arguments),
        raises=either(raises, any_of(x.raises for x in arguments)),
    )


def increasing(x: Interval, kind: Type, kernel: Kernel) -> Interval:
    """x <= y gives f(x) <= f(y): the bounds are mapped. NULL stays NULL, NaN stays NaN."""
    lower = mapped(kernel, x.lower)
    return strict(kind, [x], (lower, lower if x.is_point else mapped(kernel, x.upper)))


def decreasing(x: Interval, kind: Type, kernel: Kernel) -> Interval:
    """x <= y gives f(x) >= f(y): the mapped bounds change places."""
    lower = mapped(kernel, x.upper)
    return strict(kind, [x], (lower, lower if x.is_point else mapped(kernel, x.lower)))


def pointwise(kind: Type, arguments: Sequence[Interval], kernel: Kernel) -> Interval:
    """f(x, …) where every argument is one point; unknown elsewhere, where the kernel sees nulls."""
    single = all_points(arguments)
    if single is False:
        return strict(kind, arguments)
    result = kernel(*(keep(single, x.lower) for x in arguments))
    return strict(kind, arguments, (result, result))


def exact_or(
    exact: Interval, single: Mask, bounds: tuple[Vector | None, Vector | None]
) -> Interval:
    """`exact` where every argument is one point; elsewhere the same with these bounds."""
    lower, upper = bounds
    return replace(
        exact,
        lower=choose(single, exact.lower, lower),
        upper=choose(single, exact.upper, upper),
    )


def as_vector(mask: Mask) -> Vector:
    """A mask as the operand of a kernel."""
    return pa.scalar(mask) if isinstance(mask, bool) else mask


def mapped(kernel: Kernel, end: Vector | None) -> Vector | None:
    """The result of the kernel; unknown stays unknown."""
    return None if end is None else kernel(end)


def all_points(arguments: Sequence[Interval]) -> Mask:
    """Every argument is one point."""
    return all_of(x.point() for x in arguments)


def constant(x: Interval) -> object:
    """The value of an argument that is the same in every container; None otherwise.

    A literal argument is a scalar point; NULL and NaN literals have no bounds.
    """
    if isinstance(x.lower, pa.Scalar) and x.lower.is_valid and x.point() is True:
        return x.lower.as_py()
    return None


@cache
def extremes(kind: Type) -> tuple[pa.Scalar, pa.Scalar]:
    """The least and the greatest value of a type of numbers or booleans."""
    match kind:
        case BooleanType():
            return pa.scalar(False), pa.scalar(True)
        case IntegerType():
            return scalar(kind.least, kind), scalar(kind.greatest, kind)
        case FloatType():
            return scalar(float("-inf"), kind), scalar(float("inf"), kind)
        case DecimalType():
            nines = Decimal((0, (9,) * kind.precision, -kind.scale))
            return scalar(nines.copy_negate(), kind), scalar(nines, kind)
        case _:
            raise TypeError(f"{kind} has no least value that we use")


def ends(x: Interval) -> tuple[Vector, Vector]:
    """Both bounds; the extremes of the type where a bound is unknown."""
    if x.is_point and isinstance(x.lower, pa.Scalar) and x.lower.is_valid:
        return x.lower, x.lower
    least, greatest = extremes(x.type)
    lower = least if x.lower is None else pc.coalesce(x.lower, least)
    upper = greatest if x.upper is None else pc.coalesce(x.upper, greatest)
    return lower, upper


def contains(x: Interval, point: pa.Scalar) -> Mask:
    """The point may lie between the bounds."""
    return both(x.value, may(less_equal, x.lower, point), may(less_equal, point, x.upper))


def least_of(*vectors: Vector) -> Vector:
    """The least value per container; NaN is ignored, an unknown value makes it unknown."""
    return pc.min_element_wise(*with_common_type(*vectors), skip_nulls=False)


def greatest_of(*vectors: Vector) -> Vector:
    """The greatest value per container; NaN is ignored, an unknown value makes it unknown."""
    return pc.max_element_wise(*with_common_type(*vectors), skip_nulls=False)


def fitted(x: Interval, bounds: tuple[Vector, Vector], kind: IntegerType | DecimalType) -> Interval:
    """`x` with these exact bounds. A value outside the type raises."""
    is_point = bounds[0] is bounds[1]
    least, greatest, lower, upper = with_common_type(*extremes(kind), *bounds)
    escapes = either(may(less, lower, least), may(less, greatest, upper))
    if is_point and escapes is False:
        point = narrowed(lower, kind)
        return replace(x, type=kind, lower=point, upper=point)
    inside = both(may(less_equal, lower, greatest), may(less_equal, least, upper))
    first = narrowed(least_of(greatest_of(lower, least), greatest), kind)
    return replace(
        x,
        type=kind,
        lower=first,
        upper=first if is_point else narrowed(least_of(greatest_of(upper, least), greatest), kind),
        value=both(x.value, inside),
        raises=either(x.raises, both(x.value, escapes)),
    )


def unevaluated(result: Interval) -> Interval:
    """An expression that can only raise has the nearest value of its type: Spark may skip it.

    `CAST(l AS INT) < 9999999999` is TRUE for every int, so Spark evaluates no l (measured).
    """
    stuck = both(result.raises, opposite(result.present))
    return result if stuck is False else replace(result, value=either(result.value, stuck))


def with_common_type(*vectors: Vector) -> tuple[Vector, ...]:
    """The numbers in one Arrow type; different decimals become decimals with 76 digits."""
    if all(v.type == vectors[0].type for v in vectors):
        return vectors
    scales = [v.type.scale if pa.types.is_decimal(v.type) else 0 for v in vectors]
    return tuple(v.cast(pa.decimal256(WIDE_DIGITS, max(scales))) for v in vectors)


def wide(values: Vector) -> Vector:
    """Integers and decimals with 76 digits."""
    scale = values.type.scale if pa.types.is_decimal(values.type) else 0
    return values.cast(pa.decimal256(WIDE_DIGITS, scale))


def narrowed(values: Vector, kind: IntegerType | DecimalType) -> Vector:
    """Exact numbers that fit into `kind`, in its Arrow type."""
    target = (
        pa.int64()
        if isinstance(kind, IntegerType)
        else pa.decimal128(MAX_DECIMAL_DIGITS, kind.scale)
    )
    if values.type == target:
        return values
    if isinstance(kind, IntegerType):
        return values.cast(pa.decimal128(MAX_DECIMAL_DIGITS, 0)).cast(target)
    return values.cast(target)
