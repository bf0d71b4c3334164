"""Event logs that Spark itself writes, of a session that is running already."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

SETTINGS = {
    "plain": {"compress": "false", "rolling.enabled": "false"},
    "zstd": {"compress": "true", "compression.codec": "zstd", "rolling.enabled": "true"},
    "lz4": {"compress": "true", "compression.codec": "lz4", "rolling.enabled": "true"},
    "snappy": {"compress": "true", "compression.codec": "snappy", "rolling.enabled": "false"},
}
"""`spark.eventLog.*` for a folder each."""


@contextmanager
def recording(spark: SparkSession, folder: Path) -> Iterator[None]:
    """What runs meanwhile is in the folders of `SETTINGS`, as Spark writes its logs."""
    context = spark.sparkContext._jsc.sc()
    writers = [_writer(spark, folder / name, options) for name, options in SETTINGS.items()]
    try:
        yield
        context.listenerBus().waitUntilEmpty(60_000)
    finally:
        for writer in writers:
            context.removeSparkListener(writer)
            writer.stop()


def _writer(spark: SparkSession, folder: Path, options: Mapping[str, str]):
    folder.mkdir(parents=True)
    jvm, context = spark.sparkContext._jvm, spark.sparkContext._jsc
    conf = context.sc().conf().clone()
    for key, value in options.items():
        conf.set(f"spark.eventLog.{key}", value)
    writer = jvm.org.apache.spark.scheduler.EventLoggingListener(
        "app-1",
        jvm.scala.Option.empty(),
        jvm.java.net.URI(folder.as_uri()),
        conf,
        context.hadoopConfiguration(),
    )
    writer.start()
    context.sc().addSparkListener(writer)
    return writer
