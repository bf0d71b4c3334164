"""What is known of single values in a container: bloom filters and dictionaries, already probed.

A bloom filter that lacks a value proves that no row has it; one that has the value proves nothing.
A dictionary of all values of a container proves both, and the second is not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.mask import Mask, simplified
from whyscan.pruning.same_representation import column_and_values
from whyscan.tree.nodes import Column, Comparator, Comparison, Expression, In, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from whyscan.pruning.containers import Containers

MOST_VALUES = 1_000
"""Filters are not probed for more values of a column: some of so many are in every filter."""


class ValueFilter(Struct, frozen=True):
    """Which of some values a row of each container may have.

    `values` are distinct. `possible` has one row per container, and one flag per value in it.
    """

    values: pa.Array
    possible: npt.NDArray[np.bool_]

    def may_hold(self, wanted: pa.Array) -> Mask:
        """Some row may have one of the values; yes for a value that was not probed."""
        at = pc.index_in(wanted, value_set=self.values)
        if at.null_count:
            return True
        return simplified(pa.array(self.possible[:, at.to_numpy()].any(axis=1)))

    def take(self, indices: pa.Array) -> ValueFilter:
        """The filter of the containers at `indices`."""
        return replace(self, possible=self.possible[indices.to_numpy()])

    def both(self, other: ValueFilter) -> ValueFilter:
        """A value is possible where both filters say so; both have the same values."""
        return replace(self, possible=self.possible & other.possible)


def in_filter(expression: Comparison | In, containers: Containers) -> Mask:
    """`column = v` and `column IN (v, …)` can be TRUE only if a filter may hold some v.

    Any other expression may be TRUE in every container. No filter knows NaN.
    """
    pair = column_and_values(expression)
    if pair is None or (isinstance(expression, In) and expression.nan):
        return True
    column, values = pair
    probed = containers.filters.get(column.path)
    return True if probed is None else probed.may_hold(values)


def values_to_probe(expressions: Iterable[Expression]) -> dict[Column, pa.Array]:
    """For each column the values that the expressions compare with it by `=`, `<>` and IN."""
    values: dict[Column, list[pa.Array]] = {}
    for expression in expressions:
        for node in walk(expression):
            pair = _pair(node)
            if pair is not None:
                values.setdefault(pair[0], []).append(pair[1])
    distinct = {column: _distinct(arrays) for column, arrays in values.items()}
    return {column: v for column, v in distinct.items() if v is not None}


def _pair(node: Expression) -> tuple[Column, pa.Array] | None:
    if isinstance(node, Comparison) and node.operator is Comparator.NOT_EQUAL:
        return column_and_values(Comparison(Comparator.EQUAL, node.left, node.right))
    return column_and_values(node) if isinstance(node, Comparison | In) else None


def _distinct(arrays: list[pa.Array]) -> pa.Array | None:
    if len({array.type for array in arrays}) > 1 or sum(map(len, arrays)) > MOST_VALUES:
        return None
    return pc.unique(pa.concat_arrays(arrays)).drop_null()
