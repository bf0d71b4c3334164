"""A table and a predicate over it: what every property of the law begins with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from oracle.dice import Dice
from oracle.errors import Unsupported
from oracle.predicates import Maker
from oracle.rows import evaluate_row, possible
from oracle.tables import World, any_world
from oracle.values import TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type

UNSURE = "unsure"


@dataclass(frozen=True)
class Example:
    """A world and what is asked of it."""

    world: World
    predicate: Expression

    def answers(self) -> list[list[Any]]:
        """Row by row what Spark says: TRUE, FALSE, None, RAISED, or UNSURE."""
        return [
            [self._answer(evaluate_row, row, UNSURE) for row in rows] for rows in self.world.rows
        ]

    def possible(self) -> list[list[set[Any]]]:
        """Row by row the answers that any order of evaluation and any opaque part may give."""
        return [[self._answer(possible, row, set()) for row in rows] for rows in self.world.rows]

    def _answer(self, ask: Any, row: Any, unsure: Any) -> Any:
        try:
            return ask(self.predicate, row, self.world.zone)
        except Unsupported:
            return unsure


@st.composite
def examples(
    draw: Any, *, depth: int = 3, certain: bool = False, types: Sequence[Type] = TYPES
) -> Example:
    """Any table with any predicate; `certain`: nothing opaque in it."""
    dice = Dice(draw)
    world = any_world(dice, types)
    return Example(world, Maker(dice, world, certain).predicate(depth))


@st.composite
def twins(draw: Any, *, depth: int = 2) -> tuple[Example, Example]:
    """One table and two predicates."""
    dice = Dice(draw)
    world = any_world(dice)
    maker = Maker(dice, world)
    first, second = maker.predicate(depth), maker.predicate(depth)
    return Example(world, first), replace(Example(world, first), predicate=second)
