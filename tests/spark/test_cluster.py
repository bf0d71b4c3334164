"""A standalone cluster: a master and two workers, each a process with a folder of its own.

Their Python has no whyscan: spark-submit brings it, as a wheel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

from whyscan.spark.sessions import java_home

# A master, two workers, two executors and a driver are six Java processes.
pytestmark = [pytest.mark.spark, pytest.mark.proof]

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("on_cluster.py")
BIN = Path(pyspark.__file__).parent / "bin"
WITHIN = 180
SETTINGS = {
    "spark.speculation": "true",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.initialExecutors": "2",
    "spark.dynamicAllocation.minExecutors": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}
# Without `site` no .pth file is read, and so the installed whyscan of this tree is not found.
PYTHON = """\
#!/bin/sh
PYTHONPATH="$PYTHONPATH:{packages}" exec {python} -S "$@"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Nine files in two countries, and two queries."""
    root = tmp_path_factory.mktemp("cluster")
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
def environment(folder):
    """The environment of each process of the cluster."""
    python = folder / "python"
    python.write_text(
        PYTHON.format(packages=sysconfig.get_path("purelib"), python=sys.executable), "utf-8"
    )
    python.chmod(0o755)
    kept = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    return kept | {
        "JAVA_HOME": str(java_home(folder / "java")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": str(python),
    }


@pytest.fixture(scope="module")
def master(folder, environment):
    """The address of a master with two workers, until the tests of this file end."""
    processes = []

    def begin(name, kind, *words):
        own = folder / name
        own.mkdir()
        with (own / "log").open("wb") as log:
            processes.append(
                subprocess.Popen(
                    [BIN / "spark-class", f"org.apache.spark.deploy.{kind}", *words],
                    env=environment | {"SPARK_LOCAL_DIRS": str(own / "local")},
                    cwd=own,
                    stdout=log,
                    stderr=log,
                )
            )
        return own / "log"

    ports = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    try:
        log = begin("master", "master.Master", *ports)
        address = waited_for(r"Starting Spark master at (spark://\S+)", log, processes[0])
        for name in ("one", "two"):
            of_worker = (
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(folder / name / "work"),
            )
            log = begin(name, "worker.Worker", *ports, *of_worker, address)
            waited_for("Successfully registered with master", log, processes[-1])
        yield address
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def waited_for(pattern, log, process):
    until = time.monotonic() + WITHIN
    while time.monotonic() < until:
        if match := re.search(pattern, log.read_text()):
            return match[match.lastindex or 0]
        if process.poll() is not None:
            break
        time.sleep(0.2)
    pytest.fail(f"{pattern} is not in the log: {log.read_text()[-2000:]}")
    return None


@pytest.fixture(scope="module")
def wheel(folder):
    """The wheel of whyscan; Spark takes zip files, and a wheel is one."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [built] = (folder / "dist").glob("*.whl")
    return built.rename(built.with_suffix(".zip"))


@pytest.fixture(scope="module")
def outcomes(master, environment, wheel, folder):
    words = [word for key, value in SETTINGS.items() for word in ("--conf", f"{key}={value}")]
    driver = folder / "driver"
    driver.mkdir()
    done = subprocess.run(
        [
            *(BIN / "spark-submit", "--master", master, "--py-files", wheel, *words),
            *(PROGRAM, folder, driver / "answers.json"),
        ],
        env=environment | {"SPARK_LOCAL_DIRS": str(driver / "local")},
        cwd=driver,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((driver / "answers.json").read_text("utf-8"))


def test_executors_of_both_workers_import_the_wheel_that_was_sent(outcomes, master, folder):
    assert outcomes["master"] == master
    assert ".zip/" in outcomes["whyscan"]
    places = [place.split() for place in outcomes["executors"]]
    assert {Path(cwd).relative_to(folder).parts[0] for cwd, _ in places} == {"one", "two"}
    assert all(".zip/" in imported for _, imported in places)


def test_every_stage_gives_what_one_process_gives(outcomes):
    assert outcomes["in parts"] == outcomes["in one process"]
    assert outcomes["written"] == ["read"]
    assert outcomes["containers"] == 9 + 18
    assert list(outcomes["audit"].values()) == [6, 4]
    expected = [x for at in range(9) for x in (at * 10, at * 10 + 5) if x > 30]
    assert outcomes["read"] == outcomes["sent"] == expected
