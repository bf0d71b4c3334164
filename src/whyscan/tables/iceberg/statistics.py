"""Column statistics of manifest entries: maps from field id to counts and bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.arrow import arrow_type
from whyscan.predicate.types import FloatType, UuidType
from whyscan.pruning.containers import Believed, ColumnStatistics, believe
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import Mask, unknown_as
from whyscan.tables.iceberg.bounds import decode
from whyscan.tables.iceberg.manifests import lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.predicate.tree import Path
    from whyscan.tables.iceberg.schemas import Leaf


def intervals(entries: pa.Table, columns: Sequence[Leaf]) -> tuple[dict[Path, Interval], int]:
    """What the entries say of each column, and how many statistics contradict themselves."""
    believed = {
        leaf.path: _column(entries, leaf)
        for leaf in columns
        if not pa.types.is_null(arrow_type(leaf.type))
    }
    return (
        {path: one.interval for path, one in believed.items()},
        sum(one.contradictions for one in believed.values()),
    )


def _column(entries: pa.Table, leaf: Leaf) -> Believed:
    def of(name: str) -> pa.Array:
        return lookup(entries.column(name).combine_chunks(), leaf.id)

    lower, upper = decode(of("lower_bounds"), leaf.type), decode(of("upper_bounds"), leaf.type)
    if isinstance(leaf.type, UuidType):
        lower, upper = _in_either_order(lower, upper)
    nan: Mask = False
    if isinstance(leaf.type, FloatType):
        nan = unknown_as(pc.greater(of("nan_value_counts"), 0), verdict=True)
    told = ColumnStatistics(lower, upper, of("null_value_counts"), nan)
    return believe(leaf.type, told, entries.column("record_count").combine_chunks(), len(entries))


def _in_either_order(lower: pa.Array, upper: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Java compared the halves of a uuid as signed numbers, the specification as bytes.

    Where the upper halves agree in sign both orders agree on them; the lower halves may stand
    the other way round, so that they are opened, except for a single value.
    """
    same = pc.equal(lower, upper)
    first, last = (pc.binary_slice(end, 0, 8) for end in (lower, upper))
    return (
        pc.if_else(same, lower, pc.binary_join_element_wise(first, bytes(8), b"")),
        pc.if_else(same, upper, pc.binary_join_element_wise(last, b"\xff" * 8, b"")),
    )
