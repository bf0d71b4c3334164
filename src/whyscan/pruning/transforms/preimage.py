"""Preimages: where the source column lies, for a partition value.

| partition value | the source lies in |
|---|---|
| identity v | [v, v] |
| year, month, day, hour v | from the first to the last step of the unit |
| truncate[W] v, a number | [v, v + W - 1], in steps of the last digit |
| truncate[W] v, a string of W code points | every string that starts with v |
| truncate[W] v, a shorter string | [v, v] |
| bucket, void, unknown | anywhere |

The summary of a manifest has two partition values, one for each end. Writers make errors before
1970. Old writers rounded towards zero, so the source of a unit at or below 0 may lie one unit
lower. Iceberg's Java library still puts the last step of a unit's first second into the unit
before, so the source of a unit may lie up to that step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.rules import mapped
from whyscan.pruning.functions.text.utf8 import ABOVE, count_characters, joined
from whyscan.pruning.functions.time.gregorian import MONTHS_A_YEAR, month_start
from whyscan.pruning.functions.time.kernels import contained, from_ticks, ticks_of, times
from whyscan.pruning.interval import Interval, anything, points
from whyscan.pruning.mask import Mask, Vector, both, either, keep, simplified, surely
from whyscan.pruning.transforms.forward import steps_in_a_day, steps_in_an_hour
from whyscan.pruning.transforms.transform import (
    Bucket,
    Day,
    Hour,
    IdentityTransform,
    Month,
    Substring,
    Temporal,
    Transform,
    Truncate,
    Unknown,
    Void,
    Year,
    supports,
)
from whyscan.pruning.unscaled import scaled_to
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS
from whyscan.tree.types import (
    BIGINT,
    INT,
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from whyscan.pruning.functions.rules import Kernel

Bounds: TypeAlias = tuple[Vector | None, Vector | None]
"""The lower and the upper bound; None, or a null slot, where it is unknown."""

UNKNOWN: Bounds = (None, None)
_BYTES = pa.array([bytes([byte]) for byte in range(256)], pa.binary())


def partition_interval(transform: Transform, source: Type, partition: Interval) -> Interval:
    """The interval of the source column, from the interval of its partition values.

    The transforms of the specification give NULL only for NULL; void and unknown transforms do not.
    """
    if isinstance(transform, Void | Unknown) or not supports(transform, source):
        return anything(source)
    lower, upper = preimage(transform, source, partition.lower, partition.upper)
    return Interval(
        source, lower, upper, value=partition.value, null=partition.null, nan=partition.nan
    )


def of_partition_values(kind: Type, values: pa.Array) -> Interval:
    """The interval with one partition value per container: that point, NULL, or NaN."""
    return points(kind, values, simplified(values.is_null()))


def preimage(
    transform: Transform, source: Type, lower: Vector | None, upper: Vector | None
) -> Bounds:
    """The bounds of the source for partition values in [lower, upper]."""
    if not supports(transform, source):
        return UNKNOWN
    match transform:
        case IdentityTransform():
            return lower, upper
        case Year() | Month() | Day() | Hour():
            return _temporal(transform, source, lower, upper)
        case Truncate():
            return _truncated(source, transform.width, lower, upper)
        case Bucket() | Substring() | Void() | Unknown():
            return UNKNOWN


def exactness(transform: Transform, source: Type, partition: Interval) -> Mask:
    """Every source value in the preimage has that partition value."""
    lower, upper = preimage(transform, source, partition.lower, partition.upper)
    bounded = both(surely(pc.is_valid, lower), surely(pc.is_valid, upper))
    match transform:
        case Day() if isinstance(source, DateType):
            return bounded
        case Year() | Month() | Day() | Hour():
            above_zero = surely(lambda v: pc.greater(ticks_of(v), 0), partition.lower)
            return both(bounded, above_zero)
        case Truncate() if isinstance(source, BinaryType):
            # The upper bound is the first value after the prefix: one value too many.
            return False
        case _:
            return bounded


def _temporal(
    transform: Temporal, source: Type, lower: Vector | None, upper: Vector | None
) -> Bounds:
    first = mapped(lambda v: _reaching_down(transform, source, ticks_of(v)), lower)
    last = mapped(ticks_of, upper)
    if isinstance(transform, Hour):
        sure = _never_wrapped(source, first, last)
        first, last = keep(sure, first), keep(sure, last)
    return (
        mapped(lambda v: from_ticks(_start(transform, source, v), source), first),
        mapped(lambda v: from_ticks(_end(transform, source, v), source), last),
    )


def _reaching_down(transform: Temporal, source: Type, units: Vector) -> Vector:
    if isinstance(transform, Day) and isinstance(source, DateType):
        return units  # The day of a date is the date itself: no writer rounded it.
    return pc.subtract(units, pc.less_equal(units, 0).cast(pa.int64()))


def _never_wrapped(source: Type, first: Vector | None, last: Vector | None) -> Mask:
    """No hour between the two bounds wrapped around its 32 bits.

    Timestamps in microseconds reach hour 2,562,047,788; an int reaches 2,147,483,647.
    """
    hour = steps_in_an_hour(source)
    latest, earliest = BIGINT.greatest // hour, BIGINT.least // hour
    return both(
        surely(lambda v: pc.greater(v, latest - 2**INT.bits), first),
        surely(lambda v: pc.less(v, earliest + 2**INT.bits), last),
    )


def _start(transform: Temporal, source: Type, units: Vector) -> Vector:
    """The first step of a unit of time; unknown if the type of the source cannot hold it."""
    units = contained(units, INT.least - 1, INT.greatest + 1)
    match transform:
        case Hour():
            return times(units, steps_in_an_hour(source))
        case Day():
            return times(units, steps_in_a_day(source))
        case Month():
            return times(_once(month_start)(units), steps_in_a_day(source))
        case Year():
            months = pc.multiply(units, MONTHS_A_YEAR)
            return times(_once(month_start)(months), steps_in_a_day(source))


def _end(transform: Temporal, source: Type, units: Vector) -> Vector:
    """The last step of a unit, or the later step that Iceberg's Java library puts into the unit.

    For a negative time, DateTimeUtil adds one step and does not carry it into the seconds: it
    computes hour 00 for 1969-12-27 01:00:00.999999.
    """
    following = _start(transform, source, pc.add(units, 1))
    last = pc.subtract(following, 1)
    if not isinstance(source, TimestampType):
        return last
    return pc.if_else(pc.less(following, 0), pc.add(last, source.unit.per_second), last)


def _truncated(source: Type, width: int, lower: Vector | None, upper: Vector | None) -> Bounds:
    match source:
        case IntegerType():
            first, last = mapped(ticks_of, lower), mapped(ticks_of, upper)
            sure = _on_the_grid(source, width, first, last)
            return keep(sure, first), mapped(lambda v: _last_integer(v, width), keep(sure, last))
        case DecimalType():
            return lower, mapped(_once(lambda v: _last_decimal(v, width, source.scale)), upper)
        case BinaryType():
            return lower, mapped(_once(lambda v: _last_binary(v, width)), upper)
        case _:
            return lower, mapped(_once(lambda v: _last_text(v, width)), upper)


def _once(kernel: Kernel) -> Kernel:
    """The kernel over distinct values: partition values repeat, and these kernels are slow."""

    def over_distinct(values: Vector) -> Vector:
        encoded = _array(values).dictionary_encode()
        results = kernel(encoded.dictionary).take(encoded.indices)
        return results if isinstance(values, pa.Array) else results[0]

    return over_distinct


def _array(values: Vector) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.repeat(values, 1)


def _on_the_grid(
    source: IntegerType, width: int, lower: Vector | None, upper: Vector | None
) -> Mask:
    """Both bounds are multiples of the width, and no value between them wrapped around.

    The floor of the least integers is below the least value of the type. Writers let it wrap around
    to the greatest values. There it is a multiple of no width, but a greater upper bound may hide
    it.
    """
    return both(
        surely(lambda v: pc.equal(pc.modulo(v, width), 0), lower),
        surely(lambda v: pc.equal(pc.modulo(v, width), 0), upper),
        either(
            surely(pc.equal, lower, upper),
            surely(lambda v: pc.less_equal(v, source.greatest - width), upper),
        ),
    )


def _last_integer(values: Vector, width: int) -> Vector:
    return pc.add(contained(values, BIGINT.least, BIGINT.greatest - width + 1), width - 1)


def _last_decimal(values: Vector, width: int, scale: int) -> Vector:
    """v + W - 1 in the last digit; unknown if it has too many digits."""
    kind = pa.decimal128(MAX_DECIMAL_DIGITS, scale)
    limit = pa.scalar(scaled_to(10**MAX_DECIMAL_DIGITS - width, scale), kind)
    fitting = pc.if_else(pc.less_equal(values, limit), values, pa.scalar(None, values.type))
    roomy = pa.decimal256(MAX_DECIMAL_DIGITS + 1, scale)
    return pc.add(fitting.cast(roomy), pa.scalar(scaled_to(width - 1, scale), roomy)).cast(kind)


def _last_text(values: Vector, width: int) -> Vector:
    """v followed by the byte 0xff, which no UTF-8 contains: above all texts that start with v."""
    is_complete = pc.less(count_characters(values), width)
    return pc.if_else(is_complete, values, joined(values, ABOVE))


def _last_binary(values: Vector, width: int) -> Vector:
    """The first binary after all that start with v: the last byte below 0xff plus one.

    Unknown if every byte is 0xff.
    """
    kept = pc.replace_substring_regex(values, r"\xff+\z", "")
    last = pc.index_in(pc.binary_slice(kept, -1), value_set=_BYTES)
    raised = joined(pc.binary_slice(kept, 0, -1), _BYTES.take(pc.add(last, 1)))
    return pc.if_else(pc.greater_equal(pc.binary_length(values), width), raised, values)
