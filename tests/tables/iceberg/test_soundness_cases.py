"""The known ways in which pruning loses rows, by their numbers, as Iceberg metadata."""

from __future__ import annotations

import math
import struct
import uuid
from decimal import Decimal

import pytest

from tables.iceberg.by_hand import encode_bound, summary
from whyscan.errors import WhyscanError


def part(source, transform, name=None, number=1000, **more):
    name = name or f"part_{number}"
    about = {"source-id": source, "field-id": number, "name": name, "transform": transform}
    return about | more


NAN, INFINITY = math.nan, math.inf
FLOATS = [
    pytest.param((1.0, 100.0), None, "NOT (x BETWEEN 1 AND 100)", True, id="A2 NaN under NOT"),
    pytest.param((1.0, 1.0), None, "x <> 1", True, id="A14 NaN is not the only value"),
    pytest.param((1.0, 1.0), 0, "x <> 1", False, id="A14 a count of no NaN"),
    pytest.param((1.0, 5.0), 1, "x > 7", True, id="A NaN is the greatest"),
    pytest.param((1.0, 5.0), 0, "x > 7", False, id="A16 counted, and there is none"),
    pytest.param((NAN, 5.0), None, "x < 3", True, id="A6 a NaN bound is no bound"),
    pytest.param((NAN, NAN), None, "x < 3", True, id="A8 both bounds NaN, less"),
    pytest.param((NAN, NAN), None, "x = 3", True, id="A8 both bounds NaN, equal"),
    pytest.param((NAN, NAN), 0, "x IN (1, 2)", True, id="A8 both bounds NaN, in a list"),
    pytest.param((0.0, 1.0), 0, "x = -0.0", True, id="B2 zeros are equal"),
    pytest.param((-INFINITY, -1.0), 0, "x < -1e300", True, id="B infinities are values"),
]


@pytest.mark.parametrize(("bounds", "nans", "predicate", "kept"), FLOATS)
@pytest.mark.parametrize("kind", ["float", "double"])
def test_floats(lake, kind, bounds, nans, predicate, kept):
    table = lake({"x": kind})
    counted = None if nans is None else [{"key": 1, "value": nans}]
    table.manifest([table.file("f", {"x": bounds}, {"x": 0}, nan_value_counts=counted)])
    assert table.commit().kept(predicate) == (["f"] if kept else [])


ONLY_NAN = [
    ("x < 3", []),
    ("x = 3", []),
    ("x IN (1, 2)", []),
    ("x > 3", ["f"]),
    ("x <> 3", ["f"]),
    ("x IS NOT NULL", ["f"]),
    ("x = double('NaN')", ["f"]),
]


@pytest.mark.parametrize(("predicate", "kept"), ONLY_NAN)
def test_a_file_of_nan_and_null_has_no_other_value(lake, predicate, kept):
    table = lake({"x": "double"})
    counted = {"nan_value_counts": [{"key": 1, "value": 7}]}
    table.manifest([table.file("f", {}, {"x": 3}, **counted)])
    assert table.commit().verdicts(predicate) == (kept, [])
    assert table.kept(predicate, assume_no_nan=True) == []

    table.manifests.clear()
    table.manifest([table.file("f", {}, {"x": 0}, rows=7, **counted)])
    assert table.commit(2).verdicts(predicate) == (kept, kept)


def test_a_file_whose_rows_are_all_nan_has_no_null_that_was_not_counted(lake):
    table = lake({"x": "double"})
    table.manifest([table.file("f", rows=7, nan_value_counts=[{"key": 1, "value": 7}])])
    assert table.commit().verdicts("isnan(x)") == (["f"], ["f"])
    assert table.kept("NOT isnan(x)") == []
    assert table.kept("x IS NULL") == []


def test_bounds_where_nan_leaves_no_value_are_dropped_and_counted(lake):
    table = lake({"x": "double"})
    counted = {"nan_value_counts": [{"key": 1, "value": 7}]}
    table.manifest([table.file("f", {"x": (1.0, 2.0)}, {"x": 3}, **counted)])
    plan = table.commit().plan("x < 0")
    assert plan.summary.files_kept == 1
    assert plan.evidence.files.contradictions == 1


def test_a4_and_a10_all_is_never_said_where_nan_may_be(lake):
    table = lake({"x": "double"})
    table.manifest([table.file("f", {"x": (1.0, 1.0)}, {"x": 0})])
    table.commit()
    assert table.every("x = 1") == []
    assert table.every("x NOT IN (2, 3)") == ["f"]  # NaN is neither.

    table.manifest([table.file("g", {"x": (1.0, NAN)}, {"x": 0})])
    table.commit(2)
    assert table.every("x NOT IN (1, 2)") == []


STRINGS = [
    ("aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaab", "s = 'aaaaaaaaaaaaaaaa\U00010ffffz'", True),
    ("aaaaaaaaaaaaaaa", None, "s > 'zzz'", True),
    (None, "b", "s < 'a'", True),
    ("z", "é", "s = 'é'", True),
    ("\uff5e", "\U00010000", "s = '\U00010000'", True),
    ("\uff5e", "\U00010000", "s > '\U00010001'", False),
    ("", "", "s = ''", True),
    ("", "", "s > ''", False),
]


@pytest.mark.parametrize(("lower", "upper", "predicate", "kept"), STRINGS)
def test_c_strings_by_the_bytes_of_their_utf8(lake, lower, upper, predicate, kept):
    table = lake({"s": "string"})
    table.manifest([table.file("f", {"s": (lower, upper)}, {"s": 0})])
    assert table.commit().kept(predicate) == (["f"] if kept else [])


def test_c2_c8_binary_bounds_are_cut_and_raised(lake):
    table = lake({"b": "binary"})
    table.manifest([table.file("f", {"b": (b"\x41\xff", b"\x42")}, {"b": 0})])
    table.commit()
    assert table.kept("b = X'41FFFF7F'") == ["f"]
    assert table.kept("b > X'42'") == []


@pytest.mark.parametrize("end", [b"\xff\xfe", b"\xed\xa0\x80", b"a\xc3"])
def test_c_a_bound_that_is_no_utf8_neither_fails_nor_lies(lake, end):
    table = lake({"s": "string"})
    table.manifest([table.file("f", {"s": (b"a", end)}, {"s": 0})])
    assert table.commit().kept("s >= 'a' AND upper(s) LIKE 'A%'") == ["f"]


DECIMALS = [
    ("decimal(38,0)", Decimal(-(10**37)), Decimal(10**37), f"d = {10**37}", True),
    ("decimal(38,0)", Decimal(-(10**37)), Decimal(10**37), f"d > {10**37}", False),
    ("decimal(18,2)", Decimal("0.29"), Decimal("0.29"), "d = 0.29", True),
    ("decimal(18,2)", Decimal("0.29"), Decimal("0.29"), "d >= 29", False),
    ("decimal(38,38)", Decimal("0.8").quantize(Decimal("1e-20")), None, "d = 0.8", True),
    ("decimal(9,2)", b"\x7f" * 17, b"\x7f" * 17, "d = 1", True),
    ("decimal(38,10)", b"\x7f" * 16, b"\x7f" * 16, "d = 1", True),
    ("decimal(9,2)", b"", b"", "d = 1", True),
    ("decimal(9,2)", b"\x00\x00\x00\x64", b"\xff\xff\xff\xff\xff\xff", "d = 1", True),
]


@pytest.mark.parametrize(("kind", "lower", "upper", "predicate", "kept"), DECIMALS)
def test_e_decimals(lake, kind, lower, upper, predicate, kept):
    table = lake({"d": kind})
    table.manifest([table.file("f", {"d": (lower, upper)}, {"d": 0})])
    assert table.commit().kept(predicate) == (["f"] if kept else [])


SECOND = 1_000_000
MOMENTS = [
    ("timestamp", -SECOND, 0, "t = TIMESTAMP_NTZ '1969-12-31 23:59:59'", True),
    ("timestamptz", -SECOND, 0, "t = TIMESTAMP '1969-12-31 23:59:59Z'", True),
    ("timestamptz", -SECOND, 0, "t > TIMESTAMP '1970-01-01 00:00:00Z'", False),
    ("timestamp_ns", 1, 999, "t > TIMESTAMP_NTZ '1970-01-01 00:00:00'", True),
    ("timestamp_ns", 1, 999, "t <= TIMESTAMP_NTZ '1970-01-01 00:00:00'", False),
    ("timestamp_ns", -1, -1, "t < TIMESTAMP_NTZ '1970-01-01 00:00:00'", True),
]


@pytest.mark.parametrize(("kind", "lower", "upper", "predicate", "kept"), MOMENTS)
def test_f_moments_keep_their_unit(lake, kind, lower, upper, predicate, kept):
    table = lake({"t": kind}, version=3)
    table.manifest([table.file("f", {"t": (lower, upper)}, {"t": 0})])
    assert table.commit().kept(predicate) == (["f"] if kept else [])


def test_f2_a_twin_of_a_delta_table_has_milliseconds_for_bounds(lake):
    table = lake({"t": "timestamp"}, more={"properties": {"delta-version": "3"}})
    cut, real = 1_700_000_000_080_000, "2023-11-14 22:13:20.080758"
    table.manifest([table.file("f", {"t": (cut, cut)}, {"t": 0})])
    table.commit()
    assert table.kept(f"t = TIMESTAMP_NTZ '{real}'") == ["f"]
    assert table.kept("t > TIMESTAMP_NTZ '2023-11-14 22:13:20.081'") == []


def test_g2_g4_units_before_1970_reach_down_by_one(lake):
    table = lake({"t": "timestamp"}, part(1, "day", "d"))
    days = {-7: "1969-12-25", -8: "1969-12-24", 0: "1970-01-01"}
    table.manifest([table.file(f"day{d}", partition={"d": d}) for d in days])
    table.commit()
    for day, text in days.items():
        assert f"day{day}" in table.kept(f"t = TIMESTAMP_NTZ '{text} 12:00:00'")
    # Rounded towards zero, the evening before 1970 is day 0.
    assert "day0" in table.kept("t = TIMESTAMP_NTZ '1969-12-31 23:00:00'")


def test_g6_months_are_counted_by_the_calendar(lake):
    table = lake({"d": "date"}, part(1, "month", "m"))
    table.manifest([table.file("december", partition={"m": 671})])
    table.commit()
    assert table.kept("d = DATE '2025-12-12'") == ["december"]
    assert table.kept("d = DATE '2025-11-30'") == []


def test_g8_a_literal_within_the_day(lake):
    table = lake({"t": "timestamp"}, part(1, "day", "d"))
    table.manifest([table.file(f"d{d}", partition={"d": d}) for d in (100, 101)])
    table.commit()
    assert table.kept("t < TIMESTAMP_NTZ '1970-04-11 13:44:00'") == ["d100"]
    assert table.kept("t >= TIMESTAMP_NTZ '1970-04-11 13:44:00'") == ["d100", "d101"]
    assert table.every("t >= TIMESTAMP_NTZ '1970-04-11'") == ["d100", "d101"]


def test_g24_days_are_of_utc_whatever_the_session_zone(lake):
    table = lake({"t": "timestamptz"}, part(1, "day", "d"))
    table.manifest([table.file(f"d{d}", partition={"d": d}) for d in (100, 101)])
    table.commit()
    midnight = "t >= TIMESTAMP '1970-04-12 00:00:00'"
    assert table.every(midnight) == ["d101"]
    # In California it is eight in the morning of day 101 by then.
    west = {"timezone": "America/Los_Angeles"}
    assert table.verdicts(midnight, **west) == (["d101"], [])
    assert table.kept("t < TIMESTAMP '1970-04-11 16:00:00'", **west) == ["d100"]
    assert table.kept("t <= TIMESTAMP '1970-04-11 16:00:00'", **west) == ["d100", "d101"]


def test_g10_identity_on_a_timestamp(lake):
    table = lake({"t": "timestamp"}, part(1, "identity", "t"))
    table.manifest([table.file("f", partition={"t": 1_000_001})])
    table.commit()
    assert table.every("t = TIMESTAMP_NTZ '1970-01-01 00:00:01.000001'") == ["f"]
    assert table.kept("t = TIMESTAMP_NTZ '1970-01-01 00:00:01'") == []


def test_g12_hours_that_do_not_fit_prove_nothing(lake):
    table = lake({"t": "timestamp"}, part(1, "hour", "h"))
    table.manifest([table.file("f", partition={"h": -2_120_780_968})])
    assert table.commit().kept("t > TIMESTAMP_NTZ '2020-01-01'") == ["f"]


def test_g14_truncation_is_the_floor(lake):
    table = lake({"n": "int"}, part(1, "truncate[10]", "t"))
    table.manifest([table.file("f", partition={"t": -10})])
    table.commit()
    assert table.kept("n = -1") == table.kept("n = -10") == ["f"]
    assert table.kept("n = 0") == table.kept("n = -11") == []


def test_g14_truncated_text_is_a_prefix_or_a_whole(lake):
    table = lake({"s": "string"}, part(1, "truncate[2]", "p"))
    table.manifest([table.file(name, partition={"p": name}) for name in ("ab", "a", "é€")])
    table.commit()
    assert table.kept("s = 'abc'") == ["ab"]
    assert table.kept("s = 'a'") == ["a"]
    assert table.kept("s LIKE 'é€%'") == ["é€"]


def test_g16_g22_buckets_hash_the_literal(lake):
    table = lake(
        {"t": "timestamp", "id": "long"},
        part(1, "bucket[16]", "b"),
        part(2, "bucket[512]", "c", 1001),
    )
    files = [table.file(f"b{b}", partition={"b": b, "c": b}) for b in range(16)]
    table.manifest(files)
    table.commit()
    assert len(table.kept("t = TIMESTAMP_NTZ '2017-11-16 22:31:08'")) == 1
    assert len(table.kept("id IN (34, 35)")) <= 2
    assert len(table.kept("id <> 34")) == 16


LOW, HIGH = uuid.UUID(int=0x7F << 120), uuid.UUID(int=0x80 << 120)


@pytest.mark.parametrize(("lower", "upper"), [(LOW, HIGH), (HIGH, LOW)])
def test_g20_uuids_whichever_way_they_were_ordered(lake, lower, upper):
    table = lake({"u": "uuid"}, part(1, "identity", "u"))
    ends = lower.bytes, upper.bytes
    files = [table.file("f", {"u": ends}, {"u": 0}, partition={"u": None})]
    table.manifest(files, summaries=[summary(*ends)])
    table.specs[0]["fields"] = [part(1, "void", "u")]
    table.commit()
    for value in (LOW, HIGH):
        assert table.kept(f"u = '{value}'") == ["f"]


def test_g20_summaries_of_uuids_in_java_order_rule_out_nothing(lake):
    table = lake({"u": "uuid"}, part(1, "identity", "u"))
    files = [table.file(name, partition={"u": u.bytes}) for name, u in (("l", LOW), ("h", HIGH))]
    table.manifest(files, summaries=[summary(HIGH.bytes, LOW.bytes)])
    table.commit()
    assert table.kept(f"u = '{LOW}'") == ["l"]
    assert table.kept(f"u = '{HIGH}'") == ["h"]


def test_h16_h30_null_empty_and_padded_partition_values_are_themselves(lake):
    table = lake({"s": "string"}, part(1, "identity", "s"))
    values = {"null": None, "empty": "", "01": "01", "1": "1"}
    table.manifest([table.file(name, partition={"s": v}) for name, v in values.items()])
    table.commit()
    assert table.kept("s IS NULL") == ["null"]
    assert table.kept("s = ''") == ["empty"]
    assert table.kept("s = '01'") == ["01"]
    assert table.kept("s <> '1'") == ["empty", "01"]
    assert table.kept("s IN ('1', NULL)") == ["1"]


NULLS = [
    pytest.param(None, "x IS NULL", True, False, id="I8 I12 no count is not zero"),
    pytest.param(0, "x IS NULL", False, False, id="I none are"),
    pytest.param(3, "x IS NOT NULL", True, False, id="I14 some are"),
    pytest.param(10, "x IS NOT NULL", False, False, id="I34 all are"),
    pytest.param(10, "x = 5", False, False, id="I34 no value left"),
    pytest.param(3, "NOT (x IS NULL)", True, False, id="I24 NOT is not a twin"),
    pytest.param(3, "NOT (x < 0)", True, False, id="I16 NULL does not match"),
    pytest.param(0, "NOT (x < 0)", True, True, id="I16 without NULL it does"),
    pytest.param(None, "x >= 1", True, False, id="I20 all needs the count"),
    pytest.param(3, "NOT (x <=> 1)", True, False, id="I26 NULL differs from 1"),
    pytest.param(3, "x NOT IN (1, 2)", True, False, id="I2 NULL in the data"),
    pytest.param(0, "x IN (7, NULL)", True, False, id="I6 NULL in the list"),
    pytest.param(0, "x NOT IN (70, NULL)", False, False, id="J20 NOT IN with NULL is never TRUE"),
    pytest.param(11, "x = 500", True, False, id="I23 more NULLs than rows"),
    pytest.param(-1, "x IS NULL", True, False, id="I23 fewer than none"),
]


@pytest.mark.parametrize(("nulls", "predicate", "kept", "every"), NULLS)
def test_i_nulls_are_counted_or_unknown(lake, nulls, predicate, kept, every):
    table = lake({"x": "int"})
    table.manifest([table.file("f", {"x": (1, 9)}, None if nulls is None else {"x": nulls})])
    verdicts = table.commit().verdicts(predicate)
    assert verdicts == (["f"] if kept else [], ["f"] if every else [])


def test_i10_k4_a_column_that_a_file_is_older_than_may_be_anything(lake):
    table = lake({"x": "int", "added": "int"})
    table.manifest([table.file("old", {"x": (1, 9)}, {"x": 0})])
    table.commit()
    for predicate in ("added IS NULL", "added = 3", "added IS NOT NULL", "added <=> NULL"):
        assert table.kept(predicate) == ["old"]


@pytest.mark.parametrize("operator", ["=", "<", "<=", ">", ">=", "<>", "<=>"])
def test_i22_i30_every_operator_on_a_null_partition_value(lake, operator):
    table = lake({"p": "int"}, part(1, "identity", "p"))
    table.manifest([table.file("null", partition={"p": None})])
    table.commit()
    assert table.kept(f"p {operator} 3") == []
    assert table.kept("p IN (3, 4)") == []
    assert table.every("p IS NULL") == ["null"]


def test_k6_a_column_dropped_and_added_again_is_another_column(lake):
    table = lake({"j": {"type": "int", "id": 7}})
    old = table.file("old")
    for which, end in (("lower_bounds", 5), ("upper_bounds", 9)):
        old["data_file"][which] = [{"key": 3, "value": encode_bound(end, "int")}]
    table.manifest([old, table.file("new", {"j": (0, 0)}, {"j": 0})])
    table.commit()
    assert table.kept("j = 0") == ["old", "new"]
    assert table.kept("j = 7") == ["old"]


def test_k10_a_promoted_column_keeps_its_narrow_bounds(lake):
    table = lake({"n": "long", "x": "double", "t": "timestamp"}, version=3)
    narrow = {
        "n": (struct.pack("<i", 5), struct.pack("<i", 9)),
        "x": (struct.pack("<f", 1.5), struct.pack("<f", 2.5)),
        "t": (struct.pack("<i", 10), struct.pack("<i", 11)),
    }
    table.manifest(
        [
            table.file(
                "f", narrow, {"n": 0, "x": 0, "t": 0}, nan_value_counts=[{"key": 2, "value": 0}]
            )
        ]
    )
    table.commit()
    for inside in ("n = 7", "x = 2", "t = TIMESTAMP_NTZ '1970-01-11 00:00:00'"):
        assert table.kept(inside) == ["f"]
    for outside in ("n = 10", "x > 2.5", "t < TIMESTAMP_NTZ '1970-01-11'"):
        assert table.kept(outside) == []


def test_k26_each_manifest_under_its_own_spec(lake):
    table = lake({"t": "timestamp", "n": "int"}, part(1, "day", "d"))
    table.specs.append(
        {"spec-id": 1, "fields": [part(1, "month", "m", 1001), part(2, "identity", "n", 1002)]}
    )
    table.manifest([table.file("day", partition={"d": 100})], spec=0)
    table.manifest([table.file("month", partition={"m": 3, "n": 5})], spec=1)
    table.commit()
    assert table.kept("t = TIMESTAMP_NTZ '1970-04-11 01:00:00'") == ["day", "month"]
    assert table.kept("t = TIMESTAMP_NTZ '1970-04-12 01:00:00'") == ["month"]
    assert table.kept("n = 5") == ["day", "month"]
    assert table.kept("n = 6") == ["day"]
    assert table.open().partition_sources == (("t",), ("n",))


def test_k26_buckets_of_one_spec_and_not_of_another(lake):
    table = lake({"n": "int"})
    table.specs.append({"spec-id": 1, "fields": [part(1, "bucket[16]", "b")]})
    table.manifest([table.file("any")], spec=0)
    table.manifest([table.file(f"b{b}", partition={"b": b}) for b in range(16)], spec=1)
    table.commit()
    kept = table.kept("n = 34")
    assert kept == ["any", "b3"]  # appendix B: 34 hashes to 2017239379


def test_k28_void_fields_and_fields_whose_source_is_gone(lake):
    table = lake({"n": "int"}, part(1, "void", "v"), part(99, "identity", "gone", 1001), version=1)
    table.manifest([table.file("f", partition={"v": None, "gone": "x"})])
    table.commit()
    assert table.kept("n = 3") == ["f"]
    assert table.kept("n IS NULL") == ["f"]


def test_several_fields_of_one_source_meet(lake):
    table = lake(
        {"t": "timestamp"},
        part(1, "year", "y"),
        part(1, "hour", "h", 1001),
        part(1, "bucket[4]", "b", 1002),
    )
    table.manifest([table.file("f", partition={"y": 50, "h": 440_000, "b": None})])
    table.commit()
    assert table.kept("t = TIMESTAMP_NTZ '2020-06-01'") == []
    assert table.kept("t >= TIMESTAMP_NTZ '2020-03-12' AND t < TIMESTAMP_NTZ '2020-03-13'") == []


def test_names_with_dots_and_members_of_structs(lake):
    inner = {"type": "struct", "fields": [{"id": 3, "name": "b", "required": False, "type": "int"}]}
    table = lake(
        {"a.b": "int", "a": {"type": inner, "id": 2}},
        part(3, "identity", "a.b"),
        part(1, "identity", "dotted", 1001),
    )
    table.manifest([table.file("f", {"a.b": (1, 2)}, partition={"a_x2Eb": 7, "dotted": 1})])
    table.commit()
    assert table.kept("`a.b` = 1 AND a.b = 7") == ["f"]
    assert table.kept("`a.b` = 7") == []
    assert table.kept("a.b = 1") == []


SUMMARIES = [
    pytest.param(summary(None, None), True, id="no bounds over live files"),
    pytest.param(summary(None, None, null=True), True, id="all NULL, it says"),
    pytest.param(
        summary(encode_bound(9, "int"), encode_bound(1, "int")), True, id="L4 lower above upper"
    ),
    pytest.param(
        summary(encode_bound(1, "long"), encode_bound(2, "long")), True, id="L2 of the wrong width"
    ),
    pytest.param(summary(encode_bound(1, "int"), encode_bound(2, "int")), False, id="ruled out"),
    pytest.param(summary(encode_bound(1, "int"), encode_bound(9, "int")), True, id="in between"),
]


@pytest.mark.parametrize(("summary", "opened"), SUMMARIES)
def test_l_summaries_rule_manifests_out_or_say_nothing(lake, summary, opened):
    table = lake({"n": "int"}, part(1, "identity", "n"))
    table.manifest([table.file("f", partition={"n": 5})], summaries=[summary])
    plan = table.commit().plan("n = 5")
    assert plan.summary.manifests_kept == int(opened)
    assert plan.summary.files_total == 1
    assert table.every("n = 5") == (["f"] if opened else [])


@pytest.mark.parametrize(
    "summaries", [None, [], [summary(encode_bound(1, "int"), encode_bound(2, "int"))]]
)
def test_l_a_list_with_too_few_summaries_is_no_list_of_them(lake, summaries):
    table = lake({"n": "int", "m": "int"}, part(1, "identity", "n"), part(2, "identity", "m", 1001))
    table.manifest([table.file("f", partition={"n": 1, "m": 7})], summaries=summaries)
    assert table.commit().kept("m = 7") == ["f"]


def test_l4_inverted_bounds_of_a_file_are_dropped_and_counted(lake):
    table = lake({"id": "long"})
    table.manifest([table.file("f", {"id": (900, 100)}, {"id": 0})])
    plan = table.commit().plan("id < 50")
    assert plan.summary.files_kept == 1
    assert plan.evidence.files.contradictions == 1


def test_l2_a_bound_of_the_wrong_width_is_counted(lake):
    table = lake({"n": "int"})
    table.manifest([table.file("f", {"n": (struct.pack("<q", 1), struct.pack("<q", 2))}, {"n": 0})])
    plan = table.commit().plan("n = 50")
    assert plan.summary.files_kept == 1
    assert plan.evidence.files.containers.unreadable_statistics == 1


def test_l_counts_that_cannot_be_true_are_unknown(lake):
    table = lake({"n": "int"})
    table.manifest(
        [table.file("negative", {"n": (1, 2)}, rows=-1), table.file("huge", rows=1 << 62)],
        added_files_count=-4,
    )
    plan = table.commit().plan("n = 1")
    assert plan.summary.files_kept == 2
    assert plan.summary.rows_kept is None


def test_duplicate_keys_in_a_map_say_nothing(lake):
    table = lake({"n": "int"})
    twice = table.file("f", {"n": (1, 2)}, {"n": 0})
    twice["data_file"]["upper_bounds"] *= 2
    table.manifest([twice])
    assert table.commit().kept("n = 50") == ["f"]


def test_an_unknown_transform_and_one_of_two_sources_say_nothing(lake):
    table = lake({"n": "int", "m": "int"}, part(1, "zorder[3]", "z", avro="int"))
    both = {"source-ids": [1, 2], "field-id": 1001, "name": "b", "transform": "bucket[4]"}
    table.manifest([table.file("f", partition={"z": 7})])
    table.more["partition-specs"] = [{"spec-id": 0, "fields": [*table.fields, both]}]
    assert table.commit().kept("n = 3 AND m = 4") == ["f"]


def test_a_partition_value_of_another_type_may_be_anything(lake):
    table = lake({"n": "int"}, part(1, "identity", "n", avro="string"))
    table.manifest([table.file("f", partition={"n": "seven"})])
    plan = table.commit().plan("n = 3")
    assert plan.summary.files_kept == 1
    assert plan.evidence.files.containers.unreadable_statistics == 1
    assert table.kept("n IS NULL") == ["f"]


def test_a_schema_with_two_columns_of_one_id_is_refused(lake):
    table = lake({"a": {"type": "int", "id": 1}, "b": {"type": "int", "id": 1}})
    table.manifest([])
    with pytest.raises(WhyscanError, match="two columns with the field id 1"):
        table.commit().kept("a = 1")


def test_a_required_column_without_a_null_count_is_never_null(lake):
    inner = {"type": "struct", "fields": [{"id": 3, "name": "c", "required": True, "type": "int"}]}
    table = lake({"a": {"type": "int", "id": 1, "required": True}, "b": {"type": inner, "id": 2}})
    table.manifest([table.file("f", {"a": (1, 2)})])
    table.commit()
    assert table.kept("a IS NULL") == []
    assert table.kept("b.c IS NULL") == ["f"]  # The struct around it may be.


INNER = {"type": "struct", "fields": [{"id": 3, "name": "b", "required": False, "type": "int"}]}
MEMBERS = [
    pytest.param(10, 0, [], ["f"], id="all rows counted"),
    pytest.param(8, 0, ["f"], [], id="two rows have no struct, as in ORC files"),
    pytest.param(8, 1, ["f"], [], id="nor has one a value"),
    pytest.param(None, 0, ["f"], [], id="nobody counted values"),
    pytest.param(11, 0, ["f"], [], id="more values than rows"),
    pytest.param(10, -1, ["f"], [], id="fewer NULLs than none"),
]


@pytest.mark.parametrize(("values", "nulls", "null_kept", "every"), MEMBERS)
def test_a_member_is_null_where_its_struct_is(lake, values, nulls, null_kept, every):
    table = lake({"a": {"type": INNER, "id": 2}})
    counted = {
        "null_value_counts": [{"key": 3, "value": nulls}],
        "value_counts": None if values is None else [{"key": 3, "value": values}],
        "lower_bounds": [{"key": 3, "value": encode_bound(1, "int")}],
        "upper_bounds": [{"key": 3, "value": encode_bound(2, "int")}],
    }
    table.manifest([table.file("f", **counted)])
    table.commit()
    assert table.kept("a.b IS NULL") == null_kept
    assert table.every("a.b < 9") == every
    assert table.every("a.b IS NOT NULL") == every


def test_delete_files_among_data_files_are_corrupt(lake):
    table = lake({"a": "int"})
    table.manifest([table.file("f", content=1)])
    with pytest.raises(WhyscanError, match="lists delete files"):
        table.commit().live()
