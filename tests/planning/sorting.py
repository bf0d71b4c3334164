"""What SQL says of values: their order, their least and greatest, how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle import order
from whyscan.planning.rows.answers import Function

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.rows.topk import SortKey


def in_order(values: Sequence[Any], key: SortKey) -> list[Any]:
    """As ORDER BY has them: equal ones may stand either way, so they are told by what compares."""
    present = sorted((order.key(v) for v in values if v is not None), reverse=key.descending)
    nulls = [None] * (len(values) - len(present))
    return nulls + present if key.nulls_first else present + nulls


def aggregated(function: Function, values: Sequence[Any]) -> Any:
    """NaN is the greatest, NULL is none."""
    present = sorted((v for v in values if v is not None), key=order.key)
    if function is Function.COUNT:
        return len(present)
    return None if not present else present[0 if function is Function.MIN else -1]


def same(a: Any, b: Any) -> bool:
    """Equal, or both NULL."""
    return (a is None) == (b is None) and (a is None or order.equal(a, b))
