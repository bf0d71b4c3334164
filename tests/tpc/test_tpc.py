"""The 22 queries of TPC-H and the 99 of TPC-DS, over tables of all three formats: on the files and
row groups that whyscan keeps they give what they give on all."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING

import pytest

import whyscan
from support.environments import NotInstalled
from tpc import engine as engines
from tpc.environment import generated
from tpc.lakes import SCALE
from tpc.layouts import FORMATS
from tpc.texts import in_total_order, separated

if TYPE_CHECKING:
    from tpc.engine import Engine
    from whyscan.statements.records import StatementReport

COUNTS = {"tpch": 22, "tpcds": 99}
EVERY = "WHYSCAN_EXAMPLES" in os.environ
"""Resolving reads rows: every fifth query of either benchmark is enough, unless one has time."""


def queries(step: int) -> list[object]:
    """A worker holds the rows of few lakes. Every second query of TPC-DS is left to the proof."""
    return [
        pytest.param(
            benchmark,
            number,
            id=f"{benchmark}-{number}",
            marks=[
                pytest.mark.xdist_group(f"{benchmark}-{number % len(FORMATS)}"),
                *([pytest.mark.proof] if benchmark == "tpcds" and not number % 2 else []),
            ],
        )
        for benchmark, count in COUNTS.items()
        for number in range(1, count + 1, step)
    ]


@pytest.fixture(scope="module")
def lakes():
    """Rows in memory, a lake when it is first asked for."""
    return cache(engines.engine)


@pytest.fixture(scope="module")
def texts() -> dict[str, dict[str, str]]:
    try:
        folder = generated(SCALE)
    except NotInstalled as reason:
        pytest.skip(f"the TPC's packages cannot be installed: {reason}")
    return json.loads((folder / "texts.json").read_text())


@pytest.mark.parametrize(("benchmark", "number"), queries(1))
def test_a_query_gives_the_same_on_what_is_kept(texts, lakes, benchmark, number):
    check(texts, lakes(benchmark, number % len(FORMATS)), benchmark, number, resolve=False)


@pytest.mark.parametrize(("benchmark", "number"), queries(1 if EVERY else 5))
def test_a_query_gives_the_same_on_what_joins_keep(texts, lakes, benchmark, number):
    check(texts, lakes(benchmark, number % len(FORMATS)), benchmark, number, resolve=True)


def check(texts, engine: Engine, benchmark: str, number: int, *, resolve: bool) -> None:
    statement = separated(texts[benchmark][str(number)], engine.tables)
    for name, table in statement.tables.items():
        engine.whole(name, table)
    sql = in_total_order(statement.sql, engine.width(statement.sql))
    everything = engine.rows(sql)

    report = explained(engine, sql, statement.tables, resolve=resolve)

    assert {scan.name for scan in report.scans} == set(statement.tables)
    for name, table in statement.tables.items():
        scans = [scan for scan in report.scans if scan.name == name]
        # What metadata answers is not read: it stands for what the whole table gives.
        if all(scan.answer is None for scan in scans):
            engine.only(name, table, (file for scan in scans for file in scan.plan))
    rows = engine.rows(sql)
    assert engines.same(rows, everything), (len(rows), len(everything), kept_counts(report))


def explained(
    engine: Engine, sql: str, tables: dict[str, str], *, resolve: bool
) -> StatementReport:
    opened = {name: engine.tables[table] for name, table in tables.items()}
    return whyscan.explain_sql(sql, opened, dialect="duckdb", resolve_joins=resolve)


def kept_counts(report: StatementReport) -> dict[str, str]:
    return {
        scan.name: f"{scan.plan.summary.files_kept} of {scan.plan.summary.files_total}"
        for scan in report.scans
    }


# The first filters the fact itself; the other two a dimension, whose keys a join supplies.
PRUNED = (
    ("tpch", 6, "lineitem"),
    ("tpcds", 3, "store_sales"),
    ("tpcds", 37, "inventory"),
)


@pytest.mark.parametrize(("benchmark", "number", "table"), PRUNED)
def test_a_year_of_a_fact_is_a_part_of_its_files(texts, lakes, benchmark, number, table):
    engine = lakes(benchmark, number % len(FORMATS))
    statement = separated(texts[benchmark][str(number)], engine.tables)
    report = explained(engine, statement.sql, statement.tables, resolve=True)
    (fact,) = [scan for scan in report.scans if statement.tables[scan.name] == table]
    files = fact.plan.summary
    assert files.files_kept <= files.files_total // 3, kept_counts(report)
