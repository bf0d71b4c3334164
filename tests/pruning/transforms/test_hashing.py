"""The bucket hash against the vectors of the specification's Appendix B."""

import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal

import mmh3
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whyscan.pruning.transforms import Bucket, forward
from whyscan.pruning.transforms.hashing import hash_of_longs, hashed
from whyscan.tree import arrow
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UUID,
    DecimalType,
    TimestampType,
    TimeUnit,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NANOSECONDS = TimestampType(instant=True, unit=TimeUnit.NANOSECOND)


def microseconds(text: str) -> int:
    span = datetime.fromisoformat(text) - EPOCH
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def time_of_day(text: str) -> int:
    clock = time.fromisoformat(text)
    return ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1_000_000


AT_31_08 = microseconds("2017-11-16T22:31:08+00:00")

APPENDIX_B = [
    (INT, 34, 2017239379),
    (BIGINT, 34, 2017239379),
    (DecimalType(9, 2), Decimal("14.20"), -500754589),
    (DATE, (date(2017, 11, 16) - date(1970, 1, 1)).days, -653330422),
    (TIMESTAMP_NTZ, AT_31_08, -2047944441),
    (TIMESTAMP_NTZ, AT_31_08 + 1, -1207196810),
    (TIMESTAMP, microseconds("2017-11-16T14:31:08-08:00"), -2047944441),
    (TIMESTAMP, microseconds("2017-11-16T14:31:08.000001-08:00"), -1207196810),
    (NANOSECONDS, AT_31_08 * 1_000, -2047944441),
    (NANOSECONDS, (AT_31_08 + 1) * 1_000, -1207196810),
    (NANOSECONDS, (AT_31_08 + 1) * 1_000 + 1, -1207196810),
    (STRING, "iceberg", 1210000089),
    (UUID, uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes, 1488055340),
    (BINARY, b"\x00\x01\x02\x03", -188683207),
]


@pytest.mark.parametrize(("kind", "value", "expected"), APPENDIX_B)
def test_a_vector_of_the_specification(kind, value, expected):
    assert hashed(kind, arrow.array([value], kind)).to_pylist() == [expected]


def test_a_time_of_day_hashes_as_its_microseconds():
    assert hash_of_longs(pa.array([time_of_day("22:31:08")])).to_pylist() == [-662762989]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none()))
def test_longs_hash_as_their_eight_bytes(values):
    expected = [v if v is None else mmh3.hash(v.to_bytes(8, "little", signed=True)) for v in values]

    assert hash_of_longs(pa.array(values, pa.int64())).to_pylist() == expected


@pytest.mark.parametrize("steps", [-1, -999, -1_000])
def test_nanoseconds_before_1970_hash_as_the_microsecond_below(steps):
    nanoseconds = hashed(NANOSECONDS, arrow.array([steps], NANOSECONDS))

    assert nanoseconds == hashed(TIMESTAMP, arrow.array([-1], TIMESTAMP))


@pytest.mark.parametrize(
    ("unscaled", "content"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "0080"),
        (-1, "ff"),
        (-128, "80"),
        (-129, "ff7f"),
        (1420, "058c"),
        (10**38 - 1, "4b3b4ca85a86c47a098a223fffffffff"),
        (-(10**38) + 1, "b4c4b357a5793b85f675ddc000000001"),
    ],
)
def test_a_decimal_hashes_as_the_fewest_bytes_of_its_unscaled_value(unscaled, content):
    kind = DecimalType(38, 2)
    value = Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -2))

    expected = mmh3.hash(bytes.fromhex(content))

    assert hashed(kind, arrow.array([value], kind)).to_pylist() == [expected]


def test_bucket_numbers_are_never_negative():
    kind = DecimalType(9, 2)
    values = arrow.array([None, Decimal("14.20"), Decimal("-14.20")], kind)

    numbers = forward(Bucket(100), kind, values).to_pylist()

    assert numbers == [None, (-500754589 & 0x7FFFFFFF) % 100, 51]


def test_a_type_without_a_hash_has_no_bucket():
    assert forward(Bucket(16), DOUBLE, arrow.array([1.0], DOUBLE)) is None
