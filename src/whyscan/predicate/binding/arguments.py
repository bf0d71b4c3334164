"""The arguments of one call. Each is bound on demand, because some are words and not values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp

from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.tree.nodes import Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Expression

Bind = Callable[[exp.Expr], Operand]


class Arguments(Struct, frozen=True):
    """The syntax nodes of the arguments, and the function that binds a node."""

    nodes: Sequence[exp.Expr]
    scope: Scope
    bind: Bind

    def __len__(self) -> int:
        return len(self.nodes)

    def operand(self, index: int) -> Operand:
        return self.bind(self.nodes[index])

    def operands(self) -> tuple[Operand, ...]:
        return tuple(map(self.bind, self.nodes))

    def word(self, index: int) -> str:
        """An argument such as a time unit, in lower case: a word without quotes, or a string."""
        node = self.nodes[index]
        if isinstance(node, exp.Var | exp.Identifier) or (
            isinstance(node, exp.Literal) and node.is_string
        ):
            return node.name.lower()
        if isinstance(node, exp.Column) and self.scope.dialect.bare_units:
            return node.name.lower()
        raise Uninterpreted("a unit that is no word")

    def text(self, index: int) -> str:
        """An argument that must be a string literal."""
        match self.operand(index).expression:
            case Literal(str() as text, _):
                return text
            case _:
                raise Uninterpreted("a format that is no literal")

    def integer(self, index: int) -> int:
        """An argument that must be an integer literal."""
        match self.operand(index).expression:
            case Literal(int() as number, _) if not isinstance(number, bool):
                return number
            case _:
                raise Uninterpreted("a number that is no literal")

    def reordered(self, *indices: int) -> Arguments:
        return Arguments([self.nodes[i] for i in indices], self.scope, self.bind)

    def expect(self, *counts: int) -> Arguments:
        """The arguments, if their number is one of `counts`; else Uninterpreted is raised."""
        if len(self.nodes) not in counts:
            raise Uninterpreted(f"a call with {len(self.nodes)} arguments")
        return self


def without_origin(expression: Expression) -> Operand:
    """An operand for an expression that is not in the text."""
    return Operand(expression, None)
