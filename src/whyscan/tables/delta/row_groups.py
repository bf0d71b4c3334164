"""The row groups of a Delta table's data files, whose columns are looked up by name or id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.tables.parquet.schemas import UNKNOWN, find
from whyscan.tables.parquet.statistics import read_statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tables.column_finder import Naming
    from whyscan.tables.delta.schema import DeltaColumn
    from whyscan.tables.parquet.data_files import DataFiles
    from whyscan.tables.parquet.schemas import FileSchema, Node
    from whyscan.tables.snapshot import RowGroups
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column, Path


class DeltaFileColumns(Struct, frozen=True):
    """Finds a table's columns in its data files: by physical path or by field id."""

    columns: Mapping[Path, DeltaColumn]
    partitioned: frozenset[Path]
    naming: Naming

    def has(self, path: Path) -> bool:
        """Whether data files contain the column."""
        return path in self.columns and path not in self.partitioned

    def find(self, schema: FileSchema, path: Path) -> Node | None:
        """The node of a column; None if the file has no such column, which means NULL in all rows.

        `UNKNOWN` for a partition column, and for a lookup by id in a file without ids.
        """
        if not self.has(path):
            return UNKNOWN
        steps = (self.columns[path[: depth + 1]] for depth in range(len(path)))
        return find(schema, [(c.physical[-1], c.field_id) for c in steps], self.naming)

    def row_groups(
        self,
        data: DataFiles,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,
    ) -> RowGroups:
        """The row groups of the files, except for files out of reach."""
        in_files = [column for column in columns if self.has(column.path)]
        return data.row_groups(
            lambda footers: read_statistics(
                footers, in_files, projection, self.find, keep_footers=keep_footers
            )
        )


def below(store: Store, path: str) -> str | None:
    """A data file's path below the table's folder; None for a file outside of the folder."""
    local = path
    if path.startswith("file:"):
        local = "/" + path.removeprefix("file:").lstrip("/")
    if store.folder is not None and local.startswith("/"):
        local = local.removeprefix(store.folder.rstrip("/") + "/")
    elif path.startswith(store.uri.rstrip("/") + "/"):
        local = path.removeprefix(store.uri.rstrip("/") + "/")
    if local.startswith("/") or "://" in local or ".." in local.split("/"):
        return None
    return local
