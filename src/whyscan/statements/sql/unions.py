"""Balances long chains of UNION: `((a, b), c), d` becomes `(a, b), (c, d)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Sequence

_OWN = {"this", "expression", "distinct"}
FEW = 4


def balance_unions(tree: exp.Expr) -> None:
    """Make the depth of each long chain logarithmic, and keep the order."""
    for top in list(tree.find_all(exp.Union)):
        above = top.parent
        if isinstance(above, exp.Union) and top is above.this and _continues(top, above):
            continue
        parts = _parts(top)
        if len(parts) > FEW and not top.args.get("by_name"):
            half = len(parts) // 2
            top.set("this", _joined(parts[:half], top))
            top.set("expression", _joined(parts[half:], top))


def _continues(inner: exp.Union, outer: exp.Union) -> bool:
    """Whether both are links of one chain: the same kind, and no clause on the inner one."""
    alone = any(value for key, value in inner.args.items() if key not in _OWN)
    return not alone and bool(inner.args.get("distinct")) == bool(outer.args.get("distinct"))


def _parts(top: exp.Union) -> list[exp.Expr]:
    node, operands = top, [top.expression]
    while isinstance(node.this, exp.Union) and _continues(node.this, top):
        node = node.this
        operands.append(node.expression)
    return [node.this, *reversed(operands)]


def _joined(parts: Sequence[exp.Expr], top: exp.Union) -> exp.Expr:
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = _joined(parts[:half], top), _joined(parts[half:], top)
    return exp.Union(this=left, expression=right, distinct=top.args.get("distinct"))
