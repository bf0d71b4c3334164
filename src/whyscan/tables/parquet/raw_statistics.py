"""The statistics of one column as a file encodes them, and what of them may be believed.

The same rules hold for column chunks and for pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from whyscan.pruning.containers import ColumnStatistics, checked
from whyscan.pruning.functions.text.utf8 import text_or_unknown
from whyscan.pruning.mask import Mask, either
from whyscan.tables.counts import is_number
from whyscan.tables.parquet import bounds, trust
from whyscan.tables.parquet.nan import may_be_nan, nan_is_greatest
from whyscan.tree.types import FloatType, StringType

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.pruning.containers import CheckedStatistics
    from whyscan.tables.parquet.metadata import FooterMetadata
    from whyscan.tables.parquet.schemas import ParquetColumn
    from whyscan.tables.parquet.thrift import Fields
    from whyscan.tree.nodes import Column


class RawStatistics(Struct):
    """The statistics of one column, one entry per row group in each list.

    `kinds` is the index in `leaves` of the file column that decodes the entry, -1 without one.
    `greatest` says whether the writer would have made NaN the maximum.
    """

    column: Column
    leaves: list[ParquetColumn] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    lower: list[bytes | None] = field(default_factory=list)
    upper: list[bytes | None] = field(default_factory=list)
    nulls: list[int | None] = field(default_factory=list)
    nan_counts: list[int | None] = field(default_factory=list)
    greatest: list[bool] = field(default_factory=list)

    def add(self, chunk: Fields, leaf: ParquetColumn, footer: FooterMetadata) -> None:
        """Add the statistics of one column chunk."""
        lower, upper = trust.bounds(chunk, leaf, footer)
        self.append(self._kind(leaf), lower, upper, nulls=_count(chunk, trust.NULL_COUNT))
        counted = _count(chunk, trust.NAN_COUNT)
        self.nan_counts[-1] = None if counted is None or counted < 0 else counted
        self.greatest[-1] = nan_is_greatest(footer.created_by)

    def append(
        self,
        kind: int = -1,
        lower: bytes | None = None,
        upper: bytes | None = None,
        nulls: int | None = None,
    ) -> None:
        self.kinds.append(kind)
        self.lower.append(lower)
        self.upper.append(upper)
        self.nulls.append(nulls)
        self.nan_counts.append(None)
        self.greatest.append(False)

    def _kind(self, leaf: ParquetColumn) -> int:
        """The index in `leaves` of a column with this type and encoding; adds a new one."""
        for kind, other in enumerate(self.leaves):
            if other is leaf or (other.encoding is leaf.encoding and other.type == leaf.type):
                return kind
        self.leaves.append(leaf)
        return len(self.leaves) - 1

    def encoded(self) -> EncodedStatistics:
        """The same statistics as arrays."""
        return EncodedStatistics(
            self.column,
            tuple(self.leaves),
            np.array(self.kinds, np.int64),
            self.lower,
            self.upper,
            pa.array(self.nulls, pa.int64()),
            pa.array(self.nan_counts, pa.int64()),
            pa.array(self.greatest, pa.bool_()),
        )


class EncodedStatistics(Struct, frozen=True):
    """The statistics of one column, one value per row group or page in each array.

    `kinds` and `greatest` are those of `RawStatistics`.
    """

    column: Column
    leaves: tuple[ParquetColumn, ...]
    kinds: npt.NDArray[np.int64]
    lower: bounds.Raw
    upper: bounds.Raw
    nulls: pa.Array
    nan_counts: pa.Array
    greatest: pa.Array

    def believed(self, rows: pa.Array) -> tuple[CheckedStatistics, Mask]:
        """One interval per container, without statistics that cannot be true.

        Also where a bound cannot be read.
        """
        (lower, no_lower), (upper, no_upper) = map(self._decoded, (self.lower, self.upper))
        if isinstance(self.column.type, StringType) and lower is not None and upper is not None:
            before = lower, upper
            lower, upper = text_or_unknown(*before)
            no_lower = either(no_lower, _lost(before[0], lower))
            no_upper = either(no_upper, _lost(before[1], upper))
        statistics = ColumnStatistics(
            lower=lower,
            upper=upper,
            null_count=self.nulls,
            nan=self._nan(upper),
            attained=self._attained(),
        )
        return checked(self.column.type, statistics, rows), either(no_lower, no_upper)

    def _decoded(self, raw: bounds.Raw) -> tuple[pa.Array | None, Mask]:
        """The bounds in the table's type, each decoded by the type of its file.

        Also whether the bound of each container is no value of its file's type.
        """
        parts = []
        unreadable: Mask = False
        for kind, leaf in enumerate(self.leaves):
            of_kind = raw if len(self.leaves) == 1 else bounds.only(raw, self.kinds == kind)
            decoded = bounds.decode(of_kind, leaf, self.column.type)
            if decoded is not None:
                unreadable = either(unreadable, bounds.unreadable(of_kind, leaf, decoded))
                parts.append(decoded)
        return bounds.join(parts), unreadable

    def _attained(self) -> Mask:
        """True where the bound is the value of a row. Bounds of text and bytes may be cut off."""
        cut = [k for k, leaf in enumerate(self.leaves) if bounds.may_be_cut(leaf)]
        return pa.array(~np.isin(self.kinds, cut)) if cut else True

    def _nan(self, upper: pa.Array | None) -> Mask:
        if not isinstance(self.column.type, FloatType):
            return False
        possible = may_be_nan(self.nan_counts, self.greatest, upper)
        leaves = enumerate(self.leaves)
        not_float = [k for k, leaf in leaves if not isinstance(leaf.type, FloatType)]
        return pc.and_(possible, pa.array(~np.isin(self.kinds, not_float)))


def _lost(before: pa.Array, after: pa.Array) -> Mask:
    """True where `before` has a value and `after` has none."""
    if before.null_count == after.null_count:
        return False
    return pc.and_(before.is_valid(), after.is_null())


def _count(chunk: Fields, key: int) -> int | None:
    value = chunk.get(key)
    return value if is_number(value) and abs(value) < 1 << 62 else None
