"""The columns of a data file from its Arrow schema, and the leaves that a column needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.tables.file_columns import is_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.tables.column_finder import Finder
    from whyscan.tables.file_columns import ReadColumn

_ID_KEYS = (b"PARQUET:field_id", b"iceberg.id")


class FileColumn(Struct, frozen=True):
    """A column of a file, or a nested column. `leaves` is its range of leaf numbers.

    `members` are the fields of a struct, the element of a list, or the key and value of a map.
    """

    name: str
    type: pa.DataType
    id: int | None
    leaves: tuple[int, int]
    members: tuple[FileColumn, ...] = ()

    def has(self, leaf: int) -> bool:
        """Whether a leaf is one of the column's."""
        return self.leaves[0] <= leaf < self.leaves[1]


def file_columns(schema: Iterable[pa.Field]) -> tuple[FileColumn, ...]:
    """The columns of a file, from its Arrow schema."""
    return tuple(_numbered_leaves(schema, 0))


def _numbered_leaves(fields: Iterable[pa.Field], first: int) -> Iterator[FileColumn]:
    for field in fields:
        column = _file_column(field, first)
        first = column.leaves[1]
        yield column


def _file_column(field: pa.Field, first: int) -> FileColumn:
    inner = members_of(field.type)
    members = tuple(_numbered_leaves(inner, first))
    # A struct without members has no leaf.
    end = members[-1].leaves[1] if members else first + (not pa.types.is_struct(field.type))
    return FileColumn(field.name, field.type, _id(field), (first, end), members)


def members_of(kind: pa.DataType) -> Sequence[pa.Field]:
    """The nested fields of a type."""
    if pa.types.is_dictionary(kind):
        return members_of(kind.value_type)
    if pa.types.is_struct(kind):
        return list(kind)
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if is_list(kind):
        return [kind.value_field]
    return []


def _id(field: pa.Field) -> int | None:
    for key in _ID_KEYS:
        text = (field.metadata or {}).get(key)
        if text is not None and text.isdigit():
            return int(text)
    return None


def wanted_leaves(
    file_column: FileColumn, column: ReadColumn, finder: Finder[FileColumn]
) -> Iterator[int]:
    """The leaves that a column needs. A struct without a wanted member needs one, for its NULLs."""
    if not pa.types.is_struct(column.type) or not file_column.members:
        if column.members and len(column.members) == len(file_column.members):
            for inner, member in zip(file_column.members, column.members, strict=True):
                yield from wanted_leaves(inner, member, finder)
        else:
            yield from range(*file_column.leaves)
        return
    pairs = [(finder.member(file_column.members, member.key), member) for member in column.members]
    chosen = [(inner, member) for inner, member in pairs if inner is not None]
    for inner, member in chosen:
        yield from wanted_leaves(inner, member, finder)
    if not chosen:
        yield file_column.leaves[0]
