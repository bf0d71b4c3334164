"""Statements that a fuzzer made of others: each was a failure of whyscan itself."""

from __future__ import annotations

import pytest

from whyscan.predicate.syntax.parse import parse

STATEMENTS = {
    "SELECT month FROM {} WHERE month IN (2, 3)": "databricks",
    "SELECT * FROM (decimal(38,10) {NUMBERED}) x WHERE x.month = NULL": "trino",
    "END 1 FROM orders WHEN o WHERE o.month = 3": "bigquery",
    "SET UPDATE,amount Field(= s , .amount": "databricks",
}


@pytest.mark.parametrize(("sql", "dialect"), STATEMENTS.items(), ids=range(len(STATEMENTS)))
def test_a_statement_that_means_nothing_is_one_line(commands, tmp_path, sql, dialect):
    file = tmp_path / "statement.sql"
    file.write_text(sql)

    said = commands.command("explain", "--sql", f"@{file}", "--dialect", dialect, cwd=tmp_path)

    assert said.why is None
    assert said.word.startswith("refused: ")


def test_a_function_called_and_leaves_nothing_before_it():
    text = "AND(k (k OR id > 5)) AND CASE WHEN d AND id = 1 THEN true END"

    fragments = parse(text, "clickhouse").fragments

    assert all(fragment.sql for fragment in fragments)
