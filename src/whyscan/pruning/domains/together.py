"""Conjuncts of an AND that share a column must be TRUE for one common value."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING

from whyscan.pruning.domains.domain import Domain
from whyscan.pruning.domains.satisfying import where_true
from whyscan.pruning.mask import Mask, all_of
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Column, Expression

_SEVERAL = 2


def may_satisfy_together(operands: Sequence[Expression], containers: Containers) -> Mask:
    """Each column may have a value for which every conjunct on it is TRUE.

    The caller has checked that each conjunct alone may be TRUE. So a column that only one conjunct
    uses is not checked.
    """
    named = [columns_of(operand) for operand in operands]
    times = Counter(column for columns in named for column in columns)
    shared = {column for column, count in times.items() if count >= _SEVERAL}
    if not shared:
        return True
    domains_by_conjunct = [
        where_true(operand)
        for operand, columns in zip(operands, named, strict=True)
        if not shared.isdisjoint(columns)
    ]
    return all_of(
        _may_be_one_value(
            column,
            [domains[column] for domains in domains_by_conjunct if column in domains],
            containers,
        )
        for column in shared
    )


def _may_be_one_value(column: Column, domains: list[Domain], containers: Containers) -> Mask:
    if len(domains) < _SEVERAL:
        return True
    common = reduce(Domain.intersection, domains)
    if common.is_none:
        return False
    # Helly's theorem: if each two of these ranges and the container's overlap, all of them do.
    if all(domain.is_one_range for domain in domains):
        return True
    return common.overlaps(containers.interval(column))
