"""Write and read the two tables of an inventory.

| table | one row is |
|---|---|
| `containers` | a container; partitioned by table and snapshot |
| `tables` | a table at a snapshot; written after all of its containers |

The output is the folder of both tables, or for Iceberg their namespace. Containers of a snapshot
without a row in `tables` come from a run that was ended: the next run replaces them.
"""

from __future__ import annotations

import os
import re
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import UsageError, WhyscanError
from whyscan.spark.errors import uncarried
from whyscan.spark.jobs import with_settings
from whyscan.spark.stage_output import TableFormat, append, format_named, is_absent, refuse_another
from whyscan.spark.stages.inventory import direct
from whyscan.spark.stages.inventory.report import TableRow
from whyscan.spark.versions import frame_of
from whyscan.tables.inventory.container_schema import CONTAINERS, TABLES
from whyscan.tables.inventory.opening import open_inventory_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from pyspark.sql import Column, DataFrame, SparkSession

    from whyscan.tables.inventory.opening import Inventory

    Snapshots = Sequence[tuple[str, str]]
    """Pairs of a table's name and a snapshot's name."""

PARTITIONED_BY = ("table", "snapshot")
# Without this setting Spark sorts the rows of a task by partition; a task has few partitions.
_WITHOUT_SORTING = {"spark.sql.maxConcurrentOutputFileWriters": "100"}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


class InventoryStore(Struct, frozen=True):
    """The two tables of an inventory at `place`, in one format."""

    place: str
    form: TableFormat

    @property
    def containers(self) -> str:
        return self._place_of("containers")

    @property
    def tables(self) -> str:
        return self._place_of("tables")

    def _place_of(self, name: str) -> str:
        joint = "." if self.form is TableFormat.ICEBERG else "/"
        return f"{self.place.rstrip('/')}{joint}{name}"

    def complete_rows(self, spark: SparkSession) -> dict[tuple[str, str], TableRow]:
        """The last row of each complete snapshot, by table and snapshot, ordered by read time."""
        refuse_another(spark, self.tables, self.form)
        try:
            with uncarried():
                rows = self._read(spark, self.tables, TABLES).select(*TABLES.names).collect()
        except WhyscanError as error:
            if is_absent(error):
                return {}
            raise
        table_rows = [TableRow(**record.asDict()) for record in rows]
        if self.form is TableFormat.PARQUET and direct.is_local(spark, self.containers):
            # A run that replaces the files of a snapshot may have been ended half-way.
            table_rows = [
                row for row in table_rows if self._folder(row.table, row.snapshot).is_dir()
            ]
        last = {(row.table, row.snapshot): row for row in sorted(table_rows, key=_read_at)}
        # Sorted again: a dictionary keeps the first position of a key, not the last one.
        return {(row.table, row.snapshot): row for row in sorted(last.values(), key=_read_at)}

    def _folder(self, table: str, snapshot: str) -> Path:
        about = {"table": table, "snapshot": snapshot}
        return Path(self.containers, direct.partition(about))

    def read(self, spark: SparkSession) -> DataFrame:
        """The containers of the inventory as a DataFrame."""
        return self._read(spark, self.containers, CONTAINERS)

    def _read(self, spark: SparkSession, place: str, schema: pa.Schema) -> DataFrame:
        if self.form is TableFormat.ICEBERG:
            return spark.table(place)
        if self.form is TableFormat.DELTA:
            return spark.read.format("delta").load(place)
        from whyscan.engines.spark_types import spark_schema

        # Without a schema Spark reads it from files, and reads folders of digits as numbers.
        return spark.read.schema(spark_schema(schema)).parquet(place)

    def put(self, frame: DataFrame, snapshots: Snapshots) -> None:
        """Write the containers of some snapshots, and replace the rows of the same snapshots.

        Rows are removed also if a snapshot has no containers: a new table may have no files.
        """
        with uncarried(), with_settings(frame.sparkSession, _WITHOUT_SORTING):
            if self.form is TableFormat.ICEBERG:
                self._put_iceberg(frame, snapshots)
                return
            writer = frame.write.format(self.form).mode("overwrite").partitionBy(*PARTITIONED_BY)
            if self.form is TableFormat.DELTA:
                writer = writer.option("replaceWhere", _sql(snapshots))
            else:
                writer = writer.option("partitionOverwriteMode", "dynamic")
            writer.save(self.containers)

    def _put_iceberg(self, frame: DataFrame, snapshots: Snapshots) -> None:
        if not frame.sparkSession.catalog.tableExists(self.containers):
            append(frame.limit(0), self.containers, self.form, partitioned_by=PARTITIONED_BY)
        # No shuffle: the rows of one partition are already in one task.
        writer = frame.writeTo(self.containers).option("distribution-mode", "none")
        writer.option("fanout-enabled", "true").overwrite(of_snapshots(snapshots))

    def finish(self, spark: SparkSession, rows: Sequence[TableRow]) -> None:
        """Write one row per table whose containers are all written."""
        records = [{name: getattr(row, name) for name in TABLES.names} for row in rows]
        frame = frame_of(spark, pa.Table.from_pylist(records, TABLES))
        append(frame.coalesce(1), self.tables, self.form)


def _read_at(row: TableRow) -> datetime:
    return row.read_at


def inventory_at(place: str, form: str) -> InventoryStore:
    """The inventory at a folder or in a namespace, by the name of its format."""
    chosen = format_named(form)
    if chosen is TableFormat.ICEBERG and "/" in place:
        raise UsageError(
            f"{place!r} names no namespace of a catalog",
            hint="an inventory in Iceberg is named by the session's catalog: lake.inventory",
        )
    # An absolute path: the JVM may have another working folder than this process.
    local = chosen is not TableFormat.ICEBERG and _SCHEME.match(place) is None
    return InventoryStore(os.path.abspath(place) if local else place, chosen)  # noqa: PTH100 - links stay


def open_written(
    spark: SparkSession, place: str, form: str, options: Mapping[str, Any]
) -> Inventory:
    """Open an inventory by its folder, or by its namespace in a catalog of the session."""
    store = inventory_at(place, form)
    tables, containers = store.tables, store.containers
    if store.form is TableFormat.ICEBERG:
        with uncarried():
            tables, containers = _location(spark, tables), _location(spark, containers)
    return open_inventory_tables(place, tables, containers, options)


def _location(spark: SparkSession, name: str) -> str:
    """The address of an Iceberg table of the session."""
    lines = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").where("col_name = 'Location'").collect()
    return str(lines[0]["data_type"])


def of_snapshots(snapshots: Snapshots) -> Column:
    """The Spark condition that a container belongs to one of the snapshots."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    each = ((F.col("table") == name) & (F.col("snapshot") == at) for name, at in snapshots)
    return reduce(or_, each)


def _sql(snapshots: Snapshots) -> str:
    """The condition that a container belongs to one of the snapshots, as Spark SQL text."""
    return " OR ".join(
        f"(table = {_literal(name)} AND snapshot = {_literal(at)})" for name, at in snapshots
    )


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
