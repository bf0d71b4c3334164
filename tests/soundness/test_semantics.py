"""The counterexamples of the law as it is written down, each by its sentence."""

from __future__ import annotations

import math
from dataclasses import replace

import pyarrow as pa
import pytest

from oracle.clock import DAY, MICROS, days_of
from oracle.tables import RecordedStatistics
from soundness.files import ALL, NONE, SOME, File, column, with_statistics
from whyscan.pruning.containers import ColumnStatistics, checked
from whyscan.pruning.mask import materialise
from whyscan.tree import arrow
from whyscan.tree.types import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP, TIMESTAMP_NTZ

FOLD = (days_of(2010, 11, 7) * DAY + 2 * 3600 + 31 * 60) * MICROS  # 00:01 becomes 23:01 again
MINUTE = 60 * MICROS


@pytest.mark.parametrize("sql", ["x = 1", "x IS NULL", "TRUE", "x <=> NULL", "rand() < 2"])
def test_a_file_without_rows_is_none_for_every_predicate(sql):
    assert column(INT, []).verdict(sql) is NONE
    assert column(INT, [], RecordedStatistics(lower=1, upper=1, nulls=0)).verdict(sql) is NONE


def test_all_null_is_no_value():
    assert column(INT, [None, None]).verdict("x = 1 OR x <> 1") is NONE


@pytest.mark.parametrize(
    ("lower", "upper", "nulls", "may_be_null"),
    [(9, 1, 0, False), (9, 1, 3, True), (1, 9, 4, True), (1, 9, -1, True)],
    ids=["crossed", "crossed bounds of NULLs alone", "over", "under"],
)
def test_a_statistic_that_contradicts_itself_is_dropped_and_counted(
    lower, upper, nulls, may_be_null
):
    """Of crossed bounds a count of NULLs that leaves room for values still counts."""
    wrong = ColumnStatistics(
        arrow.array([lower, 1], INT), arrow.array([upper, 9], INT), pa.array([nulls, 0])
    )
    believed = checked(INT, wrong, pa.array([3, 3]))
    assert materialise(believed.contradicted, 2).to_pylist() == [True, False]
    assert believed.interval.lower.to_pylist() == [None, 1]
    assert believed.interval.upper.to_pylist() == [None, 9]
    assert materialise(believed.interval.null, 2).to_pylist() == [may_be_null, False]
    assert materialise(believed.interval.value, 2).to_pylist() == [True, True]


def test_what_may_raise_is_never_all():
    zero = column(INT, [0])
    assert zero.verdict("coalesce(1 / x, 1) = 1") is not ALL
    assert column(INT, [0, 5]).verdict("10 / x > 0 OR TRUE") is not ALL


def test_what_always_raises_is_never_true():
    assert column(INT, [0, 0]).verdict("1 / x = 1") is NONE


@pytest.mark.parametrize(
    "sql",
    [
        "CAST(x AS INT) IS NOT NULL",
        "CAST(x AS INT) < 9999999999",
        "CAST(x AS INT) < 1e300",
        "CAST(x AS INT) NOT IN (9999999999)",
        "CAST(x AS INT) IS DISTINCT FROM double('Infinity')",
        "CAST(x AS INT) = CAST(x AS INT)",
        "CAST(x AS INT) * 0 = 0",
        "x * 9223372036854775807 IS NOT NULL",
    ],
)
def test_what_always_raises_is_kept_where_spark_need_not_evaluate_it(sql):
    assert column(BIGINT, [3_000_000_000]).verdict(sql) is SOME
    assert column(BIGINT, [3_000_000_000]).verdict("CAST(x AS INT) = 5") is NONE
    assert column(BIGINT, [3_000_000_000]).verdict("TRY_CAST(x AS INT) > 5") is NONE


def test_what_may_raise_prunes_where_true_is_impossible():
    assert column(INT, [1, 2]).verdict("x > 5 AND 1 / (x - 1) > 0") is NONE
    assert column(INT, [1, 2]).verdict("x > 5 OR 1 / (x - 1) > 0") is SOME


AROUND = [FOLD - MINUTE, FOLD + MINUTE, FOLD + 120 * MINUTE]  # the 7th, the 6th, the 7th


@pytest.mark.parametrize(
    "sql",
    [
        "to_date(x) = '2010-11-06'",
        "CAST(x AS DATE) < '2010-11-07'",
        "date_trunc('DAY', x) = '2010-11-06'",
        "dayofmonth(x) = 6",
        "hour(x) = 23",
        "CAST(x AS STRING) LIKE '2010-11-06%'",
        "CAST(x AS TIMESTAMP_NTZ) < TIMESTAMP_NTZ '2010-11-07 00:00:00'",
        "date_format(x, 'yyyy-MM-dd') = '2010-11-06'",
        "day(x) = 6",
    ],
)
def test_st_johns_goes_back_to_the_day_before(sql):
    around = File({"x": TIMESTAMP}, {"x": AROUND}, zone="America/St_Johns")
    assert around.verdict(sql) is SOME


def test_a_zone_without_transitions_maps_the_ends():
    assert column(TIMESTAMP, AROUND).verdict("to_date(x) = '2010-11-06'") is NONE
    wall = File({"x": TIMESTAMP_NTZ}, {"x": AROUND}, zone="America/St_Johns")
    assert wall.verdict("to_date(x) = '2010-11-06'") is NONE
    assert wall.verdict("to_date(x) = '2010-11-07'") is ALL


def test_upper_may_leave_the_range_of_its_argument():
    words = column(STRING, ["apple", "appı", "apricot"])  # noqa: RUF001
    assert words.verdict("upper(x) = 'APPI'") is SOME
    assert words.verdict("upper(x) < 'APPLE'") is SOME
    assert words.verdict("upper(x) < 'AP'") is NONE
    assert words.verdict("upper(x) LIKE 'B%'") is NONE


def test_lower_may_leave_the_range_of_its_argument():
    words = column(STRING, ["APPLE", "APP\u212a", "APRICOT"])  # the Kelvin sign
    assert words.verdict("lower(x) = 'appk'") is SOME
    assert words.verdict("lower(x) < 'apple'") is SOME


DOUBTED = with_statistics(column(DOUBLE, [1.0, 2.0]), nan=True)


@pytest.mark.parametrize("sql", ["x > 5", "x >= 5", "x NOT IN (1, 2)", "x <> 1"])
def test_possible_nan_keeps_what_it_would_match(sql):
    doubted = replace(DOUBTED, columns={"x": [1.0, math.nan]})
    assert doubted.verdict(sql) is SOME


@pytest.mark.parametrize("sql", ["x < 1", "x <= 0", "x = 5", "x IN (5, 6)", "x BETWEEN 5 AND 9"])
def test_possible_nan_costs_nothing_where_it_cannot_match(sql):
    assert DOUBTED.verdict(sql) is NONE


# In Trino and BigQuery a comparison with NaN is FALSE, and `<>` is TRUE (trinodb/trino#21922).
WITH_NAN = with_statistics(column(DOUBLE, [6.0, 10.0, math.nan]), nan=True)
UNORDERED = [
    ("NOT (x > 5)", SOME),
    ("NOT (x >= 6)", SOME),
    ("NOT (5 < x)", SOME),
    ("NOT (x > 5) AND NOT (x < 6)", SOME),
    ("NOT (x > 5 OR x < 6)", SOME),
    ("NOT (x BETWEEN 5 AND 20)", SOME),
    ("NOT (x = x)", SOME),
    ("NOT (nullif(x, CAST('NaN' AS DOUBLE)) > 5)", SOME),
    ("x > 5", SOME),
    ("x = x", SOME),
    ("x > 20", SOME),
    ("x < 6", NONE),
    ("x = 5", NONE),
    ("x IN (4, 5)", NONE),
    ("x BETWEEN 11 AND 20", NONE),
]


@pytest.mark.parametrize("dialect", ["trino", "presto", "athena", "bigquery", "hive"])
@pytest.mark.parametrize(("sql", "expected"), UNORDERED)
def test_nan_may_be_unordered_outside_spark(sql, expected, dialect):
    assert replace(WITH_NAN, dialect=dialect).verdict(sql) is expected


@pytest.mark.parametrize("dialect", ["presto", "hive", "mysql"])
@pytest.mark.parametrize(
    "sql", ["x = CAST('NaN' AS DOUBLE)", "nullif(x, CAST('NaN' AS DOUBLE)) IS NOT NULL"]
)
def test_nan_may_equal_nan_where_the_engine_is_unknown(sql, dialect):
    assert replace(WITH_NAN, dialect=dialect).verdict(sql) is SOME


# Trino's greatest skips NaN, BigQuery's least returns it.
@pytest.mark.parametrize("dialect", ["trino", "presto", "athena", "bigquery"])
@pytest.mark.parametrize("sql", ["NOT (greatest(x, 5) > 20)", "NOT (least(x, 5) <= 5)"])
def test_the_extreme_of_numbers_with_nan_may_be_any_of_them(sql, dialect):
    assert replace(WITH_NAN, dialect=dialect).verdict(sql) is SOME


@pytest.mark.parametrize(
    "dialect", ["spark", "duckdb", "postgres", "snowflake", "redshift", "oracle", "materialize"]
)
def test_nan_is_the_greatest_value_in_other_dialects(dialect):
    file = replace(WITH_NAN, dialect=dialect)
    assert (file.verdict("x > 5"), file.verdict("NOT (x > 5)")) == (ALL, NONE)


@pytest.mark.parametrize("dialect", ["trino", "bigquery"])
def test_unordered_nan_costs_nothing_where_there_is_none(dialect):
    file = replace(column(DOUBLE, [6.0, 10.0]), dialect=dialect)
    assert (file.verdict("x > 5"), file.verdict("NOT (x > 5)")) == (ALL, NONE)
    whole = replace(column(INT, [6, 10]), dialect=dialect)
    assert (whole.verdict("x > 5"), whole.verdict("NOT (x > 5)")) == (ALL, NONE)


def test_a_maximum_of_nan_says_that_nan_may_be_there_and_nothing_else():
    doubted = with_statistics(column(DOUBLE, [1.0, math.nan]), upper=math.nan, nan=False)
    assert doubted.verdict("x > 5") is SOME
    assert doubted.verdict("x < 1") is NONE
    assert doubted.verdict("x = double('NaN')") is SOME


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("NOT (x > 5)", ALL),
        ("x > 5 OR x IS NULL", NONE),
        ("x > 5 OR opaque(x)", SOME),
        ("x > 5 AND opaque(x)", NONE),
        ("NOT (x < 5 AND opaque(x))", SOME),
    ],
)
def test_truth_sets_compose_without_rewriting(sql, expected):
    assert column(INT, [1, 3]).verdict(sql) is expected


def test_a_day_of_dates_is_exact():
    days = column(DATE, [days_of(2024, 3, 1), days_of(2024, 3, 31)])
    assert days.verdict("trunc(x, 'MONTH') = '2024-03-01'") is ALL
    assert days.verdict("month(x) = 3") is ALL
    assert days.verdict("year(x) = 2023") is NONE
