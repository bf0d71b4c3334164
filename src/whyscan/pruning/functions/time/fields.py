"""The catalogue's functions of dates and timestamps: how each maps an interval.

| kind | functions |
|---|---|
| never decreases | year, last_day, date_trunc, trunc, date_add, add_months, counts since 1970 |
| starts again | month within a year, day within a month, hour within a day, and similar ones |
| text | date_format and from_unixtime, where the text has the order of time |

What a clock shows for an instant depends on the zone, whose clock may be set back: zone_clock.py
has that law.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import mapped
from whyscan.pruning.functions.time import gregorian
from whyscan.pruning.functions.time.casts import as_type, temporal_cast
from whyscan.pruning.functions.time.dates import DATES
from whyscan.pruning.functions.time.epoch import EPOCH
from whyscan.pruning.functions.time.formatting import SECONDS_TEXT, pattern, written
from whyscan.pruning.functions.time.kernels import (
    MICROS_A_SECOND,
    bounds_of,
    clock_type,
    floor_divide,
    monotone,
    of_ticks,
    overflowing,
    times,
    wrapping,
)
from whyscan.pruning.functions.time.truncation import date_trunc, trunc
from whyscan.pruning.functions.time.zone_clock import to_instant, to_local
from whyscan.pruning.interval import Interval, anything, only_null
from whyscan.pruning.mask import choose, surely
from whyscan.tree.nodes import CastFailure, Literal
from whyscan.tree.types import (
    DATE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)
from whyscan.tree.zones import find_zone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.pruning.functions.rules import Rule
    from whyscan.pruning.functions.time.kernels import Kernel
    from whyscan.pruning.mask import Vector
    from whyscan.tree.nodes import Call, Expression
    from whyscan.tree.zones import Zone


def _rising(field: Kernel) -> Rule:
    """A field of the date that never decreases."""

    def rule(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        return monotone(field, call.type, as_type(arguments[0], DATE, zone))

    return rule


def _round(field: Kernel, period: Kernel, least: int, greatest: int) -> Rule:
    """A field of the date that increases within a period and then starts again."""

    def rule(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        days = as_type(arguments[0], DATE, zone)
        return _cycled(call, days, (field, period), (least, greatest))

    return rule


def _clock(step: int, count: int) -> Rule:
    """A field of the time of day: `count` units of `step` seconds, then it starts again."""

    def rule(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        (moments,) = arguments
        if not isinstance(moments.type, TimestampType):
            moments = as_type(moments, TIMESTAMP, zone)
        unit = step * clock_type(moments).unit.per_second

        def field(ticks: Vector) -> Vector:
            return pc.modulo(floor_divide(ticks, unit), count)

        def period(ticks: Vector) -> Vector:
            return floor_divide(ticks, unit * count)

        return _cycled(call, to_local(moments, zone), (field, period), (0, count - 1))

    return rule


def _cycled(
    call: Call, argument: Interval, kernels: tuple[Kernel, Kernel], limits: tuple[int, int]
) -> Interval:
    """[f(a), f(b)] if both bounds lie in one period, else all values of the field."""
    field, period = kernels
    lower, upper = bounds_of(argument)
    same = surely(pc.equal, mapped(period, lower), mapped(period, upper))
    least, greatest = (pa.scalar(end, pa.int64()) for end in limits)
    bounds = choose(same, mapped(field, lower), least), choose(same, mapped(field, upper), greatest)
    return of_ticks(call.type, bounds, [argument])


def _cast_to(kind: Type, failure: CastFailure = CastFailure.RAISE) -> Rule:
    """A cast with a function name. Text with a format of its own may give anything."""

    def rule(_: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        if len(arguments) > 1 and isinstance(arguments[0].type, StringType):
            return anything(kind, raises=True)
        converted = temporal_cast(arguments[0], kind, failure, zone)
        return anything(kind, raises=True) if converted is None else converted

    return rule


def _date_format(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """The zone's clock reading as text, by a pattern."""
    return _formatted(as_type(arguments[0], TIMESTAMP, zone), call.arguments[1], zone)


def _from_unixtime(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """The zone's clock reading so many seconds after 1970, as text; wraps around."""
    seconds = arguments[0]
    if not isinstance(seconds.type, IntegerType):
        return anything(STRING, raises=True)
    lower, upper = (mapped(lambda n: times(n, MICROS_A_SECOND), b) for b in bounds_of(seconds))
    moments = wrapping(TIMESTAMP, (lower, upper), [seconds])
    if len(arguments) == 1:
        return written(to_local(moments, zone), SECONDS_TEXT)
    return _formatted(moments, call.arguments[1], zone)


def _formatted(moments: Interval, how: Expression, zone: Zone) -> Interval:
    """Text by a literal pattern: NULL for a NULL pattern, anything for an unsupported one."""
    if isinstance(how, Literal) and how.value is None:
        return replace(only_null(STRING), raises=moments.raises)
    date_pattern = (
        pattern(how.value) if isinstance(how, Literal) and isinstance(how.value, str) else None
    )
    if date_pattern is None:
        return anything(STRING, raises=True)
    return written(to_local(moments, zone), date_pattern)


def _extract(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """A field by its name. SECOND may be anything, because it includes the fraction."""
    field = call.arguments[0]
    name = str(field.value).upper() if isinstance(field, Literal) else ""
    if name not in _FIELDS:
        return anything(call.type, raises=True)
    return _FIELDS[name](call, arguments[1:], zone)


def _from_utc(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """`from_utc_timestamp(ts, zone)`: the other zone's clock reading, as if it were in UTC."""
    moments, target_zone = as_type(arguments[0], TIMESTAMP, zone), _named_zone(call.arguments[1])
    if target_zone is None:
        return anything(TIMESTAMP, raises=True)
    return overflowing(TIMESTAMP, bounds_of(to_local(moments, target_zone)), [moments])


def _to_utc(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """`to_utc_timestamp(ts, zone)`: when the other zone's clock shows the reading of UTC."""
    moments, source_zone = as_type(arguments[0], TIMESTAMP, zone), _named_zone(call.arguments[1])
    if source_zone is None:
        return anything(TIMESTAMP, raises=True)
    shown = replace(moments, type=TIMESTAMP_NTZ)
    return overflowing(TIMESTAMP, bounds_of(to_instant(shown, source_zone)), [moments])


def _named_zone(expression: Expression) -> Zone | None:
    if not isinstance(expression, Literal) or not isinstance(expression.value, str):
        return None
    return find_zone(expression.value)


_YEAR = _rising(gregorian.year)
_QUARTER = _round(gregorian.quarter, gregorian.year, 1, 4)
_MONTH = _round(gregorian.month, gregorian.year, 1, 12)
_DAY = _round(gregorian.day, gregorian.months_of, 1, 31)
_DAY_OF_YEAR = _round(gregorian.day_of_year, gregorian.year, 1, 366)
_DAY_OF_WEEK = _round(gregorian.day_of_week, gregorian.sunday_weeks, 1, 7)
_WEEK = _round(gregorian.iso_week, gregorian.iso_year, 1, 53)
_HOUR = _clock(3600, 24)
_MINUTE = _clock(60, 60)

_FIELDS: Mapping[str, Rule] = {
    **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), _YEAR),
    "YEAROFWEEK": _rising(gregorian.iso_year),
    **dict.fromkeys(("QUARTER", "QTR"), _QUARTER),
    **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), _MONTH),
    **dict.fromkeys(("WEEK", "W", "WEEKS"), _WEEK),
    **dict.fromkeys(("DAY", "D", "DAYS"), _DAY),
    **dict.fromkeys(("DAYOFWEEK", "DOW"), _DAY_OF_WEEK),
    "DOY": _DAY_OF_YEAR,
    **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), _HOUR),
    **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), _MINUTE),
}

TEMPORAL: Mapping[str, Rule] = MappingProxyType(
    {
        **EPOCH,
        **DATES,
        "year": _YEAR,
        "quarter": _QUARTER,
        "month": _MONTH,
        "day": _DAY,
        "dayofmonth": _DAY,
        "dayofyear": _DAY_OF_YEAR,
        "dayofweek": _DAY_OF_WEEK,
        "weekday": _round(gregorian.weekday, gregorian.monday_weeks, 0, 6),
        "weekofyear": _WEEK,
        "hour": _HOUR,
        "minute": _MINUTE,
        "second": _clock(1, 60),
        **dict.fromkeys(("extract", "date_part", "datepart"), _extract),
        "date_trunc": date_trunc,
        "trunc": trunc,
        **dict.fromkeys(("to_date", "date"), _cast_to(DATE)),
        "try_to_date": _cast_to(DATE, CastFailure.NULL),
        **dict.fromkeys(("to_timestamp", "timestamp", "to_timestamp_ltz"), _cast_to(TIMESTAMP)),
        "to_timestamp_ntz": _cast_to(TIMESTAMP_NTZ),
        "try_to_timestamp": _cast_to(TIMESTAMP, CastFailure.NULL),
        "date_format": _date_format,
        "from_unixtime": _from_unixtime,
        "from_utc_timestamp": _from_utc,
        "to_utc_timestamp": _to_utc,
    }
)
"""The rules by Spark's function name in lower case. Any other function is opaque."""
