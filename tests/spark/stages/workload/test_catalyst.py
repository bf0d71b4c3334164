"""Filters as plans print them: what is sure becomes SQL, what is not is left out, never guessed."""

from __future__ import annotations

import pytest

from whyscan.spark.plans.iceberg_filters import filters_of, read_iceberg_filters
from whyscan.spark.plans.printed_filters import ScanColumns, members, read_filters
from whyscan.spark.stages.workload.event_logs.executions import sql_of

TYPES = {
    "id#1L": "bigint",
    "s#2": "string",
    "d#3": "date",
    "ts#4": "timestamp",
    "amt#5": "decimal(10,2)",
    "even#6": "boolean",
    "x#7": "double",
    "addr#8": "struct<city:string,zip:int>",
    "p#9": None,
    "a b.c#10": "int",
    "f#11": "float",
}


def read(text, zone="UTC", types=TYPES):
    filters = read_filters([text], ScanColumns(types, zone))
    return list(filters.conjuncts), list(filters.left_out)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("(id#1L > 100)", "`id` > 100"),
        ("(id#1L = -5)", "`id` = -5"),
        ("(s#2 = a, b)", "`s` = 'a, b'"),
        ("(s#2 = )", "`s` = ''"),
        ("(s#2 = it's \\ x)", "`s` = 'it\\'s \\\\ x'"),
        ("(s#2 >= null)", "`s` >= 'null'"),
        ("(d#3 >= 2026-01-03)", "`d` >= DATE '2026-01-03'"),
        ("(ts#4 > 2026-01-01 00:00:05)", "`ts` > TIMESTAMP '2026-01-01 00:00:05+00:00'"),
        ("(amt#5 > 10.50)", "`amt` > 10.50"),
        ("even#6", "`even`"),
        ("NOT even#6", "NOT (`even`)"),
        ("(x#7 > 1.5)", "`x` > 1.5D"),
        ("(f#11 < 1.1)", "`f` < CAST('1.1' AS FLOAT)"),
        ("(addr#8.city = 7)", "`addr`.`city` = '7'"),
        ("(addr#8.zip = 7)", "`addr`.`zip` = 7"),
        ("(a b.c#10 = 7)", "`a b.c` = 7"),
        ("(p#9 = 1)", "`p` = '1'"),
        ("(p#9 = 2026-01-02)", "`p` = '2026-01-02'"),
        ("(p#9 = 0.5)", "`p` = '0.5'"),
        ("(cast(p#9 as bigint) = 5)", "CAST(`p` AS BIGINT) = 5"),
        ("isnull(s#2)", "`s` IS NULL"),
        ("isnotnull(addr#8.city)", "`addr`.`city` IS NOT NULL"),
        ("StartsWith(s#2, a%)", "startswith(`s`, 'a%')"),
        ("(s#2 <=> x)", "`s` <=> 'x'"),
        ("id#1L IN (5,6,7)", "`id` IN (5, 6, 7)"),
        ("id#1L INSET 5, 6, 7", "`id` IN (5, 6, 7)"),
        ("id#1L IN (5,null)", "`id` IN (5)"),
        ("NOT id#1L IN (5,6)", "NOT (`id` IN (5, 6))"),
        ("((id#1L < 10) OR StartsWith(s#2, a))", "(`id` < 10 OR startswith(`s`, 'a'))"),
        ("NOT ((id#1L < 10) OR (s#2 = a))", "NOT ((`id` < 10 OR `s` = 'a'))"),
    ],
)
def test_a_filter_that_is_sure_is_sql(text, sql):
    assert read(text) == ([sql], [])


@pytest.mark.parametrize(
    "text",
    [
        "(upper(s#2) = X)",
        "(s#2 = f(x))",
        "(s#2 = other#77)",
        "(id#1L = scalar-subquery#5, [id=#9])",
        "(s#2 = scalar-subquery#5, [id=#9])",
        "(p#9 = -q#12)",
        "(x#7 > NaN)",
        "(p#9 > 2026-01-01 00:00:05)",
        "(p#9 = 0x6162)",
        "(p#9 <= 0.1)",
        "(s#2 <=> null)",
        "(s#2 = ***(redacted))",
        "(cast(ts#4 as date) = 2026-01-01)",
        "NOT s#2 IN (a,b,c)",
        "NOT (s#2 IN (a,b,c) OR even#6)",
        "dynamicpruningexpression(p#9 IN dynamicpruning#38)",
        "(unknown#99 = 5)",
        "(id#12 = 5)",
        "((id#1L + 1) = 5)",
    ],
)
def test_a_filter_that_is_not_sure_is_left_out(text):
    assert read(text) == ([], [text])


def test_a_time_of_another_zone_keeps_its_instant_and_needs_a_zone():
    filter_ = "(ts#4 > 2026-07-01 00:00:05.25)"

    assert read(filter_, "Europe/Berlin") == (
        ["`ts` > TIMESTAMP '2026-06-30 22:00:05.250000+00:00'"],
        [],
    )
    assert read(filter_, None) == ([], [filter_])
    twice = "(ts#4 > 2026-10-25 02:30:00)"
    assert read(twice, "Europe/Berlin") == ([], [twice])


def test_a_list_parts_at_commas_outside_of_values():
    text = "[isnotnull(s#2), (s#2 = a), (b), (id#1L > 5), s#2 INSET a, b]"

    conjuncts, left_out = read(text)

    assert conjuncts == ["`id` > 5", "`s` IN ('a', 'b')"]
    assert left_out == ["(s#2 = a), (b)"]


@pytest.mark.parametrize("value", [":)", ":(", "a) OR (b", "x), (y", "a) AND (id = 5"])
def test_a_value_with_parentheses_never_becomes_another_filter(value):
    conjuncts, left_out = read(f"[(s#2 = {value}), (id#1L > 5)]")

    assert set(conjuncts) <= {"`id` > 5"}
    assert left_out


def test_every_reading_of_a_list_of_strings_is_asked_for():
    assert read("s#2 IN (a,b)") == (["`s` IN ('a', 'b')"], [])
    assert read("s#2 IN (a,b,c)") == (["`s` IN ('a', 'b', 'c', 'a,b', 'b,c')"], [])
    assert read("p#9 IN (1,2)") == (["`p` IN ('1', '2')"], [])
    assert read("p#9 IN (1,2,3)") == (
        ["CAST(`p` AS STRING) IN ('1', '2', '3', '1,2', '2,3')"],
        [],
    )
    many = f"s#2 INSET {', '.join(map(str, range(100)))}"
    assert read(many) == ([], [many])


def test_that_a_compared_column_is_not_null_is_not_said_twice():
    text = "[isnotnull(id#1L), isnotnull(s#2), (id#1L > 5), (upper(s#2) = X)]"

    assert read(text) == (["`s` IS NOT NULL", "`id` > 5"], ["(upper(s#2) = X)"])


def test_conjunctions_are_taken_apart():
    text = "((isnotnull(id#1L) AND (id#1L > 5)) AND ((s#2 = a) OR (s#2 = b)))"

    assert read(text) == (["`id` > 5", "(`s` = 'a' OR `s` = 'b')"], [])


def test_a_struct_has_its_members():
    assert members("struct<a:int,b:struct<c:decimal(10,2),d:map<string,int>>,e:string>") == {
        "a": "int",
        "b": "struct<c:decimal(10,2),d:map<string,int>>",
        "e": "string",
    }


def test_filters_of_iceberg_have_quotes_and_numbers_are_read_by_the_type_of_their_column():
    text = (
        "BatchScan ice.db.t[id#1L, s#2, d#3] IcebergScan(table=ice.db.t, schemaId=0, "
        "filters=id IS NOT NULL, id > 100, s = 'a, b', d > 20456, s IN ('x', 'y'), id IN (1, 2), "
        "NOT (f = true), t >= 1704240000000001, n < 1704240000000000, m <= 19.90, x = 1.0E-5, "
        "p = 7, "
        "runtimeFilters=, groupedBy=) RuntimeFilters: []"
    )
    types = {
        "id": "bigint",
        "s": "string",
        "d": "date",
        "f": None,
        "t": "timestamp",
        "n": "timestamp_ntz",
        "m": "decimal(9,2)",
        "x": "double",
        "p": None,
    }

    filters = read_iceberg_filters(filters_of(text), types)

    assert filters.conjuncts == (
        "`id` IS NOT NULL",
        "`id` > 100",
        "`s` = 'a, b'",
        "`d` > DATE '2026-01-03'",
        "`s` IN ('x', 'y')",
        "`id` IN (1, 2)",
        "NOT (`f` = true)",
        "`t` >= TIMESTAMP '2024-01-03 00:00:00.000001+00:00'",
        "`n` < TIMESTAMP_NTZ '2024-01-03 00:00:00'",
        "`m` <= 19.90",
        "`x` = 1.0E-5D",
    )
    assert filters.left_out == ("p = 7",)


@pytest.mark.parametrize("number", ["20456", "-5", "99999999999999999999"])
def test_a_number_that_is_no_time_of_its_column_is_left_out(number):
    filters = read_iceberg_filters(f"t > {number}", {"t": "timestamp"})

    assert (filters.conjuncts, filters.left_out) == ((), (f"t > {number}",))


@pytest.mark.parametrize(
    "other",
    [
        "(id = 2 OR s = 'x')",
        "NOT ((id = 5 OR id = 6))",
        "(id IS NOT NULL AND id NOT IN (1, 2))",
        "id != 5",
        "s LIKE 'a%'",
        "is_nan(x)",
        "other = 3",
    ],
)
def test_filters_of_iceberg_behind_one_that_ends_for_sure_are_read(other):
    filters = read_iceberg_filters(f"id = 1, {other}, id = 3", {"id": "bigint", "s": "string"})

    assert filters.conjuncts == ("`id` = 1", "`id` = 3")
    assert filters.left_out == (other,)


def test_filters_of_iceberg_behind_one_that_is_not_known_are_left_out():
    filters = read_iceberg_filters("id = 1, s = 'it's', id = 3", {"id": "bigint", "s": "string"})

    assert filters.conjuncts == ("`id` = 1",)
    assert filters.left_out == ("s = 'it's', id = 3",)


COMMON = """\
common {
  plan_id: 3
  origin {
    python_origin {
      call_site: "a { b"
    }
  }
}
"""
SQL = 'sql {\n  query: "SELECT 1"\n}\n'


@pytest.mark.parametrize(
    ("statement", "sql"),
    [
        (SQL, "SELECT 1"),
        (COMMON + SQL, "SELECT 1"),
        (f"sql_command {{\n  input {{\n{COMMON}{SQL}}}\n}}", "SELECT 1"),
        ('sql {\n  query: "SELECT \\"a\\"\\n, \\\'\\303\\274\\\'"\n}\n', "SELECT \"a\"\n, 'ü'"),
        (f"filter {{\n  input {{\n{SQL}}}\n}}", None),
        ('sql {\n  query: "SELECT[truncated(size=99999)]"\n}', None),
    ],
)
def test_the_sql_of_spark_connect_is_taken_only_where_it_is_the_whole_plan(statement, sql):
    assert sql_of(statement) == sql
