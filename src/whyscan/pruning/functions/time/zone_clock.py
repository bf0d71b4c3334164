"""Intervals through a zone's clock: instants to clock readings, and back.

Both directions add an offset that changes at known points. At some of these points the result
decreases, and then the results of the bounds do not contain all values between them: a clock that
is set back shows an hour twice, and a reading inside a gap is a later instant than the readings
right after the gap.

A reading that is shown twice is the first of its two instants in Spark, the second in DuckDB and
Postgres (measured: Spark, DuckDB). So the bounds contain both.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.functions.rules import mapped
from whyscan.pruning.functions.time.kernels import (
    GREATEST,
    INT64,
    LEAST,
    SECONDS_A_DAY,
    Bounds,
    at,
    bounds_of,
    clock_type,
    contained,
    each,
    floor_divide,
    from_ticks,
    monotone,
    passed,
    plus,
    ticks_of,
    times,
)
from whyscan.pruning.mask import Vector, both, choose, has_value, may
from whyscan.tree.types import DATE, TimestampType
from whyscan.tree.tzfile import CYCLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.pruning.interval import Interval
    from whyscan.tree.zones import Zone

    Movement = Callable[[Bounds], Bounds]


class Shifts(Struct, frozen=True, eq=False):
    """x + shift, where the shift changes at sorted points; all in seconds.

    `falls` are the points where the result decreases. All results before a fall are below its peak
    (`peaks`), and all results from it on are at or above its trough (`troughs`).
    """

    points: pa.Array
    shifts: pa.Array
    falls: pa.Array
    peaks: pa.Array
    troughs: pa.Array
    horizon: int | None

    def at(self, seconds: Vector) -> Vector:
        """The shift at each moment."""
        folded, _ = self.fold(seconds)
        return at(self.shifts, passed(self.points, folded))

    def fall_until(self, seconds: Vector) -> tuple[Vector, Vector]:
        """The last fall at or before the moment, and its peak; unknown if there is none."""
        folded, cycles = self.fold(seconds)
        index = pc.subtract(passed(self.falls, folded), 1)
        return pc.add(at(self.falls, index), cycles), pc.add(at(self.peaks, index), cycles)

    def fall_after(self, seconds: Vector) -> tuple[Vector, Vector]:
        """The first fall after the moment, and its trough; unknown if there is none."""
        folded, cycles = self.fold(seconds)
        index = passed(self.falls, folded)
        return pc.add(at(self.falls, index), cycles), pc.add(at(self.troughs, index), cycles)

    def fold(self, seconds: Vector) -> tuple[Vector, Vector | int]:
        """Moments after the horizon, moved back by whole cycles, and by how much."""
        if self.horizon is None:
            return seconds, 0
        beyond = floor_divide(pc.subtract(seconds, self.horizon - CYCLE), CYCLE)
        cycles = pc.multiply(pc.max_element_wise(beyond, 0, skip_nulls=False), CYCLE)
        return pc.subtract(seconds, cycles), cycles


def _shifts(points: Sequence[int], shifts: Sequence[int], horizon: int | None) -> Shifts:
    falls = [i for i in range(len(points)) if shifts[i + 1] < shifts[i]]
    peaks = accumulate((points[i] + shifts[i] for i in falls), max)
    troughs = list(accumulate((points[i] + shifts[i + 1] for i in reversed(falls)), min))
    return Shifts(
        pa.array(points, INT64),
        pa.array(shifts, INT64),
        pa.array([points[i] for i in falls], INT64),
        pa.array(list(peaks), INT64),
        pa.array(troughs[::-1], INT64),
        horizon,
    )


@cache
def _clock(zone: Zone) -> Shifts:
    """The shifts from instants to what the clocks of the zone show."""
    return _shifts(zone.transitions, zone.offsets, zone.horizon)


@cache
def _first_instants(zone: Zone) -> Shifts:
    """The shifts from clock times to instants, as java.time does it.

    A clock time that is shown twice is the first of the two instants. One that is never shown,
    because clocks are set forward, is moved by as much as the clocks are.
    """
    changes = zip(zone.transitions, zone.offsets, zone.offsets[1:], strict=False)
    points = [t + max(before, after) for t, before, after in changes]
    return _shifts(points, [-offset for offset in zone.offsets], zone.horizon)


@cache
def _last_instants(zone: Zone) -> Shifts:
    """The same, but a clock time that is shown twice is the second of the two instants."""
    points = [t + after for t, after in zip(zone.transitions, zone.offsets[1:], strict=True)]
    return _shifts(points, [-offset for offset in zone.offsets], zone.horizon)


@cache
def _midnights(zone: Zone) -> tuple[Shifts, pa.Array]:
    """The shifts from clock times to instants by the offset after a change, and the changes.

    No result may be before the instant of the change.
    """
    points = [t + before for t, before in zip(zone.transitions, zone.offsets, strict=False)]
    first = -(1 << 62)
    changes = pa.array([first, *zone.transitions], INT64)
    return _shifts(points, [-offset for offset in zone.offsets], zone.horizon), changes


def to_local(interval: Interval, zone: Zone) -> Interval:
    """Return the interval of local times of an interval of instants.

    Where clocks are set back, local times repeat. So the interval covers both bounds and every such
    moment between them.
    """
    kind = clock_type(interval)
    if not kind.instant:
        return interval
    bounds = _image(_clock(zone), bounds_of(interval), kind.unit.per_second)
    return _rebound(interval, bounds, replace(kind, instant=False))


def to_instant(interval: Interval, zone: Zone) -> Interval:
    """Return the interval of instants of an interval of local times.

    Where clocks are set forward, local times are left out. So the interval covers both bounds and
    every such moment between them.
    """
    kind = clock_type(interval)
    if kind.instant:
        return interval
    bounds = _instants(bounds_of(interval), kind.unit.per_second, zone)
    return _rebound(interval, bounds, replace(kind, instant=True))


def _instants(readings: Bounds, per_second: int, zone: Zone) -> Bounds:
    """The hull of the first and the second instants of readings, as ticks."""
    least, upper = _image(_first_instants(zone), readings, per_second)
    if not zone.transitions:
        return least, upper
    _, greatest = _image(_last_instants(zone), readings, per_second)
    is_shared = readings[0] is readings[1] and least is not None and least.equals(greatest)
    return least, least if is_shared else greatest


def to_days(interval: Interval, zone: Zone) -> Interval:
    """The date that the clock shows. It never raises: a date holds the day of every instant."""
    if interval.type == DATE:
        return interval
    local = to_local(interval, zone)
    a_day = SECONDS_A_DAY * clock_type(local).unit.per_second
    return monotone(lambda ticks: floor_divide(ticks, a_day), DATE, local)


def day_starts(days: Vector, zone: Zone) -> Vector:
    """The first second of a date on the clock, as java.time's atStartOfDay.

    Never decreases: midnight itself, the end of the gap that contains it, or the first of two
    midnights.
    """
    midnights, changes = _midnights(zone)
    seconds = pc.multiply(days, SECONDS_A_DAY)
    folded, cycles = midnights.fold(seconds)
    change = passed(midnights.points, folded)
    start = pc.add(folded, at(midnights.shifts, change))
    first = pc.max_element_wise(start, at(changes, change), skip_nulls=False)
    return pc.add(first, cycles)


def starts_of(days: Bounds, kind: TimestampType, zone: Zone) -> Bounds:
    """The first tick of dates; for instants the hull of the first and the second midnight."""
    per_second = kind.unit.per_second
    if not kind.instant:
        return each(lambda day: times(pc.multiply(day, SECONDS_A_DAY), per_second), days)
    least, upper = each(lambda day: times(day_starts(day, zone), per_second), days)
    if not zone.transitions:
        return least, upper
    last = _last_instants(zone)
    seconds = mapped(lambda day: pc.multiply(day, SECONDS_A_DAY), days[1])
    second = mapped(lambda s: times(pc.add(s, last.at(s)), per_second), seconds)
    greatest = mapped(lambda end: pc.max_element_wise(end, second, skip_nulls=False), upper)
    is_shared = upper is least and least is not None and least.equals(greatest)
    return least, least if is_shared else greatest


def are_shown_twice(instants: Vector, kind: TimestampType, zone: Zone) -> Vector:
    """One boolean per instant, in ticks: whether the clock shows its reading twice."""
    seconds = floor_divide(instants, kind.unit.per_second)
    readings = plus(seconds, _clock(zone).at(seconds))
    return pc.not_equal(_first_instants(zone).at(readings), _last_instants(zone).at(readings))


def through_local(interval: Interval, moved: Movement, zone: Zone) -> Bounds:
    """Timestamps moved on the clock, as ticks; `moved` maps the bounds of the readings.

    java.time keeps the offset of an instant if the new reading can have it. A single instant is
    moved exactly if its new reading is shown once; else every offset that fits is possible.
    """
    if not clock_type(interval).instant:
        return moved(bounds_of(interval))
    per_second = clock_type(interval).unit.per_second
    point = both(interval.point(), bool(zone.transitions))
    exact = None
    if point is not False and interval.lower is not None:
        exact = _moved_exactly(ticks_of(interval.lower), moved, zone, per_second)
        point = both(point, True if exact is None else has_value(exact))
        if point is True:
            return exact, exact
    readings = moved(bounds_of(to_local(interval, zone)))
    least, _ = _image(_first_instants(zone), readings, per_second)
    _, greatest = _image(_last_instants(zone), readings, per_second)
    return choose(point, exact, least), choose(point, exact, greatest)


def _moved_exactly(instants: Vector, moved: Movement, zone: Zone, per_second: int) -> Vector | None:
    """The moved instants; null where clocks show the new local time twice."""
    clock, first = _clock(zone), _first_instants(zone)
    offset = clock.at(floor_divide(instants, per_second))
    shown = plus(instants, pc.multiply(offset, per_second))
    reading, _ = moved((shown, shown))
    if reading is None:
        return None
    same = plus(reading, pc.multiply(offset, -per_second))
    fits = pc.equal(clock.at(floor_divide(same, per_second)), offset)
    seconds = floor_divide(reading, per_second)
    shift = first.at(seconds)
    exact = pc.if_else(fits, same, plus(reading, pc.multiply(shift, per_second)))
    is_once = pc.equal(shift, _last_instants(zone).at(seconds))
    return pc.if_else(is_once, exact, pa.scalar(None, INT64))


def _image(shifts: Shifts, bounds: Bounds, per_second: int) -> Bounds:
    """The hull of x + shift over an interval, as ticks. Unknown near the limits of int64."""
    if not len(shifts.points):
        change = shifts.shifts[0].as_py() * per_second
        return each(lambda values: plus(values, change), bounds) if change else bounds
    margin = 2 * SECONDS_A_DAY * per_second
    lower, upper = each(lambda b: contained(b, LEAST + margin, GREATEST - margin), bounds)
    if lower is upper:
        return each(lambda b: _shifted(shifts, b, per_second), (lower, upper))
    return (
        mapped(lambda b: _least(shifts, b, upper, per_second), lower),
        mapped(lambda b: _greatest(shifts, lower, b, per_second), upper),
    )


def _least(shifts: Shifts, lower: Vector, upper: Vector | None, per_second: int) -> Vector:
    """The image of the lower bound, or the trough of the first fall up to the upper bound."""
    end = _shifted(shifts, lower, per_second)
    fall, trough = shifts.fall_after(floor_divide(lower, per_second))
    inside = may(pc.less_equal, times(fall, per_second), upper)
    inner = choose(inside, times(trough, per_second), end)
    return pc.min_element_wise(end, pc.coalesce(inner, end), skip_nulls=False)


def _greatest(shifts: Shifts, lower: Vector | None, upper: Vector, per_second: int) -> Vector:
    """The image of the upper bound, or the peak of the last fall after the lower bound."""
    end = _shifted(shifts, upper, per_second)
    fall, peak = shifts.fall_until(floor_divide(upper, per_second))
    inside = may(pc.greater, times(fall, per_second), lower)
    inner = choose(inside, plus(times(peak, per_second), -1), end)
    return pc.max_element_wise(end, pc.coalesce(inner, end), skip_nulls=False)


def _shifted(shifts: Shifts, values: Vector, per_second: int) -> Vector:
    seconds = floor_divide(values, per_second)
    return plus(values, pc.multiply(shifts.at(seconds), per_second))


def _rebound(interval: Interval, bounds: Bounds, kind: TimestampType) -> Interval:
    lower, upper = each(lambda ticks: from_ticks(ticks, kind), bounds)
    return replace(interval, type=kind, lower=lower, upper=upper)
