"""Tables of AWS Glue that are no Iceberg tables: PyIceberg does not know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.tables.catalogs.hive_tables import FileStorage, HiveTable, PartitionEntry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyiceberg.catalog.glue import GlueCatalog

    Document = Mapping[str, Any]

_VIEW = "VIRTUAL_VIEW"


def table(catalog: GlueCatalog, database: str, name: str) -> HiveTable | None:
    """The table as Glue describes it; None for a table that does not exist."""
    client: Any = catalog.glue
    try:
        entry: Document = client.get_table(DatabaseName=database, Name=name)["Table"]
    except client.exceptions.EntityNotFoundException:
        return None

    def partitions() -> Sequence[PartitionEntry]:
        pages = client.get_paginator("get_partitions").paginate(
            DatabaseName=database, TableName=name, ExcludeColumnSchema=True
        )
        listed = (partition for page in pages for partition in page["Partitions"])
        return [PartitionEntry(tuple(p["Values"]), _storage_of(p)) for p in listed]

    storage = entry.get("StorageDescriptor") or {}
    return HiveTable(
        kind=entry.get("TableType") or "",
        columns=_columns(storage.get("Columns")),
        partition_columns=_columns(entry.get("PartitionKeys")),
        parameters=entry.get("Parameters") or {},
        storage=_storage_of(entry),
        read_partitions=partitions,
    )


def table_names(catalog: GlueCatalog, database: str) -> list[str]:
    """The tables of a database, without its views."""
    pages = catalog.glue.get_paginator("get_tables").paginate(DatabaseName=database)
    tables = (entry for page in pages for entry in page["TableList"])
    return [entry["Name"] for entry in tables if entry.get("TableType") != _VIEW]


def _columns(entries: Sequence[Document] | None) -> list[tuple[str, str]]:
    return [(entry["Name"], entry.get("Type") or "") for entry in entries or ()]


def _storage_of(entry: Document) -> FileStorage:
    storage = entry.get("StorageDescriptor") or {}
    serde = storage.get("SerdeInfo") or {}
    return FileStorage(
        location=storage.get("Location"),
        input_format=storage.get("InputFormat") or "",
        serde=serde.get("SerializationLibrary") or "",
        serde_parameters=serde.get("Parameters") or {},
    )
