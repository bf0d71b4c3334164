"""Three conjuncts over a million containers, against DuckDB on the same Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
from measure import Ratio, compare

from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.pruning.evaluate import evaluate
from whyscan.tree.nodes import And, Column, Comparator, Comparison, Literal
from whyscan.tree.types import BIGINT
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whyscan.pruning.truth import Truth

COUNT = 1_000_000
CONDITION = "a_min <= 500 AND a_max >= 500 AND b_max > 300 AND c_min < 700"


def measurements(_folder: Path) -> Iterator[Ratio]:
    """Whether TRUE is possible, and then the whole truth set."""
    table = _table()
    containers = _containers(table)
    connection = duckdb.connect()
    connection.register("containers", table)

    def theirs() -> object:
        return connection.sql(f"SELECT {CONDITION} FROM containers").to_arrow_table()

    yield compare(
        "may be TRUE, 1,000,000 containers", "DuckDB", 1.0, lambda: _truth(containers).true, theirs
    )
    yield compare(
        "TRUE, FALSE and NULL, 1,000,000 containers",
        "DuckDB, TRUE alone",
        2.0,
        lambda: _all_three(_truth(containers)),
        theirs,
    )


def _truth(containers: Containers) -> Truth:
    def compared(name: str, operator: Comparator, value: int) -> Comparison:
        return Comparison(operator, Column((name,), BIGINT), Literal(value, BIGINT))

    predicate = And(
        (
            compared("a", Comparator.EQUAL, 500),
            compared("b", Comparator.GREATER, 300),
            compared("c", Comparator.LESS, 700),
        )
    )
    return evaluate(predicate, containers, zone("UTC"))


def _all_three(truth: Truth) -> object:
    return truth.true, truth.false, truth.null


def _table() -> pa.Table:
    random = np.random.default_rng(7)
    columns: dict[str, pa.Array] = {"rows": pa.array(np.full(COUNT, 1_000))}
    for name in "abc":
        least = random.integers(0, 1_000, COUNT)
        columns[f"{name}_min"] = pa.array(least)
        columns[f"{name}_max"] = pa.array(least + random.integers(0, 50, COUNT))
        columns[f"{name}_nulls"] = pa.array(random.integers(0, 2, COUNT))
    return pa.table(columns)


def _containers(table: pa.Table) -> Containers:
    def column(name: str) -> pa.Array:
        return table.column(name).combine_chunks()

    rows = column("rows")
    statistics = {
        name: ColumnStatistics(
            column(f"{name}_min"), column(f"{name}_max"), column(f"{name}_nulls")
        )
        for name in "abc"
    }
    return Containers(
        COUNT,
        rows,
        statistics={(n,): checked(BIGINT, t, rows).interval for n, t in statistics.items()},
    )
