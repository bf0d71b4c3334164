"""What one predicate's expressions are bound in, and what goes up and down while they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp

from whyscan.errors import NoCondition, TextSpan, TypeProblem

if TYPE_CHECKING:
    from whyscan.predicate.binding.names import SchemaColumns
    from whyscan.predicate.syntax.dialects import Dialect
    from whyscan.predicate.syntax.parse import Syntax
    from whyscan.tree.clock import Clock
    from whyscan.tree.nodes import Expression


class Scope(Struct, frozen=True):
    """The text and its dialect, the columns, the time."""

    syntax: Syntax
    dialect: Dialect
    columns: SchemaColumns
    clock: Clock

    @property
    def clock_differs(self) -> bool:
        """The dialect reads instants on another clock than the session's."""
        zone = self.clock.zone
        return self.dialect.instants_in_utc and (zone.transitions, zone.offsets) != ((), (0,))

    def problem(self, message: str, at: Operand, hint: str | None = None) -> TypeProblem:
        """A TypeProblem that underlines where it arose."""
        return TypeProblem(message, text=self.syntax.text, span=at.span, hint=hint)

    def no_condition(self, message: str, at: Operand) -> NoCondition:
        """A NoCondition that underlines where it arose."""
        hint = "compare it with something"
        return NoCondition(message, text=self.syntax.text, span=at.span, hint=hint)


class Operand(Struct, frozen=True):
    """A bound expression and the syntax, or the place, that it came from; None if it was made."""

    expression: Expression
    origin: exp.Expr | TextSpan | None = None

    @property
    def span(self) -> TextSpan | None:
        return span_of(self.origin) if isinstance(self.origin, exp.Expr) else self.origin


class Uninterpreted(Exception):
    """Nobody here can say what a sub-expression means; it becomes opaque at the next condition."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def span_of(node: exp.Expr) -> TextSpan | None:
    """From the first to the last name or literal below a node: keywords have no position."""
    places = [n.meta for n in node.walk() if "start" in n.meta]
    if not places:
        return None
    return TextSpan(min(p["start"] for p in places), max(p["end"] for p in places) + 1)
