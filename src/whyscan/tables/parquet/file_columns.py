"""The columns of Parquet files in the result of a scan: united by name, with the widest type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from whyscan.errors import CorruptFile, TableError
from whyscan.tables.file_columns import ReadColumn, is_list, list_of, map_of, result_type, struct_of
from whyscan.tables.parquet.footers import file_of_footer
from whyscan.tables.parquet.metadata import Decoder
from whyscan.tables.parquet.union import unite
from whyscan.tree.types import StructType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.tables.parquet.footers import Footer
    from whyscan.tree.nodes import Path
    from whyscan.tree.types import Field, Schema

    ArrowTypes = Mapping[Path, pa.DataType]

_UNSIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}


class FooterSchemas:
    """Collects the schemas of footers; each distinct schema is read once."""

    def __init__(self, sampled: Schema) -> None:
        self._decoder = Decoder()
        self._seen: dict[int, object] = {}
        self.schemas = [sampled]
        self.types: dict[Path, pa.DataType] = {}

    def add(self, footers: Iterable[Footer]) -> None:
        for footer in footers:
            schema = self._decoder.schema(footer.data)
            if id(schema) not in self._seen:
                self._seen[id(schema)] = schema
                self.schemas.append(schema.schema())
                for path, kind in _walk(_arrow_schema(footer), ()):
                    self.types.setdefault(path, kind)

    def columns(self) -> tuple[Schema, ArrowTypes]:
        return unite(self.schemas), self.types


def columns(schema: Schema, types: ArrowTypes) -> tuple[ReadColumn, ...]:
    """The columns of a united schema; `types` are the files' Arrow types by path."""
    return tuple(_column(field, (), types) for field in schema.fields)


def _column(field: Field, above: Path, types: ArrowTypes) -> ReadColumn:
    path = (*above, field.name.lower())
    if isinstance(field.type, StructType):
        return struct_of(field.name, tuple(_column(m, path, types) for m in field.type.fields))
    kind = result_type(field.type)
    if kind is None:
        kind = types.get(path)
    if kind is None:
        raise TableError(f"the column {field.name} is of type {field.type}, which cannot be read")
    return from_arrow(field.name, kind)


def from_arrow(name: str, kind: pa.DataType) -> ReadColumn:
    """A column from a file's Arrow type; dictionaries and large types become plain types."""
    if pa.types.is_dictionary(kind):
        return from_arrow(name, kind.value_type)
    if pa.types.is_struct(kind):
        return struct_of(name, tuple(from_arrow(member.name, member.type) for member in kind))
    if pa.types.is_map(kind):
        return map_of(name, from_arrow("key", kind.key_type), from_arrow("value", kind.item_type))
    if is_list(kind):
        return list_of(name, from_arrow("element", kind.value_type))
    return ReadColumn(name, _plain(kind))


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    return _UNSIGNED.get(kind, kind)


def _walk(fields: Iterable[pa.Field], above: Path) -> Iterator[tuple[Path, pa.DataType]]:
    for field in fields:
        path = (*above, field.name.lower())
        yield path, field.type
        if pa.types.is_struct(field.type):
            yield from _walk(field.type, path)


def _arrow_schema(footer: Footer) -> Sequence[pa.Field]:
    """The schema that PyArrow reads from a footer, which it takes for a file without rows."""
    try:
        file = pa.BufferReader(file_of_footer(footer.data))
        return list(pq.ParquetFile(file, arrow_extensions_enabled=False).schema_arrow)
    except (pa.ArrowException, OSError) as error:
        raise CorruptFile(footer.path, str(error).splitlines()[0]) from None
