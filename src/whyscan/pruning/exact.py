"""Exact statistics: the number of NULLs and NaNs, and which bounds are values of rows.

Pruning does not need them. An answer from metadata alone does: `min(x)` is the lower bound only if
some row has this value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.pruning.mask import Mask, both, materialise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tree.nodes import Path


class Exact(Struct, frozen=True):
    """Exact statistics of one column, for all rows that were written, including deleted rows.

    `nulls` and `nans` have a null slot where the writer did not count, and are None if no writer
    counted. `lower` and `upper`: some row has the bound that the statistics record.
    """

    nulls: pa.Array | None = None
    lower: Mask = False
    upper: Mask = False
    nans: pa.Array | None = None

    def where(self, mask: Mask) -> Exact:
        """The same statistics; where the mask is false, a bound may be no value of a row."""
        return Exact(self.nulls, both(self.lower, mask), both(self.upper, mask), self.nans)

    def take(self, indices: pa.Array) -> Exact:
        def taken(mask: Mask) -> Mask:
            return mask if isinstance(mask, bool) else mask.take(indices)

        nulls = None if self.nulls is None else self.nulls.take(indices)
        nans = None if self.nans is None else self.nans.take(indices)
        return Exact(nulls, taken(self.lower), taken(self.upper), nans)


NOTHING = Exact()


def concatenated(parts: Sequence[Mapping[Path, Exact]], counts: Sequence[int]) -> dict[Path, Exact]:
    """The exact statistics of several batches. A column that a batch lacks has none there."""
    paths = dict.fromkeys(path for part in parts for path in part)
    return {path: _concatenated([p.get(path, NOTHING) for p in parts], counts) for path in paths}


def _concatenated(parts: Sequence[Exact], counts: Sequence[int]) -> Exact:
    def joined(masks: Sequence[Mask]) -> Mask:
        if all(mask is masks[0] for mask in masks) and isinstance(masks[0], bool):
            return masks[0]
        pairs = zip(masks, counts, strict=True)
        return pa.concat_arrays([materialise(mask, count) for mask, count in pairs])

    return Exact(
        _counts([p.nulls for p in parts], counts),
        joined([p.lower for p in parts]),
        joined([p.upper for p in parts]),
        _counts([p.nans for p in parts], counts),
    )


def _counts(parts: Sequence[pa.Array | None], counts: Sequence[int]) -> pa.Array | None:
    if all(part is None for part in parts):
        return None
    pairs = zip(parts, counts, strict=True)
    return pa.concat_arrays([pa.nulls(n, pa.int64()) if p is None else p for p, n in pairs])
