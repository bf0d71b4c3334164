"""`date_trunc` and `trunc`: down to the start of a unit; weeks start on Monday.

An instant is truncated on the zone's clock and becomes an instant again. Where a clock is set back
the result decreases, so an interval becomes the hull over all readings between its bounds. DuckDB
compares a start that is shown twice as if it were the start before (measured).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import mapped
from whyscan.pruning.functions.time import gregorian
from whyscan.pruning.functions.time.casts import as_type
from whyscan.pruning.functions.time.kernels import (
    SECONDS_A_DAY,
    bounds_of,
    each,
    floor_to,
    overflowing,
    plus,
    wrapping,
)
from whyscan.pruning.functions.time.zone_clock import (
    are_shown_twice,
    starts_of,
    through_local,
    to_days,
)
from whyscan.pruning.interval import Interval, anything, only_null
from whyscan.pruning.mask import choose
from whyscan.tree.nodes import Literal
from whyscan.tree.types import DATE, TIMESTAMP, TimestampType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.functions.time.kernels import Bounds, Kernel
    from whyscan.pruning.mask import Vector
    from whyscan.tree.nodes import Call, Expression
    from whyscan.tree.zones import Zone

_DAYS: dict[str, Kernel] = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), gregorian.year_start),
    "QUARTER": gregorian.quarter_start,
    **dict.fromkeys(("MONTH", "MON", "MM"), gregorian.first_of_month),
    "WEEK": gregorian.week_start,
}
"""The units of whole days, each with the function to the first day of the unit."""

_SECONDS = {"DAY": SECONDS_A_DAY, "DD": SECONDS_A_DAY, "HOUR": 3600, "MINUTE": 60}
"""The units that are truncated on the clock, in seconds."""

_PARTS = {"SECOND": 1, "MILLISECOND": 1_000, "MICROSECOND": 1_000_000}
"""The units that do not depend on the zone, with their number per second."""


def date_trunc(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """`date_trunc(unit, ts)`: never decreases on a clock; NULL for an unknown unit and for NULL."""
    unit = _unit(call.arguments[0])
    kind = call.type if isinstance(call.type, TimestampType) else TIMESTAMP
    moments = as_type(arguments[1], kind, zone)
    if unit is None:
        return anything(kind, raises=True)
    if unit in _DAYS:
        first_days = each(_DAYS[unit], bounds_of(to_days(moments, zone)))
        starts = starts_of(first_days, kind, zone)
        days_before = each(lambda days: _DAYS[unit](plus(days, -1)), first_days)
        before, _ = starts_of(days_before, kind, zone)
        return overflowing(kind, _from_the_start_before(starts, before, kind, zone), [moments])
    if unit in _SECONDS:
        step = _SECONDS[unit] * kind.unit.per_second
        starts = through_local(moments, partial(_floored, step), zone)
        before = mapped(lambda ticks: plus(ticks, -step), starts[0])
        return overflowing(kind, _from_the_start_before(starts, before, kind, zone), [moments])
    if unit in _PARTS:
        step = kind.unit.per_second // _PARTS[unit]
        return overflowing(kind, _floored(step, bounds_of(moments)), [moments])
    return replace(only_null(kind), raises=moments.raises)


def _from_the_start_before(
    starts: Bounds, before: Vector | None, kind: TimestampType, zone: Zone
) -> Bounds:
    """The bounds of starts; the lower one is `before` where the clock shows it twice."""
    lower, upper = starts
    if lower is None or not kind.instant or not zone.transitions:
        return starts
    twice = pc.coalesce(are_shown_twice(lower, kind, zone), pa.scalar(value=False))
    if not pc.any(pa.array([twice]) if isinstance(twice, pa.Scalar) else twice).as_py():
        return starts
    return choose(twice, before, lower), upper


def trunc(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """`trunc(date, unit)`: never decreases; NULL for a unit below the week and for NULL."""
    unit = _unit(call.arguments[1])
    days = as_type(arguments[0], DATE, zone)
    if unit is None:
        return anything(DATE, raises=True)
    if unit not in _DAYS:
        return replace(only_null(DATE), raises=days.raises)
    return wrapping(DATE, each(_DAYS[unit], bounds_of(days)), [days])


def _unit(expression: Expression) -> str | None:
    """The name of the unit in capitals, empty for NULL; None if it is no literal."""
    if not isinstance(expression, Literal):
        return None
    return "" if expression.value is None else str(expression.value).upper()


def _floored(step: int, bounds: Bounds) -> Bounds:
    return each(lambda ticks: floor_to(ticks, step), bounds)
