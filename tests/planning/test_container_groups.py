"""A report that counts groups of files has the same numbers as one that counts file by file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.dice import Dice, tried
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.planning.plan import blockwise
from whyscan.planning.plan.container_groups import ContainerGroups
from whyscan.planning.plan.planner import make_plan, summarise
from whyscan.planning.plan.request import bind_request
from whyscan.planning.why.reason_codes import Reason
from whyscan.pruning.blocks import Blocks
from whyscan.reports.report import make_report
from whyscan.tables import cached_snapshot
from whyscan.tables.cached_snapshot import with_cache
from whyscan.tables.snapshot import Collected, Recording
from whyscan.terms import PlanTerms
from whyscan.tree.types import DOUBLE, INT, STRING

COLUMNS = {"country": STRING, "age": INT, "price": DOUBLE, "name": STRING}
MEMBERS = 3
CUT = Recording(Collected.YES, prefix=2, longer="longer")


@pytest.fixture(autouse=True)
def few_files_in_blocks(monkeypatch):
    monkeypatch.setattr(cached_snapshot, "BLOCKS_FROM", 1)
    monkeypatch.setattr(cached_snapshot, "make_blocks", _as_they_come)
    monkeypatch.setattr(blockwise, "WORTH_WHILE", 0)


def _as_they_come(containers: Any, _: Any) -> Blocks:
    """Blocks of files that differ as they like: those that are arranged seldom do."""
    count = containers.count
    return Blocks(np.arange(count), np.array([*range(0, count, MEMBERS), count], np.int64))


@st.composite
def file_groups(draw: Any) -> ContainerGroups:
    dice = Dice(draw)
    count = dice.number(1, 12)
    order = np.array(sorted(range(count), key=lambda _: dice.number(0, 3)), np.int64)
    begins = [0, *(at for at in range(1, count) if dice.one_in(3)), count]
    blocks = Blocks(order, np.array(begins, np.int64))
    whole_blocks = np.array([at for at in range(blocks.count) if dice.one_in(2)], np.int64)
    open_blocks = np.setdiff1d(np.arange(blocks.count), whole_blocks)
    return ContainerGroups(blocks, whole_blocks, blocks.places(open_blocks))


def flags_of(dice: Dice, count: int) -> Any:
    return np.array([dice.one_in(2) for _ in range(count)], np.bool_)


@tried(200)
@given(file_groups(), st.data())
def test_a_sum_over_groups_is_the_sum_over_their_files(groups, data):
    flagged = flags_of(Dice(data.draw), groups.count)
    each = groups.spread(flagged)
    weights = pa.array(np.arange(len(each)) * 10 + 1)

    assert groups.container_count(flagged) == each.sum()
    assert sorted(groups.positions(flagged)) == np.flatnonzero(each).tolist()
    assert groups.sums(weights).to_numpy()[flagged].sum() == weights.to_numpy()[each].sum()
    assert each[groups.examples].tolist() == flagged.tolist()


@tried(200)
@given(file_groups(), st.data())
def test_split_groups_have_the_same_value_for_every_file(groups, data):
    dice = Dice(data.draw)
    flagged, values = flags_of(dice, groups.count), flags_of(dice, groups.count)

    finer, group_before = groups.split(flagged)

    assert finer.spread(values[group_before]).tolist() == groups.spread(values).tolist()
    assert (finer.sizes[flagged[group_before]] == 1).all()


@st.composite
def tables(draw: Any) -> MemoryTable:
    """Files of a few kinds, some without bounds, without rows, without counts of NULL or NaN.

    None is missing, or some, or all.
    """
    dice = Dice(draw)
    kinds = [_kind(dice) for _ in range(dice.number(1, 5))]
    runs = [[dice.pick(kinds)] * dice.number(1, 5) for _ in range(dice.number(1, 6))]
    picked = [kind for run in runs for kind in run]
    there = dice.pick([1, 2, 0])
    files = [
        DataFile(f"{at}", {"country": c}, groups, missing=not there or not dice.one_in(there))
        for at, (c, groups) in enumerate(picked)
    ]
    return MemoryTable(
        COLUMNS, files, ("country",), footers_describe_files=False, recordings={"name": CUT}
    )


def _kind(dice: Dice) -> tuple[str, list[RowGroup]]:
    rows = 0 if dice.one_in(8) else dice.number(1, 9)
    age, price = dice.number(0, 3), dice.number(0, 3)
    name = dice.pick(["a", "bo", "cy"])
    bounds: dict[str, tuple[Any, Any]] = {
        "age": (age, age + dice.number(0, 3)),
        "price": (float(price), float(price + dice.number(0, 3))),
        "name": (name, name + dice.pick(["", "x"])),
    }
    kept = {column: ends for column, ends in bounds.items() if not dice.one_in(3)}
    nulls = {column: min(rows, dice.number(0, 1)) for column in bounds if not dice.one_in(6)}
    group = RowGroup(rows, kept, nulls, nan=dice.one_in(2))
    return dice.pick(["AT", "DE", "FR"]), [group] * dice.number(1, 2)


@st.composite
def predicates(draw: Any) -> str:
    dice = Dice(draw)
    return " AND ".join(_condition(dice) for _ in range(dice.number(1, 3)))


def _condition(dice: Dice) -> str:
    column = dice.pick(["age", "price", "age", "price", "country", "name"])
    operator = dice.pick(["<", ">", "=", "<>", ">="])
    value = dice.number(0, 5)
    literal = f"'{dice.pick(['AT', 'DE', 'b', 'box', 'cz'])}'"
    plain = f"{column} {operator} {literal if column in ('country', 'name') else value}"
    return dice.pick(
        [
            plain,
            plain,
            plain,
            f"age + 1 {operator} {value}",
            f"{column} IS NULL",
            f"({plain} OR age = {value})",
            f"NOT ({plain})",
            f"age % 3 = {value}",
            "rand() > 0.5",
        ]
    )


@pytest.mark.slow
@tried(150)
@given(tables(), predicates(), st.sampled_from(["files", "row-groups", "auto"]), st.booleans())
def test_a_report_by_groups_is_the_report_by_files(table, text, depth, assume_no_nan):
    opened = with_cache(table)
    question = {"depth": depth, "assume_no_nan": assume_no_nan}
    plans = [
        make_plan(t, *bind_request(t, text, None, PlanTerms(**question))) for t in (opened, table)
    ]

    by_groups, expected = (make_report(plan, verbose=True).to_dict() for plan in plans)

    assert plans[0].summary == plans[1].summary == summarise(plans[0].counted)
    del by_groups["metadata"], expected["metadata"]
    assert by_groups == expected
    assert [*plans[0]] == [*plans[1]]


def test_files_of_a_block_with_different_reasons_are_separate_groups():
    files = [
        DataFile("bounded", {"country": "AT"}, [RowGroup(3, {"age": (1, 5)}, {"age": 0})]),
        DataFile("blind", {"country": "AT"}, [RowGroup(3, {}, {"age": 0})]),
    ]
    table = MemoryTable(COLUMNS, files, ("country",), footers_describe_files=False)
    opened = with_cache(table)

    plan = make_plan(opened, *bind_request(opened, "age = 3", None, PlanTerms(depth="files")))

    reasons = {s.reason: s.files for s in make_report(plan, verbose=False).survivors}
    assert reasons == {Reason.NO_STATISTICS: 1, Reason.STRADDLES: 1}


def test_many_files_have_few_flags():
    ages = [at // 45 for at in range(900)]
    files = [
        DataFile(f"{at}", {"country": "AD"[at // 450]}, [RowGroup(3, {"age": (age, age)})])
        for at, age in enumerate(ages)
    ]
    table = MemoryTable(COLUMNS, files, ("country",), footers_describe_files=False)
    opened = with_cache(table)

    plan = make_plan(
        opened, *bind_request(opened, "country = 'A' AND age > 4", None, PlanTerms(depth="files"))
    )

    assert plan.counted.count == len(files) // MEMBERS
    assert plan.summary.files_kept == sum(age > 4 for age in ages[:450])
    assert "evidence" not in plan.__dict__
