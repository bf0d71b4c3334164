"""A session that finds its Java, keeps the user's settings, and leaves a running one alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest

import whyscan
from whyscan.spark import daemon, session
from whyscan.spark.sessions import java_home, machines_java

ENVIRONMENT = ("JAVA_HOME", "SPARK_CONF_DIR", "SPARK_HOME", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS")


def run(code: str, **environment: str) -> str:
    """What a process of its own prints; nothing of this one's Spark is in its environment."""
    kept = {k: v for k, v in os.environ.items() if k not in ENVIRONMENT and "SPARK" not in k}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.strip()


@pytest.fixture
def no_java(tmp_path):
    """An environment without a Java."""
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin")}


@pytest.fixture
def old_java(tmp_path):
    """One whose Java is older than Spark."""
    java = tmp_path / "old" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    return {"JAVA_HOME": str(tmp_path / "old")}


def test_a_machine_without_a_fitting_java_has_none(monkeypatch, no_java, old_java):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", no_java["PATH"])
    assert machines_java() is None

    monkeypatch.setenv("JAVA_HOME", old_java["JAVA_HOME"])
    assert machines_java() is None


def test_the_wheels_java_is_run_without_what_it_lacks(monkeypatch, no_java, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", no_java["PATH"])
    java = java_home(tmp_path / "home") / "bin" / "java"
    version = subprocess.run(
        [java, "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert version.returncode == 0, version.stderr
    assert 'version "21' in version.stderr


MASTER = """
from whyscan.spark import session
from whyscan.spark.sessions import _users_defaults, _users_master
print(_users_master(_users_defaults()))
"""


@pytest.mark.parametrize(
    ("environment", "master"),
    [
        ({}, "local[*]"),
        ({"SPARK_REMOTE": "sc://host:15002"}, "sc://host:15002"),
        ({"PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell"}, "None"),
        ({"PYSPARK_GATEWAY_PORT": "1"}, "None"),
    ],
)
def test_the_users_own_master_is_taken(environment, master):
    assert run(MASTER, **environment) == master


def test_the_master_of_a_conf_folder_is_taken(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("# mine\nspark.master   spark://host:7077\n")

    assert run(MASTER, SPARK_CONF_DIR=str(tmp_path)) == "spark://host:7077"


def test_importing_the_pipeline_does_not_load_spark():
    assert run("import sys, whyscan.spark; print('pyspark' in sys.modules)") == "False"


STARTED = """
import json, os, sys
before = dict(os.environ)
from whyscan.spark import session
spark = session()
changed = {name for name in before.keys() | os.environ.keys()
           if before.get(name) != os.environ.get(name)}
told = spark.sparkContext

def tell(batches):
    import pyarrow as pa, pyspark, sys
    for batch in batches:
        archives = [p for p in sys.path if "/pyspark/" in p and p.endswith((".zip", ".jar"))]
        yield pa.record_batch({"at": [pyspark.__file__], "archives": [len(archives)]})

def endless(batches):
    for batch in batches:
        while True:
            yield batch

(row,) = spark.range(1).mapInArrow(tell, "at string, archives long").collect()
spark.range(1).mapInArrow(endless, "id long").take(1)
print(json.dumps({
    "master": told.master,
    "name": told.getConf().get("spark.app.name"),
    "rows": spark.range(3).count(),
    "changed": sorted(changed),
    "java": spark._jvm.System.getProperty("java.version").split(".")[0],
    "option": spark._jvm.System.getProperty("mine"),
    "workers": [row["at"], row["archives"]],
}))
spark.stop()
"""


@pytest.fixture
def little_path(no_java):
    """Spark's own scripts need a shell's tools; a Java is not among them."""
    for tool in ("bash", "sh", "dirname", "ps", "uname", "cat", "ls", "env", "rm"):
        if (path := shutil.which(tool)) is not None:
            Path(no_java["PATH"], tool).symlink_to(path)
    return no_java


@pytest.mark.spark
def test_a_session_of_the_users_settings_starts_on_the_wheels_java_and_leaves_no_trace(
    little_path, old_java, tmp_path
):
    mine = "spark.master local[1]\nspark.driver.extraJavaOptions -Dmine=1 -Dother=2\n"
    (tmp_path / "spark-defaults.conf").write_text(mine)

    outcome = json.loads(run(STARTED, SPARK_CONF_DIR=str(tmp_path), **little_path, **old_java))

    assert outcome.pop("workers") == [pyspark.__file__, 0]
    assert outcome == {
        "master": "local[1]",
        "name": "whyscan",
        "rows": 3,
        # Spark's Python sets these two, for itself.
        "changed": ["SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE"],
        "java": "21",
        "option": "1",
    }


ARCHIVES = """
import runpy, sys
runpy.run_path(sys.argv[1])["leave_out_archives"]()
import pyspark
print(pyspark.__file__)
print(sum("/pyspark/" in p and p.endswith((".zip", ".jar")) for p in sys.path_importer_cache))
"""


@pytest.mark.parametrize(("flags", "place"), [((), pyspark.__file__), (("-S",), "pyspark.zip")])
def test_workers_import_the_installed_pyspark_and_that_of_the_archive_where_there_is_no_other(
    flags, place
):
    home = Path(pyspark.__file__).parent
    archives = [*home.glob("python/lib/*.zip"), *home.glob("jars/spark-core_*.jar")]
    paths = {"SPARK_HOME": str(home), "PYTHONPATH": ":".join(map(str, archives))}
    done = subprocess.run(
        [sys.executable, *flags, "-c", ARCHIVES, daemon.__file__],
        env=os.environ | paths,
        capture_output=True,
        text=True,
        check=True,
    )
    imported, cached = done.stdout.splitlines()
    assert place in imported
    assert (cached == "0") is (not flags)


GONE = """
import sys
from whyscan.spark.daemon import quiet

@quiet
def work(name):
    raise {"pipe": BrokenPipeError, "reset": ConnectionResetError, "bug": KeyError}[name]()

work(sys.argv[1])
"""


@pytest.mark.parametrize(("why", "output"), [("pipe", ""), ("reset", ""), ("bug", "KeyError")])
def test_a_worker_whose_spark_is_gone_ends_without_a_word(why, output):
    done = subprocess.run(
        [sys.executable, "-c", GONE, why], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith(output)
    assert bool(done.stderr) is bool(output)


@pytest.mark.spark
def test_a_running_session_is_returned_as_it_is(spark):
    before = dict(spark.sparkContext.getConf().getAll())

    assert session("local[1]", settings={"spark.sql.ansi.enabled": "false"}) is spark
    assert dict(spark.sparkContext.getConf().getAll()) == before
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"


def test_without_spark_installed_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)

    with pytest.raises(whyscan.WhyscanError, match="Spark is not installed") as caught:
        session()
    assert "whyscan[spark]" in caught.value.hint


ENDED = """
import os
from whyscan.cli.spark_session import spark_session

for rows in (1, 2):
    with spark_session("local[1]") as spark:
        java = spark._jvm.ProcessHandle.current().pid()
        assert spark.range(rows).count() == rows
print(java, flush=True)
os._exit(0)
"""


@pytest.mark.spark
def test_a_command_ends_without_waiting_for_its_session_and_spark_ends_after_it():
    java = Path("/proc", run(ENDED).strip())
    until = time.monotonic() + 60
    while java.exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not java.exists()
