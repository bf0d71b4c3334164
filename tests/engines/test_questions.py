"""Generated questions to tables of all formats, through each engine.

The rows are those that the engine gives by its own reader of the same rows in one Parquet file,
and those of brute force.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import whyscan
from engines.lakes import LAKES, SCHEMA, Lakes, whole
from engines.questions import Question, as_arrow, as_polars, as_sql, question
from scan.same_rows import difference

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.engines.provider import Provider

    Ask = Callable[[Question], pa.Table]

SAMPLE, ALL = 12, 500
"""Questions that every run asks, and all that the proof asks; both for each engine and table."""


def _sql(query: Question, name: str) -> str:
    return f"SELECT {', '.join(query.columns)} FROM {name} WHERE {as_sql(query.condition)}"


def by_duckdb(table: whyscan.Table, file: str) -> tuple[Provider, Ask, Ask]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'America/St_Johns'")
    provider = table.to_duckdb(connection, "events")
    connection.execute(f"CREATE VIEW own AS SELECT * FROM read_parquet('{file}')")

    def ask(name: str) -> Ask:
        return lambda query: connection.sql(_sql(query, name)).to_arrow_table()

    return provider, ask("events"), ask("own")


def by_datafusion(table: whyscan.Table, file: str) -> tuple[Provider, Ask, Ask]:
    context = datafusion.SessionContext()
    provider = table.to_datafusion(context, "events")
    context.register_parquet("own", file)

    def ask(name: str) -> Ask:
        # The two engines write bytes in different ways.
        return lambda query: context.sql(
            re.sub(r"from_hex\('(\w*)'\)", r"X'\1'", _sql(query, name))
        ).to_arrow_table()

    return provider, ask("events"), ask("own")


def by_polars(table: whyscan.Table, file: str) -> tuple[Provider, Ask, Ask]:
    frame = table.to_polars()
    return frame.provider, _ask_polars(frame), _ask_polars(pl.scan_parquet(file))


def by_polars_of_a_dataset(table: whyscan.Table, file: str) -> tuple[Provider, Ask, Ask]:
    dataset = table.to_dataset()
    ours = _ask_polars(pl.scan_pyarrow_dataset(dataset))
    return dataset, ours, _ask_polars(pl.scan_parquet(file))


def _ask_polars(frame: pl.LazyFrame) -> Ask:
    return lambda query: (
        frame.filter(as_polars(query.condition)).select(query.columns).collect().to_arrow()
    )


def by_pyarrow(table: whyscan.Table, file: str) -> tuple[Provider, Ask, Ask]:
    dataset = table.to_dataset()

    def ask(source: ds.Dataset) -> Ask:
        return lambda query: source.to_table(list(query.columns), filter=as_arrow(query.condition))

    return dataset, ask(dataset), ask(ds.dataset(file))


ENGINES: dict[str, Callable[[whyscan.Table, str], tuple[Provider, Ask, Ask]]] = {
    "duckdb": by_duckdb,
    "datafusion": by_datafusion,
    "polars": by_polars,
    "polars of a dataset": by_polars_of_a_dataset,
    "pyarrow": by_pyarrow,
}


@pytest.fixture(scope="module")
def lakes(tmp_path_factory):
    return Lakes(tmp_path_factory.mktemp("lakes"))


@cache
def all_rows() -> pa.Table:
    return whole()


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(SAMPLE), id="some"),
        pytest.param(range(SAMPLE, ALL), id="all", marks=pytest.mark.proof),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lake", LAKES)
def test_an_engine_gives_the_rows_of_its_own_reader_and_of_brute_force(lakes, lake, engine, seeds):
    table = whyscan.open(lakes.place(lake))
    provider, ours, own = ENGINES[engine](table, str(lakes.one_file))
    skipped = 0

    for seed in seeds:
        query = question(seed)
        rows = ours(query)
        numbers = pa.array(query.answer(ordered=engine != "pyarrow"), pa.int64())
        expected = all_rows().take(numbers)

        assert not difference(rows, own(query)), (seed, as_sql(query.condition))
        assert not difference(rows, expected.select(query.columns)), seed
        skipped += provider.last_plan.summary.files_total - provider.last_plan.summary.files_kept

    assert skipped >= len(seeds), "hardly a file was skipped"


def test_the_schema_is_that_of_the_rows_in_every_format(lakes):
    for lake in LAKES:
        schema = whyscan.open(lakes.place(lake)).to_dataset().schema
        assert {field.name: field.type for field in schema} == dict(
            zip(SCHEMA.names, SCHEMA.types, strict=True)
        )
