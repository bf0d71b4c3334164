"""The context of binding one predicate, and the values that binding functions exchange."""

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
    """The context of binding: the parsed text, its dialect, the columns and the clock."""

    syntax: Syntax
    dialect: Dialect
    columns: SchemaColumns
    clock: Clock

    @property
    def clock_differs(self) -> bool:
        """Whether the dialect shows instants in UTC while the session has another time zone."""
        zone = self.clock.zone
        return self.dialect.instants_in_utc and (zone.transitions, zone.offsets) != ((), (0,))

    def problem(self, message: str, at: Operand, hint: str | None = None) -> TypeProblem:
        """A TypeProblem that underlines the operand in the text."""
        return TypeProblem(message, text=self.syntax.text, span=at.span, hint=hint)

    def no_condition(self, message: str, at: Operand) -> NoCondition:
        """A NoCondition that underlines the operand in the text."""
        hint = "compare it with something"
        return NoCondition(message, text=self.syntax.text, span=at.span, hint=hint)


class Operand(Struct, frozen=True):
    """A bound expression with its origin: a syntax node or a place in the text.

    The origin is None if the expression is not in the text.
    """

    expression: Expression
    origin: exp.Expr | TextSpan | None = None

    @property
    def span(self) -> TextSpan | None:
        return span_of(self.origin) if isinstance(self.origin, exp.Expr) else self.origin


class Uninterpreted(Exception):
    """whyscan cannot interpret a sub-expression. The condition around it becomes opaque."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def span_of(node: exp.Expr) -> TextSpan | None:
    """The text from the first to the last name or literal of a node.

    Keywords have no position. None if the node has neither names nor literals.
    """
    places = [n.meta for n in node.walk() if "start" in n.meta]
    if not places:
        return None
    return TextSpan(min(p["start"] for p in places), max(p["end"] for p in places) + 1)
