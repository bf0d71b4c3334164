"""Functions of text on single points, computed once per distinct value."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
from msgspec.structs import replace

from whyscan.pruning.functions.rules import all_points, constant, strict
from whyscan.pruning.mask import keep
from whyscan.tree.arrow import arrow_type
from whyscan.tree.types import IntegerType, StringType

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Vector
    from whyscan.tree.types import Type

Plain: TypeAlias = str | int | bool


def on_points(function: Callable[..., Plain | None]) -> Callable[..., Interval]:
    """A rule that runs the function on each distinct point; only one argument may vary.

    The function returns None, or bytes that are no text, for an unknown result.
    """

    def rule(kind: Type, *arguments: Interval) -> Interval:
        unknown = strict(kind, arguments)
        varying = [i for i, x in enumerate(arguments) if constant(x) is None]
        texts = all(isinstance(x.type, StringType | IntegerType) for x in arguments)
        if len(varying) > 1 or not texts or all_points(arguments) is False:
            return unknown
        index = varying[0] if varying else 0
        fixed = [plain_value(constant(x)) for x in arguments]

        def result(point: object) -> Plain | bytes | None:
            values = [*fixed[:index], plain_value(point), *fixed[index + 1 :]]
            result = None if None in values else function(*values)
            return result.encode() if isinstance(result, str) else result

        argument = arguments[index]
        point = by_distinct(result, keep(argument.point(), argument.lower), arrow_type(kind))
        return replace(unknown, lower=point, upper=point)

    return rule


def plain_value(value: object) -> Plain | None:
    """A constant as a Python value; None for bytes that are no text."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    return value if isinstance(value, int) else None


def by_distinct(
    function: Callable[[object], object], values: Vector | None, kind: pa.DataType
) -> Vector | None:
    if values is None:
        return None
    if isinstance(values, pa.Scalar):
        return pa.scalar(function(values.as_py()), kind)
    encoded = values.dictionary_encode()
    results = [function(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(results, kind).take(encoded.indices)
