"""Tables that Spark wrote into a Hive metastore: whyscan opens the same tables by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import whyscan
from support.reports import explained
from tables.catalogs import hive_server
from whyscan.tables.catalogs.configured import listed

# One metastore and one Spark for all of them.
pytestmark = [pytest.mark.xdist_group("hive"), pytest.mark.slow]

JARS = Path(sys.prefix) / "jars"
WRITTEN = Path(__file__).with_name("hive_tables.sql")
"""One statement a line."""

BESIDE = [
    ("db/numbers/n=1/part-*", f"db/numbers/{path}")
    for path in ("n=7/a", "_temporary/n=8/a", "n=1/inside/a", "n=1/_hidden.parquet")
]
"""Nothing of this is registered: a folder, a hidden one, one inside a partition, a hidden file."""

QUESTIONS = {
    "days": [
        "TRUE",
        "day = DATE '2024-01-02'",
        "day IS NULL",
        "country = 'DE'",
        "Country = 'D%41/x'",
        "country IS NULL OR id > 3",
        "id >= 2 AND day < DATE '2024-02-01'",
        "day >= DATE '2024-02-01'",
        "v = 'zz'",
    ],
    "numbers": ["TRUE", "n = 1", "n <> 1 AND a > 4", "b > 2.5", "s.x = 4", "t > '2024-01-05'"],
    "flat": ["TRUE", "a > 1", "w = 'z'", "w = ''"],
    "of_spark": ["TRUE", "day = 2", "Day IS NULL", "name = 'a'", "ID > 1"],
    "delta": ["TRUE", "id > 9"],
    "iceberg": ["TRUE", "id > 1"],
    "orc": ["TRUE", "p = 2", "a = 1"],
    "nothing": ["TRUE", "p = 1"],
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """The metastore's address, the folder of the tables, and what Spark reads of them."""
    folder = tmp_path_factory.mktemp("lake")
    for path in ("db", "far/it"):
        (folder / path).mkdir(parents=True)
    written = [line.format(folder=f"file:{folder}") for line in WRITTEN.read_text().splitlines()]
    read = {
        f"{table} {where}": f"SELECT * FROM {'ice.' * (table == 'iceberg')}db.{table} WHERE {where}"
        for table, questions in QUESTIONS.items()
        for where in questions
    }
    with hive_server.running(tmp_path_factory.mktemp("hive")) as uri:
        yield (
            uri,
            folder,
            ask_spark(uri, folder, {"write": written, "copied": BESIDE, "read": read}),
        )


def ask_spark(uri, folder, statements):
    (folder / "statements.json").write_text(json.dumps(statements))
    jars = ",".join(map(str, sorted(JARS.glob("*.jar"))))
    script = Path(__file__).with_name("spark_hive.py")
    done = subprocess.run(
        [sys.executable, str(script), uri, str(folder), jars],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((folder / "answers.json").read_text())


@pytest.mark.parametrize(
    ("table", "where"),
    [(table, where) for table, questions in QUESTIONS.items() for where in questions],
)
def test_a_scan_has_the_rows_that_spark_reads_by_the_name(lake, configure, table, where):
    uri, _, answers = lake
    configure("hive", uri=uri)

    rows = whyscan.open(f"hive.db.{table}").scan(where).read_all()

    assert sorted(map(repr, rows.to_pylist())) == answers[f"{table} {where}"]


def test_char_prunes_nothing_because_engines_pad_it(lake, configure):
    configure("hive", uri=lake[0])

    summary = whyscan.open("hive.db.flat").plan("c = 'x'").summary

    assert summary.files_kept == summary.files_total


def test_text_files_are_skipped_by_partition_values_alone(lake, configure):
    configure("hive", uri=lake[0])
    table = whyscan.open("hive.db.csv")

    assert table.plan("p = 2").summary.files_kept == 1
    assert table.plan("a = 99").summary.files_kept == 2


def test_folders_that_are_not_registered_are_a_finding(lake, configure):
    configure("hive", uri=lake[0])
    findings = explained(whyscan.open("hive.db.numbers").snapshot, "n = 1")["findings"]

    (difference,) = [each for each in findings if each["code"] == "CATALOG_DIFFERS"]

    counts = {"partitions": 3, "without_files": 0, "unregistered_files": 1, "nested_files": 1}
    assert difference["evidence"] == counts


def test_ls_lists_the_tables_of_all_formats_and_no_view(lake, configure):
    configure("hive", uri=lake[0])

    names = [name for _, name in listed("hive", ("db",))[1]]

    assert sorted(names) == [*sorted(QUESTIONS.keys() | {"csv"})]
