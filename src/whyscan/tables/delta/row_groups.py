"""The row groups of a Delta table's data files, by the names or ids that the files store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.tables.parquet.field_ids import UNKNOWN, all_have_ids, numbered
from whyscan.tables.parquet.footers import read_footers
from whyscan.tables.parquet.schemas import find
from whyscan.tables.parquet.statistics import measure
from whyscan.tables.storage.data_files import DataFiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tables.delta.schema import DeltaColumn
    from whyscan.tables.parquet.schemas import FileSchema, Node
    from whyscan.tables.snapshot import Files, RowGroups
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column, Path


class FooterColumns(Struct, frozen=True):
    """The columns of the predicate and of the result; `projection` None is every column."""

    columns: Sequence[Column]
    projection: Sequence[Path] | None


class DeltaFileColumns(Struct, frozen=True):
    """A table's columns in its files: by their stored path, or `by_id` whatever they are called."""

    columns: Mapping[Path, DeltaColumn]
    partitioned: frozenset[Path]
    by_id: bool

    def has(self, path: Path) -> bool:
        """Whether data files store the column."""
        return path in self.columns and path not in self.partitioned

    def find(self, schema: FileSchema, path: Path) -> Node | None:
        """The node of a column: None where it is NULL in all rows, as in older files.

        `UNKNOWN` where the file does not say: of partition columns, and by id without ids.
        """
        if not self.has(path):
            return UNKNOWN
        column = self.columns[path]
        if not self.by_id:
            return find(schema, column.physical)
        found = [node for number, node in numbered(schema.nodes) if number == column.field_id]
        if len(found) == 1:
            return found[0]
        return None if not found and _tells_all_ids(schema, column) else UNKNOWN


def _tells_all_ids(schema: FileSchema, column: DeltaColumn) -> bool:
    return column.field_id is not None and all_have_ids(schema.nodes)


def row_groups(
    store: Store, files: Files, opened: pa.Array, stored: DeltaFileColumns, asked: FooterColumns
) -> RowGroups:
    """The row groups of those files at `opened` that can be opened."""
    named = [c for c in asked.columns if stored.has(c.path)]
    data = DataFiles(store, files, opened, lambda path: below(store, path))
    reached, found = data.read(
        lambda reached: measure(
            read_footers(store, reached.paths, reached.sizes), named, asked.projection, stored.find
        )
    )
    at = pa.array(reached.at, pa.int64())
    return found.row_groups(at, files.containers, reached.unchecked)


def below(store: Store, path: str) -> str | None:
    """A data file's path below the table's folder, None for one that lies elsewhere."""
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
