"""A table's columns in its data files: by field id, or by name where a file has no ids.

| a column that a file does not have | is |
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
    """An entry of a name mapping: the names that stand for a field id, and what is below it."""

    id: int | None
    names: frozenset[str]
    members: tuple[MappedName, ...]


def read_mapping(text: str) -> tuple[MappedName, ...]:
    """The property `schema.name-mapping.default`."""
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
    """Finds columns in files. `identities` are the field ids whose value a partition says."""

    leaves: Mapping[Path, IcebergColumn]
    identities: frozenset[int]
    mapping: tuple[MappedName, ...] | None

    def find(self, schema: FileSchema, path: Path) -> Node | None:
        """The node of a column: None where it is NULL in all rows, `UNKNOWN` where nobody knows."""
        leaf = self.leaves.get(path)
        if leaf is None:
            return UNKNOWN
        found = [node for number, node in self._numbered(schema) if number == leaf.id]
        if len(found) == 1:
            return found[0]
        known_to_be_absent = not found and self._is_whole(schema)
        if not known_to_be_absent or leaf.id in self.identities or self._has_default(path):
            return UNKNOWN
        return None

    def takes_default(self, schema: FileSchema, path: Path) -> bool:
        """Whether a file is older than the column, and the column's parents are not."""
        leaf = self.leaves.get(path)
        if leaf is None or leaf.default is None or leaf.id in self.identities:
            return False
        numbers = {number for number, _ in self._numbered(schema)}
        above = (self.leaves[path[:depth]].id for depth in range(1, len(path)))
        return self._is_whole(schema) and leaf.id not in numbers and numbers.issuperset(above)

    def _has_default(self, path: Path) -> bool:
        steps = (path[: depth + 1] for depth in range(len(path)))
        return any(step in self.leaves and self.leaves[step].default is not None for step in steps)

    def _numbered(self, schema: FileSchema) -> Iterator[tuple[int, Node]]:
        """Every column of a file with its field id."""
        if has_ids(schema.nodes):
            yield from numbered(schema.nodes)
        elif self.mapping is not None:
            yield from _by_name(schema.nodes, self.mapping)

    def _is_whole(self, schema: FileSchema) -> bool:
        """What has no field id in this file is not in it."""
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
