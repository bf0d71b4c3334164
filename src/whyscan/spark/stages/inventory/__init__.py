"""The inventory of tables: one row per container, with its statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.stages.inventory.opening import Named
    from whyscan.spark.stages.inventory.report import InventoryRun
    from whyscan.spark.stages.inventory.run import InventorySettings

__all__ = ["inventory", "write_inventory"]


def inventory(
    spark: SparkSession,
    tables: Named,
    *,
    depth: str = "files",
    options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """One row per container of the tables; one row with an `error` per part that is unreadable."""
    from whyscan.spark.stages.inventory import run

    return run.inventory(spark, tables, depth=depth, options=options)


def write_inventory(
    spark: SparkSession, tables: Named, output: str, **settings: Unpack[InventorySettings]
) -> InventoryRun:
    """Bring the inventory at `output` up to date; snapshots that it has are not read again."""
    from whyscan.spark.stages.inventory import run

    return run.write_inventory(spark, tables, output, **settings)
