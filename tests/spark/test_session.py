"""A session that finds its Java, keeps the user's settings, and leaves a running one alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import whyscan
from whyscan.spark import session
from whyscan.spark.session import java_home, machines_java

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
    told = subprocess.run(
        [java, "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert told.returncode == 0, told.stderr
    assert 'version "21' in told.stderr


MASTER = """
from whyscan.spark import session
from whyscan.spark.session import _users_master
print(_users_master())
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
import os
from whyscan.spark import session
spark = session()
told = spark.sparkContext
print(told.master, told.getConf().get("spark.app.name"), spark.range(3).count())
print(os.environ["JAVA_HOME"])
print(spark._jvm.System.getProperty("java.version").split(".")[0])
spark.stop()
"""


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_session_of_the_users_settings_starts_on_the_wheels_java(no_java, tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.master local[1]\nspark.ui.enabled true\n")
    # Spark's own scripts need a shell's tools; a Java is not among them.
    for tool in ("bash", "sh", "dirname", "ps", "uname", "cat", "ls", "env", "rm"):
        if (found := shutil.which(tool)) is not None:
            Path(no_java["PATH"], tool).symlink_to(found)

    told, home, java = run(STARTED, SPARK_CONF_DIR=str(tmp_path), **no_java).splitlines()

    assert told == "local[1] whyscan 3"
    assert home.endswith("/java")
    assert java == "21"


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
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
