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

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.function import Argument, ScalarFunction
from whyscan.pruning.functions.rules import mapped, strict
from whyscan.pruning.functions.time import gregorian
from whyscan.pruning.functions.time.casts import as_type
from whyscan.pruning.functions.time.dates import DATES
from whyscan.pruning.functions.time.epoch import EPOCH
from whyscan.pruning.functions.time.formatting import pattern, written
from whyscan.pruning.functions.time.kernels import (
    MICROS_A_SECOND,
    bounds_of,
    clock_type,
    each,
    floor_divide,
    monotone,
    of_ticks,
    overflowing,
    paired,
    times,
    wrapping,
)
from whyscan.pruning.functions.time.truncation import date_trunc, trunc
from whyscan.pruning.functions.time.zone_clock import to_days, to_instant, to_local
from whyscan.pruning.interval import Interval, anything, only_null
from whyscan.pruning.mask import choose, surely
from whyscan.tree.nodes import Literal, type_of
from whyscan.tree.types import (
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    IntegerType,
    TimestampType,
)
from whyscan.tree.zones import find_zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.functions.function import Law
    from whyscan.pruning.functions.time.kernels import Kernel
    from whyscan.pruning.mask import Vector
    from whyscan.tree.nodes import Call, Expression
    from whyscan.tree.zones import Zone


def _rising(field: Kernel) -> Law:
    """A field of the date that never decreases."""

    def rule(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        return monotone(field, call.type, as_type(arguments[0], DATE, zone))

    return rule


def _round(field: Kernel, period: Kernel, least: int, greatest: int) -> Law:
    """A field of the date that increases within a period and then starts again."""

    def rule(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        days = as_type(arguments[0], DATE, zone)
        return _cycled(call, days, (field, period), (least, greatest))

    return rule


def _clock(step: int, count: int) -> Law:
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


def _date_format(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """The zone's clock reading as text, by a pattern."""
    return _formatted(as_type(arguments[0], TIMESTAMP, zone), call.arguments[1], zone)


def _from_unixtime(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """The zone's clock reading so many seconds after 1970, as text; wraps around."""
    seconds = arguments[0]
    if not isinstance(seconds.type, IntegerType):
        return anything(STRING, raises=True)
    micros = each(lambda n: times(n, MICROS_A_SECOND), bounds_of(seconds))
    moments = wrapping(TIMESTAMP, micros, [seconds])
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


_REST_OF_MONTHS, _REST_ACROSS_CHANGES = 0.9999997, 1.04
"""30 days 23:59:59 in months of 31 days, and 32 days: a day may be longer where clocks change."""


def _months_between(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """`months_between(later, earlier)`: the months from month to month, and a rest.

    The rest is up to 30 days and a time of day, in months of 31 days.
    """
    later, earlier = (
        each(gregorian.months_of, bounds_of(to_days(as_type(x, TIMESTAMP, zone), zone)))
        for x in arguments[:2]
    )
    rest = _REST_ACROSS_CHANGES if zone.transitions else _REST_OF_MONTHS
    bounds = (
        paired(lambda a, b: pc.subtract(pc.subtract(a, b), rest), later[0], earlier[1]),
        paired(lambda a, b: pc.add(pc.subtract(a, b), rest), later[1], earlier[0]),
    )
    return strict(call.type, arguments, bounds)


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


_OF_DATE: dict[str, Law] = {
    "year": _rising(gregorian.year),
    "quarter": _round(gregorian.quarter, gregorian.year, 1, 4),
    "month": _round(gregorian.month, gregorian.year, 1, 12),
    "day": _round(gregorian.day, gregorian.months_of, 1, 31),
    "dayofyear": _round(gregorian.day_of_year, gregorian.year, 1, 366),
    "dayofweek": _round(gregorian.day_of_week, gregorian.sunday_weeks, 1, 7),
    "weekday": _round(gregorian.weekday, gregorian.monday_weeks, 0, 6),
    "weekofyear": _round(gregorian.iso_week, gregorian.iso_year, 1, 53),
}
_OF_CLOCK = {"hour": _clock(3600, 24), "minute": _clock(60, 60), "second": _clock(1, 60)}
_MOMENT_AND_TEXT = (Argument.TIMESTAMP, Argument.STRING)

TEMPORAL = (
    *EPOCH,
    *DATES,
    *(ScalarFunction(name, (Argument.MOMENT,), INT, law) for name, law in _OF_DATE.items()),
    *(ScalarFunction(name, (Argument.TIMESTAMP,), INT, law) for name, law in _OF_CLOCK.items()),
    ScalarFunction("date_format", _MOMENT_AND_TEXT, STRING, _date_format),
    ScalarFunction("date_trunc", _MOMENT_AND_TEXT[::-1], lambda a: type_of(a[1]), date_trunc),
    ScalarFunction("from_unixtime", (Argument.BIGINT, Argument.STRING), STRING, _from_unixtime),
    ScalarFunction("from_utc_timestamp", _MOMENT_AND_TEXT, TIMESTAMP, _from_utc),
    ScalarFunction(
        "months_between",
        (Argument.TIMESTAMP, Argument.TIMESTAMP, Argument.ANY),
        DOUBLE,
        _months_between,
        optional=1,
    ),
    ScalarFunction("to_utc_timestamp", _MOMENT_AND_TEXT, TIMESTAMP, _to_utc),
    ScalarFunction("trunc", (Argument.DATE, Argument.STRING), DATE, trunc),
)
