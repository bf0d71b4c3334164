"""Tables of a Hive metastore that Spark writes and reads, in a process of its own.

A session of Hive's catalog needs another JVM than the session of the worker's other tests.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from whyscan.spark.sessions import java_home


def main(metastore: str, folder: Path, jars: str) -> None:
    statements = json.loads((folder / "statements.json").read_text())
    spark = session(metastore, folder, jars)
    for statement in statements["write"]:
        spark.sql(statement)
    for source, target in statements["copied"]:
        copy(folder, source, target)
    answers = {}
    for name, query in statements["read"].items():
        try:
            answers[name] = sorted(map(repr, spark.sql(query).toArrow().to_pylist()))
        except Exception as error:  # noqa: BLE001 - what Spark refuses is an answer, too
            answers[name] = str(error).splitlines()[0]
    (folder / "answers.json").write_text(json.dumps(answers))
    spark.stop()


def copy(folder: Path, source: str, target: str) -> None:
    """Copy the first file that matches, behind the metastore's back."""
    file = next(folder.glob(source))
    (folder / target).parent.mkdir(parents=True, exist_ok=True)
    (folder / target).write_bytes(file.read_bytes())


def session(metastore: str, folder: Path, jars: str) -> SparkSession:
    os.environ["JAVA_HOME"] = str(java_home(folder / "java"))
    builder = SparkSession.builder.master("local[1]")
    settings = {
        "spark.jars": jars,
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": metastore,
        "spark.sql.warehouse.dir": f"file:{folder}/warehouse",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hive",
        "spark.sql.catalog.ice.uri": metastore,
        # The metastore of Spark's jars has no pool of connections for locks.
        "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
