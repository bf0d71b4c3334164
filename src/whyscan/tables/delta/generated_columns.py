"""The preimage of a generated partition column: the interval of its source column in each file.

The value of an instant depends on the writer's zone, which is not recorded: its preimage is widened
by 18 hours at both ends. The same holds for a date or a timestamp without a zone that Spark first
converts to an instant (measured: date_trunc and date_format do so; CAST, trunc and year do not).
Columns generated from the same source (year, month, day) have one common preimage.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, assert_never

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.containers import Buckets
from whyscan.pruning.functions.time.gregorian import (
    EPOCH_YEAR,
    MONTHS_A_YEAR,
    month_start,
    months_of,
)
from whyscan.pruning.functions.time.kernels import (
    MICROS_A_DAY,
    SECONDS_A_DAY,
    contained,
    floor_divide,
    from_ticks,
    plus,
    ticks_of,
    times,
)
from whyscan.pruning.interval import Interval, anything, meet
from whyscan.pruning.mask import all_of, any_of, both, choose, either, opposite
from whyscan.pruning.transforms import Substring, Truncate, preimage
from whyscan.pruning.transforms.forward import steps_in_a_day, steps_in_an_hour
from whyscan.tables.delta.generation_expressions import (
    CalendarField,
    CalendarPeriod,
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
    """One generated column with its partition values: per file a point, NULL or unknown."""

    generated: Generated
    interval: Interval


def lift(values: Sequence[GeneratedValues]) -> dict[Path, Interval]:
    """The interval of each source column."""
    by_source: dict[Path, list[GeneratedValues]] = {}
    for column in values:
        by_source.setdefault(column.generated.source.path, []).append(column)
    return {path: _joint(columns) for path, columns in by_source.items()}


def substrings(values: Sequence[GeneratedValues]) -> tuple[Buckets, ...]:
    """The values of the columns generated as `SUBSTRING(x, m, n)`; they give x no interval."""
    return tuple(
        Buckets(v.generated.source.path, v.generated.shape, v.interval.lower, v.interval.upper)
        for v in values
        if isinstance(v.generated.shape, Substring)
    )


def _joint(columns: Sequence[GeneratedValues]) -> Interval:
    """The interval of one source. Calendar fields are combined before the others are met."""
    source = columns[0].generated.source.type
    fields = {
        column.generated.shape.unit: column.interval
        for column in columns
        if isinstance(column.generated.shape, CalendarField)
    }
    intervals = [
        _interval_alone(column)
        for column in columns
        if not isinstance(column.generated.shape, CalendarField)
    ] + ([_of_fields(source, fields, _slack(source, INT))] if fields else [])
    joint = intervals[0]
    for interval in intervals[1:]:
        joint = meet(joint, interval)
    return joint


def _interval_alone(column: GeneratedValues) -> Interval:
    source, interval = column.generated.source.type, column.interval
    match column.generated.shape:
        case Start(period):
            return _of_start(source, period, interval)
        case CalendarField(unit):
            return _of_fields(source, {unit: interval}, _slack(source, INT))
        case Formatted() as shape:
            return _of_text(source, shape, interval)
        case Prefix(width):
            lower, upper = preimage(Truncate(width), source, interval.lower, interval.upper)
            return _null_or_empty(replace(interval, lower=lower, upper=upper))
        case Substring():
            return anything(source)
        case Same():
            return _null_or_empty(interval) if isinstance(source, StringType) else interval
        case _ as never:
            assert_never(never)


def _null_or_empty(interval: Interval) -> Interval:
    """Delta records an empty string as NULL: NULL may stand for either."""
    certain = both(interval.null, opposite(interval.value))
    empty = pa.scalar(b"", pa.binary())
    return replace(
        interval,
        lower=choose(certain, empty, interval.lower),
        upper=choose(certain, empty, interval.upper),
        value=either(interval.value, certain),
    )


def _of_start(source: Type, period: CalendarPeriod, interval: Interval) -> Interval:
    """The values of a period: from its start to the last step before the next period."""
    first, last = (
        _steps(bound, interval.type, source) for bound in (interval.lower, interval.upper)
    )
    slack = _slack(source, interval.type)
    return _between(source, first, _next(last, period, source, slack), interval, slack)


def _steps(values: pa.Array, kind: Type, source: Type) -> pa.Array:
    """Dates and timestamps as numbers in the steps of the source's type."""
    if isinstance(kind, DateType):
        return times(ticks_of(values), steps_in_a_day(source))
    ticks = ticks_of(values)
    return floor_divide(ticks, MICROS_A_DAY) if isinstance(source, DateType) else ticks


def _next(steps: pa.Array, period: CalendarPeriod, source: Type, slack: Slack) -> pa.Array:
    """The start of the period after the one that begins at `steps`."""
    day = steps_in_a_day(source)
    if period.months:
        # In a zone ahead of UTC a month starts, in UTC, in the month before.
        months = months_of(floor_divide(plus(steps, slack.behind), day))
        return _month(pc.add(months, period.months), day)
    # A date is the start of its first hour, minute and second.
    return plus(steps, max(day * period.seconds // SECONDS_A_DAY, 1))


def _of_text(source: Type, shape: Formatted, interval: Interval) -> Interval:
    text = pc.cast(interval.lower, options=pc.CastOptions.unsafe(pa.string()))
    match = pc.extract_regex(text, pattern=f"^{shape.pattern}$")
    fields = {unit: pc.struct_field(match, [unit.name]).cast(pa.int64()) for unit in shape.units}
    intervals = {unit: replace(interval, lower=n) for unit, n in fields.items()}
    return _of_fields(source, intervals, _slack(source, interval.type))


def _of_fields(source: Type, fields: Mapping[CalendarUnit, Interval], slack: Slack) -> Interval:
    """The values that calendar fields leave. A field is used if all coarser fields are there."""
    null = any_of(both(field.null, opposite(field.value)) for field in fields.values())
    may_be_null = all_of(field.null for field in fields.values())
    interval = Interval(source, None, None, value=opposite(null), null=may_be_null)
    nested = list(takewhile(fields.__contains__, CalendarUnit))
    numbers = [contained(fields[unit].lower, *_LIMITS[unit]) for unit in nested]
    return _between(source, *_span(numbers, source), interval, slack) if numbers else interval


def _span(numbers: Sequence[pa.Array], source: Type) -> tuple[pa.Array, pa.Array]:
    """The first step of the finest unit in `numbers`, and the first step after that unit."""
    day = steps_in_a_day(source)
    year, *finer = numbers
    months = times(pc.subtract(year, EPOCH_YEAR), MONTHS_A_YEAR)
    if not finer:
        return _month(months, day), _month(plus(months, MONTHS_A_YEAR), day)
    months = plus(months, pc.subtract(finer[0], 1))
    if len(finer) == 1:
        return _month(months, day), _month(plus(months, 1), day)
    first = times(plus(month_start(months), pc.subtract(finer[1], 1)), day)
    if len(finer) < CalendarUnit.HOUR or day == 1:
        # The hour of a date is 0.
        return first, plus(first, day)
    first = plus(first, times(finer[2], steps_in_an_hour(source)))
    return first, plus(first, steps_in_an_hour(source))


def _month(months: pa.Array, day: int) -> pa.Array:
    return times(month_start(months), day)


def _between(
    source: Type, first: pa.Array, behind: pa.Array, interval: Interval, slack: Slack
) -> Interval:
    """The values from `first` to the last step before `behind`, widened by the slack for zones."""
    return replace(
        interval,
        type=source,
        lower=from_ticks(plus(first, -slack.before), source),
        upper=from_ticks(plus(behind, slack.behind - 1), source),
        nan=False,
    )


class Slack(Struct, frozen=True):
    """How far a source may be before and after its reading, in the source's steps."""

    before: int
    behind: int


def _slack(source: Type, read: Type) -> Slack:
    """The slack for the types of the source and of the generated value `read`.

    Text and timestamps without a zone that were made through an instant are later than the source
    where the writer's clock skipped an hour, and never earlier.
    """
    before, behind = 0, 0
    if is_instant(source) or is_instant(read):
        before, behind = FARTHEST_ZONE, FARTHEST_ZONE
    elif isinstance(read, StringType | TimestampType):
        before = 2 * FARTHEST_ZONE
    step = MICROS_A_DAY // steps_in_a_day(source)
    return Slack(-(-before // step), -(-behind // step))
