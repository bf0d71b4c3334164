"""A real Hive metastore: the one in Spark's jars, with a database in its memory."""

from __future__ import annotations

import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from tables.storage.seaweed import free_ports, stop
from whyscan.spark.sessions import java_home

if TYPE_CHECKING:
    from collections.abc import Iterator

MAIN = "org.apache.hadoop.hive.metastore.HiveMetaStore"
SETTINGS = {
    "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
    # Locks, which Iceberg takes, would need a pool that Spark does not bring.
    "datanucleus.connectionPoolingType": "none",
    # Its asynchronous logger wants a jar that Spark does not bring.
    "hive.async.log.enabled": "false",
}
STARTED_WITHIN = 120


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The metastore's address, until the block ends."""
    java = str(java_home(folder / "java") / "bin" / "java")
    settings = {**SETTINGS, "hive.metastore.warehouse.dir": str(folder / "warehouse")}
    pairs = (f"<name>{name}</name><value>{value}</value>" for name, value in settings.items())
    lines = "".join(f"<property>{pair}</property>" for pair in pairs)
    (folder / "hive-site.xml").write_text(f"<configuration>{lines}</configuration>")
    jars = Path(pyspark.__file__).parent / "jars"
    (port,) = free_ports(1)
    command = [java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{folder}:{jars}/*", MAIN]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "-p", str(port)], cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            wait_for(port, process, folder)
            yield f"thrift://127.0.0.1:{port}"
        finally:
            stop(process)


def wait_for(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"no metastore: {(folder / 'log').read_text()[-2000:]}")
