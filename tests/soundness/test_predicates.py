"""The cases of soundness-cases.md that are a predicate over rows and their statistics.

Each line is named after its case. Cases that need files (footers, row groups, paths) are in
test_tables.py and tests/tables, those of partition transforms in test_transforms.py.

| elsewhere | what |
|---|---|
| C10 C12 E4 F2 F4 K24 L2 L6 M6 M10 M12 M14 M16 | logs and manifests: tests/tables |
| F16 H12 K6 K8 K10 K12 K14 K16 K30 N16 | columns and their types: tests/tables |
| A12 C2 C4 C6 C8 E2 G14 G16 as writers | we write no statistics; what they wrote is read below |
| E8 I2 N2 N4 N6 N8 N10 N12 L8 M2 M4 M20 M22 | test_deletes_and_pages.py |
| M8 M18 | deletion vectors and paths: tests/scan, tests/tables |
| G18 H22 I18 J8 O2 O4 O6 | joins, Top-N, counts: test_statements.py |
| F12 | files of ORC stay whole: tests/tables/iceberg/test_row_groups.py |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from oracle.clock import DAY, MICROS, days_of
from oracle.tables import RecordedStatistics
from oracle.values import FRACTION, NANOS
from soundness.files import ALL, NONE, SOME, File, column, pair, with_statistics
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UUID,
    DecimalType,
)

if TYPE_CHECKING:
    from support.verdicts import Verdict

NAN, INF = math.nan, math.inf


@dataclass(frozen=True)
class Case:
    """A file, and what its predicates make of it."""

    name: str
    file: File
    verdicts: dict[str, Verdict]


def instant(year: int, month: int, day: int, seconds: float = 0) -> int:
    return days_of(year, month, day) * DAY * MICROS + int(seconds * MICROS)


# Statistics of a writer that skips NaN: the bounds speak of the rest, and NaN is in doubt.
ONE_AND_NAN = with_statistics(column(DOUBLE, [1.0, NAN]), nan=True)

NAN_CASES = [
    Case(
        "a2_negated_between_keeps_nan",
        column(DOUBLE, [1.0, NAN, 3.0, 100.0]),
        {"NOT (x BETWEEN 1 AND 100)": SOME, "x NOT BETWEEN 1 AND 100": SOME, "NOT x <= 100": SOME},
    ),
    Case("a4_one_value_and_nan_is_not_all", ONE_AND_NAN, {"x = 1.0": SOME, "x <= 1": SOME}),
    Case(
        "a6_a_nan_minimum_is_no_bound",
        with_statistics(column(DOUBLE, [2.0, 5.0, NAN]), lower=NAN, upper=5.0),
        {"x < 3": SOME, "x < 10": SOME, "x = 2": SOME},
    ),
    Case(
        "a8_two_nan_bounds_say_nothing",
        with_statistics(column(DOUBLE, [NAN, 1.0, 7.0]), lower=NAN, upper=NAN),
        {"x < 3": SOME, "x > 3": SOME, "x = 7": SOME, "x IN (1, 2)": SOME},
    ),
    Case(
        "a10_a_nan_maximum_proves_no_not_in",
        with_statistics(column(DOUBLE, [1.0, NAN]), upper=NAN),
        {"x NOT IN (1, 2)": SOME, "x NOT IN (3, 4)": SOME, "x >= 1": ALL},
    ),
    Case(
        "a12_a_chunk_that_began_with_nan",
        with_statistics(column(DOUBLE, [NAN, 1.0, 2.0]), lower=NAN, upper=NAN, nan=False),
        {"x = 2": SOME, "x > 5": SOME, "x < 5": SOME},
    ),
    Case(
        "a14_one_point_and_nan_is_kept_for_not_equal",
        ONE_AND_NAN,
        {"x <> 1.0": SOME, "x NOT IN (1.0)": SOME, "x > 1": SOME, "x >= 2": SOME},
    ),
    Case(
        "a16_floats_prune_above_only_where_nan_is_ruled_out",
        column(DOUBLE, [1.0, 2.0]),
        {"x > 5": NONE, "x <> 1": SOME, "x <= 2": ALL, "x = double('NaN')": NONE},
    ),
    Case(
        "a16_in_doubt_only_what_nan_cannot_be_prunes",
        with_statistics(column(DOUBLE, [1.0, 2.0]), nan=True),
        {"x > 5": SOME, "x >= 5": SOME, "x < 0": NONE, "x = 5": NONE, "x IN (5, 6)": NONE,
         "x BETWEEN 5 AND 6": NONE, "x = double('NaN')": SOME, "NOT x < 5": SOME},
    ),
]  # fmt: skip

ZERO_CASES = [
    Case(
        "b2_negative_zero_equals_zero",
        column(DOUBLE, [-0.0]),
        {"x = 0.0": ALL, "x = double('-0.0')": ALL, "x < 0": NONE, "x >= 0": ALL},
    ),
    Case(
        "b2_zero_equals_negative_zero",
        column(DOUBLE, [0.0]),
        {"x = double('-0.0')": ALL, "x IN (double('-0.0'))": ALL, "x > double('-0.0')": NONE},
    ),
    Case("b2_seven_is_neither", column(DOUBLE, [7.5]), {"x = 0.0": NONE, "x = -0.0D": NONE}),
    Case(
        "b4_a_zero_minimum_read_as_negative_zero",
        with_statistics(column(DOUBLE, [0.0, 1.0]), lower=-0.0),
        {"x >= 0": ALL, "x = 0": SOME, "x < 0": NONE},
    ),
    Case(
        "b6_all_negative",
        column(DOUBLE, [-5.0, -3.0]),
        {"x > -3": NONE, "x >= -3": SOME, "x < -5": NONE, "x < 0": ALL},
    ),
    Case(
        "b8_a_literal_without_a_float_of_its_own",
        column(FLOAT, [float.fromhex("0x1.99999ap-4")]),  # float(0.1), a little above 0.1
        {"x > 0.1D": ALL, "x = 0.1D": NONE, "x = float(0.1D)": ALL, "x = float('0.1')": ALL},
    ),
]

LONG = "a" * 15
TEXT_CASES = [
    Case(
        "c2_an_upper_bound_rounded_up",
        with_statistics(column(BINARY, [b"a" * 20]), lower=b"a" * 16, upper=b"a" * 15 + b"b"),
        {f"x > X'{(b'a' * 16).hex()}'": SOME, f"x > X'{b'b'.hex()}'": NONE},
    ),
    Case(
        "c4_the_gap_of_surrogates",
        with_statistics(
            column(STRING, [LONG + "\ud7ffx"]), lower=LONG + "\ud7ff", upper=LONG + "\ue000"
        ),
        {f"x = '{LONG}\ud7ffx'": SOME, f"x >= '{LONG}\ue001'": NONE, f"x LIKE '{LONG}%'": ALL},
    ),
    Case(
        "c6_no_upper_bound_exists",
        with_statistics(
            column(STRING, ["\U0010ffff" * 16 + "a"]), lower="\U0010ffff" * 16, upper=None
        ),
        {"x > 'z'": ALL, "x = 'a'": NONE, "x > '\U0010ffff\U0010ffff'": ALL},
    ),
    Case(
        "c8_a_bound_of_trailing_bytes",
        with_statistics(column(BINARY, [b"A\xff\xff\x01"]), lower=b"A\xff", upper=b"B"),
        {"x = X'41FFFF01'": SOME, "x > X'42'": NONE, "x < X'41FF'": NONE},
    ),
    Case(
        "c10_an_emoji_is_above_the_replacement_character",
        column(STRING, ["\U0001f33c"]),
        {"x > '\ufffd'": ALL, "x <= '\ufffd'": NONE, "x > '\uff5e'": ALL},
    ),
    Case(
        "c14_text_is_ordered_by_unsigned_bytes",
        column(STRING, ["z", "é"]),
        {"x > 'z'": SOME, "x = 'é'": SOME, "x < 'z'": NONE, "x > 'é'": NONE},
    ),
    Case(
        "c18_equality_and_a_list_of_one_agree",
        column(STRING, ["AIR", "SHIP", "TRUCK"]),
        {"x = 'SHIP'": SOME, "x IN ('SHIP')": SOME, "x = 'ZIP'": NONE, "x IN ('ZIP')": NONE},
    ),
    Case(
        "c20_a_bound_is_not_a_value",
        with_statistics(column(STRING, ["A123456789"]), lower="A1234567", upper="A1234568"),
        {"x = 'A1234567'": SOME, "x > 'A1234567'": SOME, "x >= 'A1234567'": ALL},
    ),
    Case(
        "c22_two_cut_bounds_that_meet_are_no_point",
        with_statistics(column(STRING, ["ab1", "ab2"]), lower="ab", upper="ac"),
        {"x = 'ab'": SOME, "x <> 'ab'": SOME, "x LIKE 'ab%'": SOME},
    ),
    Case(
        "n14_a_tab_is_below_the_pad",
        column(STRING, ["z", "z\t", "za"]),
        {"x = 'z\t'": SOME, "x < 'z '": SOME, "x = 'z '": SOME},
    ),
    Case("j22_no_padding", column(STRING, ["a"]), {"x = 'a '": NONE, "x = 'a'": ALL}),
]

INTEGER_CASES = [
    Case(
        "d8_a_literal_above_int",
        column(INT, [1, 2147483647]),
        {"x > 2147483648": NONE, "x < 2147483648": ALL, "x = 4294967297": NONE,
         "x > -2147483649": ALL, "x < 9223372036854775808": ALL},
    ),
    Case(
        "d10_the_greatest_bigint",
        column(BIGINT, [9223372036854775807]),
        {"x = 9223372036854775807": ALL, "x > 9223372036854775806": ALL,
         "x >= 9223372036854775807": ALL, "x IN (9223372036854775807)": ALL,
         "x + 1 > 0": SOME, "x + 1 < 0": NONE},
    ),
    Case(
        "d10_the_least_bigint",
        column(BIGINT, [-9223372036854775808]),
        {"x = -9223372036854775808": ALL, "x < -9223372036854775807": ALL, "-x > 0": NONE},
    ),
    Case(
        "d10_the_least_of_every_width_by_its_suffix",
        column(INT, [-128, 5]),
        {"x = -128Y": SOME, "x = -32768S": NONE, "x > -9223372036854775808L": ALL},
    ),
    Case(
        "d8_spark_folds_a_literal_outside_bigint_without_looking_at_null",
        column(BIGINT, [None]),
        {"x = 9223372036854775808": NONE},
    ),
    Case(
        "d12_an_int_column_and_a_long_literal",
        column(INT, [5, 9]),
        {"x = 7L": SOME, "x > 9L": NONE, "7L = x": SOME, "x = CAST(70 AS SMALLINT)": NONE},
    ),
    Case(
        "d9_a_literal_on_the_left",
        column(INT, [6, 9]),
        {"5 < x": ALL, "5 > x": NONE, "9 <= x": SOME, "10 <= x": NONE},
    ),
]  # fmt: skip

DECIMAL_CASES = [
    Case(
        "e2_bounds_that_cross_are_dropped",
        with_statistics(
            column(DecimalType(38, 0), [Decimal(7)]), lower=Decimal(9), upper=Decimal(2)
        ),
        {"x = 7": SOME, "x > 100": SOME},
    ),
    Case(
        "e6_a_fraction_of_38_digits",
        column(FRACTION, [Decimal("0.8")]),
        {"x = 0.8": ALL, "x > 0.5": ALL, "x < 0.8": NONE, "x >= 1": NONE, "x > -1": ALL},
    ),
    Case(
        "e8_equality_of_wide_decimals_of_either_sign",
        column(
            DecimalType(38, 2), [Decimal("-123456789012345678901234567890.12"), Decimal("0.01")]
        ),
        {"x = -123456789012345678901234567890.12": SOME, "x IN (0.01)": SOME,
         "x = -123456789012345678901234567890.13": NONE},
    ),
    Case(
        "e8_thirty_eight_nines",
        column(DecimalType(38, 0), [Decimal("9" * 38)]),
        {f"x = {'9' * 38}": ALL, f"x IN (CAST('{'9' * 37}8' AS DECIMAL(38,0)))": NONE},
    ),
    Case(
        "e10_decimals_of_another_scale",
        column(DecimalType(4, 1), [Decimal("1.0"), Decimal("3.0")]),
        {"x = 2": SOME, "x = 2.00": SOME, "x = 3.05": NONE, "x > 3.0000001": NONE},
    ),
    Case(
        "e12_statistics_at_a_tenth_are_used",
        column(DecimalType(5, 3), [Decimal("0.100")]),
        {"x = 0.1": ALL, "x > 0.1": NONE, "x >= 0.2": NONE},
    ),
]  # fmt: skip

BEFORE_1582 = days_of(1000, 6, 14)
SECOND_FOLD = instant(2010, 11, 7, 2 * 3600 + 31 * 60)

TIME_CASES = [
    Case(
        "f10_a_date_before_the_gregorian_calendar",
        column(DATE, [BEFORE_1582]),
        {"x = DATE '1000-06-14'": ALL, "x < DATE '1000-06-14'": NONE},
    ),
    Case(
        "f14_a_day_is_a_day_of_the_session",
        File({"x": TIMESTAMP}, {"x": [instant(2024, 3, 2)]}, zone="America/Los_Angeles"),
        {"date_trunc('DAY', x) = '2024-03-01'": ALL, "to_date(x) = '2024-03-02'": NONE},
    ),
    Case(
        "f18_a_naive_literal_is_of_the_session",
        File({"x": TIMESTAMP}, {"x": [instant(2024, 3, 15, 20.5 * 3600)]}, zone="America/Chicago"),
        {"x >= '2024-03-15 14:00'": ALL, "x >= '2024-03-15 16:00'": NONE,
         "x >= TIMESTAMP '2024-03-15 14:00:00'": ALL},
    ),
    Case(
        "f20_a_literal_in_the_gap",
        # 02:30 on 2024-03-10 does not exist in Los Angeles: Spark reads 03:30, 10:30 in UTC.
        File(
            {"x": TIMESTAMP}, {"x": [instant(2024, 3, 10, 10.5 * 3600)]}, zone="America/Los_Angeles"
        ),
        {"x = '2024-03-10 02:30:00'": ALL, "x >= '2024-03-10 02:30:00'": ALL,
         "x < '2024-03-10 02:59:59'": ALL},
    ),
    Case(
        "f22_nanoseconds_keep_the_last_digits",
        column(NANOS, [1_000_000_001]),
        {"x > TIMESTAMP_NTZ '1970-01-01 00:00:01'": ALL,
         "x <= TIMESTAMP_NTZ '1970-01-01 00:00:01'": NONE},
    ),
    Case(
        "f6_microseconds_are_compared_with_microseconds",
        column(TIMESTAMP, [instant(2020, 1, 1)]),
        {"x > '1990-01-01'": ALL, "x < '2019-12-31 23:59:59.999999'": NONE},
    ),
]  # fmt: skip

NULLS = column(INT, [None, None])
NULL_CASES = [
    Case(
        "i4_a_null_does_not_match_a_negated_prefix",
        column(STRING, ["some", None]),
        {"x NOT LIKE 'some%'": NONE, "NOT startswith(x, 'some')": NONE, "x NOT LIKE 'z%'": SOME},
    ),
    Case(
        "i6_a_list_with_null_and_no_null_count",
        with_statistics(column(INT, [1, None]), nulls=None),
        {"x IN (1, NULL)": SOME, "x IN (7, NULL)": NONE, "x NOT IN (7, NULL)": NONE,
         "(x IN (7, NULL)) IS NULL": ALL},
    ),
    Case(
        "i8_a_missing_null_count_is_not_zero",
        with_statistics(column(INT, [1, None]), nulls=None),
        {"x IS NULL": SOME, "x IS NOT NULL": SOME, "x >= 1": SOME},
    ),
    Case(
        "i10_nothing_known_of_a_new_column",
        column(INT, [None], RecordedStatistics()),
        {"x IS NULL": SOME, "x <=> NULL": SOME, "x = 1": SOME},
    ),
    Case(
        "i12_a_file_with_bounds_alone",
        with_statistics(column(INT, [3, None, 5]), nulls=None),
        {"x IS NULL": SOME, "x = 9": NONE},
    ),
    Case(
        "i14_is_not_null_keeps_a_mixed_file",
        column(INT, [1, None]),
        {"x IS NOT NULL": SOME, "x IS NULL": SOME},
    ),
    Case("i16_nulls_are_no_matches", column(INT, [1, None]), {"x = 1": SOME, "NOT x <> 1": SOME}),
    Case(
        "i20_no_null_count_proves_no_all",
        with_statistics(column(INT, [5, 6]), nulls=None),
        {"x > 1": SOME, "x IN (5, 6)": SOME, "x IS NOT NULL": SOME},
    ),
    Case(
        "i22_every_operator_on_a_null",
        NULLS,
        {"x < 1": NONE, "x > 1": NONE, "x = 1": NONE, "x <> 1": NONE, "NOT x = 1": NONE,
         "x IN (1)": NONE, "x NOT IN (1)": NONE, "x BETWEEN 0 AND 1": NONE, "x IS NULL": ALL,
         "x IS NOT NULL": NONE, "x <=> NULL": ALL, "x <=> 1": NONE, "NOT x <=> 1": ALL},
    ),
    Case(
        "i24_not_of_a_null_test_and_of_a_range",
        column(INT, [5, None, 20]),
        {"NOT (x IS NULL)": SOME, "NOT (x < 10)": SOME, "NOT (x < 30)": NONE, "NOT (x > 1)": NONE},
    ),
    Case(
        "i26_null_rows_are_distinct_from_a_value",
        column(INT, [1, None]),
        {"NOT (x <=> 1)": SOME, "x IS DISTINCT FROM 1": SOME, "x IS NOT DISTINCT FROM 1": SOME},
    ),
    Case(
        "i28_arithmetic_with_a_bare_null",
        column(DecimalType(20, 3), [Decimal("1.000")]),
        {"x + NULL = 1": NONE, "(x * NULL) IS NULL": ALL, "x % NULL <=> 1": NONE},
    ),
    Case("i28_null_is_not_unequal", column(INT, [5, None]), {"x <> 5": NONE, "x = 5": SOME}),
    Case("i30_a_list_on_nulls", NULLS, {"x IN (1, 2, 3)": NONE, "x IN (1, NULL)": NONE}),
    Case(
        "i32_one_side_unknown",
        File(
            {"x": INT, "y": INT}, {"x": [1, 2], "y": [1, None]}, {"y": RecordedStatistics()}
        ),
        {"x > 5 AND y = 1": NONE, "x > 5 OR y = 1": SOME, "x < 5 OR y = 1": ALL,
         "x < 5 AND y = 1": SOME},
    ),
    Case(
        "i34_one_null_costs_no_pruning",
        column(INT, [1, 2, None]),
        {"x > 5": NONE, "x = 0": NONE, "x IS DISTINCT FROM 1": SOME},
    ),
    Case("m16_no_bounds_at_all", column(INT, [None]), {"x = 1": NONE, "x IS NULL": ALL}),
]  # fmt: skip

SHAPE = pair((INT, [1, 5]), (STRING, ["900000", "x"]))
SHAPE_CASES = [
    Case(
        "j2_an_opaque_disjunct_is_not_dropped",
        SHAPE,
        {"x = 7 OR rand() < 2": SOME, "x = 7 AND rand() < 2": NONE,
         "NOT (x = 1 AND rand() < 2)": SOME},
    ),
    Case(
        "j4_a_disjunction_over_two_columns",
        pair((INT, [2024]), (INT, [3])),
        {"(x = 2024 AND y = 3) OR (x = 2025 AND y = 1)": ALL,
         "(x = 2024 AND y = 1) OR (x = 2025 AND y = 3)": NONE},
    ),
    Case(
        "j6_column_against_column",
        pair((INT, [1, 2]), (INT, [5, 6])),
        {"x <> y": ALL, "x = y": NONE, "x < y": ALL, "x > y": NONE, "x + 4 = y": SOME},
    ),
    Case(
        "j12_an_escaped_wildcard",
        column(STRING, ["foo_a", "foo_b"]),
        {r"x LIKE 'foo\\_%'": ALL, r"x LIKE 'foo\\_b'": SOME, r"x LIKE 'fop\\_%'": NONE,
         "x LIKE 'foo/_%' ESCAPE '/'": ALL},
    ),
    Case(
        "j12_an_unescaped_wildcard_ends_the_prefix",
        column(STRING, ["fooXa"]),
        {"x LIKE 'foo_a'": ALL, "x LIKE 'foo_%'": ALL, r"x LIKE 'foo\\_%'": NONE},
    ),
    Case(
        "j14_an_escape_does_not_end_pruning",
        column(STRING, ["b", "c"]),
        {r"x LIKE 'a\\%b%'": NONE, "x LIKE 'a/%b%' ESCAPE '/'": NONE},
    ),
    Case(
        "j16_a_list_meets_in_one_type",
        # All become doubles, in which 1e-38 is not 0; two decimals alone would round it to 0.
        pair((FRACTION, [Decimal("1e-38")]), (BIGINT, [0])),
        {"x NOT IN ('-1', y)": ALL, "x IN ('-1', y)": NONE},
    ),
    Case(
        "j16_blanks_around_a_number",
        column(BIGINT, [5, 6]),
        {"x = ' 5\x7f'": SOME, "x > '\t7 '": NONE},
    ),
    Case(
        "j16_text_and_a_number",
        column(STRING, ["5", "7"]),
        {"x = 5": SOME, "x = '6'": SOME, "x = '8'": NONE},
    ),
    Case(
        "j20_null_in_a_list",
        column(INT, [1, 2]),
        {"x IN (1, NULL)": SOME, "x NOT IN (1, NULL)": NONE, "x NOT IN (7, NULL)": NONE,
         "x IN (1, 2, NULL)": ALL, "NOT (x IN (7, NULL))": NONE},
    ),
    Case(
        "j18_a_list_of_ten_thousand",
        column(INT, [20_001, 20_003]),
        {f"x IN ({', '.join(str(2 * n) for n in range(10_000))})": NONE,
         f"x IN ({', '.join(str(2 * n + 1) for n in range(15_000))})": SOME},
    ),
    Case(
        "j18_twenty_disjunctions",
        pair((INT, [1, 2]), (INT, [3, 4])),
        {" AND ".join(f"(x = {n} OR y = {n + 2})" for n in range(20)): NONE},
    ),
    Case(
        "g20_uuids_are_ordered_by_unsigned_bytes",
        column(UUID, [bytes([0x7F] * 16), bytes([0x80] * 16)]),
        {"x = '80808080-8080-8080-8080-808080808080'": SOME,
         "x > '81808080-8080-8080-8080-808080808080'": NONE},
    ),
    Case(
        "k2_a_column_that_no_statistic_mentions",
        File({"x": INT, "y": INT}, {"x": [1], "y": [2]}, {"y": RecordedStatistics()}),
        {"y = 2": SOME, "x = 1 AND y = 2": SOME, "x = 2 AND y = 2": NONE},
    ),
    Case(
        "k18_names_in_another_case",
        File({"ID": INT}, {"ID": [1, 2]}),
        {"id = 1": SOME, "Id > 2": NONE, "`ID` <= 2": ALL},
    ),
    Case(
        "l4_inverted_bounds_are_ignored",
        with_statistics(column(INT, [1, 499, 800]), lower=800, upper=1),
        {"x < 500": SOME, "x = 900": SOME},
    ),
    Case(
        "l8_more_nulls_than_rows",
        with_statistics(column(INT, [1, None]), nulls=3),
        {"x = 1": SOME, "x IS NULL": SOME, "x = 9": SOME},
    ),
    Case(
        "booleans_have_bounds_too",
        column(BOOLEAN, [True, True]),
        {"x": ALL, "NOT x": NONE, "x = FALSE": NONE, "x IS TRUE": ALL},
    ),
    Case(
        "a_wall_clock_needs_no_zone",
        File({"x": TIMESTAMP_NTZ}, {"x": [instant(2024, 3, 2)]}, zone="America/Los_Angeles"),
        {"to_date(x) = '2024-03-02'": ALL, "x = TIMESTAMP_NTZ '2024-03-02 00:00:00'": ALL},
    ),
]  # fmt: skip

CASES = [
    *NAN_CASES, *ZERO_CASES, *TEXT_CASES, *INTEGER_CASES, *DECIMAL_CASES, *TIME_CASES,
    *NULL_CASES, *SHAPE_CASES,
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "sql", "expected"),
    [
        pytest.param(case.file, sql, expected, id=f"{case.name}-{sql[:40]}")
        for case in CASES
        for sql, expected in case.verdicts.items()
    ],
)
def test_case(file, sql, expected):
    assert file.verdict(sql) is expected
