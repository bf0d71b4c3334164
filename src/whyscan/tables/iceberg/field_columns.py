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
from whyscan.tables.parquet.field_ids import UNKNOWN, all_have_ids, has_ids, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.tables.iceberg.schemas import IcebergColumn
    from whyscan.tables.parquet.schemas import FileSchema, Node
    from whyscan.tree.nodes import Path


class MappedName(Struct, frozen=True):
    """An entry of a name mapping: the names of a field id, and the entries of its members."""

    id: int | None
    names: frozenset[str]
    members: tuple[MappedName, ...]


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
    mapping: tuple[MappedName, ...] | None

    def find(self, schema: FileSchema, path: Path) -> Node | None:
        """The node of a column: None if it is NULL in all rows, `UNKNOWN` if that is unknown."""
        leaf = self.leaves.get(path)
        if leaf is None:
            return UNKNOWN
        nodes = [node for number, node in self._numbered(schema) if number == leaf.id]
        if len(nodes) == 1:
            return nodes[0]
        is_absent = not nodes and self._has_all_ids(schema)
        if not is_absent or leaf.id in self.identities or self._has_default(path):
            return UNKNOWN
        return None

    def takes_default(self, schema: FileSchema, path: Path) -> bool:
        """Whether a file lacks the column but has the structs around it, so the default counts."""
        leaf = self.leaves.get(path)
        if leaf is None or leaf.default is None or leaf.id in self.identities:
            return False
        numbers = {number for number, _ in self._numbered(schema)}
        above = (self.leaves[path[:depth]].id for depth in range(1, len(path)))
        return self._has_all_ids(schema) and leaf.id not in numbers and numbers.issuperset(above)

    def _has_default(self, path: Path) -> bool:
        steps = (path[: depth + 1] for depth in range(len(path)))
        return any(step in self.leaves and self.leaves[step].default is not None for step in steps)

    def _numbered(self, schema: FileSchema) -> Iterator[tuple[int, Node]]:
        """The columns of a file with their field ids."""
        if has_ids(schema.nodes):
            yield from numbered(schema.nodes)
        elif self.mapping is not None:
            yield from _by_name(schema.nodes, self.mapping)

    def _has_all_ids(self, schema: FileSchema) -> bool:
        """Whether a column without a field id in this file is certainly not in the file."""
        if has_ids(schema.nodes):
            return all_have_ids(schema.nodes)
        return self.mapping is not None


def _by_name(nodes: Sequence[Node], mapping: Sequence[MappedName]) -> Iterator[tuple[int, Node]]:
    for node in nodes:
        for mapped in mapping:
            if node.name in mapped.names:
                if mapped.id is not None:
                    yield mapped.id, node
                yield from _by_name(node.members, mapped.members)
