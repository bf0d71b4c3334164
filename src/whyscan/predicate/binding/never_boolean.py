"""Syntax that is never a boolean, even if whyscan cannot interpret it.

For example, arithmetic never gives a boolean: Spark refuses it as a condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.predicate.binding.scope import Operand
from whyscan.predicate.binding.written_types import type_named
from whyscan.predicate.syntax.tokens import function_name
from whyscan.pruning.functions import FUNCTIONS
from whyscan.tree.nodes import Literal
from whyscan.tree.types import (
    NULL,
    BinaryType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    TimestampType,
)

if TYPE_CHECKING:
    from whyscan.predicate.binding.scope import Scope

_NODES = (
    exp.Add,
    exp.BitwiseAnd,
    exp.BitwiseLeftShift,
    exp.BitwiseNot,
    exp.BitwiseOr,
    exp.BitwiseRightShift,
    exp.BitwiseXor,
    exp.Div,
    exp.Extract,
    exp.IntDiv,
    exp.Interval,
    exp.Mod,
    exp.Mul,
    exp.Neg,
    exp.StrPosition,
    exp.Sub,
    exp.Tuple,
)
_TYPES = (IntegerType, FloatType, DecimalType, DateType, TimestampType, BinaryType)


def refuse_other_values(node: exp.Expr, scope: Scope) -> None:
    """Raise NoCondition for a node that cannot be boolean."""
    if isinstance(node, _NODES) or _is_of_other_type(node, scope):
        at = Operand(Literal(None, NULL), node)
        raise scope.no_condition("a condition is boolean, this is not", at)


def _is_of_other_type(node: exp.Expr, scope: Scope) -> bool:
    """Whether a node is a cast, or a call of a Spark function, with a result of `_TYPES`."""
    kind: object = None
    if isinstance(node, exp.Cast):
        kind = type_named(node.args["to"], scope.dialect)
    elif isinstance(node, exp.Anonymous) and scope.dialect.is_spark:
        function = FUNCTIONS.get(function_name(node))
        kind = None if function is None else function.result
    return isinstance(kind, _TYPES)
