"""Generated partition columns lift predicates to their source, no further than is known."""

from __future__ import annotations

import pytest


def generated(lake, source, columns):
    """A table over `x`, partitioned by columns generated from it: name, type, expression."""
    lake.create(
        {"x": source} | {name: kind for name, kind, _ in columns},
        tuple(name for name, _, _ in columns),
        about={name: {"delta.generationExpression": text} for name, _, text in columns},
    )


DATE = [("d", "date", "CAST(x AS DATE)")]
PARTS = [("y", "integer", "YEAR(x)"), ("m", "integer", "MONTH(x)"), ("d", "integer", "DAY(x)")]


@pytest.mark.parametrize(
    ("source", "columns", "partition", "hit", "miss"),
    [
        (
            "timestamp_ntz",
            DATE,
            {"d": "2024-03-05"},
            "x = TIMESTAMP_NTZ'2024-03-05 23:59:59.999999'",
            "x = TIMESTAMP_NTZ'2024-03-06'",
        ),
        ("date", DATE, {"d": "2024-03-05"}, "x = DATE'2024-03-05'", "x = DATE'2024-03-06'"),
        (
            "date",
            PARTS,
            {"y": "2024", "m": "2", "d": "29"},
            "x = DATE'2024-02-29'",
            "x = DATE'2024-02-28'",
        ),
        (
            "date",
            PARTS[:2],
            {"y": "2024", "m": "12"},
            "x = DATE'2024-12-31'",
            "x = DATE'2025-01-01'",
        ),
        ("date", PARTS[:1], {"y": "2024"}, "x = DATE'2024-12-31'", "x = DATE'2023-12-31'"),
        (
            "timestamp_ntz",
            [*PARTS, ("h", "integer", "HOUR(x)")],
            {"y": "2024", "m": "2", "d": "29", "h": "7"},
            "x = TIMESTAMP_NTZ'2024-02-29 07:59:59'",
            "x = TIMESTAMP_NTZ'2024-02-29 08:00:00'",
        ),
        (
            "date",
            [("f", "string", "DATE_FORMAT(x, 'yyyy-MM')")],
            {"f": "2024-02"},
            "x = DATE'2024-02-29'",
            "x = DATE'2024-03-01'",
        ),
        (
            "date",
            [("t", "date", "trunc(x, 'MM')")],
            {"t": "2024-02-01"},
            "x = DATE'2024-02-29'",
            "x = DATE'2024-03-01'",
        ),
        (
            "timestamp_ntz",
            [("t", "timestamp_ntz", "date_trunc('YEAR', x)")],
            {"t": "2024-01-01 00:00:00"},
            "x = TIMESTAMP_NTZ'2024-12-31 23:59:59'",
            "x = TIMESTAMP_NTZ'2025-01-01'",
        ),
        (
            "date",
            [("t", "date", "trunc(x, 'quarter')")],
            {"t": "2024-04-01"},
            "x = DATE'2024-06-30'",
            "x = DATE'2024-07-01'",
        ),
        (
            "date",
            [("t", "date", "trunc(x, 'WEEK')")],
            {"t": "2024-03-04"},
            "x = DATE'2024-03-10'",
            "x = DATE'2024-03-11'",
        ),
        (
            "timestamp_ntz",
            [("t", "timestamp_ntz", "date_trunc('minute', x)")],
            {"t": "2024-03-05 10:59:00"},
            "x = TIMESTAMP_NTZ'2024-03-05 10:59:59.999'",
            "x = TIMESTAMP_NTZ'2024-03-05 11:00:00'",
        ),
        (
            "timestamp_ntz",
            [("t", "timestamp_ntz", "date_trunc('WEEK', x)")],
            {"t": "2024-03-04 00:00:00"},
            "x = TIMESTAMP_NTZ'2024-03-10 23:59:59'",
            "x = TIMESTAMP_NTZ'2024-03-11'",
        ),
        (
            "date",
            [("t", "timestamp_ntz", "date_trunc('HOUR', x)")],
            {"t": "2024-03-05 00:00:00"},
            "x = DATE'2024-03-05'",
            "x = DATE'2024-03-08'",
        ),
        (
            "date",
            [("f", "string", "DATE_FORMAT(x, 'yyyy-MM-dd-HH')")],
            {"f": "2024-03-05-00"},
            "x = DATE'2024-03-05'",
            "x = DATE'2024-03-06'",
        ),
        (
            "date",
            [("f", "string", "DATE_FORMAT(x, 'yyyyMM')")],
            {"f": "+1234507"},
            "x = DATE'+12345-07-31'",
            "x = DATE'+12345-08-01'",
        ),
        (
            "date",
            [*PARTS, ("h", "integer", "HOUR(x)")],
            {"y": "2024", "m": "2", "d": "29", "h": "0"},
            "x = DATE'2024-02-29'",
            "x = DATE'2024-03-01'",
        ),
        ("string", [("p", "string", "SUBSTRING(x, 1, 2)")], {"p": "ab"}, "x = 'abz'", "x = 'ac'"),
        ("string", [("p", "string", "LEFT(`X`, 2)")], {"p": "a"}, "x = 'a'", "x = 'ab'"),
        (
            "string",
            [("p", "string", "SUBSTRING(x, 2, 3)")],
            {"p": "bcd"},
            "x = 'abcde'",
            "x = 'bcd'",
        ),
        ("string", [("p", "string", "substr(x, 2, 3)")], {"p": "é"}, "x = 'éé'", "x = 'é'"),
        (
            "string",
            [("p", "string", "(SUBSTRING((x), 2, 3))")],
            {"p": "bcd"},
            "x IN ('a', 'zbcd')",
            "x IN ('a', 'abc')",
        ),
        ("long", [("p", "long", "x")], {"p": "5"}, "x = 5", "x = 6"),
    ],
)
def test_a_known_shape_lifts_a_predicate_on_its_source(lake, source, columns, partition, hit, miss):
    generated(lake, source, columns)
    lake.commit(lake.add("f", partition=partition))

    assert (lake.kept(hit), lake.kept(miss)) == (["f"], [])


@pytest.mark.parametrize(
    ("source", "column", "value", "hit", "miss"),
    [
        ("date", "date: (CAST(x AS DATE))", "2024-03-05", "2024-03-05", "2024-03-06"),
        ("date", "date: ((CAST((x) AS DATE)))", "2024-03-05", "2024-03-05", "2024-03-06"),
        ("date", "date: ( to_date( ( `x` ) ) )", "2024-03-05", "2024-03-05", "2024-03-06"),
        ("date", "date: x::date", "2024-03-05", "2024-03-05", "2024-03-06"),
        ("date", "integer: YEAR(CAST(x AS DATE))", "2024", "2024-12-31", "2025-01-01"),
        ("date", "integer: (YEAR(to_date(x)))", "2024", "2024-12-31", "2025-01-01"),
        ("date", "integer: year((x)::DATE)", "2024", "2024-12-31", "2025-01-01"),
        ("date", "integer: EXTRACT(YEAR FROM x)", "2024", "2024-12-31", "2025-01-01"),
        ("date", "integer: date_part('YEAR', (x))", "2024", "2024-12-31", "2025-01-01"),
        ("date", "date: trunc(CAST(x AS DATE), 'MM')", "2024-02-01", "2024-02-29", "2024-03-01"),
        ("date", "string: date_format(CAST(x AS DATE), 'yyyy-MM')", "2024-02", "2024-02-29",
         "2024-03-01"),
        ("string", "string: (SUBSTRING((x), 1, 2))", "ab", "abz", "ac"),
        ("string", "string: (x)", "ab", "ab", "abc"),
    ],
)  # fmt: skip
def test_parentheses_and_the_date_of_a_source_change_no_shape(
    lake, source, column, value, hit, miss
):
    kind, _, expression = column.partition(": ")
    generated(lake, source, [("g", kind, expression)])
    lake.commit(lake.add("f", partition={"g": value}))

    assert (lake.kept(f"x = '{hit}'"), lake.kept(f"x = '{miss}'")) == (["f"], [])


@pytest.mark.parametrize(
    ("source", "column", "value"),
    [
        ("timestamp_ntz", "integer: HOUR(CAST(x AS DATE))", "0"),
        ("timestamp_ntz", "string: date_format(CAST(x AS DATE), 'yyyy-MM-dd-HH')", "2024-03-05-00"),
        ("timestamp_ntz", "date: CAST(date_trunc('MONTH', x) AS DATE)", "2024-03-01"),
        ("long", "long: (x) % (10)", "5"),
        ("long", "long: (x % 10)", "5"),
        ("string", "string: concat((x), ')')", "5"),
    ],
)
def test_what_the_parentheses_hold_together_is_no_shape(lake, source, column, value):
    kind, _, expression = column.partition(": ")
    generated(lake, source, [("g", kind, expression)])
    lake.commit(lake.add("f", partition={"g": value}))

    literal = {"long": "77", "string": "'77'"}.get(source, "TIMESTAMP_NTZ'1999-01-01 07:00:00'")
    assert lake.kept(f"x = {literal}") == ["f"]


def test_the_date_on_which_the_month_of_an_instant_starts(lake):
    generated(lake, "timestamp", [("g", "date", "(CAST(date_trunc('MONTH', x) AS DATE))")])
    lake.commit(lake.add("f", partition={"g": "2024-03-01"}))

    assert lake.kept("x = TIMESTAMP'2024-02-29 06:00:00Z'") == ["f"]
    assert lake.kept("x = TIMESTAMP'2024-04-01 17:59:59Z'") == ["f"]
    assert lake.kept("x = TIMESTAMP'2024-02-29 05:59:59Z'") == []
    assert lake.kept("x = TIMESTAMP'2024-04-01 18:00:00Z'") == []


@pytest.mark.parametrize(
    ("columns", "partition"),
    [
        (
            [
                ("d", "integer", "YEAR(CAST(x AS DATE))"),
                ("m", "integer", "(MONTH(CAST(x AS DATE)))"),
                ("e", "integer", "DAY((CAST((x) AS DATE)))"),
            ],
            {"d": "2024", "m": "3", "e": "5"},
        ),
        (DATE, {"d": "2024-03-05"}),
        (PARTS, {"y": "2024", "m": "3", "d": "5"}),
        ([("f", "string", "DATE_FORMAT(x, 'yyyy-MM-dd')")], {"f": "2024-03-05"}),
    ],
)
def test_an_instant_may_have_been_read_on_any_clock(lake, columns, partition):
    generated(lake, "timestamp", columns)
    lake.commit(lake.add("f", partition=partition))

    assert lake.kept("x = TIMESTAMP'2024-03-04 06:00:00Z'") == ["f"]
    assert lake.kept("x = TIMESTAMP'2024-03-06 17:59:59.999999Z'") == ["f"]
    assert lake.kept("x = TIMESTAMP'2024-03-04 05:59:59.999999Z'") == []
    assert lake.kept("x = TIMESTAMP'2024-03-06 18:00:00Z'") == []
    assert lake.every("x >= TIMESTAMP'2024-03-05 00:00:00Z'") == []


@pytest.mark.parametrize(
    ("source", "column", "value", "row"),
    [
        # Each as Delta on Spark writes it, in the session zone that is named.
        ("timestamp_ntz", "timestamp: date_trunc('DAY', x)", "2024-03-05T08:00:00.000000Z",
         "TIMESTAMP_NTZ'2024-03-05 01:00:00'"),  # America/Los_Angeles
        ("timestamp_ntz", "timestamp: date_trunc('MONTH', x)", "2024-02-29T15:00:00.000000Z",
         "TIMESTAMP_NTZ'2024-03-31 23:00:00'"),  # Asia/Tokyo
        ("date", "timestamp: date_trunc('MONTH', x)", "2024-02-29T15:00:00.000000Z",
         "DATE'2024-03-31'"),  # Asia/Tokyo
        ("timestamp_ntz", "string: date_format(x, 'yyyy-MM-dd-HH')", "2024-03-31-03",
         "TIMESTAMP_NTZ'2024-03-31 02:30:00'"),  # Europe/Paris, which skipped this hour
        ("timestamp_ntz", "string: date_format(x, 'yyyy-MM-dd')", "2011-12-31",
         "TIMESTAMP_NTZ'2011-12-30 12:00:00'"),  # Pacific/Apia, which skipped this day
        ("date", "string: date_format(x, 'yyyy-MM-dd')", "2011-12-31", "DATE'2011-12-30'"),
    ],
)  # fmt: skip
def test_a_wall_clocks_time_made_an_instant_was_read_on_the_writers_clock(
    lake, source, column, value, row
):
    kind, _, expression = column.partition(": ")
    generated(lake, source, [("g", kind, expression)])
    lake.commit(lake.add("f", partition={"g": value}))

    assert lake.kept(f"x = {row}") == ["f"]
    assert lake.every(f"x <> {row}") == []


def test_a_months_start_on_a_clock_ahead_of_utc_holds_the_whole_month(lake):
    generated(lake, "timestamp", [("t", "timestamp", "date_trunc('MONTH', x)")])
    # 2024-03-01 00:00 in Tokyo.
    lake.commit(lake.add("f", partition={"t": "2024-02-29T15:00:00.000000Z"}))

    assert lake.kept("x = TIMESTAMP'2024-03-31 14:59:59Z'") == ["f"]
    assert lake.kept("x = TIMESTAMP'2024-05-01 00:00:00Z'") == []


@pytest.mark.parametrize("columns", [DATE, PARTS])
def test_a_null_of_a_total_function_is_a_null_of_its_source(lake, columns):
    generated(lake, "date", columns)
    lake.commit(lake.add("f", partition={name: None for name, _, _ in columns}))

    assert lake.every("x IS NULL") == ["f"]
    assert lake.kept("x = DATE'2024-01-01'") == []


def test_the_null_of_a_prefix_may_be_an_empty_string(lake):
    generated(lake, "string", [("p", "string", "SUBSTRING(x, 1, 2)")])
    lake.commit(lake.add("f", partition={"p": None}))

    assert lake.kept("x = ''") == ["f"]
    assert lake.kept("x = 'a'") == []
    assert lake.every("x IS NULL") == []


def test_a_substring_is_null_for_texts_that_are_too_short_and_says_nothing_of_ranges(lake):
    generated(lake, "string", [("p", "string", "SUBSTRING(x, 2, 3)")])
    lake.commit(lake.add("null", partition={"p": None}), lake.add("f", partition={"p": "bcd"}))

    assert lake.kept("x = 'a'") == ["null"]
    assert lake.kept("x IS NULL") == ["f", "null"]
    assert lake.kept("x > 'z'") == ["f", "null"]
    assert lake.kept("x <> 'abcd'") == ["f", "null"]
    assert lake.kept("NOT x = 'zzz'") == ["f", "null"]


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("string", "date", "CAST(x AS DATE)"),
        ("long", "long", "x % 10"),
        ("timestamp", "string", "DATE_FORMAT(x, 'EEEE')"),
        ("date", "integer", "MONTH(x)"),
        ("timestamp", "date", "CAST(missing AS DATE)"),
    ],
)
def test_an_unknown_shape_lifts_nothing(lake, source, kind, text):
    generated(lake, source, [("g", kind, text)])
    lake.commit(
        lake.add("f", partition={"g": "3" if kind in {"integer", "long"} else "2024-01-01"})
    )
    literal = {
        "string": "'q'",
        "long": "1",
        "timestamp": "TIMESTAMP'1999-01-01'",
        "date": "DATE'1999-01-01'",
    }

    assert lake.kept(f"x = {literal[source]}") == ["f"]


def test_an_unreadable_value_says_nothing_of_the_source(lake):
    generated(lake, "date", DATE)
    lake.commit(lake.add("f", partition={"d": "no date"}), lake.add("g", partition={}))

    assert lake.kept("x = DATE'1999-01-01'") == ["f", "g"]
    assert lake.kept("x IS NULL") == ["f", "g"]


def test_one_unreadable_field_does_not_make_the_source_null(lake):
    generated(lake, "date", PARTS)
    lake.commit(lake.add("f", partition={"y": "2024", "m": "?", "d": "5"}))

    assert lake.kept("x = DATE'2024-03-05'") == ["f"]
    assert lake.kept("x IS NULL") == []
