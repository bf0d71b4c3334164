"""The Delta cases of the collection of real pruning bugs, each named after its number."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import whyscan

TS = "timestamp"
MAPPED = {
    "protocol": {"minReaderVersion": 2, "minWriterVersion": 5},
    "about": {
        "a": {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"},
    },
}


def test_c10_an_old_tie_breaker_below_an_emoji_loses_nothing(lake, bounds):
    lake.create({"s": "string"})
    lake.commit(lake.add("f", bounds("s", "a" * 32, "a" * 32 + "\ufffd")))

    assert lake.kept(f"s = '{'a' * 32}\U0001f33c'") == ["f"]
    assert lake.kept("s > 'b'") == []


@pytest.mark.parametrize("nested", [False, True])
def test_e_decimals_beyond_a_double_keep_their_digits(lake, nested):
    digits = "12345678901234567890.123456789012345678"
    kind = {
        "type": "struct",
        "fields": [{"name": "d", "type": "decimal(38,18)", "nullable": True, "metadata": {}}],
    }
    lake.create({"s": kind} if nested else {"d": "decimal(38,18)"})
    value = f'{{"s":{{"d":{digits}}}}}' if nested else f'{{"d":{digits}}}'
    stats = f'{{"numRecords":1,"minValues":{value},"maxValues":{value},"nullCount":{{}}}}'
    lake.commit(lake.add("f", stats))
    column = "s.d" if nested else "d"

    assert lake.kept(f"{column} = {digits}") == ["f"]
    assert lake.kept(f"{column} > {digits}") == []
    assert lake.kept(f"{column} < {digits}") == []


def test_e_a_decimal_whose_double_is_short_is_read_from_its_text(lake):
    value = "-9999999999.9999999999"
    lake.create({"d": "decimal(20,10)"})
    ends = f'"minValues":{{"d":{value}}},"maxValues":{{"d":{value}}}'
    lake.commit(lake.add("f", f'{{"numRecords":1,{ends},"nullCount":{{"d":0}}}}'))

    assert lake.kept(f"d = {value}") == ["f"]
    assert lake.kept("d <= -10000000000") == []


ROUNDED = [
    (38, 2, "12345678901234567.89"),
    (38, 2, "-12345678901234567.89"),
    (38, 0, "90071992547409931234567890123"),
    (38, 0, "-90071992547409931234567890123"),
    (38, 0, "1234567890123456789"),
    (20, 3, "12345678901234567.891"),
    (20, 3, "99999999999999999.999"),
    (38, 20, "0.12345678901234567891"),
    (38, 38, "0.99999999999999999999999999999999999999"),
    (17, 1, "9007199254740993.1"),
    (38, 0, "9" * 38),
    (16, 0, "9999999999999999"),
]


@pytest.mark.parametrize(("precision", "scale", "value"), ROUNDED)
def test_e_decimals_that_delta_rs_rounds_to_doubles_keep_their_file(
    tmp_path, precision, scale, value
):
    column = pa.array([Decimal(value)], pa.decimal128(precision, scale))
    write_deltalake(str(tmp_path), pa.table({"d": column}))
    table = whyscan.open(tmp_path)

    for predicate in (f"d = {value}", f"d <= {value}", f"d >= {value}"):
        assert len(list(table.plan(predicate, depth="files"))) == 1, predicate
    DeltaTable(str(tmp_path)).create_checkpoint()
    for predicate in (f"d = {value}", f"d <= {value}", f"d >= {value}"):
        assert len(list(table.plan(predicate, depth="files"))) == 1, predicate


def test_e_a_rounded_decimal_is_off_by_little_and_that_of_spark_by_nothing(lake, bounds):
    lake.create({"d": "decimal(38,18)"})
    lake.commit(lake.add("unknown", bounds("d", 5, 5)))
    lake.commit(
        {"commitInfo": {"engineInfo": "Apache-Spark/4.1.0", "operation": "WRITE"}},
        lake.add("spark", bounds("d", 5, 5)),
    )

    assert lake.kept("d > 5") == ["unknown"]
    assert lake.kept("d > 5.00000000000001") == []
    assert lake.kept("d <= 5 AND d >= 5") == ["unknown", "spark"]


def test_f2_a_maximum_cut_to_milliseconds_reaches_to_the_next_one(lake, bounds):
    lake.create({"t": TS})
    lake.commit(lake.add("f", bounds("t", "2024-01-01T20:04:53.080Z", "2024-01-01T20:04:53.080Z")))

    assert lake.kept("t = TIMESTAMP'2024-01-01 20:04:53.080758'") == ["f"]
    assert lake.kept("t >= TIMESTAMP'2024-01-01 20:04:53.081'") == []


@pytest.mark.parametrize(
    ("kind", "text", "hit", "miss"),
    [
        ("date", "+12345-07-15", "x = DATE'+12345-07-15'", "x < DATE'9999-12-31'"),
        (
            TS,
            "+12345-07-15T01:02:03.456Z",
            "x > TIMESTAMP'9999-12-31'",
            "x < TIMESTAMP'2019-09-09'",
        ),
    ],
)
def test_f_a_year_beyond_9999_has_a_plus(lake, bounds, kind, text, hit, miss):
    lake.create({"x": kind, "p": kind}, ("p",))
    lake.commit(lake.add("f", bounds("x", text, text), partition={"p": text.replace("T", " ")}))

    for column in "xp":
        assert lake.kept(hit.replace("x", column)) == ["f"]
        assert lake.kept(miss.replace("x", column)) == []


@pytest.mark.parametrize(
    ("kind", "inside", "outside"),
    [
        ("integer", "2147483647", "2147483648"),
        ("byte", "-128", "-129"),
        ("decimal(5,2)", "999.99", "12345.67"),
        ("decimal(5,0)", "99999", "100000"),
    ],
)
def test_h_a_partition_value_beyond_its_type_may_be_anything(lake, kind, inside, outside):
    lake.create({"x": "long", "p": kind}, ("p",))
    lake.commit(
        lake.add("inside", partition={"p": inside}), lake.add("outside", partition={"p": outside})
    )

    assert lake.kept("p = 1") == ["outside"]
    assert lake.kept("p IS NULL") == ["outside"]
    assert lake.every(f"p = {inside}") == ["inside"]
    assert lake.every("p <> 1") == ["inside"]


FAR_YEARS = ("+12345-07-15", "-0044-03-15", "0000-03-15", "2024-01-01")


@pytest.mark.parametrize(
    ("dialect", "predicate", "day"),
    [
        ("spark", "CAST(p AS STRING) = '+12345-07-15'", "+12345-07-15"),
        ("spark", "CAST(p AS STRING) = '-0044-03-15'", "-0044-03-15"),
        ("spark", "CAST(p AS STRING) LIKE '+%'", "+12345-07-15"),
        ("spark", "concat(date_add(p, 1), 'x') = '-0044-03-16x'", "-0044-03-15"),
        ("spark", "length(p) = 12", "+12345-07-15"),
        ("duckdb", "CAST(p AS VARCHAR) = '0045-03-15 (BC)'", "-0044-03-15"),
        ("duckdb", "CAST(p AS VARCHAR) = '0001-03-15 (BC)'", "0000-03-15"),
        ("postgres", "CAST(p AS VARCHAR) = '0045-03-15 BC'", "-0044-03-15"),
        ("trino", "CAST(p AS VARCHAR) = '-0044-03-15'", "-0044-03-15"),
        ("trino", "CAST(p AS VARCHAR) = '12345-07-15'", "+12345-07-15"),
    ],
)
@pytest.mark.parametrize("place", ["partition", "bounds"])
def test_f_the_text_of_a_year_of_other_than_four_digits_depends_on_the_engine(
    lake, bounds, dialect, predicate, day, place
):
    lake.create({"x": "date", "p": "date"}, ("p",))
    lake.commit(*(lake.add(f"d{d[:5]}", bounds("x", d, d), partition={"p": d}) for d in FAR_YEARS))

    column = {"partition": "p", "bounds": "x"}[place]
    kept = lake.kept(predicate.replace("(p", f"({column}"), dialect=dialect)

    assert f"d{day[:5]}" in kept
    assert "d2024-" not in kept


@pytest.mark.parametrize("kind", [TS, "timestamp_ntz"])
def test_f_nothing_is_behind_the_last_microsecond(lake, bounds, kind):
    last = "+294247-01-10T04:00:54.775"
    lake.create({"x": kind})
    lake.commit(lake.add("f", bounds("x", last + "Z" * (kind == TS), last + "Z" * (kind == TS))))

    literal = f"CAST('{last}807' AS {kind})"
    assert lake.kept(f"x >= {literal}") == ["f"]
    assert lake.kept(f"x > {literal}") == []
    assert lake.kept("x < TIMESTAMP'2019-09-09'") == []


def test_f4_a_checkpoints_typed_maximum_is_cut_as_well(lake):
    lake.create({"t": TS})
    moment = 1_704_139_493_080_000
    bound = pa.struct([("t", pa.timestamp("us", "UTC"))])
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", bound), ("maxValues", bound)])
    write_checkpoint(
        lake, parsed, {"numRecords": 1, "minValues": {"t": moment}, "maxValues": {"t": moment}}
    )

    assert lake.kept("t = TIMESTAMP'2024-01-01 20:04:53.080758'") == ["f"]
    assert lake.kept("t >= TIMESTAMP'2024-01-01 20:04:53.081'") == []


def test_f5_an_offset_that_lost_its_seconds_is_not_taken_at_its_word(lake, bounds):
    lake.create({"t": TS})
    lake.commit(
        lake.add("f", bounds("t", "1850-01-01T00:00:00.000-07:52", "1850-01-01T00:00:00.000-07:52"))
    )

    # Los Angeles was 7:52:58 behind.
    assert lake.kept("t = TIMESTAMP'1850-01-01 07:52:58Z'") == ["f"]
    assert lake.kept("t > TIMESTAMP'1850-01-01 08:00:00Z'") == []


def test_f16_a_timestamp_partition_without_a_zone_may_be_any_instant_of_it(lake):
    lake.create({"id": "long", "t": TS}, ("t",))
    lake.commit(
        lake.add("bare", partition={"t": "2024-01-01 00:00:00"}),
        lake.add("zoned", partition={"t": "2024-01-01T00:00:00.000000Z"}),
    )

    assert lake.kept("t = TIMESTAMP'2024-01-01 08:00:00Z'") == ["bare"]
    assert lake.kept("t = TIMESTAMP'2024-01-01 00:00:00Z'") == ["bare", "zoned"]
    assert lake.every("t = TIMESTAMP'2024-01-01 00:00:00Z'") == ["zoned"]
    assert lake.kept("t > TIMESTAMP'2024-01-03'") == []


@pytest.mark.parametrize("where", ["commit", "checkpoint"])
def test_h12_an_empty_partition_value_is_null_in_commits_and_checkpoints(lake, where):
    lake.create({"id": "long", "p": "string"}, ("p",))
    if where == "commit":
        lake.commit(lake.add("f", partition={"p": ""}))
    else:
        write_checkpoint(lake, None, None, partition=[("p", "")])

    assert lake.kept("p IS NULL") == ["f"]
    assert lake.every("p IS NULL") == ["f"]
    assert lake.kept("p = ''") == []


TYPED_VALUES = {
    "integer": (pa.int32(), 5, "p = 5", "p = 6"),
    "string": (pa.string(), "x", "p = 'x'", "p = 'y'"),
    "date": (pa.date32(), date(2024, 5, 6), "p = DATE'2024-05-06'", "p = DATE'2024-05-07'"),
    "boolean": (pa.bool_(), True, "p", "NOT p"),
    "double": (pa.float64(), 0.1, "p = 0.1D", "p = 0.2D"),
    "float": (pa.float32(), 0.1, "p = CAST(0.1 AS FLOAT)", "p = CAST(0.2 AS FLOAT)"),
    "decimal(20,2)": (pa.decimal128(20, 2), Decimal("1.50"), "p = 1.5", "p = 1.51"),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        datetime(2024, 5, 6, 7, 8, 9, 10, UTC),
        "p = TIMESTAMP'2024-05-06 07:08:09.00001Z'",
        "p = TIMESTAMP'2024-05-06 07:08:09.00002Z'",
    ),
    "binary": (pa.binary(), b"ab", "p = X'6162'", "p = X'6163'"),
}


@pytest.mark.parametrize(
    ("kind", "arrow", "value", "hit", "miss"),
    [(kind, *case) for kind, case in TYPED_VALUES.items()],
    ids=TYPED_VALUES,
)
def test_h12_a_checkpoint_may_have_typed_partition_values_only(lake, kind, arrow, value, hit, miss):
    lake.create({"id": "long", "p": kind}, ("p",))
    write_checkpoint(lake, None, None, typed=(pa.struct([("p", arrow)]), {"p": value}))

    assert lake.kept(hit) == ["f"]
    assert lake.kept(miss) == []


def test_h12_a_typed_binary_value_beyond_ascii_may_be_anything(lake):
    lake.create({"id": "long", "p": "binary"}, ("p",))
    values = pa.struct([("p", pa.binary())])
    write_checkpoint(lake, None, None, typed=(values, {"p": b"\xaa"}))

    assert lake.kept("p = X'AA'") == ["f"]


def test_h12_a_typed_null_is_null(lake):
    lake.create({"id": "long", "p": "binary"}, ("p",))
    write_checkpoint(lake, None, None, typed=(pa.struct([("p", pa.binary())]), {"p": None}))

    assert lake.every("p IS NULL") == ["f"]


def test_h_a_key_in_a_folder_above_the_table_is_none_of_its_columns(tmp_path, lake):
    lake.folder = tmp_path / "add=1" / "metaData=2"
    lake.create({"id": "long", "p": "string"}, ("p",))
    write_checkpoint(lake, None, None, partition=[("p", "x")])

    assert lake.kept("p = 'x'") == ["f"]


def test_h8_a_null_partition_value_is_not_a_missing_one(lake):
    lake.create({"id": "long", "p": "integer"}, ("p",))
    lake.commit(
        lake.add("null", partition={"p": None}),
        lake.add("missing", partition={}),
        lake.add("unreadable", partition={"p": "x"}),
        lake.add("five", partition={"p": "5"}),
    )

    assert lake.kept("p = 5") == ["five", "missing", "unreadable"]
    assert lake.kept("p IS NULL") == ["missing", "null", "unreadable"]
    assert lake.table().snapshot.files([column(lake, "p")]).containers.unreadable_statistics == 2


def test_h24_an_absolute_path_stays_one(lake):
    lake.create({"id": "long"})
    lake.commit(lake.add("s3://other/table/part%201.parquet"))

    assert lake.live() == ["s3://other/table/part 1.parquet"]


@pytest.mark.parametrize("stats", [{"numRecords": 3}, {"numRecords": 3, "nullCount": {}}, None])
def test_i8_a_missing_null_count_is_not_zero(lake, stats):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", stats))

    assert lake.kept("a IS NULL") == ["f"]
    assert lake.every("a IS NOT NULL") == []


def test_i10_a_file_older_than_its_column_may_be_null(lake, bounds):
    lake.create({"a": "long", "b": "long"})
    lake.commit(lake.add("f", bounds("a", 1, 2)))

    assert lake.kept("b IS NULL") == ["f"]
    assert lake.kept("b <=> NULL") == ["f"]


@pytest.mark.parametrize("predicate", ["NOT (a IS NULL)", "NOT (a < 10)"])
def test_i24_negation_keeps_a_file_that_straddles(lake, bounds, predicate):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", bounds("a", 1, 20, nulls=2)))

    assert lake.verdicts(predicate) == (["f"], [])


def test_i26_not_null_safe_equal_is_true_for_nulls(lake, bounds):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", bounds("a", 1, 1, nulls=1, rows=2)))

    assert lake.kept("NOT (a <=> 1)") == ["f"]


@pytest.mark.parametrize(
    ("now", "before", "ends", "hit", "miss"),
    [
        ("long", "integer", (1, 5), "a = 5", "a > 5"),
        ("double", "integer", (1, 5), "a = 5.0D", "a < 1"),
        ("decimal(20,5)", "decimal(10,2)", (1.25, 5.5), "a = 5.5", "a > 5.5"),
        (
            "timestamp_ntz",
            "date",
            ("2024-01-01", "2024-01-02"),
            "a = TIMESTAMP_NTZ'2024-01-02'",
            "a > TIMESTAMP_NTZ'2024-01-03'",
        ),
    ],
)
def test_k12_bounds_of_the_narrower_type_are_read_in_the_wider(
    lake, bounds, now, before, ends, *, hit, miss
):
    about = {"a": {"delta.typeChanges": [{"fromType": before, "toType": now}]}}
    lake.create({"a": now}, about=about)
    lake.commit(lake.add("f", bounds("a", *ends)))

    assert lake.kept(hit) == ["f"]
    assert lake.kept(miss, assume_no_nan=True) == []


def test_k12_a_float_that_became_a_double_lies_beside_its_text(lake, bounds):
    about = {"a": {"delta.typeChanges": [{"fromType": "float", "toType": "double"}]}}
    lake.create({"a": "double"}, about=about)
    lake.commit(lake.add("f", bounds("a", 0.1, 0.1)))

    assert lake.kept("a > 0.1D AND a < 0.1000001D", assume_no_nan=True) == ["f"]


@pytest.mark.parametrize("mode", ["id", "name"])
def test_k14_k16_mapped_columns_are_looked_up_by_their_physical_names(lake, bounds, mode):
    lake.create({"a": "long"}, properties={"delta.columnMapping.mode": mode}, **MAPPED)
    lake.commit(lake.add("f", bounds("col-1", 1, 5)), lake.add("g", bounds("a", 1, 5)))

    # `g` has statistics under the logical name alone: they belong to another column.
    assert lake.kept("a > 5") == ["g"]


@pytest.mark.parametrize("null", [None, ""])
def test_k14_a_null_partition_value_is_not_the_value_of_a_column_that_has_its_old_name(lake, null):
    """Two partition columns whose names were exchanged: the physical names stay."""
    about = {
        "a": {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "b"},
        "b": {"delta.columnMapping.id": 2, "delta.columnMapping.physicalName": "a"},
    }
    lake.create(
        {"a": "string", "b": "string", "id": "long"},
        ("a", "b"),
        about=about | {"id": {"delta.columnMapping.physicalName": "id"}},
        properties={"delta.columnMapping.mode": "name"},
        protocol=MAPPED["protocol"],
    )
    lake.commit(lake.add("f", partition={"a": "x", "b": null}))

    assert lake.kept("a IS NULL") == ["f"]
    assert lake.kept("b = 'x'") == ["f"]
    assert lake.kept("a = 'x'") == []


@pytest.mark.parametrize("mode", ["id", "name"])
def test_k16_a_checkpoints_typed_statistics_are_under_physical_names_too(lake, mode):
    lake.create({"a": "long"}, properties={"delta.columnMapping.mode": mode}, **MAPPED)
    bound = pa.struct([("col-1", pa.int64()), ("a", pa.int64())])
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", bound), ("maxValues", bound)])
    column_bounds = {"col-1": 5, "a": 1}
    write_checkpoint(
        lake, parsed, {"numRecords": 1, "minValues": column_bounds, "maxValues": column_bounds}
    )

    assert lake.kept("a = 5") == ["f"]
    assert lake.kept("a = 1") == []


def test_k24_values_below_a_null_struct_only_widen_bounds(lake):
    member = {"name": "a", "type": "long", "nullable": True, "metadata": {}}
    lake.create({"s": {"type": "struct", "fields": [member]}})
    stats = {
        "numRecords": 2,
        "minValues": {"s": {"a": 5}},
        "maxValues": {"s": {"a": 999}},
        "nullCount": {"s": {"a": 1}},
    }
    lake.commit(lake.add("f", stats))

    assert lake.verdicts("s.a = 5") == (["f"], [])
    assert lake.verdicts("s.a <= 999") == (["f"], [])
    assert lake.kept("s.a IS NULL") == ["f"]


def test_k6_a_dropped_and_added_column_does_not_inherit_statistics(lake, bounds):
    lake.create({"a": "long"}, properties={"delta.columnMapping.mode": "name"}, **MAPPED)
    lake.commit(lake.add("old", bounds("col-0", 7, 9)))

    assert lake.kept("a = 1") == ["old"]
    assert lake.kept("a IS NULL") == ["old"]


def test_l4_bounds_that_cross_are_dropped_and_counted(lake, bounds):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", bounds("a", 9, 1)))

    assert lake.kept("a = 100") == ["f"]
    assert lake.table().snapshot.files([column(lake, "a")]).contradictions == 1


@pytest.mark.parametrize("tight", [True, False])
def test_m6_a_deleted_extreme_leaves_bounds_that_contain(lake, bounds, tight):
    lake.create({"a": "long"})
    stats = bounds("a", 1, 9, nulls=1, rows=10) | {"tightBounds": tight}
    lake.commit(lake.add("f", stats, deletionVector=vector(cardinality=3)))

    assert lake.verdicts("a <= 9") == (["f"], [])
    assert lake.kept("a > 9") == []
    assert lake.kept("a IS NULL") == ["f"]


@pytest.mark.parametrize(("deleted", "kept"), [(9, ["f"]), (10, [])])
def test_m8_a_vector_over_the_whole_file_leaves_nothing_and_one_less_leaves_a_row(
    lake, bounds, deleted, kept
):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", bounds("a", 1, 9), deletionVector=vector(cardinality=deleted)))

    assert lake.kept("a >= 1") == kept


def test_m10_rows_stay_physical_and_live_rows_are_known(lake, bounds):
    lake.create({"a": "long"})
    lake.commit(
        lake.add("some", bounds("a", 1, 9), deletionVector=vector(cardinality=3)),
        lake.add("none", bounds("a", 1, 9), deletionVector=vector(cardinality=10)),
    )
    files = lake.open().files([])

    assert dict(zip(files.paths.to_pylist(), files.rows.to_pylist(), strict=True)) == {
        "some": 10,
        "none": 10,
    }
    assert dict(zip(files.paths.to_pylist(), files.deleted.to_pylist(), strict=True)) == {
        "some": 3,
        "none": 10,
    }
    assert lake.kept("a >= 0") == ["some"]


def test_m12_a_column_outside_the_statistics_budget_keeps_its_files(lake, bounds):
    lake.create({"a": "long", "b": "long"}, properties={"delta.dataSkippingStatsColumns": "a"})
    lake.commit(lake.add("f", bounds("a", 1, 2)), lake.add("g", bounds("a", 3, 4)))

    assert lake.kept("b = 7") == ["f", "g"]
    assert lake.kept("a = 1 AND b = 7") == ["f"]


def test_m12_nor_does_a_checkpoint_without_its_statistics_lose_them(lake):
    lake.create({"a": "long", "b": "long"}, properties={"delta.dataSkippingStatsColumns": "a"})
    bound = pa.struct([("a", pa.int64())])
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", bound), ("maxValues", bound)])
    write_checkpoint(lake, parsed, {"numRecords": 1, "minValues": {"a": 1}, "maxValues": {"a": 2}})

    assert lake.kept("b = 7") == ["f"]
    assert lake.kept("b IS NULL") == ["f"]
    assert lake.kept("a = 7 OR b = 7") == ["f"]
    assert lake.kept("a = 7 AND b = 7") == []


def test_m12_nor_does_a_column_without_typed_statistics_take_them_from_another(lake):
    lake.create({"a": "long", "b": "long"})
    bound = pa.struct([("a", pa.int64())])
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", bound), ("maxValues", bound)])
    stats = {"numRecords": 1, "minValues": {"a": 1}, "maxValues": {"a": 2}}
    write_checkpoint(lake, parsed, stats, more=[("stats", pa.string())])

    assert lake.kept("a = 7") == []
    assert lake.kept("a = 7 AND b = 7") == []
    assert lake.kept("a = 1 AND b = 7") == ["f"]


def test_m14_a_required_column_beyond_the_budget_is_unknown_not_an_error(lake):
    columns = {f"c{n}": "long" for n in range(40)}
    stats = {
        "numRecords": 1,
        "minValues": {f"c{n}": 1 for n in range(32)},
        "maxValues": {f"c{n}": 1 for n in range(32)},
    }
    lake.create(columns)
    lake.commit(lake.add("f", stats))

    assert lake.kept("c31 = 2") == []
    assert lake.kept("c32 = 2") == ["f"]


def test_m16_explicit_nulls_for_bounds_are_no_bounds(lake, bounds):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", bounds("a", None, None, nulls=1, rows=1)))

    assert lake.kept("a = 1") == []
    assert lake.every("a IS NULL") == ["f"]


@pytest.mark.parametrize(
    "about",
    [
        {"__COLLATIONS": {"s": "ICU.UNICODE_CI"}},
        {"__CHAR_VARCHAR_TYPE_STRING": "char(5)"},
    ],
)
def test_n16_text_that_is_not_compared_by_its_bytes_is_never_pruned(lake, bounds, about):
    lake.create({"s": "string"}, about={"s": about})
    lake.commit(lake.add("f", bounds("s", "a", "b")))

    assert lake.kept("s = 'A'") == ["f"]


def column(lake, name):
    from whyscan.tree.nodes import Column

    return Column((name,), lake.open().state.schema.columns[(name,)].type)


def vector(cardinality):
    return {
        "storageType": "u",
        "pathOrInlineDv": "x",
        "offset": 1,
        "sizeInBytes": 1,
        "cardinality": cardinality,
    }


def write_checkpoint(lake, parsed, stats, partition=(), more=(), typed=None):
    """A checkpoint with one file `f`, typed statistics of the given type and no JSON ones.

    In `more` members of an action nothing is written. `typed` is an Arrow type and a value of typed
    partition values, which replace those as text.
    """
    lake.commit()
    members = [
        ("path", pa.string()),
        ("partitionValues", pa.map_(pa.string(), pa.string())),
        ("size", pa.int64()),
        *more,
    ]
    if parsed is not None:
        members.append(("stats_parsed", parsed))
    if typed is not None:
        members[1] = ("partitionValues_parsed", typed[0])
    first = [json.loads(line) for line in (lake.log / f"{0:020}.json").read_text().splitlines()]
    metadata = first[1]["metaData"]
    schema = pa.schema(
        [
            (
                "protocol",
                pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]),
            ),
            (
                "metaData",
                pa.struct(
                    [
                        ("id", pa.string()),
                        ("schemaString", pa.string()),
                        ("partitionColumns", pa.list_(pa.string())),
                        ("configuration", pa.map_(pa.string(), pa.string())),
                    ]
                ),
            ),
            ("add", pa.struct(members)),
        ]
    )
    add = {"path": "f", "partitionValues": list(partition), "size": 1}
    if typed is not None:
        add["partitionValues_parsed"] = typed[1]
    if stats is not None:
        add["stats_parsed"] = stats
    lake.checkpoint(
        [
            {"protocol": first[0]["protocol"]},
            {
                "metaData": {
                    **{k: metadata[k] for k in ("id", "schemaString", "partitionColumns")},
                    "configuration": list(metadata["configuration"].items()),
                }
            },
            {"add": add},
        ],
        schema,
    )


def test_malformed_statistics_keep_the_file_and_are_counted(lake, bounds):
    lake.create({"a": "long"})
    lake.commit(
        lake.add("cut", '{"numRecords":1,"minVal'),
        lake.add("empty", ""),
        lake.add("word", bounds("a", "one", "two")),
        lake.add("good", bounds("a", 1, 2)),
    )
    files = lake.open().files([column(lake, "a")])

    assert lake.kept("a = 100") == ["cut", "empty", "word"]
    assert files.containers.unreadable_statistics == 2
