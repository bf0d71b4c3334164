"""Which columns are read: those that are given, and those that only conditions need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whyscan.tables.file_columns import ReadColumn
    from whyscan.tree.nodes import Path

    Arrays = Mapping[str, pa.Array]


class ResultColumns(Struct, frozen=True):
    """The columns of the result: the paths in the order that was asked, and their schema.

    A member of a struct is a column of its own, and is called as it was asked for: `a.b`.
    """

    paths: tuple[Path, ...]
    schema: pa.Schema

    def batch(self, arrays: Arrays) -> pa.RecordBatch:
        """The result's rows of some top-level columns."""
        columns = [value_at(arrays, path) for path in self.paths]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def result_columns(
    columns: Sequence[ReadColumn], requested: Sequence[Path] | None
) -> ResultColumns:
    """The asked columns, or all of them in the table's order."""
    paths = tuple(requested) if requested is not None else tuple((c.name,) for c in columns)
    if not paths:
        raise UsageError("there is no column to read", hint="name one at least")
    fields = [pa.field(".".join(path), type_at(columns, path)) for path in paths]
    return ResultColumns(paths, pa.schema(fields))


def type_at(columns: Sequence[ReadColumn], path: Path) -> pa.DataType:
    """The type in which the column of that path is given."""
    column = next((c for c in columns if c.name == path[0]), None)
    if column is None:
        raise UsageError(f"there is no column {'.'.join(path)} to read")
    return column.type if len(path) == 1 else type_at(column.members, path[1:])


def value_at(arrays: Arrays, path: Path) -> pa.Array:
    """A column, or a member: NULL where a struct around it is."""
    array = arrays[path[0]]
    for name in path[1:]:
        array = pc.struct_field(array, array.type.get_field_index(name))
    return array


def pruned(columns: Sequence[ReadColumn], paths: Iterable[Path]) -> tuple[ReadColumn, ...]:
    """The columns that paths lead into, structs with those members alone."""
    wanted: dict[str, list[Path]] = {}
    for path in paths:
        wanted.setdefault(path[0], []).append(path[1:])
    return tuple(
        _pruned(column, wanted[column.name]) for column in columns if column.name in wanted
    )


def _pruned(column: ReadColumn, below: Sequence[Path]) -> ReadColumn:
    if not all(below) or not pa.types.is_struct(column.type):
        return column
    return column.only(pruned(column.members, below))
