"""Pages: never more rows than DataFusion and Spark keep by page indexes, for any predicate."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import datafusion
import pyarrow as pa
import pytest

import whyscan
from profiles.matrix import target_of
from tables.page_files import write
from whyscan.spark.stages.verify.engines.spark_reader import open_reader

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 960
"""DataFusion abbreviates larger numbers."""
ROWS_A_GROUP = 240
PREDICATES = 300
_KEPT = re.compile(r"page_index_rows_pruned=(\d+) total → (\d+) matched")
_GROUPS = re.compile(r"row_groups_pruned_statistics=(\d+) total → (\d+) matched")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file: sorted, nearly sorted and random columns, with and without NULL."""
    dice = random.Random(5)  # the same values everywhere
    folder = tmp_path_factory.mktemp("tight")
    table = pa.table(
        {
            "i": pa.array([n // 2 for n in range(ROWS)], pa.int32()),
            "l": pa.array([None if n % 50 < 10 else ROWS - n for n in range(ROWS)]),
            "d": pa.array([n / 4 + dice.randrange(20) for n in range(ROWS)]),
            "s": pa.array([f"k{n // 7:04}" for n in range(ROWS)]),
            "r": pa.array([dice.randrange(ROWS) for _ in range(ROWS)]),
            "t": pa.array([n * 3_600_000_000 for n in range(ROWS)], pa.timestamp("us")),
        }
    )
    write(folder / "f.parquet", table, row_group_size=ROWS_A_GROUP, max_rows_per_page=16)
    return folder


def conditions(dice: random.Random) -> str:
    """One condition on one column."""
    n = dice.randrange(ROWS)
    kind = dice.choice(["i", "l", "d", "s", "r", "t"])
    day, hour = divmod(n, 24)
    moment = f"TIMESTAMP '1970-{1 + day // 28:02}-{1 + day % 28:02} {hour:02}:00:00'"
    value = {"s": f"'k{n // 7:04}'", "t": moment}.get(kind, str(n // 2))
    operator = dice.choice(["<", "<=", "=", ">=", ">", "<>"])
    forms = [f"{kind} {operator} {value}"] * 4 + [f"{kind} IS NULL", f"{kind} IS NOT NULL"]
    if kind != "t":
        forms.append(f"{kind} IN ({value}, {value})")
    return dice.choice(forms)


def predicates() -> list[str]:
    dice = random.Random(9)  # the same predicates everywhere
    made = []
    for _ in range(PREDICATES):
        parts = [conditions(dice) for _ in range(dice.choice([1, 1, 2, 2, 3]))]
        made.append(f" {dice.choice(['AND', 'AND', 'OR'])} ".join(parts))
    return made


def kept_by_datafusion(context: datafusion.SessionContext, sql: str) -> int | None:
    """The rows that page indexes keep; None where DataFusion reads nothing or does not say."""
    frame = context.sql(f"EXPLAIN ANALYZE VERBOSE SELECT * FROM t WHERE {sql}")
    text = "".join(str(batch.to_pydict()) for batch in frame.collect())
    kept = _KEPT.search(text)
    groups = _GROUPS.search(text)
    if kept is None or groups is None:
        return None
    looked_at, matched = map(int, kept.groups())
    # DataFusion looks at no page of a row group in which every row matches.
    return ROWS_A_GROUP * int(groups[2]) - (looked_at - matched)


def kept_by_pages(table: whyscan.Table, sql: str, dialect: str) -> int:
    """The rows of the pages that stay."""
    plan = table.plan(sql, dialect=dialect, depth="pages", assume_no_nan=True)
    lowest = plan.evidence.levels[-1]
    rows = lowest.rows.to_numpy()[lowest.verdicts.kept]
    return int(rows.sum()) if plan.summary.files_kept else 0


@pytest.mark.proof
@pytest.mark.spark
def test_pages_keep_no_more_rows_than_the_column_index_filter_of_spark(spark, lake: Path) -> None:
    table = whyscan.open(str(lake))
    reader = open_reader(target_of(table, spark))
    both = [
        (sql, kept_by_pages(table, sql, "spark"), reader.ask(sql).rows_read or 0)
        for sql in predicates()
    ]

    assert [one for one in both if one[1] > one[2]] == []
    assert any(0 < theirs < ROWS for _, _, theirs in both)


def test_pages_keep_no_more_rows_than_datafusion(lake: Path) -> None:
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.register_parquet("t", str(lake / "f.parquet"))
    table = whyscan.open(str(lake))
    loose, compared, tighter = [], 0, 0
    for sql in predicates():
        theirs = kept_by_datafusion(context, sql)
        mine = kept_by_pages(table, sql, "duckdb")
        if theirs is None:
            continue
        compared += 1
        tighter += mine < theirs
        if mine > theirs:
            loose.append(f"{sql}: we keep {mine} rows, DataFusion {theirs}")
    assert not loose, "\n".join(loose)
    assert compared > PREDICATES // 2
    assert tighter
