"""`c IS NULL OR …`: what is NULL where c is NULL is TRUE there, and a container may be `all`."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.cases import Example
from oracle.dice import Dice, tried
from oracle.predicates import Maker
from oracle.tables import any_world
from support.verdicts import Verdict, verdicts
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.mask import materialise
from whyscan.tree.nodes import Column, IsNull, Not, Or
from whyscan.tree.types import INT, STRING, Field, Schema
from whyscan.tree.zones import zone

SCHEMA = Schema((Field("c", STRING), Field("i", INT)))
ROWS = pa.array([10], pa.int64())
CASES = {
    "c IS NULL OR NOT startswith(c, 'x')": Verdict.ALL,
    "c IS NULL OR NOT (c LIKE 'x%')": Verdict.ALL,
    "c IS NULL OR c < 'x'": Verdict.ALL,
    "c < 'x' OR c IS NULL": Verdict.ALL,
    "c IS NULL OR c <> 'x' OR i = 1": Verdict.ALL,
    "c IS NULL OR NOT startswith(c, 'b')": Verdict.SOME,
    "c IS NOT NULL OR c IS NULL": Verdict.ALL,
    "c IS NOT NULL OR c < 'x'": Verdict.SOME,
    "c IS NULL OR i < 5": Verdict.SOME,
    "i IS NULL OR c < 'x'": Verdict.SOME,
    "c IS NULL OR c > 'x'": Verdict.SOME,
    "NOT (c IS NULL OR c < 'x')": Verdict.NONE,
}


@pytest.mark.parametrize("predicate", CASES)
def test_an_or_with_is_null_is_judged_for_null_and_for_values(predicate):
    """c lies between a and d and i between 1 and 9, and some of either are NULL."""

    def of(kind, lower, upper):
        ends = (pa.array([end]) for end in (lower, upper))
        statistics = ColumnStatistics(*ends, null_count=pa.array([3], pa.int64()))
        return checked(kind, statistics, ROWS).interval

    containers = Containers(
        1, ROWS, statistics={("c",): of(STRING, b"a", b"d"), ("i",): of(INT, 1, 9)}
    )
    expression = bind(predicate, SCHEMA, Session()).expression
    actual = verdicts(evaluate(expression, containers, zone("UTC")), 1)
    assert actual[0] is CASES[predicate]


@st.composite
def examples(draw) -> Example:
    """Any table, and an OR of which one operand tests a column for NULL."""
    dice = Dice(draw)
    world = any_world(dice)
    maker = Maker(dice, world)
    column: Column = dice.pick(world.columns())
    test = IsNull(column) if dice.one_in(2) else Not(IsNull(column))
    others = [maker.comparison(column.type, 1), maker.predicate(1)][: dice.number(1, 2)]
    flat = [o for e in others for o in (e.operands if isinstance(e, Or) else (e,))]
    return Example(world, Or((test, *flat)))


@tried(500)
@given(examples())
def test_every_answer_of_a_row_is_in_the_truth_set_of_an_or_with_is_null(example):
    world = example.world
    truth = evaluate(example.predicate, world.containers(), zone(world.zone))
    count = len(world.rows)
    may = {
        answer: materialise(mask, count).to_pylist()
        for answer, mask in ((True, truth.true), (False, truth.false), (None, truth.null))
    }
    for at, rows in enumerate(example.possible()):
        for answers in rows:
            for answer in answers & {True, False, None}:
                assert may[answer][at], (answer, at)
