"""Binding of the bit operators `a & b`, `a | b`, `a ^ b` and `~a`.

The parser gives these operators and `||` the same precedence: it reads `a | b & c` as
`(a | b) & c`, Spark reads it as `a | (b & c)`. So a mixture without parentheses is opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.predicate.binding.arguments import without_origin
from whyscan.predicate.binding.arithmetic import bits
from whyscan.predicate.binding.scope import Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.predicate.syntax.parse import flatten_chain
from whyscan.predicate.syntax.tokens import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.predicate.binding.arguments import Bind
    from whyscan.tree.nodes import Expression

OPERATORS: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}
_LOOSE = (*OPERATORS, exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.DPipe)
_FAMILIES = {
    DialectFamily.SPARK,
    DialectFamily.DUCKDB,
    DialectFamily.POSTGRES,
    DialectFamily.BIGQUERY,
}
"""The families that have `&`, `|` and `~` for integers."""


def bind(node: exp.Expr, scope: Scope, bind_value: Bind) -> Expression:
    """`~a`, or a chain of one operator."""
    if scope.dialect.family not in _FAMILIES:
        raise Uninterpreted("operators on bits in this dialect")
    if isinstance(node, exp.BitwiseNot):
        return bits("~", [bind_value(node.this)], scope)
    parts = flatten_chain(node, type(node))
    if has_unparenthesised_bits(parts) or len(parts) > MAX_DEPTH:
        raise Uninterpreted("operators on bits whose order is not written")
    first, *rest = map(bind_value, parts)
    result = first
    for operand in rest:
        result = without_origin(bits(OPERATORS[type(node)], (result, operand), scope))
    return result.expression


def has_unparenthesised_bits(operands: Sequence[exp.Expr]) -> bool:
    """Whether an operand is a bit operation, a shift or `||` without parentheses."""
    return any(isinstance(part, _LOOSE) for part in operands)
