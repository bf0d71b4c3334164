"""From the partition value of a generated column back to where its source lies.

An instant was read on the writer's clock, which nobody recorded: its preimage is widened by 18
hours at both ends. So is that of a date or a wall clock's time which Spark makes an instant first
(*measured*: date_trunc and date_format; CAST, trunc, year and the like do not). Columns generated
from one source (year, month, day) are one preimage.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, assert_never

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.functions.time.gregorian import (
    EPOCH_YEAR,
    MONTHS_A_YEAR,
    month_start,
    months_of,
)
from whyscan.pruning.functions.time.kernels import (
    MICROS_A_DAY,
    contained,
    floor_divide,
    from_ticks,
    plus,
    ticks_of,
    times,
)
from whyscan.pruning.interval import Interval, meet
from whyscan.pruning.mask import all_of, any_of, both, choose, either, opposite
from whyscan.pruning.transforms import Truncate, preimage
from whyscan.pruning.transforms.forward import steps_in_a_day, steps_in_an_hour
from whyscan.tables.delta.generation_expressions import (
    CalendarField,
    CalendarUnit,
    Formatted,
    Generated,
    Prefix,
    Same,
    Start,
)
from whyscan.tables.delta.partitions import FARTHEST_ZONE, is_instant
from whyscan.tree.types import INT, DateType, StringType, TimestampType, Type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tree.nodes import Path

_LIMITS: Mapping[CalendarUnit, tuple[int, int]] = {
    CalendarUnit.YEAR: (-300_000, 300_000),
    CalendarUnit.MONTH: (1, 12),
    CalendarUnit.DAY: (1, 31),
    CalendarUnit.HOUR: (0, 23),
}


class GeneratedValues(Struct, frozen=True):
    """What partition values say of one generated column: a point, NULL or unknown, a file."""

    generated: Generated
    interval: Interval


def lift(told: Sequence[GeneratedValues]) -> dict[Path, Interval]:
    """Where each source lies."""
    by_source: dict[Path, list[GeneratedValues]] = {}
    for column in told:
        by_source.setdefault(column.generated.source.path, []).append(column)
    return {path: _joint(columns) for path, columns in by_source.items()}


def _joint(told: Sequence[GeneratedValues]) -> Interval:
    """One preimage: the calendar's fields together, everything else by itself."""
    source = told[0].generated.source.type
    fields = {
        t.generated.shape.unit: t.interval
        for t in told
        if isinstance(t.generated.shape, CalendarField)
    }
    parts = [_alone(t) for t in told if not isinstance(t.generated.shape, CalendarField)] + (
        [_of_fields(source, fields, _slack(source, INT))] if fields else []
    )
    whole = parts[0]
    for interval in parts[1:]:
        whole = meet(whole, interval)
    return whole


def _alone(told: GeneratedValues) -> Interval:
    source, interval = told.generated.source.type, told.interval
    match told.generated.shape:
        case Start(unit):
            return _of_start(source, unit, interval)
        case CalendarField(unit):
            return _of_fields(source, {unit: interval}, _slack(source, INT))
        case Formatted() as shape:
            return _of_text(source, shape, interval)
        case Prefix(width):
            lower, upper = preimage(Truncate(width), source, interval.lower, interval.upper)
            return _null_or_empty(replace(interval, lower=lower, upper=upper))
        case Same():
            return _null_or_empty(interval) if isinstance(source, StringType) else interval
        case _ as never:
            assert_never(never)


def _null_or_empty(told: Interval) -> Interval:
    """Delta records an empty string as NULL: such a file's source is one or the other."""
    certain = both(told.null, opposite(told.value))
    empty = pa.scalar(b"", pa.binary())
    return replace(
        told,
        lower=choose(certain, empty, told.lower),
        upper=choose(certain, empty, told.upper),
        value=either(told.value, certain),
    )


def _of_start(source: Type, unit: CalendarUnit, told: Interval) -> Interval:
    """From the start of a unit to the last step before the next one."""
    first, last = (_steps(bound, told.type, source) for bound in (told.lower, told.upper))
    slack = _slack(source, told.type)
    return _between(source, first, _next(last, unit, source, slack), told, slack)


def _steps(values: pa.Array, kind: Type, source: Type) -> pa.Array:
    """Dates and timestamps as steps of the source."""
    if isinstance(kind, DateType):
        return times(ticks_of(values), steps_in_a_day(source))
    ticks = ticks_of(values)
    return floor_divide(ticks, MICROS_A_DAY) if isinstance(source, DateType) else ticks


def _next(steps: pa.Array, unit: CalendarUnit, source: Type, slack: Slack) -> pa.Array:
    """The start of the unit behind the one that begins at `steps`."""
    day = steps_in_a_day(source)
    match unit:
        case CalendarUnit.HOUR:
            return plus(steps, steps_in_an_hour(source))
        case CalendarUnit.DAY:
            return plus(steps, day)
        case CalendarUnit.MONTH | CalendarUnit.YEAR:
            # On a clock ahead of UTC the start of a month lies in the one before.
            months = months_of(floor_divide(plus(steps, slack.behind), day))
            behind = pc.add(months, 1 if unit is CalendarUnit.MONTH else MONTHS_A_YEAR)
            return _month(behind, day)


def _of_text(source: Type, shape: Formatted, told: Interval) -> Interval:
    text = pc.cast(told.lower, options=pc.CastOptions.unsafe(pa.string()))
    found = pc.extract_regex(text, pattern=f"^{shape.pattern}$")
    fields = {unit: pc.struct_field(found, [unit.name]).cast(pa.int64()) for unit in shape.units}
    read = {unit: replace(told, lower=n) for unit, n in fields.items()}
    return _of_fields(source, read, _slack(source, told.type))


def _of_fields(source: Type, fields: Mapping[CalendarUnit, Interval], slack: Slack) -> Interval:
    """From the fields of a calendar reading: the year, and as many below it as there are."""
    null = any_of(both(told.null, opposite(told.value)) for told in fields.values())
    may_be_null = all_of(told.null for told in fields.values())
    interval = Interval(source, None, None, value=opposite(null), null=may_be_null)
    nested = list(takewhile(fields.__contains__, CalendarUnit))
    numbers = [contained(fields[unit].lower, *_LIMITS[unit]) for unit in nested]
    return _between(source, *_span(numbers, source), interval, slack) if numbers else interval


def _span(numbers: Sequence[pa.Array], source: Type) -> tuple[pa.Array, pa.Array]:
    """The first step of the finest unit that is given, and the first step behind it."""
    day = steps_in_a_day(source)
    year, *finer = numbers
    months = times(pc.subtract(year, EPOCH_YEAR), MONTHS_A_YEAR)
    if not finer:
        return _month(months, day), _month(plus(months, MONTHS_A_YEAR), day)
    months = plus(months, pc.subtract(finer[0], 1))
    if len(finer) == 1:
        return _month(months, day), _month(plus(months, 1), day)
    first = times(plus(month_start(months), pc.subtract(finer[1], 1)), day)
    if len(finer) < CalendarUnit.HOUR:
        return first, plus(first, day)
    first = plus(first, times(finer[2], steps_in_an_hour(source)))
    return first, plus(first, steps_in_an_hour(source))


def _month(months: pa.Array, day: int) -> pa.Array:
    return times(month_start(months), day)


def _between(
    source: Type, first: pa.Array, behind: pa.Array, told: Interval, slack: Slack
) -> Interval:
    """From `first` to the last step before `behind`, on a clock that may have been another."""
    return replace(
        told,
        type=source,
        lower=from_ticks(plus(first, -slack.before), source),
        upper=from_ticks(plus(behind, slack.behind - 1), source),
        nan=False,
    )


class Slack(Struct, frozen=True):
    """How far before and behind its reading a source may lie, in the source's steps."""

    before: int
    behind: int


def _slack(source: Type, read: Type) -> Slack:
    """By the type of the source and of what was read from it.

    Text and wall clocks' times made through an instant show what the writer's clock skipped as
    later than it is; never earlier.
    """
    before, behind = 0, 0
    if is_instant(source) or is_instant(read):
        before, behind = FARTHEST_ZONE, FARTHEST_ZONE
    elif isinstance(read, StringType | TimestampType):
        before = 2 * FARTHEST_ZONE
    step = MICROS_A_DAY // steps_in_a_day(source)
    return Slack(-(-before // step), -(-behind // step))
