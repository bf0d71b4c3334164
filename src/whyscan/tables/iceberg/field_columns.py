"""Finds a table's columns in its data files: by field id, or by name in files without ids.

| a column that is not in the file | its value |
|---|---|
| the source of an identity partition field | the file's partition value |
| with an initial default | the default |
| any other | NULL |
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import TableError
from whyscan.tables.column_finder import MappedName, Naming
from whyscan.tables.parquet.schemas import UNKNOWN, find

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whyscan.tables.column_finder import Key
    from whyscan.tables.iceberg.schemas import IcebergColumn
    from whyscan.tables.parquet.schemas import FileSchema, Node
    from whyscan.tree.nodes import Path


def read_mapping(text: str) -> tuple[MappedName, ...]:
    """Read the property `schema.name-mapping.default`."""
    try:
        return _mapped(json.loads(text))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise TableError(f"the table's name mapping is malformed: {error}") from None


def _mapped(documents: Any) -> tuple[MappedName, ...]:
    return tuple(
        MappedName(
            document.get("field-id"),
            frozenset(document.get("names") or ()),
            _mapped(document.get("fields") or ()),
        )
        for document in documents
    )


class IcebergFileColumns(Struct, frozen=True):
    """Finds columns in files. `identities` are the field ids with an identity partition."""

    leaves: Mapping[Path, IcebergColumn]
    identities: frozenset[int]
    naming: Naming

    def find(self, schema: FileSchema, path: Path) -> Node | None:
        """The node of a column: None if it is NULL in all rows, `UNKNOWN` if that is unknown."""
        leaf = self.leaves.get(path)
        if leaf is None:
            return UNKNOWN
        node = find(schema, self._keys(path), self.naming)
        if node is None and (leaf.id in self.identities or self._has_default(path)):
            return UNKNOWN
        return node

    def takes_default(self, schema: FileSchema, path: Path) -> bool:
        """Whether a file lacks the column but has the structs around it, so the default counts."""
        leaf = self.leaves.get(path)
        if leaf is None or leaf.default is None or leaf.id in self.identities:
            return False
        keys = self._keys(path)
        if find(schema, keys, self.naming) is not None:
            return False
        return len(keys) == 1 or find(schema, keys[:-1], self.naming) is not None

    def _keys(self, path: Path) -> list[Key]:
        return [(step[-1], self.leaves[step].id) for step in _steps(path)]

    def _has_default(self, path: Path) -> bool:
        return any(self.leaves[step].default is not None for step in _steps(path))


def _steps(path: Path) -> Iterator[Path]:
    """The paths of the structs around a column, outermost first, and the column's path."""
    return (path[: depth + 1] for depth in range(len(path)))
