"""`whyscan audit` on the command line: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import json

import pytest

import whyscan.spark as whyscan_spark
from support.commands import whyscan

pytestmark = pytest.mark.spark

LOG = """\
query,times
SELECT id FROM sales WHERE upper(country) = 'FR',7
SELECT nope FROM sales,2
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "bad.sql").write_text("SELECT nope FROM sales")
    return tmp_path


def test_a_log_against_a_table_as_json(spark, lake, folder):
    run = whyscan(
        *("audit", "--workload", "log.csv", "--table", f"sales={lake['sales']}"),
        *("--format", "json", "--max-wasted", "1PB", "--redact"),
        cwd=folder,
    )

    assert (run.code, run.err) == (0, "")
    document = json.loads(run.out)
    assert [(q["sql"], q["times"]) for q in document["queries"]] == [
        ("SELECT id FROM sales WHERE upper(country) = ?", 7)
    ]
    assert [(u["origin"], u["times"]) for u in document["unparsed"]] == [("log.csv:3", 2)]


def test_more_waste_than_was_asked_for_is_a_gate_that_fails(spark, lake, folder):
    run = whyscan(
        *("audit", "--workload", "log.csv", "--table", f"sales={lake['sales']}"),
        *("--max-wasted", "1kB", "-o", "out.txt"),
        cwd=folder,
    )

    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("fail  max_wasted: ")
    assert "rewrite for sales: country = 'FR'" in (folder / "out.txt").read_text()


def test_a_workload_of_which_nothing_can_be_audited_ends_with_3(spark, lake, folder):
    run = whyscan(
        *("audit", "--workload", "bad.sql", "--table", f"sales={lake['sales']}"), cwd=folder
    )

    assert run.code == 3
    assert "unknown column 'nope'" in run.out


def test_the_logs_may_be_a_dataframe_of_the_session(spark, lake, folder):
    frame = whyscan_spark.workload_frame(spark, [str(folder / "log.csv")])

    audited = whyscan_spark.audit(spark, frame, {"sales": lake["sales"]}, depth="files")

    assert [(line.times, line.tables[0].write_instead) for line in audited.queries] == [
        (7, "country = 'FR'")
    ]
    with pytest.raises(TypeError, match="unexpected keyword argument 'dept'"):
        whyscan_spark.audit(spark, frame, {}, dept="files")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--workload", "nowhere.csv"), "nowhere.csv"),
        (("--workload", "bad.sql", "--dialect", "klingon"), "klingon"),
        (("--workload", "bad.sql", "--table", "a=x", "--table", "a=y"), "two tables are called"),
        (("--workload", "bad.sql", "--partition-type", "day=int"), "NAME.COLUMN=TYPE"),
        (("--workload", "bad.sql", "--partition-type", "t.day=int"), "there is no table 't'"),
        (("--workload", "bad.sql", "--inventory", "nowhere"), "there is no inventory at nowhere"),
    ],
)
def test_what_is_wrong_with_the_call_is_one_line_and_nothing_is_printed(
    spark, folder, words, message
):
    run = whyscan("audit", *words, cwd=folder)

    assert (run.code in {2, 3}, run.out) == (True, "")
    assert run.err.startswith("error: ")
    assert message in run.err
