"""What is run on partition values means in DuckDB what it means in Spark, or is not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from whyscan.planning.plan.duckdb_sql import (
    answers,
    takes_any_text,
    to_duckdb,
)
from whyscan.predicate.binding.bind import bind
from whyscan.pruning.functions import FUNCTIONS
from whyscan.pruning.functions.function import Argument
from whyscan.tree.nodes import Call, Column
from whyscan.tree.types import INT, STRING, Field, Schema

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from whyscan.tree.nodes import Expression

SCHEMA = Schema((Field("q", STRING), Field("p", INT)))

VALUES = [
    *[("", 0), (" ", 1), ("a", 2), ("abc", 3), ("ABC", 4), ("aBcAbC", 5), ("x1y22", 6)],
    *[("2024-03-01", 7), ("a.b", 12), ("  pad ", -5), ("it's", 100), ("100%", 0), ("a_b", 2024)],
    *[("~!@#$^&*()[]{}|", 31), ("k=v;k2=v2", -77), ("0042", 9), (None, None)],
    *[("abc", None), (None, 2)],
]

RUN = [
    "q rlike '^a'",
    "q rlike '[0-9]+$'",
    "q rlike '(abc|x1)'",
    "q rlike 'b.?c'",
    "q rlike '\\\\d{2,4}'",
    "regexp_like(q, '^\\\\w+$')",
    "regexp_replace(q, '[0-9]+', '#') = 'x#y#'",
    "regexp_replace(q, 'b', '') = 'ac'",
    "regexp_extract(q, '([a-z]+)([0-9]+)', 2) = '1'",
    "regexp_extract(q, 'nothing', 0) = ''",
    "regexp_extract(q, '(b|c)+', 0) = 'bc'",
    "regexp_replace(q, '(b|c)+', '-') = 'a-'",
    "concat(q, '-', p) >= 'a'",
    "q || p BETWEEN '0' AND 'b'",
    "lower(q) = 'abc'",
    "upper(q) = 'ABC'",
    "length(q) > 3",
    "reverse(q) = 'cba'",
    "trim(q) = 'pad'",
    "ltrim(q) = 'pad '",
    "rtrim(q) = '  pad'",
    "replace(q, 'b', 'B') = 'aBc'",
    "md5(q) < '8'",
    "instr(q, 'b') = 2",
    "contains(q, 'b')",
    "startswith(q, 'a')",
    "endswith(q, 'C')",
    "substring(q, 2, 2) = 'bc'",
    "substring(q, 1) = 'abc'",
    "left(q, 2) = 'ab'",
    "left(q, -1) = ''",
    "right(q, 2) = 'bc'",
    "right(q, 0) = ''",
    "repeat(q, 2) = 'aa'",
    "repeat(q, -1) = ''",
    "repeat(q, p) = 'abcabcabc'",
    "left(q, p) = 'abc'",
    "right(q, p) = 'abc'",
    "replace(q, 'a', p) = '3bc'",
    "ascii(q) = 97",
    "octet_length(q) = 3",
    "lpad(q, 5, 'xy') = 'xyabc'",
    "lpad(q, 2) = 'ab'",
    "lpad(q, 0, '-') = ''",
    "rpad(q, 5, 'xy') = 'abcxy'",
    "rpad(q, 5) = 'abc  '",
    "split_part(q, '-', 2) = '03'",
    "split_part(q, ';', 3) = ''",
    "split_part(q, 'k2=', 2) = 'v2'",
    "split_part(q, '.', 1) = 'a'",
    "translate(q, 'abc', 'xy') = 'xy'",
    "translate(q, 'aba', 'xyz') = 'xyc'",
    "translate(q, '', 'xyz') = 'abc'",
    "concat_ws('-', q, p) = 'abc-3'",
    "concat_ws('-', q, NULL, p) = 'abc-3'",
    "concat_ws(q, 'x', 'y') = 'xabcy'",
    "concat_ws('-', q) = 'abc'",
    "p > 3 AND md5(q) > '4'",
    "md5(q) IN ('900150983cd24fb0d6963f7d28e17f72', NULL)",
    "md5(q) LIKE '9%'",
    "reverse(q) LIKE 'c!%%' ESCAPE '!'",
    "reverse(q) ILIKE 'CB_'",
    "NOT (md5(q) <=> NULL)",
    "CASE WHEN md5(q) > '8' THEN p > 5 ELSE coalesce(p, 0) < 3 END",
]

# Letters of two cases in one, of several code points, beyond 16 bits.
BEYOND = [
    *[("ß", 1), ("aße\u0301", 2), ("İı", 3), ("\U0001f600x", 4)],
    ("e\u0301\U0001f1e9\U0001f1ea", 5),
]
LETTERS = [
    "length(q) = 2",
    "substring(q, 2, 1) = 'ß'",
    "left(q, 1) = 'e'",
    "replace(q, 'ß', 'ss') = 'ss'",
    "contains(q, '\u0301')",
    "startswith(q, '\U0001f600')",
    "endswith(q, '\u0301')",
    "concat(q, 'ß') LIKE '_ß'",
]

# Spark's capital of ß is SS, DuckDB's is one letter; Spark reverses code points, DuckDB what people
# see as letters; Spark folds İ into two, DuckDB into one.
WRITTEN = [
    "upper(concat(reverse(q), 'ß')) = 'CBASS'",
    "reverse(concat(q, 'e\u0301')) = '\u0301ecba'",
    "concat(reverse(q), '\u0130') ILIKE 'cbai\u0307'",
]

NOT_RUN = [
    "q rlike '(?i)a'",
    "q rlike '(?=a)b'",
    "q rlike '(a)\\\\1'",
    "q rlike 'a*+'",
    "q rlike '\\\\s'",
    "q rlike q",
    "regexp_replace(q, 'a', '$0') = 'x'",
    # Java replaces `x1y22` by `--1-y-2-2-`, RE2 by `-1-y-2-2-`.
    "regexp_replace(q, 'x*', '-') = '--1-y-2-2-'",
    "regexp_replace(q, '$|b', '-') = 'a-'",
    # Java's last turn of the group is empty, RE2's is `a`.
    "regexp_extract(q, '(a?)+b', 1) = 'a'",
    "regexp_extract(q, '(b|c)+', 1) = 'c'",
    "q rlike '^(a*)+$'",
    "regexp_extract(q, 'a', 1) = ''",
    "q rlike '('",
    "q rlike '^*'",
    "q rlike '[a||b]'",
    "substring(q, -2, 2) = 'bc'",
    "lpad(q, 5, '') = 'abc'",
    "lpad(q, -1, 'x') = ''",
    "split_part(q, '', 1) = 'abc'",
    "split_part(q, '-', -1) = '01'",
    "split_part(q, '-', 0) = ''",
    "hash(q) = 5",
    "p / 2 > 1",
    "p + 1 > 3",
    "abs(p) > 5",
]


def bound(sql: str) -> Expression:
    return bind(sql, SCHEMA).expression


RUN_ON_COLUMNS = [n for n, f in FUNCTIONS.items() if f.strict and isinstance(f.duckdb, str)]
NUMBERS = {Argument.INT, Argument.BIGINT, Argument.NUMBER}


@pytest.mark.parametrize("name", RUN_ON_COLUMNS)
def test_a_strict_function_is_null_in_duckdb_where_an_argument_is(name: str) -> None:
    function = FUNCTIONS[name]
    kinds = [INT if p in NUMBERS else STRING for p in function.parameters[: function.least]]
    columns = tuple(Column((f"a{at}",), kind) for at, kind in enumerate(kinds))
    sql = to_duckdb(Call(name, columns, STRING), {c.path: c.path[0] for c in columns})
    assert sql is not None
    for null in range(len(columns)):
        row = {
            column.path[0]: pa.array(
                [None if at == null else 1 if column.type == INT else "a"],
                pa.int32() if column.type == INT else pa.string(),
            )
            for at, column in enumerate(columns)
        }
        answered = answers(sql, pa.table(row))
        assert answered is not None
        assert answered.to_pylist() == [None], (sql, null)


@pytest.mark.parametrize("function", ["left", "right", "repeat"])
def test_a_partition_without_a_count_is_kept_where_the_text_is_null(
    tmp_path: Path, function: str
) -> None:
    # Nothing but DuckDB knows md5; its greatest(NULL, 0) is 0.
    for p in ("2", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / "q=abc" / f"p={p}").mkdir(parents=True)
        pq.write_table(pa.table({"v": [1]}), tmp_path / "q=abc" / f"p={p}" / "0.parquet")
    table = whyscan.open(str(tmp_path))

    assert table.plan(f"{function}(md5(q), p) IS NULL").to_arrow()["p"].to_pylist() == [None]
    assert table.plan(f"{function}(md5(q), p) IS NOT NULL").to_arrow()["p"].to_pylist() == [2]


@pytest.mark.parametrize("sql", NOT_RUN)
def test_what_may_differ_is_left_to_the_interpreter(sql: str) -> None:
    assert to_duckdb(bound(sql), {("q",): "q", ("p",): "p"}) is None


def test_a_pattern_that_only_java_reads_is_left_to_the_interpreter() -> None:
    sql = to_duckdb(bound("q rlike 'a{1001}'"), {("q",): "q"})
    assert sql is not None
    assert answers(sql, pa.table({"q": ["a"]})) is None


def test_every_function_that_is_run_is_compared_with_spark() -> None:
    translated = {name for name, function in FUNCTIONS.items() if function.duckdb is not None}
    compared = {name for name in translated if any(f"{name}(" in sql for sql in RUN)}
    assert compared | {"rlike"} == translated


@pytest.mark.spark
@pytest.mark.parametrize("beyond", [False, True], ids=["printable", "beyond"])
def test_duckdb_answers_as_spark_does(spark: SparkSession, *, beyond: bool) -> None:
    texts = [sql for sql in RUN if not beyond or takes_any_text(bound(sql))] + LETTERS * beyond
    values = VALUES + BEYOND * beyond
    table = pa.table(
        {"q": pa.array([q for q, _ in values]), "p": pa.array([p for _, p in values], pa.int32())}
    )
    rows = spark.createDataFrame(
        [(i, q, p) for i, (q, p) in enumerate(values)], "at int, q string, p int"
    )
    answered = rows.selectExpr("at", *[f"({sql}) AS a{i}" for i, sql in enumerate(texts)])
    theirs = sorted(answered.collect())
    for number, sql in enumerate(texts):
        translated = to_duckdb(bound(sql), {("q",): "q", ("p",): "p"})
        assert translated is not None, sql
        ours = answers(translated, table)
        assert ours is not None, sql
        assert ours.to_pylist() == [row[number + 1] for row in theirs], sql


def test_a_function_on_a_partition_column_is_exact(tmp_path: Path) -> None:
    for q in ("abc", "xyz", "a1"):
        (tmp_path / f"q={q}").mkdir()
        pq.write_table(pa.table({"v": [1, 2]}), tmp_path / f"q={q}" / "0.parquet")
    report = whyscan.open(str(tmp_path)).explain("q rlike '[0-9]'").to_dict()
    assert report["levels"][0]["kept"] == 1
    assert report["levels"][0]["all"] == 1
    assert report["conjuncts"][0]["pushdown"] == "exact"
    assert report["confidence"] == "exact"
    assert report["residual"] is None


def test_text_beyond_printable_ascii_is_not_sent(tmp_path: Path) -> None:
    for q in ("abc", "ß"):
        (tmp_path / f"q={q}").mkdir()
        pq.write_table(pa.table({"v": [1]}), tmp_path / f"q={q}" / "0.parquet")
    report = whyscan.open(str(tmp_path)).explain("q rlike '[a]'").to_dict()
    assert report["levels"][0]["kept"] == 2
    assert report["conjuncts"][0]["pushdown"] != "exact"


def test_one_value_beyond_printable_ascii_leaves_the_others_exact(tmp_path: Path) -> None:
    for q in ("abc", "xyz", "ß"):
        (tmp_path / f"q={q}").mkdir()
        pq.write_table(pa.table({"v": [1]}), tmp_path / f"q={q}" / "0.parquet")
    report = whyscan.open(str(tmp_path)).explain("q rlike '[a]'", verbose=True).to_dict()
    verdicts = {
        file["partition"]["q"]: (file["verdict"], file["reason"]) for file in report["files"]
    }
    assert verdicts == {
        "abc": ("all", "MATCHES_ALL"),
        "xyz": ("none", None),
        "ß": ("some", "UNINTERPRETED"),
    }
    assert report["levels"][0]["kept_unchecked"] == 1
    assert report["conjuncts"][0]["pushdown"] == "inexact"
    assert report["confidence"] == "incomplete"
    assert report["residual"] == "q rlike '[a]'"


@pytest.mark.parametrize("sql", WRITTEN)
def test_text_in_the_predicate_beyond_printable_ascii_is_not_sent(tmp_path: Path, sql: str) -> None:
    (tmp_path / "q=abc").mkdir()
    pq.write_table(pa.table({"v": [1]}), tmp_path / "q=abc" / "0.parquet")
    assert whyscan.open(str(tmp_path)).explain(sql).to_dict()["levels"][0]["kept"] == 1


@pytest.mark.spark
def test_spark_says_true_where_duckdb_says_false(spark: SparkSession) -> None:
    table = pa.table({"q": ["abc"]})
    run = [answers(to_duckdb(bound(sql), {("q",): "q"}), table) for sql in WRITTEN]
    assert [answer.to_pylist() for answer in run] == [[False]] * len(WRITTEN)
    assert [*spark.createDataFrame([("abc",)], "q string").selectExpr(*WRITTEN).first()] == [
        True
    ] * len(WRITTEN)


DECIDED = [
    # condition on the partition columns q (abc, DE, NULL) and p (1, 2, NULL)
    *["upper(q) = 'DE'", "lower(q) = 'abc'", "initcap(q) = 'Abc'", "q ILIKE 'de'", "q LIKE '%b%'"],
    *["q rlike '^[A-Z]+$'", "length(q) > 2", "md5(q) < '8'", "substring(q, 1, 1) IN ('a', 'D')"],
    *["concat(q, p) = 'DE2'", "concat_ws('-', q, p) = 'abc-1'", "length(q) > p", "q || p IS NULL"],
    *["coalesce(upper(q), 'none') = 'none'", "NOT (upper(q) = 'DE')", "upper(q) <=> NULL"],
    *["p % 2 = 1", "p * 2 >= 3", "1 / p > 0", "repeat(q, p) = 'DEDE'"],
    *["upper(q) = 'DE' OR p = 1", "CASE WHEN upper(q) = 'DE' THEN p = 2 ELSE FALSE END"],
    *["cast(p AS STRING) = '2'", "p BETWEEN length(q) - 1 AND length(q)"],
]
OPEN = [
    "soundex(q) = 'D000'",
    "upper(q) = 'DE' OR soundex(q) = 'D000'",
    "upper(q) = 'DE' AND v > 0",
]


def three_partitions(folder: Path) -> None:
    empty = "__HIVE_DEFAULT_PARTITION__"
    for q, p in (("abc", 1), ("DE", 2), (empty, empty)):
        partition = folder / f"q={q}" / f"p={p}"
        partition.mkdir(parents=True)
        pq.write_table(pa.table({"v": [1, 2]}), partition / "0.parquet")


@pytest.mark.parametrize("sql", DECIDED)
def test_what_every_partition_value_decides_is_exact_and_silent(tmp_path: Path, sql: str) -> None:
    three_partitions(tmp_path)
    report = whyscan.open(str(tmp_path)).explain(sql).to_dict()
    assert [c["pushdown"] for c in report["conjuncts"]] == ["exact"]
    assert report["confidence"] == "exact"
    assert report["residual"] is None
    assert "UNINTERPRETED" not in {f["code"] for f in report["findings"]}
    assert report["levels"][0]["kept"] == report["levels"][0]["all"]


@pytest.mark.parametrize("sql", OPEN)
def test_what_some_partition_value_leaves_open_is_not_exact(tmp_path: Path, sql: str) -> None:
    three_partitions(tmp_path)
    report = whyscan.open(str(tmp_path)).explain(sql).to_dict()
    assert report["confidence"] != "exact"
    assert not all(c["pushdown"] == "exact" for c in report["conjuncts"])
