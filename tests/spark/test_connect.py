"""Spark Connect: a real server, and a client that sees nothing of its JVM."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

from whyscan.errors import UsageError, WhyscanError
from whyscan.spark import session
from whyscan.spark.sessions import format_settings, java_home

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(pyspark.__version__ < "4", reason="Spark Connect needs Spark 4.0"),
]

PROGRAM = Path(__file__).with_name("on_connect.py")
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
STARTED_WITHIN = 180


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Nine files in two countries, and two queries."""
    root = tmp_path_factory.mktemp("connect")
    for at in range(9):
        country = root / "hive" / f"country={'DE' if at < 5 else 'IT'}"
        country.mkdir(parents=True, exist_ok=True)
        rows = pa.table({"x": [at * 10, at * 10 + 5]})
        pq.write_table(rows, country / f"{at}.parquet", row_group_size=1)
    (root / "queries.sql").write_text(
        "SELECT * FROM t WHERE x > 30;\nSELECT x FROM t WHERE country = 'IT';\n"
    )
    return root


@pytest.fixture(scope="module")
def server(folder):
    """The address of a server, until the tests of this file end."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    settings = {
        "spark.master": "local[2]",
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "warehouse" / "ice"),
        **format_settings(),
    }
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    words = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    # Where Spark's own script looks for it: the jar is in the wheel.
    jar = next((Path(pyspark.__file__).parent / "jars").glob("spark-connect_*.jar"))
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [submit, "--class", SERVER, *words, jar],
            env=os.environ
            | {
                "JAVA_HOME": str(java_home(folder / "java")),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
            },
            cwd=folder,
            stdout=out,
            stderr=out,
        )
    try:
        wait_for(process, port, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def wait_for(process, port, log):
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until:
        if process.poll() is not None:
            pytest.fail(f"the server ended: {log.read_text()[-2000:]}")
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail("the server did not start")


def ran(program, server, folder):
    done = subprocess.run(
        [sys.executable, program, server, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def outcomes(server, folder):
    return ran(PROGRAM, server, folder)


def test_tables_are_planned_by_the_servers_executors(outcomes):
    assert outcomes["in parts"] == outcomes["as people ask"] == outcomes["one process"]


def test_the_source_and_one_frame_filtered_two_ways(outcomes):
    assert outcomes["source"] == [[30, 45], 1, 12]
    kind, line, _ = outcomes["wrong load"]
    assert kind == "AnalysisException"
    assert "whyscan.errors.UnknownColumn: unknown column 'nope' (the columns are" in line


def test_every_stage_of_the_pipeline(outcomes):
    assert outcomes["inventory"] == 9
    assert outcomes["written"] == "unchanged"
    assert list(outcomes["audit"].values()) == [6, 4]
    assert outcomes["verify"] == 0
    assert outcomes["workload"] == 2


def test_a_plan_made_here_is_read_there(outcomes):
    expected = [x for at in range(9) for x in (at * 10, at * 10 + 5) if x > 30]
    assert outcomes["read"] == outcomes["plan"] == expected
    assert outcomes["no rows"] == []
    assert outcomes["reader"] == "whyscan"


def test_a_frame_of_the_server_is_refused_with_the_way_that_works(outcomes):
    kind, line, hint = outcomes["frame"]
    assert kind == "UsageError"
    assert "Spark Connect" in line
    assert "explain_sql" in hint


def test_an_error_of_an_executor_is_the_one_line_that_it_was(outcomes):
    kind, line, _ = outcomes["corrupt"]
    assert kind == "CorruptFile"
    assert "1.parquet" in line
    assert "\n" not in line


def test_an_address_without_a_server_is_an_error_within_seconds(monkeypatch):
    monkeypatch.setattr(import_module("whyscan.spark.sessions"), "_ANSWERS_WITHIN", 1)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(
        WhyscanError, match=r"no server answers at sc://127\.0\.0\.1:1 within"
    ) as refused:
        session("sc://127.0.0.1:1/;token=hush")
    assert "hush" not in f"{refused.value} {refused.value.hint}"
    with pytest.raises(UsageError, match="no address of Spark Connect"):
        session("sc://host:port")
