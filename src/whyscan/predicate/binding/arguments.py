"""The arguments of one call: bound when they are asked for, because some are bare words."""

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
    """The arguments as they were written, and how to bind one."""

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
        """A unit or the like: a bare word or a string, in lower case."""
        node = self.nodes[index]
        if isinstance(node, exp.Var | exp.Identifier) or (
            isinstance(node, exp.Literal) and node.is_string
        ):
            return node.name.lower()
        if isinstance(node, exp.Column) and self.scope.dialect.bare_units:
            return node.name.lower()
        raise Uninterpreted("a unit that is no word")

    def text(self, index: int) -> str:
        """A string literal."""
        match self.operand(index).expression:
            case Literal(str() as text, _):
                return text
            case _:
                raise Uninterpreted("a format that is no literal")

    def integer(self, index: int) -> int:
        """An integer literal."""
        match self.operand(index).expression:
            case Literal(int() as number, _) if not isinstance(number, bool):
                return number
            case _:
                raise Uninterpreted("a number that is no literal")

    def reordered(self, *indices: int) -> Arguments:
        return Arguments([self.nodes[i] for i in indices], self.scope, self.bind)

    def expect(self, *counts: int) -> Arguments:
        """Itself if there are as many as that."""
        if len(self.nodes) not in counts:
            raise Uninterpreted(f"a call with {len(self.nodes)} arguments")
        return self


def without_origin(expression: Expression) -> Operand:
    """An operand that nobody wrote."""
    return Operand(expression, None)
