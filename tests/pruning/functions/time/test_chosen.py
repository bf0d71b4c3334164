"""Chosen intervals: what each function must make of them, to the letter."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from pruning.functions.time.reference import DAY, SECOND, micros
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.interval import Interval, between
from whyscan.tree import arrow
from whyscan.tree.nodes import Arithmetic, Call, Cast, CastFailure, Column, Literal, Operation
from whyscan.tree.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DecimalType,
    FloatType,
    IntervalType,
    TimestampType,
    TimeUnit,
)
from whyscan.tree.zones import zone

ANY = (None, None)


def ticks(text: str) -> int:
    return micros(datetime.fromisoformat(text))


def day(text: str) -> int:
    return ticks(text) // DAY


def over(expression, kind, lower, upper, name="UTC") -> Interval:
    """The expression over one container in which x is from lower to upper."""
    interval = between(kind, arrow.array([lower], kind), arrow.array([upper], kind))
    containers = Containers(1, statistics={("x",): interval})
    return interval_of(expression, ContainerBatch(containers, zone(name)))


def shown(interval: Interval) -> tuple:
    return tuple(_plain(bound) for bound in (interval.lower, interval.upper))


def _plain(bound):
    if bound is None:
        return None
    scalar = bound if isinstance(bound, pa.Scalar) else bound[0]
    if pa.types.is_date32(scalar.type):
        scalar = scalar.cast(pa.int32())
    if pa.types.is_timestamp(scalar.type):
        scalar = scalar.cast(pa.int64())
    value = scalar.as_py()
    return value.decode() if isinstance(value, bytes) else value


def says(mask) -> bool:
    return mask if isinstance(mask, bool) else mask[0].as_py()


def call(function, kind, *arguments):
    return Call(function, tuple(arguments), kind)


TS, NTZ, D = (Column(("x",), kind) for kind in (TIMESTAMP, TIMESTAMP_NTZ, DATE))
DAWN, DUSK = "2024-03-05 00:00:00", "2024-03-05 23:59:59.999999"


@pytest.mark.parametrize(
    ("function", "lower", "upper", "bounds"),
    [
        ("year", DAWN, DUSK, (2024, 2024)),
        ("year", "2023-12-31", "2024-01-01", (2023, 2024)),
        ("quarter", "2024-02-01", "2024-05-01", (1, 2)),
        ("month", "2024-02-01", "2024-05-01", (2, 5)),
        ("month", "2023-12-31", "2024-01-01", (1, 12)),
        ("day", "2024-02-03", "2024-02-29", (3, 29)),
        ("day", "2024-02-29", "2024-03-01", (1, 31)),
        ("dayofyear", "2024-12-30", "2024-12-31", (365, 366)),
        ("dayofweek", "2024-03-03", "2024-03-09", (1, 7)),
        ("dayofweek", "2024-03-09", "2024-03-09", (7, 7)),
        ("weekday", "2024-03-04", "2024-03-06", (0, 2)),
        ("weekday", "2024-03-03", "2024-03-04", (0, 6)),
        ("weekofyear", "2024-12-30", "2025-01-05", (1, 1)),
        ("weekofyear", "2024-12-29", "2024-12-30", (1, 53)),
        ("hour", "2024-03-05 07:10:00", "2024-03-05 09:00:00", (7, 9)),
        ("hour", "2024-03-05 23:00:00", "2024-03-06 00:00:00", (0, 23)),
        ("minute", "2024-03-05 07:10:00", "2024-03-05 07:20:00", (10, 20)),
        ("second", "2024-03-05 07:10:10", "2024-03-05 07:10:10.5", (10, 10)),
    ],
)
def test_fields_are_tight_within_their_period(function, lower, upper, bounds):
    interval = over(call(function, INT, NTZ), TIMESTAMP_NTZ, ticks(lower), ticks(upper))

    assert shown(interval) == bounds


@pytest.mark.parametrize("function", ["month", "day", "hour", "weekofyear"])
def test_a_field_has_its_range_where_nothing_else_is_known(function):
    assert None not in shown(over(call(function, INT, TS), TIMESTAMP, None, None))


@pytest.mark.parametrize(
    ("unit", "start"),
    [
        ("DD", "2024-03-05"),
        ("day", "2024-03-05"),
        ("week", "2024-03-04"),
        ("Mon", "2024-03-01"),
        ("MM", "2024-03-01"),
        ("quarter", "2024-01-01"),
        ("YY", "2024-01-01"),
        ("yyyy", "2024-01-01"),
    ],
)
@pytest.mark.parametrize("column", [TS, NTZ], ids=["instant", "wall"])
def test_date_trunc_of_a_day_is_one_point(unit, start, column):
    truncated = call("date_trunc", column.type, Literal(unit, STRING), column)

    interval = over(truncated, column.type, ticks(DAWN), ticks(DUSK))

    assert shown(interval) == (ticks(start), ticks(start))


@pytest.mark.parametrize("unit", ["fortnight", "", None])
def test_a_unit_that_is_none_gives_null(unit):
    interval = over(call("date_trunc", TIMESTAMP, Literal(unit, STRING), TS), TIMESTAMP, 0, DAY)

    assert (interval.value, interval.null, says(interval.raises)) == (False, True, False)


def test_a_date_has_no_unit_below_the_week():
    interval = over(call("trunc", DATE, D, Literal("day", STRING)), DATE, 0, 1)

    assert (interval.value, interval.null) == (False, True)


def test_st_johns_goes_back_over_midnight_and_to_date_takes_the_hull():
    # 00:01 became 23:01: the order of instants gives the 7th, the 6th, the 7th.
    seventh = ticks("2010-11-07 02:30:30")
    later = ticks("2010-11-07 04:00:00")

    interval = over(Cast(TS, DATE), TIMESTAMP, seventh, later, "America/St_Johns")

    assert shown(interval) == (day("2010-11-06"), day("2010-11-07"))


def test_st_johns_shows_23_01_to_00_00_59_twice():
    before, after = ticks("2010-11-07 02:20:00"), ticks("2010-11-07 02:40:00")

    interval = over(Cast(TS, TIMESTAMP_NTZ), TIMESTAMP, before, after, "America/St_Johns")

    assert shown(interval) == (ticks("2010-11-06 23:01:00"), ticks("2010-11-07 00:00:59.999999"))


def test_apia_has_no_30th_of_december_2011():
    night = ticks("2011-12-30 09:59:59.999999"), ticks("2011-12-30 10:00:00")

    dates = over(Cast(TS, DATE), TIMESTAMP, *night, "Pacific/Apia")
    starts = over(Cast(D, TIMESTAMP), DATE, day("2011-12-30"), day("2011-12-31"), "Pacific/Apia")

    assert shown(dates) == (day("2011-12-29"), day("2011-12-31"))
    assert shown(starts) == (night[1], night[1])


def test_a_reading_in_a_gap_is_later_than_those_behind_it():
    # New York, 2024-03-10: 02:00 became 03:00, so 02:59 is 03:59 and 03:00 is 03:00.
    interval = over(
        Cast(NTZ, TIMESTAMP),
        TIMESTAMP_NTZ,
        ticks("2024-03-10 02:59:00"),
        ticks("2024-03-10 03:01:00"),
        "America/New_York",
    )

    assert shown(interval) == (ticks("2024-03-10 07:00:00"), ticks("2024-03-10 07:59:59.999999"))


def test_months_on_a_clock_fall_at_the_end_of_a_month():
    later = Arithmetic(Operation.ADD, NTZ, Literal(1, IntervalType(months=True)), TIMESTAMP_NTZ)

    interval = over(
        later, TIMESTAMP_NTZ, ticks("2023-01-30 20:00:00"), ticks("2023-01-31 05:00:00")
    )

    assert shown(interval) == (ticks("2023-02-28 00:00:00"), ticks("2023-02-28 23:59:59.999999"))


@pytest.mark.parametrize(
    ("pattern", "lower", "upper", "bounds"),
    [
        ("yyyy-MM", "2024-01-31", "2024-03-01", ("2024-01", "2024-03")),
        ("yyyyMMdd", "0001-01-31", "9999-12-31", ("00010131", "99991231")),
        ("dd.MM.yyyy", "2024-03-05 10:00:00", "2024-03-05 12:00:00", ("05.03.2024",) * 2),
        ("dd.MM.yyyy", "2024-03-05", "2024-03-06", ANY),
        ("HH:mm", "2024-03-05 10:00:00", "2024-03-05 12:00:00", ("10:00", "12:00")),
        ("HH:mm", "2024-03-05 10:00:00", "2024-03-06 09:00:00", ANY),
        ("H:mm", "2024-03-05 09:00:00", "2024-03-05 10:00:00", ANY),
        ("yyyy dd", "2024-03-05", "2024-04-04", ANY),
        ("EEEE", "2024-03-05", "2024-03-05", ANY),
    ],
)
def test_text_is_ordered_as_time_only_by_some_patterns(pattern, lower, upper, bounds):
    formatted = call("date_format", STRING, TS, Literal(pattern, STRING))

    assert shown(over(formatted, TIMESTAMP, ticks(lower), ticks(upper))) == bounds


YEAR_10000 = 253_402_300_800 * SECOND
YEAR_ONE = -62_135_596_800 * SECOND


@pytest.mark.parametrize(
    ("lower", "upper", "bounds"),
    [
        (0, YEAR_10000 - SECOND, ("1970-01-01 00:00:00", "9999-12-31 23:59:59")),
        (0, YEAR_10000, ANY),
        (YEAR_ONE, 500_000, ("0001-01-01 00:00:00", "1970-01-01 00:00:00.5")),
        (YEAR_ONE - 1, 500_000, ANY),
        (None, 500_000, ANY),
        (0, None, ANY),
    ],
)
def test_years_of_other_than_four_digits_are_not_ordered_as_text(lower, upper, bounds):
    assert shown(over(Cast(NTZ, STRING), TIMESTAMP_NTZ, lower, upper)) == bounds


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("2024-03-05", DATE, day("2024-03-05")),
        ("2024-3-5", DATE, day("2024-03-05")),
        ("2024", DATE, day("2024-01-01")),
        ("2024-03-05 10:00:00", DATE, day("2024-03-05")),
        ("2024-02-30", DATE, None),
        ("tomorrow", DATE, None),
        ("2024-03-05", TIMESTAMP, ticks("2024-03-05 05:00:00")),
        ("2024-03-05T10:20:30.1234567", TIMESTAMP, ticks("2024-03-05 15:20:30.123456")),
        ("2024-03-05 10", TIMESTAMP_NTZ, ticks("2024-03-05 10:00:00")),
        ("2024-03-05 24:00:00", TIMESTAMP_NTZ, None),
    ],
)
def test_a_single_text_is_read(text, kind, value):
    x = Column(("x",), STRING)
    interval = over(Cast(x, kind), STRING, text, text, "America/New_York")
    tried = over(Cast(x, kind, CastFailure.NULL), STRING, text, text, "America/New_York")

    assert shown(interval) == (value, value)
    assert says(interval.raises) is (value is None)
    assert says(tried.null) is (value is None)


def test_a_range_of_texts_may_be_any_date():
    interval = over(Cast(Column(("x",), STRING), DATE), STRING, "2024-1-10", "2024-1-9")

    assert (shown(interval), says(interval.raises)) == (ANY, True)


@pytest.mark.parametrize(
    ("kind", "lower", "upper", "bounds", "raises"),
    [
        (BIGINT, -1, 1, (-SECOND, SECOND), False),
        (BIGINT, 0, 2**62, (0, 2**63 - 1), False),
        (DOUBLE, -1.9999999, 1.9999999, (-1_999_999, 1_999_999), False),
        (DOUBLE, 0.0, 1e300, (0, None), True),
        (DecimalType(10, 7), Decimal("-1.9999999"), Decimal(2), (-1_999_999, 2_000_000), False),
        (DecimalType(38, 0), Decimal(0), Decimal(10) ** 20, ANY, False),
    ],
)
def test_numbers_are_seconds(kind, lower, upper, bounds, raises):
    interval = over(Cast(Column(("x",), kind), TIMESTAMP), kind, lower, upper)

    assert (shown(interval), says(interval.raises)) == (bounds, raises)


@pytest.mark.parametrize(
    ("kind", "bounds", "raises"),
    [
        (BIGINT, (-2, 1_700_000_000), False),
        (INT, (-2, 1_700_000_000), False),
        (DOUBLE, (-1.5, 1_700_000_000.123456), False),
        (FloatType(32), (-1.5, 1_700_000_000.0), False),
        (DecimalType(20, 3), (Decimal("-1.500"), Decimal("1700000000.123")), False),
        (DecimalType(5, 3), (Decimal("-1.500"), None), True),
    ],
)
def test_a_timestamp_is_seconds(kind, bounds, raises):
    interval = over(Cast(TS, kind), TIMESTAMP, -1_500_000, 1_700_000_000_123_456)

    assert (shown(interval), says(interval.raises)) == (bounds, raises)


def test_nanoseconds_are_cut_off_downwards():
    nanos = TimestampType(unit=TimeUnit.NANOSECOND)

    interval = over(Cast(Column(("x",), nanos), TIMESTAMP), nanos, -1, 1_999)

    assert shown(interval) == (-1, 1)


@pytest.mark.parametrize("name", ["UTC", "America/St_Johns"])
@pytest.mark.parametrize("function", ["year", "month", "day", "hour", "minute", "second"])
def test_nanoseconds_have_the_fields_of_their_microseconds(function, name):
    nanos = TimestampType(unit=TimeUnit.NANOSECOND)
    lower, upper = ticks("2010-11-07 02:20:00"), ticks("2010-11-07 02:40:00")

    fine = over(call(function, INT, Column(("x",), nanos)), nanos, lower * 1000, upper * 1000, name)

    assert shown(fine) == shown(over(call(function, INT, TS), TIMESTAMP, lower, upper, name))


@pytest.mark.parametrize(
    ("function", "kind", "arguments", "lower", "upper", "bounds"),
    [
        ("date_add", DATE, (Literal(1, INT),), 0, 2**31 - 1, ANY),
        ("date_sub", DATE, (Literal(1, INT),), 0, 9, (-1, 8)),
        ("date_sub", DATE, (Literal(-(2**31), INT),), 0, 9, ANY),
        ("datediff", INT, (Literal(-(2**31), DATE),), 0, 9, ANY),
        ("last_day", DATE, (), 2**31 - 2, 2**31 - 1, ANY),
    ],
)
def test_days_wrap_around_and_then_nothing_is_known(
    function, kind, arguments, lower, upper, bounds
):
    interval = over(call(function, kind, D, *arguments), DATE, lower, upper)

    assert (shown(interval), says(interval.raises)) == (bounds, False)


@pytest.mark.parametrize(
    "expression",
    [
        call("add_months", DATE, D, Literal(1, INT)),
        Cast(D, TIMESTAMP),
        Arithmetic(Operation.SUBTRACT, D, Literal(-9, DATE), IntervalType(months=False)),
    ],
    ids=["add_months", "timestamp", "difference"],
)
def test_overflow_raises(expression):
    interval = over(expression, DATE, 0, 2**31 - 1)

    assert shown(interval)[1] is None
    assert says(interval.raises) is True
    assert says(over(expression, DATE, 0, 9).raises) is False


@pytest.mark.parametrize(
    ("parts", "bounds", "raises"),
    [
        (((2024, 2024), (2, 2), (29, 29)), ("2024-02-29", "2024-02-29"), False),
        (((2023, 2023), (2, 2), (29, 29)), ("2023-02-28", "2023-02-28"), True),
        (((2023, 2024), (1, 12), (1, 28)), ("2023-01-01", "2024-12-28"), False),
        (((2023, 2024), (1, 12), (1, 31)), ("2023-01-01", "2024-12-31"), True),
        (((2023, 2023), (0, 13), (1, 1)), ("2023-01-01", "2023-12-01"), True),
    ],
)
def test_make_date_is_ordered_as_its_arguments(parts, bounds, raises):
    columns = [Column((name,), INT) for name in "ymd"]
    statistics = {
        column.path: between(INT, arrow.array([low], INT), arrow.array([high], INT))
        for column, (low, high) in zip(columns, parts, strict=True)
    }
    batch = ContainerBatch(Containers(1, statistics=statistics), zone("UTC"))

    interval = interval_of(call("make_date", DATE, *columns), batch)

    assert (shown(interval), says(interval.raises)) == (tuple(map(day, bounds)), raises)


def test_nan_is_no_moment():
    only_nan = Interval(DOUBLE, None, None, value=False, null=False, nan=True)
    batch = ContainerBatch(Containers(1, statistics={("x",): only_nan}), zone("UTC"))
    x = Column(("x",), DOUBLE)

    cast = interval_of(Cast(x, TIMESTAMP), batch)
    function = interval_of(call("timestamp_seconds", TIMESTAMP, x), batch)

    assert (cast.value, cast.null, cast.raises) == (False, False, True)
    assert (function.value, function.null, function.raises) == (False, True, False)
