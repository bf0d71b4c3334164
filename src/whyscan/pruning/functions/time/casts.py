"""Casts from and to dates and timestamps, as in Spark's ANSI mode.

| from | to | law |
|---|---|---|
| date | timestamp | the first instant of the day in the zone; never decreases |
| timestamp | date | the day on the zone's clock; the hull where the clock is set back |
| timestamp | timestamp_ntz, and back | through the zone's clock, with its set-backs and gaps |
| timestamp | integers | whole seconds, rounded down |
| numbers | timestamp | seconds, truncated to the microsecond |
| date, timestamp | string | in the order of time in years 0001 to 9999 |
| string | date, timestamp | a single text is parsed; a range of texts may be anything |
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import mapped
from whyscan.pruning.functions.time.formatting import DATE_TEXT, TIMESTAMP_TEXT, written
from whyscan.pruning.functions.time.kernels import (
    GREATEST,
    INT64,
    LEAST,
    MICROS_A_SECOND,
    bounds_of,
    clock_type,
    contained,
    floor_divide,
    monotone,
    of_ticks,
    open_ended,
    rescaled,
)
from whyscan.pruning.functions.time.parsing import read_dates, read_timestamps
from whyscan.pruning.functions.time.zone_clock import starts_of, to_days, to_instant, to_local
from whyscan.pruning.interval import Interval, anything, keep_bounds
from whyscan.pruning.mask import Mask, Vector, both, either, keep, opposite
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS
from whyscan.tree.nodes import CastFailure
from whyscan.tree.types import (
    TIMESTAMP,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from whyscan.pruning.functions.time.kernels import Kernel
    from whyscan.tree.zones import Zone

_MILLION = pa.scalar(Decimal(MICROS_A_SECOND), pa.decimal256(7, 0))


def temporal_cast(
    interval: Interval, target: Type, failure: CastFailure, zone: Zone
) -> Interval | None:
    """CAST or TRY_CAST from or to a date or timestamp; None for other types."""
    match interval.type, target:
        case source, _ if source == target:
            return interval
        case DateType(), TimestampType():
            return overflow(_dates_to_timestamps(interval, target, zone), failure)
        case TimestampType(), DateType():
            return to_days(interval, zone)
        case TimestampType(), TimestampType():
            return overflow(_retimed(interval, target, zone), failure)
        case DateType() | TimestampType(), StringType():
            return _to_text(interval, zone)
        case StringType(), DateType() | TimestampType():
            return _read(interval, target, failure, zone)
        case TimestampType(instant=True), IntegerType() | FloatType() | DecimalType():
            return _to_number(_retimed(interval, TIMESTAMP, zone), target, failure)
        case IntegerType() | FloatType() | DecimalType(), TimestampType(instant=True):
            micros = seconds_to_micros(interval, failure)
            return micros if target == TIMESTAMP else _retimed(micros, target, zone)
        case _:
            return None


def as_type(interval: Interval, target: Type, zone: Zone) -> Interval:
    """An argument cast to the type of its function; anything if there is no such cast."""
    converted = temporal_cast(interval, target, CastFailure.RAISE, zone)
    return anything(target, raises=True) if converted is None else converted


def failing(interval: Interval, mask: Mask, failure: CastFailure) -> Interval:
    """The same where a value may not convert: CAST raises, TRY_CAST gives NULL."""
    fails = both(interval.value, mask)
    if failure is CastFailure.RAISE:
        return replace(interval, raises=either(interval.raises, fails))
    return replace(interval, null=either(interval.null, fails))


def overflow(interval: Interval, failure: CastFailure) -> Interval:
    """The same where a bound overflowed and is unknown: TRY_CAST does not catch all overflows."""
    raising = failing(interval, open_ended(interval), CastFailure.RAISE)
    if failure is CastFailure.RAISE:
        return raising
    return failing(raising, open_ended(interval), failure)


def _dates_to_timestamps(interval: Interval, kind: TimestampType, zone: Zone) -> Interval:
    return of_ticks(kind, starts_of(bounds_of(interval), kind, zone), [interval])


def _retimed(interval: Interval, kind: TimestampType, zone: Zone) -> Interval:
    """Converted to another unit, rounded down, and then through the zone's clock."""
    source = clock_type(interval)
    same = replace(source, unit=kind.unit)
    scaled = monotone(lambda ticks: rescaled(ticks, source, same), same, interval)
    return to_instant(scaled, zone) if kind.instant else to_local(scaled, zone)


def _to_text(interval: Interval, zone: Zone) -> Interval:
    if isinstance(interval.type, DateType):
        clock = TimestampType(instant=False)
        return written(_dates_to_timestamps(interval, clock, zone), DATE_TEXT)
    return written(to_local(interval, zone), TIMESTAMP_TEXT)


def _read(interval: Interval, kind: Type, failure: CastFailure, zone: Zone) -> Interval:
    single = keep(interval.point(), interval.lower)
    if isinstance(kind, TimestampType):
        wall = TimestampType(instant=False)
        micros = mapped(read_timestamps, single)
        local = of_ticks(wall, (micros, micros), [interval])
        return overflow(_retimed(local, kind, zone), failure)
    days = mapped(read_dates, single)
    dates = of_ticks(kind, (days, days), [interval])
    return failing(dates, open_ended(dates), failure)


def _to_number(
    interval: Interval, kind: IntegerType | FloatType | DecimalType, failure: CastFailure
) -> Interval:
    match kind:
        case IntegerType():
            return _to_seconds(interval, kind, failure)
        case FloatType():
            return monotone(lambda micros: _fractional_seconds(micros, kind), kind, interval)
        case DecimalType():
            seconds = monotone(lambda micros: _decimal_seconds(micros, kind), kind, interval)
            return overflow(seconds, failure)


def _to_seconds(interval: Interval, kind: IntegerType, failure: CastFailure) -> Interval:
    def seconds(micros: Vector) -> Vector:
        return contained(floor_divide(micros, MICROS_A_SECOND), kind.least, kind.greatest)

    result = monotone(seconds, kind, interval)
    return result if kind.bits == 64 else overflow(result, failure)  # noqa: PLR2004  bigint holds all


def _fractional_seconds(micros: Vector, kind: FloatType) -> Vector:
    seconds = pc.divide(pc.cast(micros, pa.float64(), safe=False), float(MICROS_A_SECOND))
    if kind.bits == 64:  # noqa: PLR2004  double
        return seconds
    return pc.cast(seconds, pa.float32(), safe=False).cast(pa.float64())


def _decimal_seconds(micros: Vector, kind: DecimalType) -> Vector:
    """Spark converts the shortest text of a double, and rounds half away from zero."""
    text = _fractional_seconds(micros, FloatType(64)).cast(pa.string())
    exact = text.cast(pa.decimal256(60, max(kind.scale, 20)))
    rounded = pc.round(exact, kind.scale, round_mode="half_towards_infinity")
    limit = pa.scalar(Decimal(10) ** (kind.precision - kind.scale), rounded.type)
    fits = pc.less(pc.abs(rounded), limit)
    fitting = pc.if_else(fits, rounded, pa.scalar(None, rounded.type))
    return fitting.cast(pa.decimal128(MAX_DECIMAL_DIGITS, kind.scale))


def seconds_to_micros(interval: Interval, failure: CastFailure) -> Interval:
    """CAST(number AS TIMESTAMP): integers saturate, decimals wrap around, doubles raise."""
    match interval.type:
        case FloatType():
            return _fractional_to_micros(interval, failure)
        case DecimalType():
            micros = _mapped(decimal_micros, interval)
            return keep_bounds(micros, opposite(open_ended(micros)))
        case _:
            return _mapped(_saturated, interval)


def _mapped(kernel: Kernel, interval: Interval) -> Interval:
    lower, upper = (mapped(kernel, bound) for bound in (interval.lower, interval.upper))
    return of_ticks(TIMESTAMP, (lower, upper), [interval])


def _saturated(seconds: Vector) -> Vector:
    most = GREATEST // MICROS_A_SECOND
    micros = pc.multiply(seconds, MICROS_A_SECOND)
    not_above = pc.if_else(pc.greater(seconds, most), pa.scalar(GREATEST), micros)
    return pc.if_else(pc.less(seconds, -most), pa.scalar(LEAST), not_above)


def _fractional_to_micros(interval: Interval, failure: CastFailure) -> Interval:
    micros = _mapped(fractional_micros, interval)
    lost = failing(micros, open_ended(micros), failure)
    if failure is CastFailure.RAISE:
        return replace(lost, raises=either(lost.raises, interval.nan))
    return replace(lost, null=either(lost.null, interval.nan))


def fractional_micros(seconds: Vector) -> Vector:
    """Seconds as microseconds, truncated; unknown if they do not fit into 64 bits."""
    micros = pc.trunc(pc.multiply(seconds, float(MICROS_A_SECOND)))
    limit = float(1 << 63)
    fits = pc.and_(pc.greater_equal(micros, -limit), pc.less(micros, limit))
    return pc.cast(pc.if_else(fits, micros, pa.scalar(None, pa.float64())), INT64, safe=False)


def decimal_micros(seconds: Vector) -> Vector:
    """Seconds as microseconds, truncated; unknown if they do not fit into 64 bits."""
    wide = seconds.cast(pa.decimal256(50, seconds.type.scale))
    micros = pc.cast(pc.multiply(wide, _MILLION), pa.decimal256(57, 0), safe=False)
    limit = pa.scalar(Decimal(1 << 63), micros.type)
    fits = pc.and_(pc.greater_equal(micros, pc.negate(limit)), pc.less(micros, limit))
    return pc.if_else(fits, micros, pa.scalar(None, micros.type)).cast(INT64)
