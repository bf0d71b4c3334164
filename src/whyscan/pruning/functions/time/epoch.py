"""Functions between timestamps and counts since 1970-01-01. They need no time zone.

| function | law |
|---|---|
| unix_seconds, unix_millis, unix_micros | rounded down; never decreases |
| unix_timestamp | seconds, towards zero (*measured*); never decreases |
| unix_date, date_from_unix_date | the same number |
| timestamp_seconds, _millis, _micros | times a power of ten; raises on overflow |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.function import Argument, ScalarFunction
from whyscan.pruning.functions.time.casts import (
    as_type,
    decimal_micros,
    failing,
    fractional_micros,
)
from whyscan.pruning.functions.time.kernels import (
    MICROS_A_SECOND,
    bounds_of,
    each,
    floor_divide,
    monotone,
    of_ticks,
    open_ended,
    overflowing,
    times,
)
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import either
from whyscan.tree.nodes import CastFailure
from whyscan.tree.types import (
    BIGINT,
    DATE,
    INT,
    TIMESTAMP,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    TimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.functions.function import Law
    from whyscan.pruning.functions.time.kernels import Kernel
    from whyscan.tree.nodes import Call
    from whyscan.tree.zones import Zone

MICROS_DIGITS = 6


def counted(divisor: int) -> Law:
    """A count of units of `divisor` microseconds, rounded down: never decreases."""

    def rule(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        moments = as_type(arguments[0], TIMESTAMP, zone)
        return monotone(lambda micros: floor_divide(micros, divisor), call.type, moments)

    return rule


def made_of(factor: int) -> Law:
    """A timestamp from units of `factor` microseconds: never decreases, raises on overflow."""

    def rule(call: Call, arguments: Sequence[Interval], _: Zone) -> Interval:
        (count,) = arguments
        if not isinstance(count.type, IntegerType):
            return anything(call.type, raises=True)
        return overflowing(call.type, each(lambda n: times(n, factor), bounds_of(count)), arguments)

    return rule


def timestamp_seconds(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """Integers raise on overflow, decimals also for digits below the microsecond, doubles never.

    A double is truncated to the microsecond; NaN and the infinities are NULL.
    """
    (count,) = arguments
    match count.type:
        case FloatType():
            moments = _converted(fractional_micros, count)
            lost = failing(moments, open_ended(moments), CastFailure.NULL)
            return replace(lost, null=either(lost.null, count.nan))
        case DecimalType():
            moments = _converted(decimal_micros, count)
            finer = count.type.scale > MICROS_DIGITS
            return failing(moments, either(finer, open_ended(moments)), CastFailure.RAISE)
        case _:
            return made_of(MICROS_A_SECOND)(call, arguments, zone)


def _converted(kernel: Kernel, count: Interval) -> Interval:
    return of_ticks(TIMESTAMP, each(kernel, (count.lower, count.upper)), [count])


def unix_timestamp(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """Seconds, towards zero: never decreases. A timestamp_ntz is read in UTC."""
    match [argument.type for argument in arguments]:
        case [DateType(), *_]:
            moments = as_type(arguments[0], TIMESTAMP, zone)
        case [TimestampType() as kind, *_]:
            moments = as_type(arguments[0], TimestampType(instant=kind.instant), zone)
        case _:
            return anything(call.type, raises=True)
    return monotone(lambda micros: pc.divide(micros, MICROS_A_SECOND), call.type, moments)


def unix_date(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """The number of days of a date."""
    return monotone(lambda days: days, call.type, as_type(arguments[0], DATE, zone))


def date_from_unix_date(call: Call, arguments: Sequence[Interval], _: Zone) -> Interval:
    """The date with this number of days."""
    return monotone(lambda days: days, call.type, arguments[0])


_MOMENT, _COUNT = (Argument.TIMESTAMP,), (Argument.BIGINT,)

EPOCH = (
    ScalarFunction("date_from_unix_date", (Argument.INT,), DATE, date_from_unix_date),
    ScalarFunction("timestamp_micros", _COUNT, TIMESTAMP, made_of(1)),
    ScalarFunction("timestamp_millis", _COUNT, TIMESTAMP, made_of(1_000)),
    ScalarFunction("timestamp_seconds", (Argument.NUMBER,), TIMESTAMP, timestamp_seconds),
    ScalarFunction("unix_date", (Argument.DATE,), INT, unix_date),
    ScalarFunction("unix_micros", _MOMENT, BIGINT, counted(1)),
    ScalarFunction("unix_millis", _MOMENT, BIGINT, counted(1_000)),
    ScalarFunction("unix_seconds", _MOMENT, BIGINT, counted(MICROS_A_SECOND)),
    ScalarFunction("unix_timestamp", _MOMENT, BIGINT, unix_timestamp),
)
