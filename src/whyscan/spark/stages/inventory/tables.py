"""List the tables of an inventory with their snapshots, as the input of later stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.errors import UsageError
from whyscan.spark.stages.inventory.writing import inventory_at
from whyscan.spark.tables import NamedTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession


def inventoried(
    spark: SparkSession, place: str, form: str, options: Mapping[str, Any]
) -> tuple[NamedTable, ...]:
    """The tables of an inventory by name, each at the snapshot that was read last."""
    # Rows come in the order of reading: the last row of a name wins.
    rows = {row.table: row for row in inventory_at(place, form).complete_rows(spark).values()}
    if not rows:
        raise UsageError(
            f"there is no inventory at {place}", hint=f"whyscan inventory TABLE... -o {place}"
        )
    return tuple(NamedTable(row.table, row.uri, options, row.snapshot) for row in rows.values())
