"""Functions between timestamps and counts since 1970-01-01. They need no time zone.

| function | law |
|---|---|
| unix_seconds, unix_millis, unix_micros | rounded down; never decreases |
| unix_timestamp, to_unix_timestamp | seconds, towards zero (*measured*); never decreases |
| unix_date, date_from_unix_date | the same number |
| timestamp_seconds, _millis, _micros | times a power of ten; raises on overflow |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import mapped
from whyscan.pruning.functions.time.casts import (
    as_type,
    decimal_micros,
    failing,
    fractional_micros,
)
from whyscan.pruning.functions.time.kernels import (
    MICROS_A_SECOND,
    bounds_of,
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
    DATE,
    TIMESTAMP,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    TimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.pruning.functions.rules import Rule
    from whyscan.pruning.functions.time.kernels import Kernel
    from whyscan.tree.nodes import Call
    from whyscan.tree.zones import Zone

MICROS_DIGITS = 6


def counted(divisor: int) -> Rule:
    """A count of units of `divisor` microseconds, rounded down: never decreases."""

    def rule(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        moments = as_type(arguments[0], TIMESTAMP, zone)
        return monotone(lambda micros: floor_divide(micros, divisor), call.type, moments)

    return rule


def made_of(factor: int) -> Rule:
    """A timestamp from units of `factor` microseconds: never decreases, raises on overflow."""

    def rule(call: Call, arguments: Sequence[Interval], _: Zone) -> Interval:
        (count,) = arguments
        if not isinstance(count.type, IntegerType):
            return anything(call.type, raises=True)
        lower, upper = (mapped(lambda n: times(n, factor), bound) for bound in bounds_of(count))
        return overflowing(call.type, (lower, upper), arguments)

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
    lower, upper = (mapped(kernel, bound) for bound in (count.lower, count.upper))
    return of_ticks(TIMESTAMP, (lower, upper), [count])


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


EPOCH: Mapping[str, Rule] = {
    "unix_seconds": counted(MICROS_A_SECOND),
    "unix_millis": counted(1_000),
    "unix_micros": counted(1),
    "unix_timestamp": unix_timestamp,
    "to_unix_timestamp": unix_timestamp,
    "unix_date": unix_date,
    "date_from_unix_date": date_from_unix_date,
    "timestamp_seconds": timestamp_seconds,
    "timestamp_millis": made_of(1_000),
    "timestamp_micros": made_of(1),
}
