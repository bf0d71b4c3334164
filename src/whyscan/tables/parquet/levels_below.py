"""What Parquet footers point at: page indexes, bloom filters and dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from whyscan.tables.snapshot import ContainersBelow, FilterCount, ProbedFilters, RowGroups
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column


class BelowParquetFooters(Struct, frozen=True):
    """What the data files of one store have below row groups.

    The modules that read it are imported when a plan goes so deep.
    """

    store: Store

    def containers_below(
        self, above: RowGroups | ContainersBelow, opened: pa.Array, columns: Sequence[Column]
    ) -> ContainersBelow | None:
        from whyscan.tables.parquet.pages import pages_below

        return pages_below(self.store, above, opened, columns)

    def bloom_filters(
        self, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> ProbedFilters:
        from whyscan.tables.parquet.bloom_filters import bloom_filters

        return bloom_filters(self.store, groups, at, values)

    def dictionaries(
        self, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> ProbedFilters:
        from whyscan.tables.parquet.dictionaries import dictionaries

        return dictionaries(self.store, groups, at, values)

    def dictionary_counts(
        self, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> tuple[FilterCount, ...]:
        from whyscan.tables.parquet.dictionaries import dictionary_counts

        return dictionary_counts(groups, at, values)

    def written_filters(
        self, groups: RowGroups, columns: Sequence[Column]
    ) -> tuple[FilterCount, ...]:
        from whyscan.tables.parquet.bloom_filters import written_filters

        return tuple(written_filters(groups, columns))
