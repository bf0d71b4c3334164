"""The statements of SQL files: parted by the tokenizer, named and counted by comments."""

from __future__ import annotations

import gzip

import pytest

from whyscan.errors import TableError, UsageError
from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.query import Unparsed


def written(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return str(path)


def texts(workload):
    return [query.text for query in workload.queries]


def test_statements_are_parted_where_the_language_parts_them(tmp_path):
    file = written(
        tmp_path,
        "all.sql",
        "SELECT ';' AS a FROM t; -- not; here\n"
        "/* nor; here */ SELECT b FROM t WHERE s = 'it''s;';\n",
    )

    workload = read_workload([file])

    assert texts(workload) == ["SELECT ';' AS a FROM t", "SELECT b FROM t WHERE s = 'it''s;'"]
    assert workload.queries[1].origins == ("all.sql:2",)
    assert workload.unparsed == ()


def test_dollar_quotes_hold_semicolons(tmp_path):
    file = written(tmp_path, "p.sql", "SELECT $$a;b$$ AS x FROM t; SELECT 2 AS y FROM t")

    workload = read_workload([file], "postgres")

    assert texts(workload) == ["SELECT $$a;b$$ AS x FROM t", "SELECT 2 AS y FROM t"]


def test_comments_before_a_statement_name_it_and_count_it(tmp_path):
    file = written(
        tmp_path,
        "log.sql",
        "-- name: revenue\n-- times: 40\nSELECT a FROM t;\nSELECT '\n-- times: 7\n' AS b FROM t;\n",
    )

    revenue, other = read_workload([file]).queries

    assert (revenue.times, revenue.origins) == (40, ("log.sql:3 (revenue)",))
    assert other.times == 1


def test_the_same_text_in_two_files_is_one_query(tmp_path):
    written(tmp_path, "a.sql", "-- times: 2\nSELECT a FROM t;")
    written(tmp_path, "deep/b.sql", "SELECT a FROM t")
    written(tmp_path, ".hidden.sql", "SELECT never FROM t")

    (query,) = read_workload([str(tmp_path)]).queries

    assert (query.times, query.origins) == (3, ("a.sql:2", "b.sql:1"))


def test_what_is_no_query_is_listed_with_the_reason(tmp_path):
    file = written(
        tmp_path,
        "mixed.sql",
        "SET x = 1;\nUSE lake;\nSELECT a FROM t;\nSELEC b FROM t;\n"
        "-- times: many\nSELECT c FROM t;",
    )

    workload = read_workload([file])

    assert texts(workload) == ["SELECT a FROM t"]
    assert {(entry.origin, entry.why) for entry in workload.unparsed} == {
        ("mixed.sql:1", "SET reads no table"),
        ("mixed.sql:2", "USE reads no table"),
        ("mixed.sql:4", "this does not belong here"),
        ("mixed.sql:6", "times is no count: many"),
    }


def test_a_view_goes_with_the_queries_behind_it_that_use_it(tmp_path):
    file = written(
        tmp_path,
        "views.sql",
        "CREATE OR REPLACE TEMP VIEW v AS SELECT a FROM t;\n"
        "CREATE VIEW IF NOT EXISTS db.w AS SELECT a FROM v;\n"
        "SELECT a FROM t;\nSELECT a FROM w;\n",
    )

    workload = read_workload([file])

    assert texts(workload) == [
        "SELECT a FROM t",
        (
            "CREATE OR REPLACE TEMP VIEW v AS SELECT a FROM t;\n"
            "CREATE VIEW IF NOT EXISTS db.w AS SELECT a FROM v;\nSELECT a FROM w"
        ),
    ]
    assert [entry.why for entry in workload.unparsed] == [
        "a view reads nothing until it is queried"
    ] * 2


def test_a_model_of_dbt_is_one_statement(tmp_path):
    model = "{{ config(materialized='table') }}\nselect a from {{ ref('t') }} where b = ';'\n"

    (query,) = read_workload([written(tmp_path, "model.sql", model)]).queries

    assert query.text == model.strip()


def test_a_text_that_never_ends_is_unparsed_and_others_are_read(tmp_path):
    written(tmp_path, "a.sql", "SELECT 'open FROM t")
    written(tmp_path, "b.sql", "SELECT a FROM t")
    (tmp_path / "c.sql").write_bytes(b"SELECT '\xff' FROM t")

    workload = read_workload([str(tmp_path / "*.sql")])

    assert texts(workload) == ["SELECT a FROM t"]
    assert [entry.origin for entry in workload.unparsed] == ["a.sql", "c.sql"]


def test_a_compressed_file_is_read_and_a_cut_one_says_so(tmp_path):
    packed = gzip.compress(b"SELECT a FROM t;\n" * 100)
    (tmp_path / "whole.sql.gz").write_bytes(packed)
    (tmp_path / "cut.sql.gz").write_bytes(packed[:-9])

    whole = read_workload([str(tmp_path / "whole.sql.gz")], form="sql")
    cut = read_workload([str(tmp_path / "cut.sql.gz")], form="sql")

    assert [query.times for query in whole.queries] == [100]
    assert whole.unparsed == ()
    assert cut.unparsed == (
        Unparsed(
            "cut.sql.gz",
            "",
            "the log ends in the middle of an entry, as one that is still being written",
            log="sql",
        ),
    )


def test_what_is_not_there_is_an_error_of_one_line(tmp_path):
    with pytest.raises(TableError, match="there is no"):
        read_workload([str(tmp_path / "nothing.sql")])
    with pytest.raises(UsageError, match="'xml' is no form of a workload"):
        read_workload([written(tmp_path, "a.sql", "SELECT 1")], form="xml")
    with pytest.raises(UsageError, match="unknown dialect 'sparc'"):
        read_workload([str(tmp_path)], "sparc")
