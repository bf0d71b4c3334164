"""Partition transforms as functions in a predicate: `system.days(ts) = DATE '2024-03-01'`.

| function | law |
|---|---|
| system.years, months, days, hours | never decrease; before 1970 Java may give the unit before |
| system.truncate | never decreases, except for the least integers, which wrap around |
| system.bucket | the buckets of a partition field with this count; a point by its hash |

They read instants in UTC, whatever the time zone of the session is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.rules import constant, mapped, strict
from whyscan.pruning.functions.time.kernels import from_ticks, ticks_of
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import both, choose, keep, surely
from whyscan.pruning.same_representation import column_below
from whyscan.pruning.transforms.forward import forward
from whyscan.pruning.transforms.transform import (
    Bucket,
    Day,
    Hour,
    Month,
    Temporal,
    Transform,
    Truncate,
    Year,
    result_type,
    supports,
)
from whyscan.tree.types import INT, DecimalType, IntegerType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.containers import Containers
    from whyscan.pruning.mask import Vector
    from whyscan.tree.nodes import Call
    from whyscan.tree.types import Type

UNITS: dict[str, Temporal] = {
    "system.years": Year(),
    "system.months": Month(),
    "system.days": Day(),
    "system.hours": Hour(),
}


def is_transform(call: Call) -> bool:
    """The function is one of Iceberg's transforms."""
    return call.function in UNITS or call.function in ("system.bucket", "system.truncate")


def transform_interval(
    call: Call, arguments: Sequence[Interval], containers: Containers
) -> Interval:
    """The interval of the partition values that a transform gives for each container's rows."""
    x, unit = arguments[-1], UNITS.get(call.function)
    if unit is not None:
        return _units(unit, x) if supports(unit, x.type) else anything(call.type, raises=True)
    number = constant(arguments[0])
    if not isinstance(number, int) or number <= 0:
        return anything(call.type, raises=True)
    if call.function == "system.bucket":
        return _bucket(call, x, number, containers)
    return _truncated(x, number)


def _units(unit: Temporal, x: Interval) -> Interval:
    kind = result_type(unit, x.type)
    lower, upper = (mapped(lambda end: _forward(unit, x.type, end), e) for e in (x.lower, x.upper))
    if isinstance(x.type, TimestampType) and lower is not None:
        early = pc.less(ticks_of(x.lower), 0).cast(pa.int64())
        lower = from_ticks(pc.subtract(ticks_of(lower), early), kind)
    if isinstance(unit, Hour):
        # Hours beyond 32 bits wrap around.
        sure = both(
            surely(lambda v: pc.greater_equal(ticks_of(v), INT.least), lower),
            surely(lambda v: pc.less_equal(ticks_of(v), INT.greatest), upper),
        )
        lower, upper = keep(sure, lower), keep(sure, upper)
    return strict(kind, [x], (lower, upper))


def _truncated(x: Interval, width: int) -> Interval:
    transform = Truncate(width)
    if not isinstance(x.type, IntegerType | DecimalType):
        return anything(x.type, raises=True)
    lower, upper = x.lower, x.upper
    if isinstance(x.type, IntegerType):
        least = pa.scalar(x.type.least + width)
        inside = surely(lambda v: pc.greater_equal(ticks_of(v), least), lower)
        lower, upper = keep(inside, lower), keep(inside, upper)
    bounds = [mapped(lambda end: _forward(transform, x.type, end), e) for e in (lower, upper)]
    return strict(x.type, [x], (bounds[0], bounds[1]))


def _bucket(call: Call, x: Interval, count: int, containers: Containers) -> Interval:
    first, last = pa.scalar(0, pa.int64()), pa.scalar(count - 1, pa.int64())
    single = x.point()
    exact = None if single is False else _forward(Bucket(count), x.type, keep(single, x.lower))
    lower, upper = choose(single, exact, first), choose(single, exact, last)
    column = column_below(call.arguments[-1])
    for field in containers.buckets:
        if column is not None and (field.source, field.transform) == (column.path, Bucket(count)):
            lower = _or_else(mapped(ticks_of, field.lower), lower)
            upper = _or_else(mapped(ticks_of, field.upper), upper)
    return strict(INT, [x], (lower, upper))


def _or_else(end: Vector | None, default: Vector | None) -> Vector | None:
    if end is None or default is None:
        return default if end is None else end
    return pc.coalesce(end, default)


def _forward(transform: Transform, source: Type, values: Vector) -> Vector | None:
    """The partition values of some values; one partition value for a scalar."""
    if isinstance(values, pa.Scalar):
        partition_values = forward(transform, source, pa.repeat(values, 1))
        return None if partition_values is None else partition_values[0]
    return forward(transform, source, values)
