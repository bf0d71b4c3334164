"""Single values as the specification stores them (appendix D): bytes to values, type by type."""

from __future__ import annotations

import math
import uuid
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whyscan.pruning.mask import materialise
from whyscan.tables.iceberg.bounds import decode, in_either_order, unread
from whyscan.tables.iceberg.manifests import SortedMaps, lookup
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP_NTZ,
    UUID,
    DecimalType,
    OtherType,
    TimestampType,
    TimeUnit,
)

NANOSECONDS = TimestampType(instant=False, unit=TimeUnit.NANOSECOND)
SIXTEEN = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes
VECTORS = [
    (BOOLEAN, "00", False),
    (BOOLEAN, "01", True),
    (INT, "22000000", 34),
    (INT, "ffffffff", -1),
    (INT, "2200000000000000", None),
    (BIGINT, "2200000000000000", 34),
    (BIGINT, "deffffff", -34),
    (BIGINT, "ffffffffffffff7f", 2**63 - 1),
    (FLOAT, "0000803f", 1.0),
    (FLOAT, "000000000000f03f", None),
    (DOUBLE, "000000000000f03f", 1.0),
    (DOUBLE, "0000803f", 1.0),
    (DOUBLE, "000000000000f0ff", -math.inf),
    (DATE, "4e440000", date(2017, 11, 16)),
    (DATE, "ffffffff", date(1969, 12, 31)),
    (TIMESTAMP_NTZ, "40420f0000000000", datetime(1970, 1, 1, 0, 0, 1)),  # noqa: DTZ001
    (TIMESTAMP_NTZ, "0a000000", datetime(1970, 1, 11)),  # noqa: DTZ001 - a promoted date
    (STRING, "6963656265726720f09f98", b"iceberg \xf0\x9f\x98"),
    (STRING, "", b""),
    (BINARY, "00ff", b"\x00\xff"),
    (UUID, SIXTEEN.hex(), SIXTEEN),
    (UUID, SIXTEEN[:15].hex(), None),
    (DecimalType(9, 2), "058c", Decimal("14.20")),
    (DecimalType(9, 2), "fa74", Decimal("-14.20")),
    (DecimalType(9, 2), "ff", Decimal("-0.01")),
    (DecimalType(38, 0), "4b3b4ca85a86c47a098a223fffffffff", Decimal(10**38 - 1)),
    (DecimalType(38, 0), "4b3b4ca85a86c47a098a224000000000", None),
    (DecimalType(38, 10), "80" + "00" * 15, None),
    (DecimalType(9, 2), "00" * 17, None),
    (DecimalType(9, 2), "", None),
    (OtherType("geometry"), "00", None),
]


@pytest.mark.parametrize(("kind", "encoded", "value"), VECTORS)
def test_a_stored_value_is_read_or_unknown(kind, encoded, value):
    bound = pa.array([bytes.fromhex(encoded), None], pa.binary())
    decoded = decode(bound, kind)
    assert decoded.to_pylist() == [value, None]
    assert materialise(unread(bound, decoded), 2).to_pylist() == [value is None, False]


def test_nanoseconds_stay_and_dates_too_far_for_them_are_unknown():
    encoded = [
        (1).to_bytes(8, "little"),
        (106_751).to_bytes(4, "little"),
        (106_752).to_bytes(4, "little"),
    ]
    decoded = decode(pa.array(encoded), NANOSECONDS)
    assert decoded.view(pa.int64()).to_pylist() == [1, 106_751 * 86_400 * 10**9, None]


def test_nan_is_read_as_such():
    (value,) = decode(pa.array([b"\0\0\0\0\0\0\xf8\x7f"]), DOUBLE).to_pylist()
    assert math.isnan(value)


def test_slices_are_read_where_they_begin():
    whole = pa.array([b"\x01\0\0\0", None, b"\x02\0\0\0", b"\x03\0\0\0"])
    assert decode(whole.slice(1, 2), INT).to_pylist() == [None, 2]


def test_uuids_keep_their_upper_half_and_open_their_lower_one():
    low, high = b"\x01" * 16, b"\x01" * 8 + b"\x02" * 8
    lower, upper = in_either_order(pa.array([low, low, None]), pa.array([high, low, high]))
    assert lower.to_pylist() == [b"\x01" * 8 + bytes(8), low, None]
    assert upper.to_pylist() == [b"\x01" * 8 + b"\xff" * 8, low, None]  # One end says nothing.


def test_a_map_is_looked_up_by_key():
    kind = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.int64())]))
    maps = [[(1, 10), (2, 20)], None, [], [(2, 5)], [(2, 6), (2, 7)]]
    rows = [None if m is None else [{"key": k, "value": v} for k, v in m] for m in maps]
    array = pa.array([[{"key": 2, "value": 99}], *rows], kind).slice(1)
    assert lookup(array, 2).to_pylist() == [20, None, None, 5, None]


MAPS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.int64())]))
entry = st.fixed_dictionaries(
    {"key": st.none() | st.integers(-2, 5), "value": st.none() | st.integers(0, 9)}
)


@given(st.lists(st.none() | st.lists(entry, max_size=4), max_size=6), st.integers(-2, 6))
def test_sorted_maps_give_what_a_search_gives(maps, key):
    array = pa.array(maps, MAPS)
    assert SortedMaps.of(array).lookup(key).equals(lookup(array, key))
