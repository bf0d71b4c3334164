"""Statistics of real and of hand-made footers: what is believed, what is kept and counted."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tables.by_hand import COLUMN_ORDERS, patch, set_created_by, set_statistics
from whyscan.tables import open_snapshot
from whyscan.tree.nodes import Column
from whyscan.tree.types import BIGINT, DOUBLE, INT, STRING, DecimalType, TimestampType

SPARK = "parquet-mr version 1.16.0 (build 0123)"
ARROW = "parquet-cpp-arrow version 26.0.1"


def wall(*parts: int) -> dt.datetime:
    """A moment as Arrow gives it back: without a zone."""
    return dt.datetime(*parts)  # noqa: DTZ001


def write(folder, *tables, **options):
    paths = []
    for at, table in enumerate(tables):
        paths.append(folder / f"f{at}.parquet")
        pq.write_table(pa.table(table), paths[-1], **options)
    return paths


def opened(folder, column="x", kind=None):
    """The interval of a column in every row group, and the row groups."""
    snapshot = open_snapshot([str(folder)], {}, {})
    path = tuple(column.split("."))
    if kind is None:
        kind = next(f.type for f in snapshot.schema().fields if f.name == path[0])
    files = snapshot.files([])
    groups = snapshot.row_groups(files, pa.array(range(files.count)), [Column(path, kind)], None)
    return groups.containers.statistics[path], groups


def values(vector):
    """The bounds, None where all are unknown."""
    return None if vector is None or vector.null_count == len(vector) else vector.to_pylist()


def mask(kept, groups):
    return [kept] * groups.count if isinstance(kept, bool) else kept.to_pylist()


LEVELS = {
    "int8": (pa.array([-3, 5], pa.int8()), "tinyint", -3, 5),
    "int32": (pa.array([-(2**31), 2**31 - 1], pa.int32()), "int", -(2**31), 2**31 - 1),
    "d10 int64": (pa.array([-(2**63), 2**63 - 1]), "bigint", -(2**63), 2**63 - 1),
    "uint8": (pa.array([0, 255], pa.uint8()), "smallint", 0, 255),
    "uint16": (pa.array([0, 65535], pa.uint16()), "int", 0, 65535),
    "d4 uint32": (pa.array([0, 4_000_000_000, 7], pa.uint32()), "bigint", 0, 4_000_000_000),
    "uint64": (
        pa.array([1, 2**64 - 1], pa.uint64()),
        "decimal(20,0)",
        Decimal(1),
        Decimal(2**64 - 1),
    ),
    "b8 float": (pa.array([0.1, 2.5], pa.float32()), "float", 0.10000000149011612, 2.5),
    "double": (pa.array([-1.5, float("inf")]), "double", -1.5, float("inf")),
    "half": (pa.array([1.5, 2.5], pa.float16()), "float", 1.5, 2.5),
    "boolean": (pa.array([False, True]), "boolean", False, True),
    "string": (pa.array(["z", "é"]), "string", b"z", "é".encode()),
    "large string": (pa.array(["a", "b"], pa.large_string()), "string", b"a", b"b"),
    "dictionary": (pa.array(["a", "b"]).dictionary_encode(), "string", b"a", b"b"),
    "binary": (pa.array([b"\x80", b"\x7f"]), "binary", b"\x7f", b"\x80"),
    "date": (
        pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
        "date",
        dt.date(1, 1, 1),
        dt.date(9999, 12, 31),
    ),
    "f6 milliseconds": (
        pa.array([wall(1990, 1, 1), wall(2020, 1, 1)], pa.timestamp("ms")),
        "timestamp_ntz",
        wall(1990, 1, 1),
        wall(2020, 1, 1),
    ),
    "microseconds": (
        pa.array([wall(1000, 6, 14), wall(2020, 1, 1)], pa.timestamp("us", "UTC")),
        "timestamp",
        wall(1000, 6, 14),
        wall(2020, 1, 1),
    ),
    "e12 small decimal": (
        pa.array([Decimal("-1.250"), Decimal("0.100")], pa.decimal128(5, 3)),
        "decimal(5,3)",
        Decimal("-1.250"),
        Decimal("0.100"),
    ),
    "e6 large decimal": (
        pa.array([Decimal("-0." + "9" * 38), Decimal("0.8")], pa.decimal128(38, 38)),
        "decimal(38,38)",
        Decimal("-0." + "9" * 38),
        Decimal("0.8" + "0" * 37),
    ),
}


@pytest.mark.parametrize("name", LEVELS)
def test_bounds_of_every_type(tmp_path, name):
    data, kind, lower, upper = LEVELS[name]
    write(tmp_path, {"x": data})

    interval, _ = opened(tmp_path)

    assert str(interval.type) == kind
    assert (values(interval.lower), values(interval.upper)) == ([lower], [upper])


def test_decimals_as_integers_have_their_scale(tmp_path):
    data = pa.array([Decimal("-1.25"), Decimal("99.99")], pa.decimal128(4, 2))
    write(tmp_path, {"x": data}, store_decimal_as_integer=True)

    interval, _ = opened(tmp_path)

    assert values(interval.upper) == [Decimal("99.99")]


def test_f22_nanoseconds_keep_their_unit(tmp_path):
    write(tmp_path, {"x": pa.array([1, 1_000_000_001]).cast(pa.timestamp("ns"))})

    interval, _ = opened(tmp_path)

    assert str(interval.type) == "timestamp_ntz_ns"
    assert interval.upper.cast(pa.int64()).to_pylist() == [1_000_000_001]


def test_int96_is_an_instant_without_bounds(tmp_path):
    data = pa.array([1, 2]).cast(pa.timestamp("ns"))
    (path,) = write(tmp_path, {"x": data}, use_deprecated_int96_timestamps=True)
    set_statistics(path, 0, lower=bytes(12), upper=bytes(12), null_count=0)

    interval, groups = opened(tmp_path)

    assert interval.type == TimestampType(instant=True)
    assert values(interval.lower) is None
    assert mask(interval.null, groups) == [False]


def test_nulls_some_all_and_unknown(tmp_path):
    *_, unknown = write(
        tmp_path,
        *({"x": pa.array(v, pa.int64())} for v in ([1, None], [1, 2], [None, None], [1, 2])),
    )
    set_statistics(unknown, 0, lower=struct.pack("<q", 1), upper=struct.pack("<q", 2))

    interval, groups = opened(tmp_path)

    # I8: a count that was not written is not zero.
    assert mask(interval.null, groups) == [True, False, True, True]
    assert mask(interval.value, groups) == [True, True, False, True]


INT64 = struct.Struct("<q").pack
DOUBLES = struct.Struct("<d").pack


def test_lower_above_upper_is_dropped_and_counted_and_the_null_count_stays(tmp_path):
    (path,) = write(tmp_path, {"x": [1, 2]})
    set_statistics(path, 0, lower=INT64(5), upper=INT64(1), null_count=0)

    interval, groups = opened(tmp_path)

    assert (values(interval.lower), values(interval.upper)) == (None, None)
    assert mask(interval.null, groups) == [False]
    assert groups.contradictions == 1


@pytest.mark.parametrize("nulls", [-1, 3, 1 << 61])
def test_a_null_count_that_cannot_be_is_dropped_whole_and_counted(tmp_path, nulls):
    (path,) = write(tmp_path, {"x": [1, 2]})
    set_statistics(path, 0, lower=INT64(1), upper=INT64(2), null_count=nulls)

    interval, groups = opened(tmp_path)

    assert values(interval.lower) is None
    assert groups.contradictions == 1


@pytest.mark.parametrize("bound", [b"", b"\x01", bytes(7), bytes(9), bytes(16)])
def test_a_bound_of_the_wrong_length_is_unknown(tmp_path, bound):
    (path,) = write(tmp_path, {"x": [1, 2]})
    set_statistics(path, 0, lower=bound, upper=INT64(2), null_count=0)

    interval, _ = opened(tmp_path)

    assert (values(interval.lower), values(interval.upper)) == (None, [2])


def test_c14_deprecated_bounds_of_text_are_not_believed(tmp_path):
    (path,) = write(tmp_path, {"x": ["z", "é"]})
    set_statistics(path, 0, old_lower="é".encode(), old_upper=b"z", null_count=0)
    patch(path, lambda metadata: metadata.pop(COLUMN_ORDERS))

    interval, _ = opened(tmp_path)

    assert values(interval.lower) is None


def test_d6_deprecated_bounds_of_unsigned_integers_are_not_believed(tmp_path):
    (path,) = write(tmp_path, {"x": pa.array([1, 4_000_000_000], pa.uint32())})
    set_statistics(
        path, 0, old_lower=struct.pack("<I", 4_000_000_000), old_upper=struct.pack("<I", 1)
    )

    interval, _ = opened(tmp_path)

    assert values(interval.lower) is None


def test_deprecated_bounds_of_signed_integers_have_but_one_order(tmp_path):
    (path,) = write(tmp_path, {"x": [1, 2]})
    set_statistics(path, 0, old_lower=INT64(1), old_upper=INT64(2))
    patch(path, lambda metadata: metadata.pop(COLUMN_ORDERS))

    interval, _ = opened(tmp_path)

    assert (values(interval.lower), values(interval.upper)) == ([1], [2])


@pytest.mark.parametrize(
    ("created_by", "believed"),
    [
        ("parquet-mr version 1.8.1 (build x)", False),
        ("parquet-mr", False),
        ("parquet-mr version unknown", False),
        ("parquet-mr version 1.8.2", True),
        (SPARK, True),
        (ARROW, True),
    ],
)
def test_c16_text_bounds_of_old_parquet_mr_are_not_believed(tmp_path, created_by, believed):
    (path,) = write(tmp_path, {"x": ["a", "z"]})
    set_created_by(path, created_by)

    interval, _ = opened(tmp_path)

    assert (values(interval.lower) == [b"a"]) is believed


@pytest.mark.parametrize("order", [None, 2, 9])
def test_text_bounds_in_another_order_are_not_believed(tmp_path, order):
    (path,) = write(tmp_path, {"x": ["a", "z"]})

    def reorder(metadata):
        metadata.pop(COLUMN_ORDERS)
        if order is not None:
            metadata[COLUMN_ORDERS] = (9, (12, [{order: (12, {})}]))

    patch(path, reorder)

    interval, _ = opened(tmp_path)

    assert values(interval.lower) is None


def test_c2_c20_text_cut_inside_a_character_is_a_bound(tmp_path):
    (path,) = write(tmp_path, {"x": ["a" * 20, "é" * 20]})
    set_statistics(path, 0, lower=b"aa", upper=b"\xc3\xaa\xc3", null_count=0)

    interval, _ = opened(tmp_path)

    assert (values(interval.lower), values(interval.upper)) == ([b"aa"], [b"\xc3\xaa\xc3"])


NAN = float("nan")
NAN_CASES = [
    # the data, who wrote it, what was set by hand, may a row be NaN?
    ("a4 arrow leaves it out", [1.0, NAN], ARROW, None, True),
    ("arrow without any", [1.0, 2.0], ARROW, None, True),
    ("parquet-mr without any", [1.0, 2.0], SPARK, None, False),
    ("parquet-mr before 1.10", [1.0, 2.0], "parquet-mr version 1.8.3", None, True),
    ("parquet-mr that nobody measured", [1.0, 2.0], "parquet-mr version 1.18.0", None, True),
    ("photon", [1.0, 2.0], "parquet-mr compatible Photon version 0.2", None, True),
    ("nobody", [1.0, 2.0], "", None, True),
    ("max is NaN", [1.0, 2.0], SPARK, {"lower": DOUBLES(1), "upper": DOUBLES(NAN)}, True),
    ("a6 min is NaN", [1.0, 2.0], SPARK, {"lower": DOUBLES(NAN), "upper": DOUBLES(5)}, True),
    ("parquet-mr without bounds", [1.0, 2.0], SPARK, {"null_count": 0}, True),
    (
        "counted: none",
        [1.0, 2.0],
        "x",
        {"lower": DOUBLES(1), "upper": DOUBLES(2), "nan_count": 0},
        False,
    ),
    (
        "counted: one",
        [1.0, NAN],
        "x",
        {"lower": DOUBLES(1), "upper": DOUBLES(1), "nan_count": 1},
        True,
    ),
    (
        "counted: nonsense",
        [1.0],
        "x",
        {"lower": DOUBLES(1), "upper": DOUBLES(1), "nan_count": -1},
        True,
    ),
]


@pytest.mark.parametrize("case", NAN_CASES, ids=lambda case: case[0])
def test_nan_by_evidence(tmp_path, case):
    _, data, created_by, statistics, expected = case
    (path,) = write(tmp_path, {"x": data})
    set_created_by(path, created_by)
    if statistics is not None:
        set_statistics(path, 0, **statistics)

    interval, groups = opened(tmp_path)

    assert mask(interval.nan, groups) == [expected]


def test_a6_a8_a_nan_bound_is_no_bound(tmp_path):
    (path,) = write(tmp_path, {"x": [1.0, 2.0]})
    set_statistics(path, 0, lower=DOUBLES(NAN), upper=DOUBLES(NAN), null_count=0)

    interval, _ = opened(tmp_path)

    assert (values(interval.lower), values(interval.upper)) == (None, None)


@pytest.mark.parametrize(("data", "expected"), [("['1', 'nan']", True), ("['1', '2']", False)])
def test_duckdb_counts_nan(tmp_path, data, expected):
    path = tmp_path / "f.parquet"
    duckdb.sql(f"SELECT unnest({data}::double[]) AS x").write_parquet(str(path))

    interval, groups = opened(tmp_path)

    assert mask(interval.nan, groups) == [expected]


def test_k2_k4_a_column_that_a_file_lacks_is_null_there(tmp_path):
    write(tmp_path, {"x": [1], "y": [2]}, {"x": [3]}, {"x": [4], "y": [5]})

    interval, groups = opened(tmp_path, "y")

    assert mask(interval.value, groups) == [True, False, True]
    assert mask(interval.null, groups) == [False, True, False]
    assert values(interval.lower) == [2, None, 5]


def test_k18_names_are_found_without_regard_to_case(tmp_path):
    write(tmp_path, {"ID": [1]}, {"id": [2]})

    interval, _ = opened(tmp_path, "ID")

    assert values(interval.lower) == [1, 2]


def test_f8_the_same_column_in_two_units(tmp_path):
    moment = wall(2020, 1, 1, 0, 0, 0, 1000)
    write(
        tmp_path,
        {"x": pa.array([moment], pa.timestamp("us"))},
        {"x": pa.array([moment], pa.timestamp("ms"))},
    )

    interval, _ = opened(tmp_path)

    assert values(interval.lower) == [moment, moment]


@pytest.mark.parametrize(
    ("first", "second", "kind", "lower"),
    [
        (pa.int32(), pa.int64(), BIGINT, [1, 1]),
        (pa.int64(), pa.int32(), BIGINT, [1, 1]),
        (pa.float32(), pa.float64(), DOUBLE, [1.0, 1.0]),
        (pa.int32(), pa.float64(), DOUBLE, [1.0, 1.0]),
        (pa.int64(), pa.decimal128(20, 2), DecimalType(21, 2), [Decimal(1), Decimal(1)]),
        (pa.decimal128(5, 1), pa.decimal128(6, 3), DecimalType(7, 3), [Decimal(1), Decimal(1)]),
        (pa.int64(), pa.float64(), BIGINT, [1, None]),
        (pa.int32(), pa.string(), INT, [1, None]),
        (pa.string(), pa.int32(), STRING, [b"1", None]),
    ],
)
def test_types_widen_where_they_can_and_are_unknown_where_not(tmp_path, first, second, kind, lower):
    one = pa.array([1], pa.decimal128(1, 0))
    write(tmp_path, {"x": one.cast(first)}, {"x": one.cast(second)})

    interval, _ = opened(tmp_path)

    assert interval.type == kind
    assert values(interval.lower) == lower


def test_a_column_bound_to_a_narrower_type_than_a_file_has_is_unknown_there(tmp_path):
    write(tmp_path, {"x": pa.array([1], pa.int32())}, {"x": pa.array([2**40])})

    interval, _ = opened(tmp_path, kind=INT)

    assert values(interval.lower) == [1, None]


def test_members_of_structs_have_statistics_and_lists_have_none(tmp_path):
    rows = [{"b": {"c": 1}, "l": [1]}, None, {"b": None, "l": []}]
    write(tmp_path, {"a": pa.array(rows)})

    member, groups = opened(tmp_path, "a.b.c", BIGINT)
    inside, _ = opened(tmp_path, "a.l", BIGINT)

    # The NULLs of the structs around it are its own: a.b.c IS NULL is TRUE there.
    assert (values(member.lower), mask(member.null, groups)) == ([1], [True])
    assert values(inside.lower) is None


def test_a_name_with_a_dot_is_no_struct(tmp_path):
    write(tmp_path, {"a.b": [1], "a": pa.array([{"b": 5}])})
    snapshot = open_snapshot([str(tmp_path)], {}, {})
    files = snapshot.files([])
    columns = [Column(("a.b",), BIGINT), Column(("a", "b"), BIGINT)]

    statistics = snapshot.row_groups(files, pa.array([0]), columns, None).containers.statistics

    assert [values(statistics[c.path].lower) for c in columns] == [[1], [5]]
