"""The pushdown contract by brute force: what each class promises, of the rows of real tables.

Exact: the files that are kept have the matching rows and no others. Inexact: they have at least
the matching rows. Unsupported: no file is skipped.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import duckdb
import pytest

import whyscan
from engines.lakes import LAKES, Lakes, whole
from oracle.dice import Rolled
from support.proof_cases import sampled
from whyscan.scan.plan_portions import unfiltered, whole_plan
from whyscan.scan.reader import read_portion
from whyscan.tables.storage.store import Meter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.pushdown_tree import PushdownNode

ATOMS = [
    "p = 'a'",
    "p <> 'b'",
    "p > 'a'",
    "p IN ('b', 'c d')",
    "p IS NULL",
    "p IS NOT NULL",
    "p LIKE 'c%'",
    "upper(p) = 'A'",
    "id = 40",
    "id > 50",
    "id IN (3, 90)",
    "id < 1000",
    "i IS NULL",
    "s >= 's07'",
    "st.u < 10",
    "b",
    "y IS NULL",
    "n < 20",
    "reverse(s) > '5'",
    "id % 7 = 3",
    "p = s",
    "p = 'a' OR p IS NULL",
]
SEEDS = sampled(range(12))


@pytest.fixture(scope="module")
def lakes(tmp_path_factory):
    return Lakes(tmp_path_factory.mktemp("lakes"))


@cache
def truth() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("rows", whole())
    return connection


def condition(dice: Rolled, depth: int = 3) -> str:
    """Atoms joined by AND, OR and NOT."""
    if not depth or dice.one_in(3):
        atom = dice.pick(ATOMS)
        return f"({atom})" if " OR " in atom else atom
    if dice.one_in(5):
        return f"NOT ({condition(dice, depth - 1)})"
    word = dice.pick((" AND ", " OR "))
    parts = [condition(dice, depth - 1) for _ in range(dice.number(2, 3))]
    return word.join(f"({part})" for part in parts)


def nodes(node: PushdownNode) -> Iterator[PushdownNode]:
    yield node
    for child in node.children:
        yield from nodes(child)


def rows_kept(table: whyscan.Table, where: str) -> tuple[set[int], bool]:
    """The live rows of the files that are kept, and whether a file is skipped."""
    plan = table.plan(where, depth="files")
    portion = unfiltered(whole_plan(plan, [("id",)]), Meter())
    rows = {number for batch in read_portion(portion) for number in batch["id"].to_pylist()}
    return rows, plan.summary.files_kept < plan.summary.files_total


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lake", LAKES)
def test_every_node_keeps_what_its_class_promises(lakes, lake, seed):
    table = whyscan.open(lakes.place(lake))
    tree = table.pushdown(condition(Rolled.of(seed)))

    for node in nodes(tree):
        matching = {n for (n,) in truth().sql(f"SELECT id FROM rows WHERE {node.sql}").fetchall()}
        kept, skips = rows_kept(table, node.sql)
        assert matching <= kept, node.sql
        if node.pushdown.value == "exact":
            assert kept == matching, node.sql
        if node.pushdown.value == "unsupported":
            assert not skips, node.sql


def test_a_partition_value_is_exact_where_every_file_has_one(lakes):
    exact = {
        lake
        for lake in LAKES
        if whyscan.open(lakes.place(lake)).pushdown("p = 'a'").pushdown.value == "exact"
    }

    assert exact == {"hive", "delta"}


def test_a_part_has_its_class_though_the_others_leave_no_file(lakes):
    for lake in LAKES:
        tree = whyscan.open(lakes.place(lake)).pushdown("id > 50 AND id < 40 AND n < 20")
        assert [child.pushdown.value for child in tree.children] == ["inexact"] * 3, lake
