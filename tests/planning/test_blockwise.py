"""Judged block by block or one by one: every flag of every container is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from oracle.dice import Dice, tried
from oracle.predicates import Maker
from oracle.tables import any_world, built, honest
from whyscan.planning.plan import blockwise, judgement
from whyscan.planning.plan.blockwise import judge, judge_by_blocks
from whyscan.planning.plan.judgement import judge_each
from whyscan.pruning.blocks import Blocks, make_blocks
from whyscan.pruning.containers import Buckets, Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import Interval
from whyscan.pruning.transforms import Bucket
from whyscan.tree.nodes import And, Column, Comparator, Comparison, Conjunct, Literal, Predicate
from whyscan.tree.types import INT
from whyscan.tree.zones import zone

MOST_MEMBERS = 9


@pytest.fixture(autouse=True)
def whatever_it_costs(monkeypatch):
    monkeypatch.setattr(blockwise, "WORTH_WHILE", 0)


@st.composite
def judgements(draw: Any) -> Any:
    """Containers in any blocks, and a predicate of up to three conjuncts, some from a join."""
    dice = Dice(draw)
    world = any_world(dice)
    maker = Maker(dice, world)
    parts = [maker.predicate(dice.number(1, 2)) for _ in range(dice.number(1, 3))]
    parts = [p for one in parts for p in (one.operands if isinstance(one, And) else (one,))]
    conjuncts = tuple(Conjunct(p, str(at), from_join=dice.one_in(6)) for at, p in enumerate(parts))
    return (
        Predicate("", "spark", world.zone, None, conjuncts),
        _containers(dice, world),
        zone(world.zone),
    )


def _containers(dice: Dice, world: Any) -> Any:
    at = [dice.number(0, len(world.rows) - 1) for _ in range(dice.number(1, MOST_MEMBERS))]
    containers = built(world, world.statistics).take(pa.array(at, pa.int64()))
    if dice.one_in(3):
        # What partitions say of the same rows, which may be less, or more.
        others = [
            {p: honest(dice, k, [row[p] for row in rows]) for p, k in world.schema.items()}
            for rows in world.rows
        ]
        by = built(world, others).take(pa.array(at, pa.int64())).statistics
        paths = [path for path in by if dice.one_in(2)]
        containers = replace(containers, partition={path: by[path] for path in paths})
    if dice.one_in(4):
        first = next(iter(world.schema))
        numbers = [None if dice.one_in(4) else dice.number(0, 3) for _ in at]
        ends = pa.array(numbers, pa.int32())
        containers = replace(containers, buckets=(Buckets(first, Bucket(4), ends, ends),))
    if dice.one_in(4):
        dropped = next(iter(world.schema))
        containers = replace(
            containers, statistics={p: i for p, i in containers.statistics.items() if p != dropped}
        )
    return replace(containers, blocks=_blocks(dice, containers, world))


def _blocks(dice: Dice, containers: Any, world: Any) -> Blocks:
    if dice.one_in(2):
        return make_blocks(containers, world.columns())
    order = np.array(sorted(range(containers.count), key=lambda _: dice.number(0, 3)), np.int64)
    begins = [0, *(at for at in range(1, containers.count) if dice.one_in(3)), containers.count]
    return Blocks(order, np.array(begins, np.int64))


def assert_same(actual: Any, expected: Any) -> None:
    for name in ("kept", "every", "kept_without_nan", "kept_without_join"):
        assert getattr(actual, name).tolist() == getattr(expected, name).tolist(), name
    for name in ("conjunct_kept", "conjunct_every"):
        mine, theirs = getattr(actual, name), getattr(expected, name)
        assert [f.tolist() for f in mine] == [f.tolist() for f in theirs], name


@pytest.mark.slow
@tried(300)
@given(judgements())
def test_block_by_block_is_one_by_one(judgement):
    predicate, containers, session = judgement
    for some in (containers, containers.by_partition(), containers.without_nan()):
        by_blocks = judge_by_blocks(predicate, some, session)
        if by_blocks is not None:
            assert_same(by_blocks, judge_each(predicate, some, session))


def test_a_member_without_rows_is_no_match_in_a_block_that_is():
    column = Column(("x",), INT)
    ends = pa.array([5, 5, 5], pa.int64())
    statistics = {("x",): Interval(INT, ends, ends, null=False)}
    blocks = Blocks(np.arange(3), np.array([0, 3]))
    containers = Containers(3, pa.array([1, 0, 1]), statistics=statistics, blocks=blocks)
    five = Comparison(Comparator.EQUAL, column, Literal(5, INT))
    predicate = Predicate("x = 5", "spark", "UTC", None, (Conjunct(five, "x = 5"),))

    flags = judge_by_blocks(predicate, containers, zone("UTC"))

    assert flags.kept.tolist() == flags.every.tolist() == [True, False, True]


def test_a_bucket_that_contradicts_the_bounds_is_seen_member_by_member():
    column = Column(("x",), INT)
    ends = pa.array([5, 5], pa.int64())
    statistics = {("x",): Interval(INT, ends, ends, null=False)}
    numbers = pa.array([None, 0], pa.int32())
    blocks = Blocks(np.arange(2), np.array([0, 2]))
    bucket = (Buckets(("x",), Bucket(1024), numbers, numbers),)
    containers = Containers(2, pa.array([1, 1]), {}, statistics, bucket, blocks=blocks)
    five = Comparison(Comparator.EQUAL, column, Literal(5, INT))
    predicate = Predicate("x = 5", "spark", "UTC", None, (Conjunct(five, "x = 5"),))

    flags = judge_by_blocks(predicate, containers, zone("UTC"))

    assert flags.kept.tolist() == [True, False]
    assert_same(flags, judge_each(predicate, containers, zone("UTC")))


def test_members_of_blocks_that_are_decided_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(blockwise, "WORTH_WHILE", 4)
    column = Column(("x",), INT)
    ends = pa.array(np.random.default_rng(1).permutation(100_000))
    statistics = {("x",): Interval(INT, ends, ends, null=False)}
    plain = Containers(100_000, statistics=statistics)
    containers = replace(plain, blocks=make_blocks(plain, [column]))
    condition = Comparison(Comparator.LESS, column, Literal(1_234, INT))
    predicate = Predicate("", "spark", "UTC", None, (Conjunct(condition, ""),))
    seen = []
    monkeypatch.setattr(
        judgement, "evaluate", lambda e, c, z: seen.append(c.count) or evaluate(e, c, z)
    )

    flags = judge(predicate, containers, zone("UTC"))
    hulls, kernels, members = seen

    assert_same(flags, judge_each(predicate, plain, zone("UTC")))
    assert int(flags.kept.sum()) == 1_234
    assert hulls == kernels == containers.blocks.count
    assert members <= 100
