"""Where an inventory is kept: two tables side by side, and which snapshots are whole in them.

| table | a row is |
|---|---|
| `containers` | a container; in partitions of one table and one snapshot of it |
| `tables` | a table at a snapshot, written once all of its containers are there |

OUT is the folder of both, or for Iceberg their namespace. Containers that no row of `tables` speaks
of are those of a run that was ended: the next one puts its own in their place.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import UsageError
from whyscan.spark.errors import of_spark, uncarried
from whyscan.spark.stage_output import TableFormat, append, form_named, refuse_another
from whyscan.spark.stages.inventory import direct
from whyscan.spark.stages.inventory.report import TableRow
from whyscan.spark.stages.inventory.rows import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from pyspark.sql import Column, DataFrame, SparkSession

    Snapshots = Sequence[tuple[str, str]]
    """Tables by their names, each at a snapshot."""

PARTITIONED_BY = ("table", "snapshot")
CONTAINERS = pa.schema([field for field in SCHEMA if field.name != "error"])
TABLES = pa.schema(
    [
        ("table", pa.string()),
        ("uri", pa.string()),
        ("format", pa.string()),
        ("snapshot", pa.string()),
        ("mark", pa.string()),
        ("depth", pa.string()),
        ("manifests", pa.int64()),
        ("files", pa.int64()),
        ("row_groups", pa.int64()),
        ("files_opened", pa.int64()),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
        ("read_at", pa.timestamp("us", "UTC")),
    ]
)
# Without it Spark sorts the rows of a task by their partition, though a task has few of those.
_WRITERS = "spark.sql.maxConcurrentOutputFileWriters"
_WRITERS_AT_ONCE = 100
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


class InventoryStore(Struct, frozen=True):
    """An inventory that is kept at `place` in a format."""

    place: str
    form: TableFormat

    @property
    def containers(self) -> str:
        return self._named("containers")

    @property
    def tables(self) -> str:
        return self._named("tables")

    def _named(self, name: str) -> str:
        joint = "." if self.form is TableFormat.ICEBERG else "/"
        return f"{self.place.rstrip('/')}{joint}{name}"

    def complete_rows(self, spark: SparkSession) -> dict[tuple[str, str], TableRow]:
        """What is there, by table and snapshot: the row that was written last, in that order."""
        from pyspark.errors import AnalysisException

        refuse_another(spark, self.tables, self.form)
        try:
            rows = self._read(spark, self.tables, TABLES).select(*TABLES.names).collect()
        except AnalysisException as error:
            if error.getCondition() in _NOT_THERE:
                return {}
            raise of_spark(error) from error
        table_rows = [TableRow(**record.asDict()) for record in rows]
        if self.form is TableFormat.PARQUET and direct.is_local(spark, self.containers):
            # A run that was to replace a snapshot's files may have been ended half-way.
            table_rows = [
                row for row in table_rows if self._folder(row.table, row.snapshot).is_dir()
            ]
        last = {(row.table, row.snapshot): row for row in sorted(table_rows, key=_read_at)}
        # A key stays where it was first: a snapshot that was taken up again goes to the end.
        return {(row.table, row.snapshot): row for row in sorted(last.values(), key=_read_at)}

    def _folder(self, table: str, snapshot: str) -> Path:
        about = {"table": table, "snapshot": snapshot}
        return Path(self.containers, direct.partition(about))

    def read(self, spark: SparkSession) -> DataFrame:
        """The containers that are there."""
        return self._read(spark, self.containers, CONTAINERS)

    def _read(self, spark: SparkSession, place: str, schema: pa.Schema) -> DataFrame:
        if self.form is TableFormat.ICEBERG:
            return spark.table(place)
        if self.form is TableFormat.DELTA:
            return spark.read.format("delta").load(place)
        # Spark would look into files for the schema, and takes folders of numbers for numbers.
        return spark.read.schema(ddl(schema)).parquet(place)

    def put(self, frame: DataFrame, snapshots: Snapshots) -> None:
        """The containers of some snapshots, in place of what there is of the same snapshots.

        Also where a snapshot has none: a table may have been made anew, without files.
        """
        with uncarried(), _without_sorting(frame.sparkSession):
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
        # A shuffle would bring together what is together already.
        writer = frame.writeTo(self.containers).option("distribution-mode", "none")
        writer.option("fanout-enabled", "true").overwrite(among(snapshots))

    def finish(self, spark: SparkSession, rows: Sequence[TableRow]) -> None:
        """Tables are whole."""
        records = [{name: getattr(row, name) for name in TABLES.names} for row in rows]
        frame = spark.createDataFrame(pa.Table.from_pylist(records, TABLES))
        append(frame.coalesce(1), self.tables, self.form)


def _read_at(row: TableRow) -> datetime:
    return row.read_at


def inventory_at(place: str, form: str) -> InventoryStore:
    """An inventory by the name of its folder or namespace and of its format."""
    chosen = form_named(form)
    if chosen is TableFormat.ICEBERG and "/" in place:
        raise UsageError(
            f"{place!r} names no namespace of a catalog",
            hint="an inventory in Iceberg is named by the session's catalog: lake.inventory",
        )
    # The JVM may have been started in another folder than the one that the user stands in.
    local = chosen is not TableFormat.ICEBERG and _SCHEME.match(place) is None
    return InventoryStore(os.path.abspath(place) if local else place, chosen)  # noqa: PTH100 - links stay


def among(snapshots: Snapshots) -> Column:
    """Whether a container is of one of the snapshots."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    each = ((F.col("table") == name) & (F.col("snapshot") == at) for name, at in snapshots)
    return reduce(or_, each)


def _sql(snapshots: Snapshots) -> str:
    """The same as text of Spark's SQL."""
    return " OR ".join(
        f"(table = {_literal(name)} AND snapshot = {_literal(at)})" for name, at in snapshots
    )


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def ddl(schema: pa.Schema) -> str:
    """A schema in Spark's words."""
    from pyspark.sql.pandas.types import from_arrow_schema

    fields = from_arrow_schema(schema).fields
    return ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in fields)


_NOT_THERE = frozenset(
    {
        "DELTA_PATH_DOES_NOT_EXIST",
        "DELTA_TABLE_NOT_FOUND",
        "PATH_NOT_FOUND",
        "TABLE_OR_VIEW_NOT_FOUND",
    }
)


@contextmanager
def _without_sorting(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get(_WRITERS, None)
    spark.conf.set(_WRITERS, str(_WRITERS_AT_ONCE))
    try:
        yield
    finally:
        spark.conf.unset(_WRITERS) if before is None else spark.conf.set(_WRITERS, before)
