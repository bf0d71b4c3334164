"""What must always hold between a transform and its preimage, over every type's hard values."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whyscan.pruning.interval import less_equal
from whyscan.pruning.mask import materialise, may
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
    forward,
    of_partition_values,
    partition_interval,
    result_type,
)
from whyscan.pruning.unscaled import unscaled_of
from whyscan.tree import arrow
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    DATE,
    INT,
    STRING,
    TIMESTAMP,
    UUID,
    DecimalType,
    TimestampType,
    TimeUnit,
)

NANOSECONDS = TimestampType(instant=True, unit=TimeUnit.NANOSECOND)
HUGE = DecimalType(38, 4)
SMALL = DecimalType(7, 3)

DAY = 86_400_000_000
NASTY = "\0a\x7f\u07ff\u00ff\ud7ff\ue000\ufdcf\ufffd😀\U0010ffff%_ßı"


def whole_numbers(bits):
    least, greatest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    edges = [least, least + 1, -11, -10, -1, 0, 1, 9, 10, 2**31 - 1, greatest - 1, greatest]
    near = st.integers(-100, 100)
    return (
        st.sampled_from([e for e in edges if e <= greatest]) | near | st.integers(least, greatest)
    )


def instants(per_microsecond):
    edges = [-1, 0, 1, -DAY, DAY - 1, -141_427 * DAY, 10**15, 7_730_941_132_800_000_000 // 1000]
    edges += [-(2**63), 2**63 - 1]
    centuries = st.integers(-(10**16), 10**16)
    scaled = (st.sampled_from(edges) | centuries).map(lambda v: v * per_microsecond)
    return scaled.filter(lambda v: -(2**63) <= v < 2**63) | st.integers(-(2**63), 2**63 - 1)


def scaled(digits, scale):
    return Decimal((int(digits < 0), tuple(map(int, str(abs(digits)))), -scale))


def decimals(precision, scale):
    limit = 10**precision - 1
    digits = st.sampled_from([-limit, -limit + 1, -11, -10, -1, 0, 1, limit]) | st.integers(
        -limit, limit
    )
    return digits.map(lambda n: scaled(n, scale))


VALUES = {
    INT: whole_numbers(32),
    BIGINT: whole_numbers(64),
    DATE: whole_numbers(32),
    TIMESTAMP: instants(1),
    NANOSECONDS: instants(1_000),
    HUGE: decimals(38, 4),
    SMALL: decimals(7, 3),
    STRING: st.text(NASTY, max_size=5),
    BINARY: st.binary(max_size=5)
    | st.lists(st.sampled_from([0, 0x7F, 0x80, 0xFF]), max_size=4).map(bytes),
    UUID: st.binary(min_size=16, max_size=16),
}

TEMPORAL = (Year(), Month(), Day(), Hour())
WIDTHS = (Truncate(1), Truncate(2), Truncate(10))
PAIRS = [
    *((transform, kind) for kind in (TIMESTAMP, NANOSECONDS) for transform in TEMPORAL),
    *((transform, DATE) for transform in (Year(), Month(), Day())),
    *(
        (transform, kind)
        for kind in (INT, BIGINT, HUGE, SMALL, STRING, BINARY)
        for transform in WIDTHS
    ),
    *((IdentityTransform(), kind) for kind in VALUES),
    *((Bucket(16), kind) for kind in VALUES),
    *((transform, INT) for transform in (Void(), Unknown("zorder"))),
]


def names(case):
    return str(case)


def sources_of(transform, kind, values):
    """The interval of each value's source, from the partition that the value falls into."""
    fallen = forward(transform, kind, values)
    if fallen is None:
        fallen = pa.nulls(len(values))
    partition = of_partition_values(result_type(transform, kind), fallen)
    return fallen, partition, partition_interval(transform, kind, partition)


def steps(values):
    """Values that can be counted: temporal ones as integers, decimals without their point."""
    if pa.types.is_date32(values.type):
        return values.cast(pa.int32()).to_pylist()
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.int64()).to_pylist()
    if pa.types.is_decimal(values.type):
        return [
            None if v is None else unscaled_of(v, values.type.scale) for v in values.to_pylist()
        ]
    return values.to_pylist()


@pytest.mark.parametrize(("transform", "kind"), PAIRS, ids=names)
@settings(max_examples=12)
@given(data=st.data())
def test_a_value_lies_in_the_preimage_of_its_partition(transform, kind, data):
    drawn = data.draw(st.lists(VALUES[kind] | st.none(), min_size=1, max_size=24))
    values = arrow.array(drawn, kind)

    fallen, _, source = sources_of(transform, kind, values)

    count = len(values)
    inside = pc.and_(
        materialise(may(less_equal, source.lower, values), count),
        materialise(may(less_equal, values, source.upper), count),
    )
    assert inside.to_pylist() == [True] * count, (fallen, source.lower, source.upper)
    null = materialise(source.null, count).to_pylist()
    assert all(n for n, v in zip(null, drawn, strict=True) if v is None), "NULL stays possible"


@pytest.mark.parametrize(
    ("transform", "kind"),
    [p for p in PAIRS if not isinstance(p[0], Bucket | Void | Unknown)],
    ids=names,
)
@settings(max_examples=12)
@given(data=st.data())
def test_transforms_but_buckets_keep_the_order(transform, kind, data):
    drawn = data.draw(st.lists(VALUES[kind], min_size=24, max_size=24))
    values = arrow.array(drawn, kind)

    ordered = values.take(pc.sort_indices(values))
    fallen = forward(transform, kind, ordered).drop_null()

    assert fallen == fallen.take(pc.sort_indices(fallen))


COUNTED = [p for p in PAIRS if p[1] not in (STRING, BINARY, UUID) and not isinstance(p[0], Bucket)]


@pytest.mark.parametrize(("transform", "kind"), COUNTED, ids=names)
@settings(max_examples=12)
@given(data=st.data())
def test_an_exact_preimage_ends_where_the_partition_ends(transform, kind, data):
    values = arrow.array(data.draw(st.lists(VALUES[kind], min_size=1, max_size=24)), kind)
    fallen, partition, source = sources_of(transform, kind, values)
    exact = materialise(exactness(transform, kind, partition), len(values))
    if not exact.true_count:
        return

    inside = [b.filter(exact) for b in (source.lower, source.upper)]
    below, above = (stepped(b, kind, by) for b, by in zip(inside, (-1, 1), strict=True))

    exactly = fallen.filter(exact)
    assert [forward(transform, kind, b) for b in inside] == [exactly, exactly]
    for beyond in (below, above):
        there = steps(forward(transform, kind, beyond))
        assert all(a is None or a != b for a, b in zip(there, steps(exactly), strict=True))


def stepped(bounds, kind, by):
    """The next value outside, a null slot where the type has none."""
    limit = {INT: 2**31 - 1, DATE: 2**31 - 1, HUGE: 10**38 - 1, SMALL: 10**38 - 1}.get(
        kind, 2**63 - 1
    )
    moved = [s + by if abs(s + by) <= limit else None for s in steps(bounds)]
    if isinstance(kind, DecimalType):
        return arrow.array([None if n is None else scaled(n, kind.scale) for n in moved], kind)
    return arrow.array(moved, kind)


@settings(max_examples=200)
@given(st.text(NASTY, max_size=5), st.text(NASTY, max_size=5), st.integers(1, 4))
def test_a_string_is_between_the_ends_exactly_if_it_falls_into_the_partition(one, other, width):
    fallen, _, source = sources_of(Truncate(width), STRING, arrow.array([one], STRING))

    inside = source.lower[0].as_py() <= other.encode() <= source.upper[0].as_py()

    assert inside is (other[:width] == one[:width]), (fallen, source.lower, source.upper)
    assert fallen[0].as_py().decode() == one[:width]
