"""Tables as a Hive metastore and Glue describe them, and what they are.

| the catalog says | the table is |
|---|---|
| `table_type` is `ICEBERG` | Iceberg |
| `spark.sql.sources.provider` or `table_type` is `delta` | Delta |
| `spark.sql.sources.provider` is another word | a table of Spark, with its schema in properties |
| the input format and the SerDe are Hive's | a Hive table of that format |
| another input format: Hudi's, links, HBase | refused: its files are not its rows |

Spark keeps the folder of its tables in the parameters of the SerDe, as `path`; the location of the
table may be a placeholder then.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import TableError
from whyscan.tables.catalogs.hive_types import hive_type
from whyscan.tables.catalogs.projection import is_projected, projected
from whyscan.tables.delta.schema import read_schema
from whyscan.tables.parquet.declared_tables import (
    DeclaredPartition,
    DeclaredTable,
    open_computed,
    open_declared,
)
from whyscan.tables.parquet.values import unescape
from whyscan.tree.types import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.tables.catalogs.names import TableName
    from whyscan.tables.parquet.declared_tables import OpenStore
    from whyscan.tables.parquet.snapshot import ParquetSnapshot

_PROVIDER = "spark.sql.sources.provider"
_TABLE_TYPE = "table_type"
_SCHEMA = "spark.sql.sources.schema"
_PARTITIONS_BY = "spark.sql.partitionProvider"
_DELTA = "delta"
_VIEWS = frozenset({"VIRTUAL_VIEW", "MATERIALIZED_VIEW"})
_PROVIDERS = frozenset({"parquet", "orc", "avro", "csv", "json", "text"})
# By the last part of the class name: of the input format, and of the SerDe.
_INPUT_FORMATS = frozenset(
    {
        "MapredParquetInputFormat",
        "DeprecatedParquetInputFormat",
        "OrcInputFormat",
        "AvroContainerInputFormat",
        "TextInputFormat",
        "SequenceFileInputFormat",
    }
)
_SERDES = {
    "ParquetHiveSerDe": "parquet",
    "OrcSerde": "orc",
    "AvroSerDe": "avro",
    "LazySimpleSerDe": "text",
    "OpenCSVSerde": "csv",
    "JsonSerDe": "json",
}
_HUDI = re.compile("hudi|hoodie", re.IGNORECASE)


class FileStorage(Struct, frozen=True):
    """Where the files of a table or a partition are, and by which classes Hive reads them."""

    location: str | None
    input_format: str = ""
    serde: str = ""
    serde_parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def format(self) -> str | None:
        """The format of the files; None if it is not certain that the files are the rows."""
        if self.input_format.rpartition(".")[2] not in _INPUT_FORMATS:
            return None
        return _SERDES.get(self.serde.rpartition(".")[2])


class PartitionEntry(Struct, frozen=True):
    """A partition that is registered: its values in the order of the partition columns."""

    values: tuple[str, ...]
    storage: FileStorage


class HiveTable(Struct, frozen=True):
    """A table of a metastore. `read_partitions` asks for the partitions that are registered."""

    kind: str
    columns: Sequence[tuple[str, str]]
    partition_columns: Sequence[tuple[str, str]]
    parameters: Mapping[str, str]
    storage: FileStorage
    read_partitions: Callable[[], Sequence[PartitionEntry]]

    @property
    def folder(self) -> str:
        folder = self.storage.serde_parameters.get("path") or self.storage.location or ""
        return folder if folder == "/" else folder.rstrip("/")

    @property
    def provider(self) -> str:
        return self.parameters.get(_PROVIDER, "").lower()

    @property
    def is_delta(self) -> bool:
        marks = (self.provider, self.parameters.get(_TABLE_TYPE, "").lower())
        return _DELTA in marks and bool(self.folder)


def open_hive(table: HiveTable, name: TableName, open_store: OpenStore) -> ParquetSnapshot:
    """The snapshot of a table that is neither Delta nor Iceberg."""
    kind = _format(table, name)
    columns, fields = _schema(table)
    if fields and is_projected(table.parameters):
        projection = projected(table.parameters, table.folder, fields)
        declared = DeclaredTable(projection.prefix, columns, fields, ())
        store = open_store(projection.prefix)
        snapshot = open_computed(declared, store, projection.values, kind)
        how = "partitions by projection, as Athena reads it"
    elif fields and table.provider and table.parameters.get(_PARTITIONS_BY) != "catalog":
        declared = DeclaredTable(table.folder, columns, fields, ())
        names = tuple(each.name.lower() for each in fields)
        values = partial(_values_of_folder, names)
        snapshot = open_computed(declared, open_store(table.folder), values, kind)
        how = "partitions by the names of folders"
    else:
        partitions = _partitions(table, name, kind, len(fields))
        declared = DeclaredTable(table.folder, columns, fields, partitions)
        snapshot = open_declared(declared, open_store)
        how = f"{len(partitions):,} registered partitions" if fields else "not partitioned"
    where = f"by the catalog {name.catalog}, table {'.'.join(name.parts)}"
    return replace(snapshot, notes=(f"{where}: {how}",))


def _format(table: HiveTable, name: TableName) -> str:
    """The format of the table's files; refuses a table whose files are not its rows."""
    if table.kind.upper() in _VIEWS:
        raise TableError(f"{name} is a view", hint="open the tables that it reads")
    classes = f"{table.provider} {table.storage.input_format} {table.storage.serde}"
    if _HUDI.search(classes):
        raise TableError(
            f"{name} is a Hudi table, which whyscan does not read",
            hint="read as plain Parquet it would show deleted rows",
        )
    if table.parameters.get("transactional", "").lower() == "true":
        raise TableError(
            f"{name} is a transactional Hive table, which whyscan does not read",
            hint="its folders hold deltas and rows that were deleted",
        )
    kind = table.provider if table.provider in _PROVIDERS else table.storage.format
    if kind is None or not table.folder or (table.provider and table.provider not in _PROVIDERS):
        by = table.provider or table.storage.input_format or "no input format"
        raise TableError(
            f"{name} is no Iceberg, Delta or Hive table that whyscan reads: {by}",
            hint="open what it reads by path",
        )
    return kind


def _schema(table: HiveTable) -> tuple[Schema, tuple[Field, ...]]:
    """The columns of the files, and the partition columns.

    Spark writes its schema into properties, with the case of names. It counts only as long as the
    columns of the catalog are the same: another engine may have changed them.
    """
    hive = tuple(Field(name, hive_type(kind)) for name, kind in table.columns)
    hive_partitions = tuple(Field(name, hive_type(kind)) for name, kind in table.partition_columns)
    document = _document(table.parameters)
    if document is None:
        return Schema(hive), hive_partitions
    fields = read_schema(document, mapped=False).logical.fields
    names = _partition_names(table)
    partitions = tuple(f for name in names for f in fields if f.name.lower() == name.lower())
    others = tuple(each for each in fields if each not in partitions)
    if table.provider:
        return Schema(others), partitions
    same = _comparable(others) == _comparable(hive)
    same = same and _comparable(partitions) == _comparable(hive_partitions)
    return (Schema(others), partitions) if same else (Schema(hive), hive_partitions)


def _comparable(fields: Sequence[Field]) -> list[tuple[str, str]]:
    return [(each.name.lower(), str(each.type).lower()) for each in fields]


def _document(parameters: Mapping[str, str]) -> str | None:
    """The JSON of Spark's schema, which may be in numbered parts."""
    if _SCHEMA in parameters:
        return parameters[_SCHEMA]
    count = parameters.get(f"{_SCHEMA}.numParts", "")
    if not count.isdecimal():
        return None
    parts = [parameters.get(f"{_SCHEMA}.part.{number}") for number in range(int(count))]
    return None if None in parts else "".join(part for part in parts if part is not None)


def _partition_names(table: HiveTable) -> tuple[str, ...]:
    count = table.parameters.get(f"{_SCHEMA}.numPartCols", "")
    if not count.isdecimal():
        return tuple(name for name, _ in table.partition_columns)
    numbers = range(int(count))
    return tuple(table.parameters.get(f"{_SCHEMA}.partCol.{number}", "") for number in numbers)


def _partitions(
    table: HiveTable, name: TableName, kind: str, columns: int
) -> Sequence[DeclaredPartition]:
    """The registered partitions; a table without partition columns is one partition."""
    if not columns:
        return [DeclaredPartition((), table.folder, kind)]
    return [_declared(entry, table, name, kind, columns) for entry in table.read_partitions()]


def _values_of_folder(names: Sequence[str], folder: str) -> tuple[str, ...] | None:
    """The values in `a=1/b=2`; None for a folder that is not named after these columns."""
    pairs = [part.partition("=") for part in folder.split("/")]
    if [unescape(name).lower() for name, _, _ in pairs] != list(names):
        return None
    return tuple(unescape(value) for _, _, value in pairs)


def _declared(
    entry: PartitionEntry, table: HiveTable, name: TableName, kind: str, count: int
) -> DeclaredPartition:
    if len(entry.values) != count or entry.storage.location is None:
        raise TableError(f"a partition of {name} has no location, or not {count} values")
    format_ = kind if table.provider else entry.storage.format or "another SerDe"
    return DeclaredPartition(entry.values, entry.storage.location, format_)
