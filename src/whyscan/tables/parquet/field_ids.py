"""Finds the columns of a Parquet file by the field ids that table formats assign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.parquet.schemas import Node
from whyscan.tree.types import OtherType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNKNOWN = Node("", OtherType("unknown"))
"""The node of a column without statistics in the footer."""


def has_ids(nodes: Sequence[Node]) -> bool:
    """Whether any column of a file has a field id."""
    return any(node.id is not None for node in _walk(nodes))


def all_have_ids(nodes: Sequence[Node]) -> bool:
    """Whether all columns of a file have field ids: then a missing id is a missing column."""
    return all(node.id is not None for node in _walk(nodes))


def numbered(nodes: Sequence[Node]) -> Iterator[tuple[int, Node]]:
    """Every column with its field id."""
    return ((node.id, node) for node in _walk(nodes) if node.id is not None)


def _walk(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _walk(node.members)
