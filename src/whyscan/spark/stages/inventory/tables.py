"""The tables of an inventory, each at the snapshot that it has of them: what later stages ask."""

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
    """The tables that are there, by name; of several snapshots of one the last that was read."""
    # In the order in which they were read: the last of a name stays.
    rows = {row.table: row for row in inventory_at(place, form).complete_rows(spark).values()}
    if not rows:
        raise UsageError(
            f"there is no inventory at {place}", hint=f"whyscan inventory TABLE... -o {place}"
        )
    return tuple(NamedTable(row.table, row.uri, options, row.snapshot) for row in rows.values())
