"""The law itself, over generated tables: what brute force over the rows says is what TRUE means.

Every property draws a table (rows, statistics that are exact, cut off, widened or missing) and a
predicate over it. `WHYSCAN_EXAMPLES=20000 pytest tests/pruning/test_law.py` looks for longer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from msgspec import structs

from oracle.cases import UNSURE, Example, examples, twins
from oracle.dice import Dice, tried
from oracle.errors import Unsupported
from oracle.predicates import Maker, in_list
from oracle.render import sql
from oracle.rows import RAISED
from oracle.tables import Row, World, any_world, built, exact, weaker, worlds
from oracle.values import NANOS, TYPES
from support.verdicts import Verdict, verdicts
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.mask import materialise
from whyscan.tree.nodes import (
    And,
    Between,
    Case,
    Coalesce,
    Comparator,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
    Opaque,
    Or,
    Predicate,
)
from whyscan.tree.types import BOOLEAN, DOUBLE, FLOAT, INT, Field, Schema, Type
from whyscan.tree.zones import zone as zone_named

if TYPE_CHECKING:
    from whyscan.pruning.containers import Containers


def judge(expression: Expression, containers: Containers, zone: str) -> list[Verdict]:
    truth = evaluate(expression, containers, zone_named(zone))
    return verdicts(truth, containers.count)


def verdicts_of(example: Example) -> list[Verdict]:
    return judge(example.predicate, example.world.containers(), example.world.zone)


def truths(example: Example) -> list[set[Any]]:
    """What a row of each container may be: TRUE, FALSE, NULL, an error."""
    world = example.world
    truth = evaluate(example.predicate, world.containers(), zone_named(world.zone))
    masks = {True: truth.true, False: truth.false, None: truth.null, RAISED: truth.raises}
    may = {key: materialise(mask, len(world.rows)).to_pylist() for key, mask in masks.items()}
    return [{key for key in may if may[key][index]} for index in range(len(world.rows))]


# Sound.


@tried(1000)
@given(examples())
def test_no_container_with_a_true_row_is_none(example):
    for rows, verdict in zip(example.possible(), verdicts_of(example), strict=True):
        if any(True in answers for answers in rows):
            assert verdict is not Verdict.NONE


@tried(700)
@given(examples())
def test_every_row_of_an_all_container_is_true(example):
    for rows, verdict in zip(example.possible(), verdicts_of(example), strict=True):
        if verdict is Verdict.ALL:
            assert all(answers <= {True} for answers in rows), rows


@tried(800)
@given(examples())
def test_every_answer_of_a_row_is_in_the_truth_set(example):
    """Stronger than a verdict: NOT, IS NULL and CASE build on FALSE and NULL too."""
    for rows, allowed in zip(example.possible(), truths(example), strict=True):
        for answers in rows:
            assert answers <= allowed


@tried(350)
@given(examples())
def test_a_container_is_not_pruned_by_p_by_not_p_and_by_p_is_null_unless_it_may_raise(example):
    p = example.predicate
    three = [verdicts_of(replace(example, predicate=q)) for q in (p, Not(p), IsNull(p))]
    for index, rows in enumerate(example.world.rows):
        pruned = all(answers[index] is Verdict.NONE for answers in three)
        counted_empty = not rows and example.world.counted[index]
        assert not pruned or counted_empty or RAISED in truths(example)[index]


@tried(350)
@given(examples())
def test_all_of_p_is_none_of_not_p_and_none_of_p_is_null(example):
    p = example.predicate
    denied, unknown = (verdicts_of(replace(example, predicate=q)) for q in (Not(p), IsNull(p)))
    for index, verdict in enumerate(verdicts_of(example)):
        if verdict is Verdict.ALL:
            assert denied[index] is unknown[index] is Verdict.NONE


# Monotone.


@st.composite
def weakened(draw: Any) -> tuple[Example, Containers]:
    """An example, and its containers with one statistic less."""
    example = draw(examples())
    dice = Dice(draw)
    statistics = [dict(container) for container in example.world.statistics]
    container = dice.number(0, len(statistics) - 1)
    path = dice.pick(list(example.world.schema))
    statistics[container][path] = weaker(
        dice, statistics[container][path], example.world.schema[path]
    )
    return example, built(example.world, statistics)


@tried(700)
@given(weakened())
def test_removing_or_widening_a_statistic_never_turns_some_into_none_or_all(case):
    example, weak = case
    after = judge(example.predicate, weak, example.world.zone)
    for before, now in zip(verdicts_of(example), after, strict=True):
        assert now in {before, Verdict.SOME}


@tried(300)
@given(twins())
def test_a_disjunction_is_pruned_only_where_every_part_is(pair):
    p, q = pair
    either = verdicts_of(replace(p, predicate=_or(p.predicate, q.predicate)))
    for together, *parts in zip(either, verdicts_of(p), verdicts_of(q), strict=True):
        assert (together is Verdict.NONE) == (parts == [Verdict.NONE, Verdict.NONE])


@tried(300)
@given(twins())
def test_a_conjunction_is_pruned_wherever_a_part_is(pair):
    p, q = pair
    both = verdicts_of(replace(p, predicate=_and(p.predicate, q.predicate)))
    for together, *parts in zip(both, verdicts_of(p), verdicts_of(q), strict=True):
        assert together is Verdict.NONE or Verdict.NONE not in parts


OPAQUE = Opaque("f(x)", "no such function", ())


@tried(300)
@given(examples())
def test_an_opaque_conjunct_costs_no_pruning(example):
    beside = verdicts_of(replace(example, predicate=_and(OPAQUE, example.predicate)))
    for alone, now in zip(verdicts_of(example), beside, strict=True):
        assert (now is Verdict.NONE) == (alone is Verdict.NONE)
        assert now is not Verdict.ALL


@tried(150)
@given(examples())
def test_an_opaque_disjunct_ends_pruning(example):
    beside = verdicts_of(replace(example, predicate=_or(OPAQUE, example.predicate)))
    for index, rows in enumerate(example.world.rows):
        empty = not rows and example.world.counted[index]
        assert (beside[index] is Verdict.NONE) == empty


def _and(*parts: Expression) -> And:
    return And(tuple(q for p in parts for q in (p.operands if isinstance(p, And) else (p,))))


def _or(*parts: Expression) -> Or:
    return Or(tuple(q for p in parts for q in (p.operands if isinstance(p, Or) else (p,))))


# Equivalent ways to ask.


@tried(300)
@given(examples())
def test_not_not_p_is_p(example):
    assert truths(replace(example, predicate=Not(Not(example.predicate)))) == truths(example)


@st.composite
def two_wordings(draw: Any, ways: Any) -> tuple[World, Expression, Expression]:
    dice = Dice(draw)
    world = any_world(dice)
    return world, *ways(Maker(dice, world))


def flipped(maker: Maker) -> tuple[Expression, Expression]:
    """`a < b` and `b > a`."""
    comparison = maker.comparison(maker.kind(), 1)
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    operator = Comparator(mirrored.get(comparison.operator.value, comparison.operator.value))
    return comparison, Comparison(operator, comparison.right, comparison.left)


@tried(300)
@given(worlds(), st.sampled_from(Comparator))
def test_a_value_compared_with_itself_is_decided_by_the_operator_alone(world, operator):
    never = operator in {Comparator.NOT_EQUAL, Comparator.LESS, Comparator.GREATER}
    for column in world.columns():
        example = Example(world, Comparison(operator, column, column))
        for rows, truth in zip(example.possible(), truths(example), strict=True):
            assert all(answers <= truth for answers in rows)
            assert never not in truth


def denied(maker: Maker) -> tuple[Expression, Expression]:
    """`a < b` and `NOT (a >= b)`."""
    comparison = maker.comparison(maker.kind(), 1)
    opposites = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
    if comparison.operator is Comparator.NULL_SAFE_EQUAL:
        return comparison, comparison
    operator = Comparator(opposites[comparison.operator.value])
    return comparison, Not(Comparison(operator, comparison.left, comparison.right))


def listed_alone(maker: Maker) -> tuple[Expression, Expression]:
    """`a IN (x)` and `a = x`."""
    kind = maker.kind()
    operand, value = maker.value(kind, 1), maker.chosen_value(kind)
    equality = Comparison(Comparator.EQUAL, operand, Literal(value, kind))
    return in_list(operand, kind, [value], null=False), equality


def ranged(maker: Maker) -> tuple[Expression, Expression]:
    """`a BETWEEN x AND y` and `a >= x AND a <= y`."""
    kind = maker.kind()
    operand, low, high = (maker.value(kind, 1) for _ in range(3))
    above = Comparison(Comparator.GREATER_EQUAL, operand, low)
    return Between(operand, low, high), And(
        (above, Comparison(Comparator.LESS_EQUAL, operand, high))
    )


def null_safe(maker: Maker) -> tuple[Expression, Expression]:
    """`a <=> x` and `a = x AND a IS NOT NULL`, x being no NULL; as predicates, NULL is FALSE."""
    kind = maker.kind()
    operand, value = maker.value(kind, 1), Literal(maker.chosen_value(kind), kind)
    equality = Comparison(Comparator.EQUAL, operand, value)
    expanded = Coalesce((equality, Literal(value=False, type=BOOLEAN)), BOOLEAN)
    return Comparison(Comparator.NULL_SAFE_EQUAL, operand, value), expanded


def with_skipped_errors(example: Example) -> list[set[Any]]:
    """The truth sets, with FALSE beside each error.

    `0 % 0 <=> 0` is an error or FALSE, because Spark may skip the operand; `0 % 0 = 0` is an error.
    """
    return [may | {False} if RAISED in may else may for may in truths(example)]


@pytest.mark.parametrize("ways", [flipped, denied, listed_alone, ranged, null_safe])
def test_two_ways_to_ask_have_one_answer(ways):
    @tried(150)
    @given(two_wordings(ways))
    def holds(case):
        world, one, other = case
        assert with_skipped_errors(Example(world, one)) == with_skipped_errors(
            Example(world, other)
        )

    holds()


@tried(250)
@given(worlds(), st.data())
def test_a_list_is_true_where_one_of_its_equalities_is(world, data):
    maker = Maker(Dice(data.draw), world)
    kind = maker.kind()
    operand = maker.value(kind, 1)
    values = [maker.chosen_value(kind) for _ in range(maker.dice.number(1, 4))]
    parts = [Comparison(Comparator.EQUAL, operand, Literal(v, kind)) for v in values]
    listed = truths(Example(world, in_list(operand, kind, values, null=False)))
    for together, apart in zip(listed, truths(Example(world, Or(tuple(parts)))), strict=True):
        assert (True in together) == (True in apart)
        assert together <= apart


# Exact where the statistics are.


@tried(600)
@given(worlds(), st.data())
def test_a_container_of_one_row_and_exact_statistics_gives_that_rows_answer(world, data):
    points = replace(world, rows=tuple((row,) for rows in world.rows for row in rows))
    points = replace(
        points,
        statistics=tuple(
            {path: exact(kind, [row[path]]) for path, kind in world.schema.items()}
            for (row,) in points.rows
        ),
        counted=(True,) * len(points.rows),
    )
    example = Example(points, Plain(Dice(data.draw), points, certain=True).predicate(3))
    for (answer,), (row,), verdict in zip(
        example.answers(), points.rows, truths(example), strict=True
    ):
        if not holds_nan(row):
            assert verdict == {answer}


def holds_nan(row: Row) -> bool:
    return any(isinstance(value, float) and math.isnan(value) for value in row.values())


class Plain(Maker):
    """Predicates without functions: intervals of points lose nothing in them."""

    def _computed(self, kind: Type, depth: int) -> Expression:
        one, other = self.value(kind, depth), self.value(kind, depth)
        if self.dice.one_in(2):
            return Coalesce((one, other), kind)
        return Case(((self.predicate(depth), one),), other, kind)

    def _from_column(self, kind: Type) -> None:  # noqa: ARG002
        return None

    def pattern(self, depth: int) -> Expression:
        return self.comparison(self.kind(), depth)


# One evaluator, however the containers are batched.


@tried(200)
@given(examples())
def test_containers_together_are_judged_as_one_by_one(example):
    world, apart = example.world, []
    for index in range(len(world.rows)):
        alone = replace(
            world,
            rows=world.rows[index : index + 1],
            statistics=world.statistics[index : index + 1],
            counted=world.counted[index : index + 1],
        )
        apart += truths(replace(example, world=alone))
    assert apart == truths(example)


@tried(150)
@given(examples(), st.lists(st.integers(0, 2), max_size=5))
def test_taken_containers_keep_their_verdicts(example, places):
    whole = verdicts_of(example)
    chosen = [place for place in places if place < len(whole)]
    taken = example.world.containers().take(pa.array(chosen, pa.int64()))
    assert judge(example.predicate, taken, example.world.zone) == [whole[i] for i in chosen]


@tried(150)
@given(examples())
def test_partition_values_prune_as_statistics_do_and_alone_no_more(example):
    containers = example.world.containers()
    statistics = dict(containers.statistics)
    first = next(iter(statistics))
    split = structs.replace(
        containers, partition={first: statistics.pop(first)}, statistics=statistics
    )
    whole = judge(example.predicate, split, example.world.zone)
    assert whole == verdicts_of(example)
    for part in (split.by_partition(), split.by_statistics()):
        for alone, together in zip(
            judge(example.predicate, part, example.world.zone), whole, strict=True
        ):
            assert alone in {together, Verdict.SOME}


@tried(200)
@given(examples(types=(FLOAT, DOUBLE, INT)))
def test_without_nan_nothing_is_pruned_less_and_tables_without_nan_stay_sound(example):
    assumed = judge(example.predicate, example.world.containers().without_nan(), example.world.zone)
    for rows, answers, before, now in zip(
        example.world.rows, example.possible(), verdicts_of(example), assumed, strict=True
    ):
        assert now in {before, *Verdict} if before is Verdict.SOME else now is before
        if not any(map(holds_nan, rows)) and any(True in possible for possible in answers):
            assert now is not Verdict.NONE


# The same from text: the tree is written as Spark SQL, and bound from it.


def written(example: Example) -> Predicate:
    """The example's predicate, by way of its text."""
    schema = Schema(tuple(Field(path[0], kind) for path, kind in example.world.schema.items()))
    try:
        text = sql(example.predicate)
    except Unsupported:
        reject()
    return bind(text, schema, Session(timezone=example.world.zone))


WRITABLE = tuple(kind for kind in TYPES if kind != NANOS)


@tried(300)
@given(examples(certain=True, types=WRITABLE))
def test_text_means_what_its_tree_means(example):
    bound = replace(example, predicate=written(example).expression)
    for was, now in zip(example.answers(), bound.answers(), strict=True):
        for before, read in zip(was, now, strict=True):
            assert read == before or UNSURE in {before, read}


@tried(350)
@given(examples(certain=True, types=WRITABLE))
def test_text_is_judged_soundly(example):
    bound = replace(example, predicate=written(example).expression)
    for rows, verdict in zip(example.possible(), verdicts_of(bound), strict=True):
        assert verdict is not Verdict.NONE or not any(True in answers for answers in rows)
        assert verdict is not Verdict.ALL or all(answers <= {True} for answers in rows)


@tried(150)
@given(examples(certain=True, types=WRITABLE))
def test_conjuncts_together_are_the_predicate(example):
    predicate = written(example)
    whole = judge(predicate.expression, example.world.containers(), example.world.zone)
    parts = [
        judge(conjunct.expression, example.world.containers(), example.world.zone)
        for conjunct in predicate.conjuncts
    ]
    for verdict, *alone in zip(whole, *parts, strict=True):
        assert verdict is Verdict.NONE or Verdict.NONE not in alone
        assert verdict is not Verdict.ALL or set(alone) == {Verdict.ALL}
