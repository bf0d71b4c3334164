"""The scans of a statement in parts give the report of one piece; the parts answer from pickles."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from oracle.dice import Dice
from spark.planning.plans_in_parts import in_this_process, stated
from statements.generated.changes import Changes
from statements.generated.queries import Queries
from statements.generated.worlds import TABLES, World, make
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.errors import WhyscanError
from whyscan.spark.planning import Executors
from whyscan.statements.explain import ExplainOptions
from whyscan.tree.types import DATE, DOUBLE, INT, STRING

if TYPE_CHECKING:
    from collections.abc import Callable

WORLDS = 3
# Every example asks each file of its tables several questions.
EXAMPLES = 20 if settings.default.derandomize else settings.default.max_examples


@pytest.fixture(scope="module")
def worlds(tmp_path_factory) -> Callable[[int], World]:
    folder = tmp_path_factory.mktemp("worlds")
    return cache(lambda seed: make(folder, seed))


@st.composite
def statements(draw) -> tuple[str, list[int]]:
    queries = Queries(Dice(draw), TABLES)
    sql = queries.statement().sql
    return sql, queries.occurrences


@st.composite
def changes(draw) -> tuple[str, list[int]]:
    queries = Queries(Dice(draw), TABLES)
    target = queries.dice.number(0, TABLES - 1)
    sql = Changes(queries).statement()
    return sql, [target, *queries.occurrences]


@pytest.mark.parametrize("resolve", [None, 1_000], ids=["static", "resolved"])
@given(
    st.one_of(
        statements().map(lambda drawn: (drawn[0], 1, drawn[1])),
        changes().map(lambda drawn: (drawn[0], 0, drawn[1])),
    ),
    st.integers(0, WORLDS - 1),
)
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_whatever_the_statement(worlds, resolve, drawn, number):
    sql, first, occurrences = drawn
    snapshots = [world.snapshot for world in worlds(number).tables]
    tables = {f"t{at}" if at else "target": snapshots[n] for at, n in enumerate(occurrences, first)}
    try:
        whole = stated(sql, tables, ExplainOptions(resolve), dialect="duckdb")
    except WhyscanError:
        reject()

    assert (
        stated(
            sql,
            tables,
            ExplainOptions(resolve, planner=Executors(in_this_process)),
            dialect="duckdb",
        )
        == whole
    )


CUT_SHORT = [
    "SELECT * FROM t WHERE x > 0 LIMIT 30",
    "SELECT * FROM t LIMIT 200 OFFSET 90",
    "SELECT * FROM t LIMIT 0",
    "SELECT * FROM t LIMIT 100000",
    "SELECT * FROM t WHERE day = DATE '2024-01-02' LIMIT 5",
    "SELECT * FROM t ORDER BY day LIMIT 20",
    "SELECT * FROM t ORDER BY day DESC NULLS FIRST LIMIT 60 OFFSET 10",
    "SELECT * FROM t ORDER BY x DESC LIMIT 3",
    "SELECT * FROM t ORDER BY price NULLS LAST LIMIT 9",
    "SELECT * FROM t ORDER BY x + 1 LIMIT 4",
    "SELECT count(*) FROM t",
    "SELECT count(*), count(day), min(day), max(day) FROM t",
    "SELECT count(word), min(x) FROM t WHERE day > DATE '2024-01-02'",
    "SELECT max(price) FROM t",
    "SELECT * FROM t WHERE x > (SELECT max(day) - DATE '2024-01-01' FROM t)",
]


@pytest.mark.parametrize("sql", CUT_SHORT)
@pytest.mark.parametrize("footers", [False, True], ids=["files", "footers"])
def test_what_looks_at_all_files_at_once(sql, footers):
    """40 files in six days and none, some rows of every third deleted, some without statistics."""
    chance = random.Random(7)
    files = []
    for at in range(40):
        low = chance.randrange(100)
        statistics = {"x": (low, low + 40), "word": (b"a", b"b"), "price": (low / 2, low * 2.0)}
        nulls = {"x": 0, "word": at % 2, "price": at % 4}
        groups = [RowGroup(10 + at, {} if at % 9 == 8 else statistics, nulls, nan=True)] * 2
        day = 19_723 + at % 6 if at % 20 else None
        files.append(DataFile(f"f{at}", {"day": day}, groups, deleted=0 if footers else at % 3))
    columns = {"day": DATE, "x": INT, "word": STRING, "price": DOUBLE}
    table = MemoryTable(columns, files, ("day",), footers_describe_files=footers)

    def divided(whole):
        pieces = [replace(whole, data=whole.data[at : at + 9]) for at in range(0, 49, 9)]
        return in_this_process(whole, pieces)

    whole = stated(sql, {"t": table}, ExplainOptions(verbose=True))
    document = stated(sql, {"t": table}, ExplainOptions(verbose=True, planner=Executors(divided)))

    assert document == whole
