"""Read a table with Spark's reader for Delta, Iceberg or Parquet.

Whyscan's reader is not used, so that the counts of both readers are independent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.errors import TableError
from whyscan.spark.jobs import spark_errors_as, with_settings
from whyscan.spark.stages.verify.truth import quoted, truth
from whyscan.tables.iceberg.snapshot import IcebergSnapshot
from whyscan.tables.parquet.snapshot import ParquetSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.types import Field

READERS = {"delta": "spark-delta", "iceberg": "spark-iceberg"}
PARQUET = "spark-parquet"
_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


def reader_of(snapshot: Snapshot) -> str:
    """The name of Spark's reader for the table."""
    return READERS.get(snapshot.format, PARQUET)


def frame(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    """The snapshot's rows; WhyscanError where Spark cannot open it."""
    with spark_errors_as(TableError):
        return _frame(spark, snapshot)


def _frame(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    if isinstance(snapshot, ParquetSnapshot):
        if snapshot.declared is not None:
            raise TableError("a catalog has its partitions, and Spark would read them from folders")
        store = snapshot.store
        paths = [store.shown(path) for path in snapshot.objects["path"].to_pylist()]
        reader = spark.read.options(basePath=store.uri, mergeSchema="true")
        return _typed(spark, lambda: reader.parquet(*paths), snapshot.partitions.fields)
    if isinstance(snapshot, IcebergSnapshot):
        if snapshot.opened.places.moved:
            # Iceberg would read the files at the old place of the table.
            raise TableError("the table was moved, and Iceberg follows the paths that it records")
        reader = spark.read.format("iceberg")
        if snapshot.version is not None:
            reader = reader.option("versionAsOf", str(snapshot.version))
        return reader.load(snapshot.metadata.path)
    reader = spark.read.format("delta").option("versionAsOf", str(snapshot.version))
    return reader.load(snapshot.uri)


def _typed(
    spark: SparkSession, load: Callable[[], DataFrame], fields: Sequence[Field]
) -> DataFrame:
    """The rows with the table's types of partition columns; Spark may infer other types."""
    rows = load()
    if all(rows.schema[f.name].dataType.simpleString() == str(f.type) for f in fields):
        return rows
    with with_settings(spark, {_INFERENCE: "false"}):
        rows = load()
    return rows.withColumns({f.name: rows[quoted((f.name,))].cast(str(f.type)) for f in fields})


def totals(rows: DataFrame, predicates: Mapping[int, str]) -> tuple[int, dict[int, int]]:
    """The number of all rows, and of TRUE rows per predicate, in one pass without pruning."""
    from pyspark.sql import functions as f

    # sum and not count: Delta and Iceberg answer count(*) from metadata.
    sums = [f.sum(f.lit(1)).alias("rows")]
    sums += [f.count_if(truth(sql) == "true").alias(f"true_{n}") for n, sql in predicates.items()]
    with spark_errors_as(TableError):
        (counts,) = rows.agg(*sums).collect()
    return counts["rows"] or 0, {number: counts[f"true_{number}"] for number in predicates}
