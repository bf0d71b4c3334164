"""Concatenation of batches of containers. A column that one batch lacks is unknown in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.pruning.containers import Buckets, Containers
from whyscan.pruning.exact import concatenated
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import Mask, Vector, as_array, materialise
from whyscan.pruning.transforms.transform import result_type
from whyscan.tree.arrow import arrow_type
from whyscan.tree.types import STRING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.pruning.containers import Intervals
    from whyscan.pruning.transforms.transform import Transform
    from whyscan.tree.nodes import Path
    from whyscan.tree.types import Type


def concatenate(batches: Sequence[Containers]) -> Containers:
    """The containers of all batches, in the order of the batches."""
    if len(batches) == 1:
        return batches[0]
    counts = [batch.count for batch in batches]
    return Containers(
        count=sum(counts),
        rows=_rows(batches),
        partition=_intervals([batch.partition for batch in batches], counts),
        statistics=_intervals([batch.statistics for batch in batches], counts),
        buckets=_buckets(batches, counts),
        exact=concatenated([batch.exact for batch in batches], counts),
        contradicted=_masks_by_path([batch.contradicted for batch in batches], counts),
        unreadable=_masks_by_path([batch.unreadable for batch in batches], counts),
    )


def _masks_by_path(parts: Sequence[Mapping[Path, Mask]], counts: Sequence[int]) -> dict[Path, Mask]:
    return {
        path: _masks([part.get(path, False) for part in parts], counts)
        for path in dict.fromkeys(path for part in parts for path in part)
    }


def _rows(batches: Sequence[Containers]) -> pa.Array | None:
    if all(batch.rows is None for batch in batches):
        return None
    return pa.concat_arrays(
        [pa.nulls(b.count, pa.int64()) if b.rows is None else b.rows for b in batches]
    )


def _intervals(parts: Sequence[Intervals], counts: Sequence[int]) -> Intervals:
    kinds: dict[Path, Type] = {p: i.type for part in parts for p, i in part.items()}
    return {
        path: _interval(kind, [part.get(path, anything(kind)) for part in parts], counts)
        for path, kind in kinds.items()
    }


def _interval(kind: Type, parts: Sequence[Interval], counts: Sequence[int]) -> Interval:
    target = arrow_type(kind)
    return Interval(
        kind,
        _vectors([part.lower for part in parts], counts, target),
        _vectors([part.upper for part in parts], counts, target),
        value=_masks([part.value for part in parts], counts),
        null=_masks([part.null for part in parts], counts),
        nan=_masks([part.nan for part in parts], counts),
        raises=_masks([part.raises for part in parts], counts),
        counted=_masks([part.counted for part in parts], counts),
    )


def _vectors(
    parts: Sequence[Vector | None], counts: Sequence[int], target: pa.DataType
) -> pa.Array | None:
    if all(part is None for part in parts):
        return None
    return pa.concat_arrays(
        [as_array(part, count, target) for part, count in zip(parts, counts, strict=True)]
    )


def _masks(parts: Sequence[Mask], counts: Sequence[int]) -> Mask:
    first = parts[0]
    if isinstance(first, bool) and all(part is first for part in parts):
        return first
    return pa.concat_arrays(
        [materialise(part, count) for part, count in zip(parts, counts, strict=True)]
    )


def _buckets(batches: Sequence[Containers], counts: Sequence[int]) -> tuple[Buckets, ...]:
    """One entry per source column and transform; files of another spec may have any value."""
    keys = dict.fromkeys((b.source, b.transform) for batch in batches for b in batch.buckets)
    joined = []
    for source, transform in keys:
        named = [_named(batch, source, transform) for batch in batches]
        kind = arrow_type(result_type(transform, STRING))
        joined.append(
            Buckets(
                source,
                transform,
                _vectors([n and n.lower for n in named], counts, kind),
                _vectors([n and n.upper for n in named], counts, kind),
            )
        )
    return tuple(joined)


def _named(batch: Containers, source: Path, transform: Transform) -> Buckets | None:
    for buckets in batch.buckets:
        if (buckets.source, buckets.transform) == (source, transform):
            return buckets
    return None
