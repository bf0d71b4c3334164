"""Layouts on the command line: explain --layout, diff --to-layout, and what goes wrong."""

import json

import pytest

from support import schemas
from support.reports import valid


def test_explain_tells_what_a_layout_would_read(whyscan):
    run = whyscan("explain", "users-flat", "-w", "country = 'DE'", "--layout", "sort by country")

    assert run.code == 0
    assert run.out.startswith("would read 3 of 6 files")
    assert "layout     sort by country\n" in run.out
    assert "by 24 sampled rows" in run.out


def test_the_document_has_the_layout_and_its_intervals(whyscan):
    run = whyscan(
        *("explain", "users-flat", "-w", "country = 'DE'", "--format", "json"),
        *("--layout", "sort by country file size 1kB", "--no-sample"),
    )

    document = valid(json.loads(run.out))
    files = next(level for level in document["levels"] if level["level"] == "files")
    hypothetical = document["hypothetical"]
    assert (hypothetical["layout"], hypothetical["evidence"]) == (
        "sort by country file size 1000",
        "guaranteed",
    )
    assert hypothetical["files"] == {"low": 0, "high": files["kept"]}
    assert set(hypothetical) == {"layout", "evidence", "files", "bytes"}


def test_a_report_of_the_table_as_it_is_has_no_layout(whyscan):
    run = whyscan("explain", "users-flat", "-w", "country = 'DE'", "--format", "json")

    assert "hypothetical" not in json.loads(run.out)


def test_diff_compares_today_with_a_layout(whyscan):
    run = whyscan("diff", "users-flat", "--to-layout", "sort by country", "-w", "country = 'DE'")

    assert run.code == 0
    assert "6 of 6" in run.out
    assert "3 of 6" in run.out


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("--layout", "sort by nope"), 3, "error: unknown column 'nope'\n"),
        (
            ("--layout", "sorted by age"),
            3,
            "error: this does not begin a clause\n  sorted by age\n",
        ),
        (("--layout", "partition by day(age)"), 2, "error: parquet tables have no partition"),
        (("--layout", "zorder by age", "--no-sample"), 2, "error: bounds alone prove nothing"),
        (("--layout", "sort by age", "--spark"), 2, "error: --layout does not go with --spark\n"),
    ],
)
def test_a_layout_that_cannot_be_planned_is_one_line(whyscan, arguments, code, error):
    run = whyscan("explain", "users-flat", "-w", "age > 40", *arguments)

    assert (run.code, run.out) == (code, "")
    assert run.err.startswith(error)
    assert "hint: " in run.err


def test_a_statement_has_no_layout_yet(whyscan):
    run = whyscan("explain", "--sql", "SELECT 1", "--layout", "sort by a")

    assert (run.code, run.err.splitlines()[0]) == (2, "error: --layout does not go with --sql")


def test_the_document_of_a_comparison_has_the_layout(whyscan):
    layout = ("--to-layout", "sort by country", "--format", "json")
    run = whyscan("diff", "users-flat", *layout, "-w", "country = 'DE'")

    assert schemas.valid("diff", json.loads(run.out))["hypothetical"]["layout"] == "sort by country"
