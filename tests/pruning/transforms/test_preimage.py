"""From partition values back to where their source lies."""

from decimal import Decimal

import pyarrow as pa
import pytest

from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import materialise
from whyscan.pruning.transforms import (
    Bucket,
    Day,
    Hour,
    IdentityTransform,
    Month,
    Truncate,
    Unknown,
    Void,
    Year,
    exactness,
    of_partition_values,
    partition_interval,
    preimage,
    result_type,
)
from whyscan.tree import arrow
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    DecimalType,
    TimestampType,
    TimeUnit,
)

NANOSECONDS = TimestampType(instant=False, unit=TimeUnit.NANOSECOND)
SECOND = 1_000_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR
MONEY = DecimalType(7, 3)


def steps(bound, kind):
    """A bound of one container as the value a literal would hold."""
    if bound is None:
        return None
    value = bound if isinstance(bound, pa.Scalar) else bound[0]
    if isinstance(kind, TimestampType):
        return value.cast(pa.int64()).as_py()
    return value.cast(pa.int32()).as_py() if kind == DATE else value.as_py()


def point(transform, source, value):
    """The preimage of one partition value."""
    bound = arrow.array([value], result_type(transform, source))
    return tuple(steps(b, source) for b in preimage(transform, source, bound, bound))


def span(transform, source, low, high):
    """The preimage of a manifest's summary."""
    lower, upper = (arrow.array([v], result_type(transform, source)) for v in (low, high))
    return tuple(steps(b, source) for b in preimage(transform, source, lower, upper))


@pytest.mark.parametrize(
    ("transform", "source", "value", "expected"),
    [
        (IdentityTransform(), BIGINT, 7, (7, 7)),
        (IdentityTransform(), TIMESTAMP, -1, (-1, -1)),
        (Year(), DATE, 1, (365, 729)),
        (Year(), DATE, 2, (730, 1095)),
        (Month(), DATE, 671, (20423, 20453)),
        (Day(), DATE, 5, (5, 5)),
        (Day(), TIMESTAMP, 1, (DAY, 2 * DAY - 1)),
        (Day(), NANOSECONDS, 1, (DAY * 1_000, 2 * DAY * 1_000 - 1)),
        (Hour(), TIMESTAMP, 1, (HOUR, 2 * HOUR - 1)),
        (Truncate(10), INT, 20, (20, 29)),
        (Truncate(10), INT, -10, (-10, -1)),
        (Truncate(10), MONEY, Decimal("9.990"), (Decimal("9.990"), Decimal("9.999"))),
        (Truncate(10), MONEY, Decimal("-10000.000"), (Decimal("-10000.000"), Decimal("-9999.991"))),
        (Truncate(2), STRING, "ab", (b"ab", b"ab\xff")),
        (Truncate(2), STRING, "a", (b"a", b"a")),
        (Truncate(2), STRING, "", (b"", b"")),
        (Truncate(2), STRING, "é😀", ("é😀".encode(), "é😀".encode() + b"\xff")),
        (Truncate(3), STRING, "é😀", ("é😀".encode(), "é😀".encode())),
        (Truncate(2), BINARY, b"ab", (b"ab", b"ac")),
        (Truncate(2), BINARY, b"a\xff", (b"a\xff", b"b")),
        (Truncate(2), BINARY, b"\xff\xff", (b"\xff\xff", None)),
        (Truncate(2), BINARY, b"\xff", (b"\xff", b"\xff")),
        (Truncate(2), BINARY, b"\n\n", (b"\n\n", b"\n\x0b")),
        (Bucket(16), BIGINT, 3, (None, None)),
        (Void(), BIGINT, None, (None, None)),
    ],
)
def test_the_source_lies_in_the_preimage_of_its_partition_value(transform, source, value, expected):
    assert point(transform, source, value) == expected


@pytest.mark.parametrize(
    ("transform", "source", "value", "expected"),
    [
        (Year(), DATE, 0, (-365, 364)),
        (Year(), DATE, -1, (-731, -1)),
        (Month(), DATE, 0, (-31, 30)),
        (Month(), TIMESTAMP, -1, (-61 * DAY, -1)),
        (Day(), TIMESTAMP, 0, (-DAY, DAY - 1)),
        (Day(), TIMESTAMP, -7, (-8 * DAY, -6 * DAY + SECOND - 1)),
        (Year(), TIMESTAMP, -2, (-3 * 365 * DAY - DAY, -365 * DAY + SECOND - 1)),
        (Hour(), NANOSECONDS, -2, (-3 * HOUR * 1_000, (SECOND - HOUR) * 1_000 - 1)),
        (Hour(), TIMESTAMP, -1, (-2 * HOUR, -1)),
        (Day(), DATE, -7, (-7, -7)),
    ],
)
def test_units_up_to_1970_reach_down_by_one_and_up_by_a_second_as_writers_erred(
    transform, source, value, expected
):
    assert point(transform, source, value) == expected


@pytest.mark.parametrize("width", [pa.int32(), pa.int64(), pa.date32()])
def test_a_day_may_be_given_as_an_integer_or_a_date(width):
    days = pa.array([1], pa.int32()).cast(width)

    lower, upper = preimage(Day(), TIMESTAMP, days, days)

    assert (steps(lower, TIMESTAMP), steps(upper, TIMESTAMP)) == (DAY, 2 * DAY - 1)


def test_narrow_integers_come_back_in_the_representation_of_every_integer():
    values = pa.array([20], pa.int32())

    bounds = preimage(Truncate(10), INT, values, values)

    assert bounds == (pa.array([20]), pa.array([29]))


def test_a_summary_has_two_ends_and_each_may_be_unknown():
    lower, upper = pa.array([1, None, 3]), pa.array([2, 2, None])

    first, last = preimage(Month(), DATE, lower, upper)

    assert first.cast(pa.int32()).to_pylist() == [31, None, 90]
    assert last.cast(pa.int32()).to_pylist() == [89, 89, None]
    assert preimage(Month(), DATE, None, upper)[0] is None


def test_one_value_may_stand_for_all_containers():
    bounds = preimage(Truncate(10), BIGINT, pa.scalar(20), pa.scalar(20))

    assert [b.as_py() for b in bounds] == [20, 29]


@pytest.mark.parametrize(
    ("transform", "source", "value", "expected"),
    [
        # Beyond 32 bits of hours a value may have wrapped: 250000-01-01 is -2120780968.
        (Hour(), TIMESTAMP, -2120780968, (None, None)),
        (Hour(), TIMESTAMP, 1_800_000_000, (None, None)),
        (Hour(), NANOSECONDS, 2_562_046, (2_562_046 * HOUR * 1_000, 2_562_047 * HOUR * 1_000 - 1)),
        (Day(), TIMESTAMP, 106_751_991, (106_751_991 * DAY, None)),
        (Day(), TIMESTAMP, -106_751_991, (None, -106_751_990 * DAY + SECOND - 1)),
        (Day(), TIMESTAMP, 2**31 - 1, (None, None)),
        (Day(), DATE, 2**31 - 1, (2**31 - 1, 2**31 - 1)),
        (Year(), DATE, 2**31 - 1, (None, None)),
        (Month(), TIMESTAMP, -(2**31), (None, None)),
        (Truncate(10), BIGINT, 2**63 - 8, (2**63 - 8, None)),
        (Truncate(10), INT, 2147483646, (None, None)),
        (Truncate(7), DecimalType(38, 0), Decimal(10**38 - 3), (Decimal(10**38 - 3), None)),
        (
            Truncate(7),
            DecimalType(38, 0),
            Decimal(10**38 - 7),
            (Decimal(10**38 - 7), Decimal(10**38 - 1)),
        ),
    ],
)
def test_what_the_type_cannot_hold_is_unknown(transform, source, value, expected):
    assert point(transform, source, value) == expected


@pytest.mark.parametrize(
    ("transform", "source", "low", "high"),
    [
        (Truncate(10), INT, 0, 2147483646),
        (Truncate(10), INT, 0, 2147483640),
        (Hour(), TIMESTAMP, -2120780968, 0),
        (Hour(), TIMESTAMP, 0, 2_000_000_000),
    ],
)
def test_a_summary_that_may_hide_a_wrapped_value_says_nothing(transform, source, low, high):
    assert span(transform, source, low, high) == (None, None)


def test_a_null_partition_value_is_a_null_source_and_another_is_none():
    days = arrow.array([3, None], DATE)

    source = partition_interval(Day(), TIMESTAMP, of_partition_values(DATE, days))

    assert source.value.to_pylist() == [True, False]
    assert source.null.to_pylist() == [False, True]
    assert source.nan is False
    assert source.type == TIMESTAMP


def test_a_bucket_number_says_only_whether_the_source_is_null():
    numbers = pa.array([3, None])

    source = partition_interval(Bucket(16), STRING, of_partition_values(INT, numbers))

    assert (source.lower, source.upper) == (None, None)
    assert source.value.to_pylist() == [True, False]
    assert source.null.to_pylist() == [False, True]


@pytest.mark.parametrize("transform", [Void(), Unknown("zorder[3]")])
@pytest.mark.parametrize("source", [BIGINT, DOUBLE])
def test_void_and_unknown_transforms_say_nothing(transform, source):
    values = of_partition_values(source, pa.nulls(2, arrow.arrow_type(source)))

    interval = partition_interval(transform, source, values)

    assert (interval.lower, interval.upper, interval.value, interval.null) == (
        None,
        None,
        True,
        True,
    )
    assert interval.nan is (source == DOUBLE)


def test_nan_is_a_partition_value_of_its_own():
    values = pa.array([1.5, float("nan"), None, -0.0])

    source = partition_interval(IdentityTransform(), DOUBLE, of_partition_values(DOUBLE, values))

    assert source.lower.to_pylist() == [1.5, None, None, -0.0]
    assert source.value.to_pylist() == [True, False, False, True]
    assert source.nan.to_pylist() == [False, True, False, False]
    assert source.null.to_pylist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("transform", "source", "values", "expected"),
    [
        (IdentityTransform(), STRING, ["a", None], [True, False]),
        (Day(), TIMESTAMP, [1, 0, -1, None], [True, False, False, False]),
        (Day(), DATE, [1, 0, -1], [True, True, True]),
        (Month(), DATE, [1, 0], [True, False]),
        (Hour(), TIMESTAMP, [1, 2_000_000_000], [True, False]),
        (Truncate(10), INT, [10, -10, 5], [True, True, False]),
        (Truncate(2), STRING, ["ab", "a"], [True, True]),
        (Truncate(2), BINARY, [b"ab"], [False]),
        (Bucket(4), INT, [1], [False]),
        (Void(), INT, [None], [False]),
    ],
)
def test_a_preimage_is_exact_where_it_holds_nothing_else(transform, source, values, expected):
    kind = result_type(transform, source)
    partition = of_partition_values(kind, arrow.array(values, kind))

    mask = materialise(exactness(transform, source, partition), len(values))

    assert mask.to_pylist() == expected


def test_a_transform_not_defined_on_its_source_says_nothing():
    values = Interval(INT, pa.array([3]), pa.array([3]))

    assert preimage(Hour(), DATE, values.lower, values.upper) == (None, None)
    assert partition_interval(Hour(), DATE, values).null is True
