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
from whyscan.spark.session import format_settings, java_home

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

PROGRAM = Path(__file__).with_name("on_connect.py")
FRAMES = Path(__file__).with_name("frames_on_connect.py")
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
        with closing(socket.socket()) as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
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
def found(server, folder):
    return ran(PROGRAM, server, folder)


@pytest.fixture(scope="module")
def frames(server, folder):
    return ran(FRAMES, server, folder)


def test_tables_are_planned_by_the_servers_executors(found):
    assert found["in parts"] == found["as people ask"] == found["one process"]


def test_the_source_and_one_frame_filtered_two_ways(found):
    assert found["source"] == [[30, 45], 1, 12]
    kind, line, _ = found["wrong load"]
    assert kind == "AnalysisException"
    assert "whyscan.errors.UnknownColumn: unknown column 'nope' (the columns are" in line


def test_every_stage_of_the_pipeline(found):
    assert found["inventory"] == 9
    assert found["written"] == "unchanged"
    assert list(found["audit"].values()) == [6, 4]
    assert found["verify"] == 0
    assert found["workload"] == 2


def test_a_plan_made_here_is_read_there(found):
    expected = [x for at in range(9) for x in (at * 10, at * 10 + 5) if x > 30]
    assert found["read"] == found["plan"] == expected
    assert found["no rows"] == []
    assert found["reader"] == "whyscan"


def test_a_frame_keeps_the_files_that_its_statement_keeps(frames):
    assert {sql: frame for sql, (frame, _) in frames["statements"].items()} == {
        sql: statement for sql, (_, statement) in frames["statements"].items()
    }


@pytest.mark.parametrize("name", ["delta", "iceberg", "hive"])
def test_a_scan_is_planned_by_the_conditions_that_were_written(frames, name):
    (scan,), mine = frames["written"][name]
    assert scan["kept"] == mine
    assert 0 < len(mine) < scan["total"]
    assert {"day = DATE '2024-01-03'", "nested.x < 50"} <= set(scan["placed"])
    assert scan["above"] == []


def test_travel_in_time_is_that_of_the_frame(frames):
    found = {
        name: [(len(scan["kept"]), scan["total"]) for scan in told["scans"]]
        for name, told in frames["travel"].items()
    }
    assert found == {
        "delta 0": [(1, 1)],
        "delta": [(2, 2)],
        "delta 0 by option": [(1, 1)],
        "iceberg first": [(1, 1)],
        "iceberg tag": [(0, 1)],
        "iceberg": [(2, 2)],
        "iceberg since": [],
        "iceberg files": [],
    }
    assert [scan["version"] for scan in frames["travel"]["delta 0"]["scans"]] == [0]
    assert frames["travel"]["iceberg files"]["notes"] == [
        "not explained: ice.frames.grown.files: it is metadata of a table"
    ]


def test_values_of_a_run_stay_above_and_a_subquerys_files_are_not_told(frames):
    told = frames["values of a run"]
    assert [scan["above"] for scan in told["scans"]] == [
        ["its values are known when the query runs"],
        ["its values are known when the query runs"],
    ]
    (note,) = told["notes"]
    assert "it is read in a subquery" in note


def test_what_is_no_table_of_files_is_said_to_be_left_out(frames):
    told = frames["others"]
    assert [scan["placed"] for scan in told["scans"]] == [["id < 3"]]
    assert [note.rpartition(": ")[2] for note in told["notes"]] == [
        "it is in the cache",
        "it is no table of Parquet files at one place",
    ]


def test_whatever_a_value_holds_no_file_of_its_rows_is_left_out(frames):
    exact = 0
    for asked, (told, needed) in frames["hostile"].items():
        if isinstance(told, str):
            assert "in two ways" in told, asked
            continue
        (scan,) = told["scans"]
        assert set(needed) <= set(scan["kept"]), asked
        assert scan["kept"] == needed or scan["above"], asked
        exact += scan["kept"] == needed
    assert exact > len(frames["hostile"]) / 3


def test_a_partition_column_that_may_be_text_is_not_compared_as_a_number(frames):
    told = {name: found["scans"][0] for name, found in frames["months"].items()}
    assert len(told["text"]["kept"]) == len(told["number"]["kept"]) == 12
    assert told["number"]["above"] == [
        "the server does not tell the type of a partition column in it"
    ]
    assert len(told["one"]["kept"]) == 1


def test_rows_that_are_marked_as_deleted_are_no_condition(frames):
    (scan,) = frames["deleted"]["scans"]
    assert (scan["placed"], scan["above"]) == (["id < 5"], [])
    assert (len(scan["kept"]), scan["total"]) == (1, 2)


def test_files_that_options_choose_are_not_those_of_the_folder(frames):
    (note,) = frames["chosen"]["notes"]
    assert note.endswith("the server reads other files than those that are there")
    assert frames["chosen"]["scans"] == []


def test_settings_are_as_they_were(frames):
    assert frames["settings"] == ["77", "25"]


def test_an_error_of_an_executor_is_the_one_line_that_it_was(found):
    kind, line, _ = found["corrupt"]
    assert kind == "CorruptFile"
    assert "1.parquet" in line
    assert "\n" not in line


def test_nobody_at_an_address_is_told_before_long(monkeypatch):
    monkeypatch.setattr(import_module("whyscan.spark.session"), "_ANSWERS_WITHIN", 1)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(WhyscanError, match=r"nobody answers at sc://127\.0\.0\.1:1,") as nobody:
        session("sc://127.0.0.1:1/;token=hush")
    assert "hush" not in f"{nobody.value} {nobody.value.hint}"
    with pytest.raises(UsageError, match="no address of Spark Connect"):
        session("sc://host:port")
