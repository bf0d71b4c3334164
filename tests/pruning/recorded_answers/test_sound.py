"""No row gives an answer that the bounds around it exclude: Spark's recorded answers decide."""

from __future__ import annotations

import random

import pytest

from oracle.dice import Rolled
from oracle.tables import World, exact, honest
from pruning.recorded_answers.rows import COLUMNS, SCHEMA, TABLE, predicates, recorded
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.mask import materialise
from whyscan.tree.nodes import Opaque, columns_of, walk
from whyscan.tree.zones import zone

UTC = zone("UTC")
CONTAINERS = 200
ANSWERS = recorded()
LETTERS = "TFNE"


def worlds(text: str, names: list[str]) -> tuple[World, list[tuple[int, ...]]]:
    """Every row alone with exact bounds, then rows together with what an honest writer may say."""
    dice = random.Random(text)
    members = [(at,) for at in range(len(TABLE))]
    members += [
        tuple(dice.sample(range(len(TABLE)), dice.choice((1, 2, 2, 3, 5))))
        for _ in range(CONTAINERS)
    ]
    kinds = {(name,): COLUMNS[name] for name in names}
    rolled = Rolled.of(dice.random())
    rows = tuple(tuple({(n,): TABLE[at][n] for n in names} for at in group) for group in members)
    statistics = tuple(
        {
            path: (exact(kind, values) if at < len(TABLE) else honest(rolled, kind, values))
            for path, kind in kinds.items()
            for values in [[row[path] for row in group]]
        }
        for at, group in enumerate(rows)
    )
    return World(kinds, rows, statistics, (True,) * len(rows), "UTC"), members


@pytest.mark.parametrize("text", predicates())
def test_bounds_exclude_no_answer_of_a_row(text: str) -> None:
    expression = bind(text, SCHEMA, Session(timezone="UTC")).expression
    opaque = [node.reason for node in walk(expression) if isinstance(node, Opaque)]
    assert not opaque, f"the predicate is not interpreted: {opaque}"
    names = [column.path[0] for column in columns_of(expression)]
    world, members = worlds(text, names)
    truth = evaluate(expression, world.containers(), UTC)
    masks = (truth.true, truth.false, truth.null, truth.raises)
    possible = [materialise(mask, len(members)).to_pylist() for mask in masks]
    letters = ANSWERS[text]
    wrong = [
        f"{letters[at]} is excluded for {[TABLE[at][n] for n in names]}"
        f" within {world.statistics[place]}"
        for place, group in enumerate(members)
        for at in group
        if not possible[LETTERS.index(letters[at])][place]
    ]
    assert not wrong, "\n".join(wrong[:5])
