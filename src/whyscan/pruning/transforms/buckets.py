"""Bucket partitions: a literal is hashed forward, because a hash has no preimage interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whyscan.predicate.tree import Comparison, In
    from whyscan.pruning.containers import Buckets
    from whyscan.pruning.mask import Mask


def in_bucket(expression: Comparison | In, buckets: tuple[Buckets, ...]) -> Mask:  # noqa: ARG001
    """An equality can be TRUE only where one of its values hashes into the container's buckets."""
    return True
