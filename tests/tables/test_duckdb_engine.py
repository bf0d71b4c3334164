"""DuckDB's engine: with its package and without, started early or when it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import duckdb
import pytest

from whyscan.tables import duckdb_engine

QUERY = "SELECT range AS a, {'b': 'x'} AS s FROM range(3)"


@dataclass
class OfAnotherVersion:
    """A connection that has only what DuckDB publishes."""

    connection: duckdb.DuckDBPyConnection

    def sql(self, text):
        return self.connection.sql(text)


def test_rows_are_the_same_by_the_public_way_and_by_the_engines_own():
    with duckdb_engine.connection() as connection:
        quick = duckdb_engine.arrow(connection, QUERY)
        public = duckdb_engine.arrow(OfAnotherVersion(connection), QUERY)

    assert quick.equals(public)
    assert quick.column("a").to_pylist() == [0, 1, 2]


def test_without_the_engine_under_its_own_name_the_package_serves(monkeypatch):
    monkeypatch.setitem(sys.modules, "_duckdb", None)

    assert duckdb_engine.engine() is duckdb


def test_a_connection_that_was_begun_is_the_one_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(duckdb_engine, "_idle", {})
    duckdb_engine.start()
    begun = duckdb_engine._pending[os.getpid()].result()

    with duckdb_engine.connection() as first:
        assert first is begun
    with duckdb_engine.connection() as again:
        assert again is begun


def test_an_engine_that_does_not_start_raises_its_error_at_the_first_connection(monkeypatch):
    def broken(_purpose):
        raise duckdb.IOException("no")

    monkeypatch.setattr(duckdb_engine, "_connect", broken)
    duckdb_engine.start()
    with pytest.raises(duckdb.IOException), duckdb_engine.connection():
        pytest.fail("there is no connection")


def test_who_has_the_engine_may_still_import_the_package():
    code = """
from whyscan.tables import duckdb_engine
with duckdb_engine.connection() as connection:
    before = duckdb_engine.arrow(connection, "SELECT 1 AS a").to_pylist()
    import duckdb
    print(before, connection.sql("SELECT 2 AS a").to_arrow_table().to_pylist())
    print(issubclass(duckdb_engine.engine().Error, duckdb.Error))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.splitlines() == ["[{'a': 1}] [{'a': 2}]", "True"]
