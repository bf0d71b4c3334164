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


STATEMENT = (
    *("explain", "--sql", "SELECT * FROM users WHERE country = 'DE'"),
    *("--table", "users=users-flat"),
)


def test_a_statement_is_planned_with_the_layout_of_a_table(whyscan):
    run = whyscan(*STATEMENT, "--layout", "users: sort by country", "--format", "json")

    (scan,) = schemas.valid("statement", json.loads(run.out))["scans"]
    files = next(level for level in scan["levels"] if level["level"] == "files")
    assert files["kept"] == 3
    assert scan["hypothetical"]["layout"] == "sort by country"
    assert scan["hypothetical"]["evidence"] == "estimated"
    assert scan["hypothetical"]["files"]["low"] <= 3 <= scan["hypothetical"]["files"]["high"]


def test_a_statement_shows_the_layout_beside_the_scan(whyscan):
    run = whyscan(*STATEMENT, "--layout", "users: sort by country")

    assert run.out.startswith("would read 3 of 6 files")
    assert "  layout     sort by country\n  estimated  2 to 3 files" in run.out


@pytest.mark.parametrize(
    ("layouts", "error"),
    [
        (["sort by country"], "--layout takes NAME: LAYOUT, not 'sort by country'"),
        (["others: sort by country"], "there is no table 'others' for a layout"),
        (["users: sort by age", "users: sort by age"], "table 'users' has two layouts"),
    ],
)
def test_a_layout_of_a_statement_names_one_of_its_tables(whyscan, layouts, error):
    run = whyscan(*STATEMENT, *(word for layout in layouts for word in ("--layout", layout)))

    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines()[0] == f"error: {error}"


def test_two_layouts_of_one_table_are_refused(whyscan):
    run = whyscan("explain", "users-flat", "-w", "age > 4", "--layout", "a", "--layout", "b")

    assert (run.code, run.err.splitlines()[0]) == (2, "error: TABLE has one layout")


def test_the_document_of_a_comparison_has_the_layout(whyscan):
    layout = ("--to-layout", "sort by country", "--format", "json")
    run = whyscan("diff", "users-flat", *layout, "-w", "country = 'DE'")

    assert schemas.valid("diff", json.loads(run.out))["hypothetical"]["layout"] == "sort by country"
