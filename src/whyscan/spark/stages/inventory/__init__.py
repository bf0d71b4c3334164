"""The inventory of tables: one row per container, with its statistics."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.stages.inventory.opening import Named
    from whyscan.spark.stages.inventory.report import InventoryRun

__all__ = ["inventory", "write_inventory"]


def inventory(
    spark: SparkSession,
    tables: Named,
    *,
    depth: str = "files",
    storage: Mapping[str, object] | None = None,
) -> DataFrame:
    """One row per container of the tables; one row with an `error` per part that is unreadable.

    `tables` maps names to addresses, or lists `NAME=URI`, globs and namespaces of catalogs. `depth`
    is `files` or `row-groups`. `storage` are the storage options of the tables.
    """
    from whyscan.spark.stages.inventory import run

    return run.inventory(spark, tables, depth=depth, storage=storage)


def write_inventory(
    spark: SparkSession,
    tables: Named,
    output: str,
    *,
    form: str = "parquet",
    depth: str = "files",
    storage: Mapping[str, object] | None = None,
    partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    progress: Callable[[str], None] | None = None,
) -> InventoryRun:
    """Bring the inventory at `output` up to date; snapshots that it has are not read again.

    `form` is the format of the output: parquet, delta or iceberg. `partition_types` are the types
    of Hive partition columns, by table and column. `progress` is called with one line of text
    before each step. The other parameters are those of `inventory`.
    """
    from whyscan.spark.stages.inventory import run

    return run.write_inventory(
        spark,
        tables,
        output,
        form=form,
        depth=depth,
        storage=storage,
        partition_types=partition_types,
        progress=progress,
    )
