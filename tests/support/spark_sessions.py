"""One Spark session, with Delta and Iceberg, for the tests that need one.

Delta tables are addressed by path (delta.`/folder`), Iceberg tables as `ice.namespace.name`, whose
files are under the session's `warehouse/ice`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from whyscan.cli.spark_session import ENDING
from whyscan.spark import session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

# For hundreds of expressions at a time: compiling them takes longer than running them.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.subexpressionElimination.enabled": "false",
}


def start(folder: Path, more: Mapping[str, str] | None = None) -> SparkSession:
    """A quiet local session whose every file is in `folder`; `more` are settings besides."""
    ENDING.wait()  # a command that ran in this process may still end its own
    _end_java_without_formats()
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.driver.memory": "2g",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "warehouse" / "ice"),
    }
    return session("local[2]", formats=True, settings=settings | dict(more or {}))


def _end_java_without_formats() -> None:
    """End the Java of a command that ran in this process: it has no jars of Delta and Iceberg."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None and not SparkContext._jvm.System.getProperty("spark.jars"):
        gateway.shutdown()
        gateway.proc.stdin.close()  # at which Java ends
        gateway.proc.wait()
        SparkContext._gateway = SparkContext._jvm = None


@contextmanager
def settings(spark: SparkSession, changed: Mapping[str, str]) -> Iterator[SparkSession]:
    """The session with other settings for a while."""
    before = {key: spark.conf.get(key, None) for key in changed}
    for key, value in changed.items():
        spark.conf.set(key, value)
    try:
        yield spark
    finally:
        for key, value in before.items():
            spark.conf.set(key, value) if value is not None else spark.conf.unset(key)


def persisted(spark: SparkSession) -> set[int]:
    """The RDDs that executors keep. Delta keeps the states of its tables, too."""
    return set(spark.sparkContext._jsc.getPersistentRDDs())
