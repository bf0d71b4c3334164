"""What a snapshot of Parquet files says below row groups: pages, bloom filters and dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from whyscan.tables.snapshot import ContainersBelow, FilterCount, ProbedFilters, RowGroups
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column


class _OfStore(Protocol):
    """A snapshot whose data files are in one store."""

    @property
    def store(self) -> Store: ...


class BelowRowGroups:
    """The levels below the row groups of a snapshot, by footers that were kept.

    Their modules are imported when a plan goes so deep.
    """

    __slots__ = ()

    def containers_below(
        self: _OfStore,
        above: RowGroups | ContainersBelow,
        opened: pa.Array,
        columns: Sequence[Column],
    ) -> ContainersBelow | None:
        """The pages of the row groups at `opened`, if their footers were kept."""
        from whyscan.tables.parquet.pages import pages_below

        return pages_below(self.store, above, opened, columns)

    def bloom_filters(
        self: _OfStore, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> ProbedFilters:
        """The bloom filters of the row groups at `at`, probed for values."""
        from whyscan.tables.parquet.bloom_filters import bloom_filters

        return bloom_filters(self.store, groups, at, values)

    def dictionaries(
        self: _OfStore, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> ProbedFilters:
        """The dictionaries of the row groups at `at`, probed for values."""
        from whyscan.tables.parquet.dictionaries import dictionaries

        return dictionaries(self.store, groups, at, values)

    def dictionary_counts(
        self, groups: RowGroups, at: pa.Array, values: Mapping[Column, pa.Array]
    ) -> tuple[FilterCount, ...]:
        """How many dictionaries the row groups at `at` have, and their bytes; reads none."""
        from whyscan.tables.parquet.dictionaries import dictionary_counts

        return dictionary_counts(groups, at, values)

    def written_filters(
        self, groups: RowGroups, columns: Sequence[Column]
    ) -> tuple[FilterCount, ...]:
        """The columns with bloom filters, by the footers that were kept; reads no filter."""
        from whyscan.tables.parquet.bloom_filters import written_filters

        return tuple(written_filters(groups, columns))
