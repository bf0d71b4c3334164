"""Which columns are read: the columns of the result, and the columns that conditions need."""

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
    """The columns of the result: their paths in the requested order, and their schema.

    A member of a struct is a column with the dotted name that was requested: `a.b`.
    """

    paths: tuple[Path, ...]
    schema: pa.Schema

    def batch(self, arrays: Arrays) -> pa.RecordBatch:
        """A batch of the result, from the arrays of top-level columns."""
        columns = [value_at(arrays, path) for path in self.paths]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def result_columns(
    columns: Sequence[ReadColumn], requested: Sequence[Path] | None
) -> ResultColumns:
    """The requested columns, or all columns in the order of the table."""
    paths = tuple(requested) if requested is not None else tuple((c.name,) for c in columns)
    if not paths:
        raise UsageError("there is no column to read", hint="name one at least")
    fields = [pa.field(".".join(path), type_at(columns, path)) for path in paths]
    return ResultColumns(paths, pa.schema(fields))


def type_at(columns: Sequence[ReadColumn], path: Path) -> pa.DataType:
    """The type of the column with this path."""
    column = next((c for c in columns if c.name == path[0]), None)
    if column is None:
        raise UsageError(f"there is no column {'.'.join(path)} to read")
    return column.type if len(path) == 1 else type_at(column.members, path[1:])


def value_at(arrays: Arrays, path: Path) -> pa.Array:
    """A column or a member of a struct: NULL where a struct around it is NULL."""
    array = arrays[path[0]]
    for name in path[1:]:
        array = pc.struct_field(array, array.type.get_field_index(name))
    return array


def pruned(columns: Sequence[ReadColumn], paths: Iterable[Path]) -> tuple[ReadColumn, ...]:
    """The columns that the paths lead into; structs keep only the members on a path."""
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
