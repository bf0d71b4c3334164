"""What differs between the versions of Spark: artifacts, Java, and how Arrow tables come and go.

| Spark | Scala | Java | |
|---|---|---|---|
| 3.5 | 2.12, 2.13 | 8, 11, 17 | no Python data sources, no Spark Connect here |
| 4.0 | 2.13 | 17, 21 | |
| 4.1 | 2.13 | 17, 21 | |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession


class SparkVersion(Struct, frozen=True):
    """One minor version of Spark: the artifacts of Delta and Iceberg, and the Java versions."""

    name: str
    delta: str
    iceberg: str
    javas: tuple[str, ...]

    def packages(self, scala: str) -> str:
        """The Maven coordinates of Delta and Iceberg for a version of Scala."""
        return ",".join(
            (
                f"io.delta:{self.delta.format(scala=scala)}",
                f"org.apache.iceberg:iceberg-spark-runtime-{self.name}_{scala}:{self.iceberg}",
            )
        )


SUPPORTED = {
    version.name: version
    for version in (
        SparkVersion("3.5", "delta-spark_{scala}:3.3.3", "1.11.0", ("8", "11", "17")),
        SparkVersion("4.0", "delta-spark_4.0_{scala}:4.4.0", "1.11.0", ("17", "21")),
        SparkVersion("4.1", "delta-spark_4.1_{scala}:4.4.0", "1.12.0", ("17", "21")),
    )
}
"""The versions that whyscan starts. Java 25 removed an API that Spark's Arrow needs."""
NO_CONNECT = "pip install 'pyspark[connect]>=4,<4.2' on both sides"


def installed() -> SparkVersion:
    """The version of the installed PySpark; UsageError if whyscan does not know it."""
    import pyspark

    name = ".".join(pyspark.__version__.split(".")[:2])
    if name not in SUPPORTED:
        raise UsageError(
            f"whyscan starts Spark {', '.join(SUPPORTED)}, and this is Spark {name}",
            hint="pip install 'pyspark>=3.5,<4.2'",
        )
    return SUPPORTED[name]


def version_of(spark: SparkSession) -> tuple[int, ...]:
    """The version of a session as numbers, `(4, 1, 4)`. A platform may write more behind it."""
    return tuple(map(int, re.findall(r"\d+", spark.version)[:3]))


def scala_of(home: Path) -> str:
    """The version of Scala, such as `2.13`, of the Spark in a folder."""
    library = next((home / "jars").glob("scala-library-*.jar"), None)
    match = re.match(r"scala-library-(\d+\.\d+)", "" if library is None else library.name)
    return "2.13" if match is None else match[1]


def require_python_sources(spark: SparkSession) -> None:
    """Raise UsageError if a session has no Python data sources, as before Spark 4.0."""
    if not hasattr(spark, "dataSource"):
        raise UsageError(
            f"Spark {spark.version} has no data sources in Python, so format('whyscan') needs 4.0",
            hint="whyscan.spark.read gives the same rows on every version",
        )


def condition_of(error: PySparkException) -> str | None:
    """The name of an error's condition, which Spark 3.5 calls its class."""
    name: str | None = getattr(error, "getCondition", error.getErrorClass)()
    return name


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """An Arrow table as a DataFrame. Before Spark 4.0 tasks unpack it from rows of bytes."""
    if version_of(spark) >= (4,):
        return spark.createDataFrame(table)
    from whyscan.engines.spark_types import spark_schema

    rows = [(_packed(batch),) for batch in table.to_batches()]
    packed = spark.createDataFrame(rows, "data binary")
    return packed.mapInArrow(_unpacked, spark_schema(table.schema))


def _packed(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.column(0):
            yield from pa.ipc.open_stream(row.as_py())


def table_of(frame: DataFrame) -> pa.Table:
    """The rows of a DataFrame as an Arrow table. PySpark before 4.0 can collect batches only."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    collect: Any = getattr(frame, "_collect_as_arrow", None)  # What `toPandas` uses.
    if collect is None:
        raise UsageError("Spark Connect needs Spark 4.0", hint=NO_CONNECT)
    from pyspark.sql.pandas.types import to_arrow_schema

    batches = collect()
    return pa.Table.from_batches(batches, None if batches else to_arrow_schema(frame.schema))
