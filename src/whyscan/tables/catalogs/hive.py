"""Tables of a Hive metastore that are no Iceberg tables, over Thrift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.tables.catalogs.hive_tables import FileStorage, HiveTable, PartitionEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyiceberg.catalog.hive import HiveCatalog

_VIEWS = ("VIRTUAL_VIEW", "MATERIALIZED_VIEW")
_AT_ONCE = 1_000
"""How many partitions one answer has: those of a large table would be too large for Thrift."""


def table(catalog: HiveCatalog, database: str, name: str) -> HiveTable | None:
    """The table as the metastore describes it; None for a table that does not exist."""
    from hive_metastore.ttypes import NoSuchObjectException

    with catalog._client as client:  # noqa: SLF001 - PyIceberg knows Iceberg tables alone
        try:
            entry = client.get_table(database, name)
        except NoSuchObjectException:
            return None

    def partitions() -> Sequence[PartitionEntry]:
        with catalog._client as client:  # noqa: SLF001 - as above
            names = client.get_partition_names(database, name, -1)
            batches = (names[at : at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE))
            return [
                PartitionEntry(tuple(partition.values), _storage_of(partition.sd))
                for batch in batches
                for partition in client.get_partitions_by_names(database, name, batch)
            ]

    return HiveTable(
        kind=entry.tableType or "",
        columns=[(column.name, column.type) for column in entry.sd.cols or ()],
        partition_columns=[(column.name, column.type) for column in entry.partitionKeys or ()],
        parameters=entry.parameters or {},
        storage=_storage_of(entry.sd),
        read_partitions=partitions,
    )


def table_names(catalog: HiveCatalog, database: str) -> list[str]:
    """The tables of a database, without its views."""
    with catalog._client as client:  # noqa: SLF001 - as above
        views = {n for kind in _VIEWS for n in client.get_tables_by_type(database, "*", kind)}
        return [name for name in client.get_all_tables(database) if name not in views]


def _storage_of(descriptor: Any) -> FileStorage:
    serde = descriptor.serdeInfo
    return FileStorage(
        location=descriptor.location,
        input_format=descriptor.inputFormat or "",
        serde=(serde and serde.serializationLib) or "",
        serde_parameters=(serde and serde.parameters) or {},
    )
