"""Shapes columns of a file into columns of the table: renamed, widened, ordered and filled.

| a column that is missing in the file | gets |
|---|---|
| with a value in metadata | that value |
| with a default | the default |
| any other | NULL |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.tables.file_columns import is_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.scan.columns_of_file import FileColumn
    from whyscan.tables.column_finder import Finder
    from whyscan.tables.file_columns import ReadColumn
    from whyscan.tree.nodes import Path

_SHREDDED = "typed_value"


class Unshapeable(ValueError):
    """A column of a file cannot be converted to the type of the table."""


class Shaper(Struct, frozen=True):
    """Shapes the columns of one file."""

    finder: Finder[FileColumn]
    constants: Mapping[Path, pa.Scalar]

    def column(self, array: pa.Array, file_column: FileColumn, column: ReadColumn) -> pa.Array:
        """A top-level column that is in the file."""
        try:
            return self._shaped(array, file_column, column, (column.name,))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise Unshapeable(
                f"its column {file_column.name} cannot be read as {column.type}:"
                f" {_first_line(error)}"
            ) from None

    def missing(self, column: ReadColumn, path: Path, count: int) -> pa.Array:
        """A column that is missing in the file."""
        if path in self.constants:
            return pa.repeat(self.constants[path], count)
        if column.default is not None:
            return pa.repeat(column.default, count)
        if pa.types.is_struct(column.type) and self._has_filled(path):
            inner = [self.missing(m, (*path, m.name), count) for m in column.members]
            return pa.StructArray.from_arrays(inner, fields=list(column.type))
        return pa.nulls(count, column.type)

    def _has_filled(self, path: Path) -> bool:
        """Metadata has the value of a member, so the struct around it is not NULL."""
        depth = len(path)
        return any(
            constant[:depth] == path and len(constant) > depth for constant in self.constants
        )

    def _shaped(
        self, array: pa.Array, file_column: FileColumn, column: ReadColumn, path: Path
    ) -> pa.Array:
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if pa.types.is_struct(column.type):
            return self._struct(array, file_column, column, path)
        if pa.types.is_map(column.type):
            return self._map(array, file_column, column, path)
        if pa.types.is_list(column.type):
            return self._list(array, file_column, column, path)
        return widened(array, column.type)

    def _struct(
        self, array: pa.Array, file_column: FileColumn, column: ReadColumn, path: Path
    ) -> pa.Array:
        if not pa.types.is_struct(array.type):
            raise pa.ArrowTypeError(f"it is {array.type}")
        _refuse_shredded(file_column, column)
        positions = {field.name: at for at, field in enumerate(array.type)}
        members = []
        for member in column.members:
            inner = self.finder.member(file_column.members, member.key)
            below = (*path, member.name)
            if inner is None or inner.name not in positions:
                members.append(self.missing(member, below, len(array)))
            else:
                members.append(
                    self._shaped(array.field(positions[inner.name]), inner, member, below)
                )
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(members, fields=list(column.type), mask=mask)

    def _list(
        self, array: pa.Array, file_column: FileColumn, column: ReadColumn, path: Path
    ) -> pa.Array:
        if not is_list(array.type):
            raise pa.ArrowTypeError(f"it is {array.type}")
        if not pa.types.is_list(array.type):
            array = array.cast(pa.list_(array.type.value_field))
        (element,) = column.members
        inner = self._shaped(array.values, file_column.members[0], element, (*path, "element"))
        return with_children(array, column.type, inner)

    def _map(
        self, array: pa.Array, file_column: FileColumn, column: ReadColumn, path: Path
    ) -> pa.Array:
        if not pa.types.is_map(array.type):
            raise pa.ArrowTypeError(f"it is {array.type}")
        key, value = column.members
        keys = self._shaped(array.keys, file_column.members[0], key, (*path, "key"))
        values = self._shaped(array.items, file_column.members[1], value, (*path, "value"))
        fields = [column.type.key_field, column.type.item_field]
        entries = pa.StructArray.from_arrays([keys, values], fields=fields)
        return with_children(array, column.type, entries)


def with_children(array: pa.Array, kind: pa.DataType, children: pa.Array) -> pa.Array:
    """The same lists with other elements."""
    validity, offsets = array.buffers()[:2]
    return pa.Array.from_buffers(
        kind, len(array), [validity, offsets], offset=array.offset, children=[children]
    )


def _refuse_shredded(file_column: FileColumn, column: ReadColumn) -> None:
    """Raise for a shredded variant: its values are in columns that would be lost."""
    if {m.name for m in column.members} == {"metadata", "value"} and any(
        m.name == _SHREDDED for m in file_column.members
    ):
        raise pa.ArrowNotImplementedError("it is a shredded variant")


def widened(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The same values in the type of the table, or an error."""
    if array.type == kind:
        return array
    if isinstance(kind, pa.UuidType):
        return pa.ExtensionArray.from_storage(kind, _storage(array).cast(kind.storage_type))
    array = _storage(array)
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(array.type):
        return _moments(array, kind)
    if pa.types.is_time(kind) and pa.types.is_integer(array.type):
        return array.cast(pa.int64()).view(kind)
    if pa.types.is_null(kind):
        return pa.nulls(len(array))
    return array.cast(kind)


def _storage(array: pa.Array) -> pa.Array:
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _moments(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Timestamps in another unit. A zone in the file has no effect: files hold UTC or local time.

    Finer digits are rounded down, as Spark does.
    """
    plain = array.cast(pa.timestamp(array.type.unit)) if array.type.tz is not None else array
    if array.type.unit == "ns" and kind.unit == "us":
        plain = pc.floor_temporal(plain, unit="microsecond")
    return plain.cast(pa.timestamp(kind.unit)).view(kind)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
