"""The scans of a statement in parts give the report of one piece; the parts answer from pickles."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from oracle.dice import Dice
from spark.planning.asking_parts import here, stated
from statements.generated.changes import Changes
from statements.generated.queries import Queries
from statements.generated.worlds import TABLES, World, make
from whyscan.errors import WhyscanError
from whyscan.spark.planning import Executors
from whyscan.statements.explain import Manner

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
        statements().map(lambda asked: (asked[0], 1, asked[1])),
        changes().map(lambda asked: (asked[0], 0, asked[1])),
    ),
    st.integers(0, WORLDS - 1),
)
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_whatever_the_statement(worlds, resolve, asked, number):
    sql, first, occurrences = asked
    snapshots = [world.snapshot for world in worlds(number).tables]
    tables = {f"t{at}" if at else "target": snapshots[n] for at, n in enumerate(occurrences, first)}
    try:
        whole = stated(sql, tables, Manner(resolve), dialect="duckdb")
    except WhyscanError:
        reject()

    assert stated(sql, tables, Manner(resolve, planner=Executors(here)), dialect="duckdb") == whole
