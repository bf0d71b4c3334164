"""Typed trees with other columns in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from whyscan.tree.nodes import Column, Opaque, children, with_children

if TYPE_CHECKING:
    from whyscan.tree.nodes import Expression

Change: TypeAlias = Callable[[Column], "Expression | None"]
"""What stands in a column's place, of the same type; None where nothing can."""


def substituted(expression: Expression, change: Change) -> Expression | None:
    """The expression with every column changed; None where one of them cannot be.

    What is opaque takes columns for columns, and nothing else: its text is not ours to edit.
    """
    if isinstance(expression, Column):
        return change(expression)
    parts = []
    for child in children(expression):
        part = substituted(child, change)
        if part is None or (isinstance(expression, Opaque) and not isinstance(part, Column)):
            return None
        parts.append(part)
    return with_children(expression, parts)
