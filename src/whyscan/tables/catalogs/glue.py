"""Delta tables of AWS Glue, which PyIceberg's catalog for Glue does not know.

| Glue says | by whom it was made |
|---|---|
| `spark.sql.sources.provider` is `delta` | Spark, on EMR and on Glue |
| `table_type` is `DELTA` | Athena, crawlers |

Spark keeps the folder of such a table in the parameters of its SerDe, as `path`; the location of
the table may be a placeholder then.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from whyscan.tables.catalogs.names import TableName

_MARKS = ("spark.sql.sources.provider", "table_type")
_DELTA = "delta"
_DATABASE_AND_TABLE = 2


def delta_folder(catalog: Catalog, name: TableName) -> str | None:
    """The folder of a Delta table of Glue; None for another table, or one that is not there."""
    module = sys.modules.get("pyiceberg.catalog.glue")
    if module is None or not isinstance(catalog, module.GlueCatalog):
        return None
    if len(name.parts) != _DATABASE_AND_TABLE:
        return None
    database, table = name.parts
    try:
        entry: dict[str, Any] = catalog.glue.get_table(DatabaseName=database, Name=table)["Table"]
    except catalog.glue.exceptions.EntityNotFoundException:
        return None
    parameters = entry.get("Parameters") or {}
    if all(str(parameters.get(mark)).lower() != _DELTA for mark in _MARKS):
        return None
    storage = entry.get("StorageDescriptor") or {}
    path = ((storage.get("SerdeInfo") or {}).get("Parameters") or {}).get("path")
    folder = path or storage.get("Location")
    return None if not folder else str(folder).rstrip("/")
