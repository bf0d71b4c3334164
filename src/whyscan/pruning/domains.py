"""Conjuncts on one column must be TRUE of one and the same value."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.predicate.tree import Expression
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.mask import Mask


def may_satisfy_together(operands: Sequence[Expression], containers: Containers) -> Mask:  # noqa: ARG001
    """Some value of each column may make every conjunct on it TRUE."""
    return True
