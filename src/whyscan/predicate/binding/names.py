"""Resolution of names to columns as in Spark: case is ignored, dots lead into structs."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.errors import TextSpan, UnknownColumn
from whyscan.predicate.binding.scope import Uninterpreted
from whyscan.tree.names import all_named
from whyscan.tree.nodes import Column
from whyscan.tree.types import BIGINT, STRING, TIMESTAMP, Field, OtherType, Schema, StructType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Path

FILE_FIELDS = (
    Field("file_path", STRING),
    Field("file_name", STRING),
    Field("file_size", BIGINT),
    Field("file_modification_time", TIMESTAMP),
    Field("file_block_start", BIGINT),
    Field("file_block_length", BIGINT),
)
"""The members of Spark's `_metadata` column. Each has one value per file."""

FILE_ALIASES = {
    "$path": "file_path",
    "$file_size": "file_size",
    "$file_modified_time": "file_modification_time",
    "_file": "file_path",
}
"""The names of Trino and Iceberg for some of these members."""

METADATA = Field("_metadata", StructType(FILE_FIELDS))
_MAX_LISTED_NAMES = 12


class NamePart(Struct, frozen=True):
    """One identifier of a dotted name, without its quotes."""

    name: str
    span: TextSpan


class SchemaColumns:
    """The columns of a schema by their names in lower case."""

    __slots__ = ("_by_name", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._by_name = _by_lower_case(schema.fields)

    def fields_named(self, name: str) -> Sequence[Field]:
        """The columns of that name; several if their names differ only in case."""
        return self._by_name.get(name.lower(), ())


def _by_lower_case(fields: Sequence[Field]) -> dict[str, list[Field]]:
    fields_by_name: dict[str, list[Field]] = {}
    for field in fields:
        fields_by_name.setdefault(field.name.lower(), []).append(field)
    return fields_by_name


def resolve(parts: Sequence[NamePart], columns: SchemaColumns, text: str) -> Column:
    """The column of a dotted name. UnknownColumn if no column or several columns match.

    Members of arrays of structs and of variants raise Uninterpreted. `t.a` is the column `a` if
    there is no struct column `t` with a member `a`: the name of the table is not checked.
    """
    first_problem = None
    for skipped in range(len(parts)):
        matches = columns.fields_named(parts[skipped].name)
        field = _single_field(parts[skipped], matches, text) or _pseudo_column(parts[skipped:])
        if field is None:
            continue
        try:
            return _struct_member(parts[skipped:], field, text)
        except UnknownColumn as problem:
            first_problem = first_problem or problem
    if first_problem is not None:
        raise first_problem
    raise _unknown(parts, parts[-1] if len(parts) > 1 else parts[0], columns.schema.names(), text)


def _single_field(part: NamePart, fields: Sequence[Field], text: str) -> Field | None:
    if len(fields) > 1:
        names = ", ".join(repr(field.name) for field in fields)
        raise UnknownColumn(
            f"{part.name!r} is ambiguous: {names}",
            text=text,
            span=part.span,
            hint="names are compared without regard to case; rename one of the columns",
        )
    return fields[0] if fields else None


def _pseudo_column(parts: Sequence[NamePart]) -> Field | None:
    """The pseudo-column of the file with that name; None if there is none."""
    name = parts[0].name.lower()
    if name == "_metadata" and len(parts) > 1:
        return METADATA
    alias = FILE_ALIASES.get(name)
    if alias is None:
        return None
    return next(field for field in FILE_FIELDS if field.name == alias)


def _struct_member(parts: Sequence[NamePart], field: Field, text: str) -> Column:
    path: Path = (field.name,)
    if field in FILE_FIELDS:
        path = (METADATA.name, field.name)
    for part in parts[1:]:
        kind = field.type
        if isinstance(kind, OtherType):
            raise Uninterpreted(f"a member of {'.'.join(path)}, of type {kind}")
        if not isinstance(kind, StructType):
            raise UnknownColumn(
                f"{'.'.join(path)} is of type {kind} and has no members",
                text=text,
                span=part.span,
                hint="a column whose name has a dot is written in quotes",
            )
        member = _single_field(part, all_named(kind.fields, part.name), text)
        if member is None:
            raise _unknown(parts, part, tuple(f.name for f in kind.fields), text)
        field, path = member, (*path, member.name)
    return Column(path, field.type)


def _unknown(
    parts: Sequence[NamePart], part: NamePart, names: Sequence[str], text: str
) -> UnknownColumn:
    return UnknownColumn(
        f"unknown column {'.'.join(p.name for p in parts)!r}",
        text=text,
        span=TextSpan(parts[0].span.start, part.span.end),
        hint=suggestion(part.name, names),
    )


def suggestion(name: str, names: Sequence[str], literal: str | None = None) -> str | None:
    """A hint: a similar name, the literal that may be meant, or all names if they are few."""
    by_lower = {column_name.lower(): column_name for column_name in names}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if near or literal is not None:
        candidates = [by_lower[key] for key in near] + [text for text in [literal] if text]
        return f"did you mean {' or '.join(candidates)}?"
    if 0 < len(names) <= _MAX_LISTED_NAMES:
        return "the columns are " + ", ".join(names)
    return None
