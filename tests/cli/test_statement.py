"""`whyscan explain --sql`: usage, tables by name, forms, gates, baselines and errors."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.statement_reports import valid
from whyscan.cli.formats import FORMS

SQL = """SELECT u.age FROM users u JOIN flat f ON u.age = f.age
WHERE u.country = 'DE' AND f.age > 40"""
TABLES = ("--table", "users=users", "--table", "flat=users-flat", "--table", "other=no/where")
BEGINNINGS = {
    "text": "reads ",
    "json": "{",
    "markdown": "**reads ",
    "html": "<!doctype html>",
    "sarif": "{",
    "junit": "<?xml ",
}


@pytest.fixture
def explain(whyscan):
    def run(*arguments, sql=SQL, **streams):
        return whyscan("explain", "--sql", sql, *TABLES, *arguments, **streams)

    return run


def test_every_scan_is_in_the_document_with_the_name_it_was_given(explain):
    document = valid(json.loads(explain("--format", "json").out))

    assert [(s["name"], s["alias"]) for s in document["scans"]] == [("users", "u"), ("flat", "f")]
    users, flat = (s["levels"][0] for s in document["scans"])
    # The ages above 40 of the one side are those of the other.
    assert (users["kept"], users["total"]) == (1, 6)
    assert flat["kept"] < flat["total"]
    assert document["result"] == "pass"


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_written_whole_and_the_gate_decides(explain, form):
    done = explain("--format", form, "--max-files=0")

    assert done.code == 1
    assert done.out.lower().startswith(BEGINNINGS[form])
    assert done.out.endswith("\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--max-files", "12"), 0),
        (("--max-files", "1"), 1),
        (("--max-files", "users=1"), 0),
        (("--max-files", "u=0"), 1),
        (("--max-files", "users=1", "--max-files", "flat=0"), 1),
        (("--max-files", "9", "--max-files", "12"), 0),
        (("--min-pruning", "users=80%"), 0),
        (("--min-pruning-bytes", "flat=99"), 1),
        (("--max-bytes", "users=1kB"), 0),
        (("--max-bytes", "users=1"), 1),
        (("--assert-stats",), 0),
        (("--assert-stats-of", "flat"), 0),
        (("--require-partition-filter",), 0),
        (("--require-partition-filter-of", "flat"), 1),
    ],
)
def test_gates_are_for_the_whole_or_for_a_table(explain, arguments, code):
    assert explain(*arguments).code == code


WRONG = {
    "a table beside it": (("users",), "TABLE does not go with --sql"),
    "a predicate beside it": (("-w", "a = 1"), "-w does not go with --sql"),
    "columns beside it": (("-s", "a"), "--select does not go with --sql"),
    "a version beside it": (("--at-version", "0"), "VERSION AS OF"),
    "a table without its place": (("--table", "users"), "--table takes NAME=URI"),
    "a gate for nobody": (("--max-files", "lines=3"), "which the statement does not scan"),
    "a gate without its name": (("--max-files", "=3"), "no name before its ="),
    "a gate of no number": (("--max-files", "users=many"), "many"),
    "a partition type for nobody": (("--partition-type", "country=int"), "names no table"),
    "a file that is missing": (("--sql", "@nowhere.sql"), "cannot read the statement"),
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.values(), ids=WRONG)
def test_wrong_usage_ends_with_2_and_says_why(explain, arguments, said):
    run = explain(*arguments)

    assert (run.code, run.out) == (2, "")
    assert said in run.err


@pytest.mark.parametrize(
    "arguments",
    [("--table", "a=users"), ("--max-files", "users=3"), ("--assert-stats-of", "users")],
)
def test_what_belongs_to_a_statement_is_refused_without_one(whyscan, arguments):
    run = whyscan("explain", "users", "-w", "age > 40", *arguments)

    assert (run.code, run.out) == (2, "")
    assert "--sql" in run.err


UNREADABLE = {
    "an unknown table": (
        "SELECT * FROM nobody",
        "error: unknown table 'nobody'\n  SELECT * FROM nobody\n                ^^^^^^\n",
    ),
    "an unknown column": (
        "SELECT agee FROM users",
        "error: unknown column 'agee'\n  SELECT agee FROM users\n         ^^^^\n",
    ),
    "no SQL": ("SELECT age FROM users WHERE age >", "  SELECT age FROM users WHERE age >\n"),
    "a table that cannot be opened": ("SELECT * FROM other", "no/where"),
}


@pytest.mark.parametrize(("sql", "said"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_statement_that_cannot_be_evaluated_is_underlined_and_ends_with_3(explain, sql, said):
    run = explain(sql=sql)

    assert (run.code, run.out) == (3, "")
    assert said in run.err
    assert "Traceback" not in run.err


@pytest.mark.parametrize("spelling", ["@query.sql", "-"])
def test_the_statement_may_stand_in_a_file_or_on_standard_input(explain, lake, spelling):
    (lake / "query.sql").write_text(SQL)

    assert explain(sql=spelling, stdin=SQL).out == explain().out


def test_a_table_may_be_given_by_more_of_its_name_than_the_statement_has(whyscan):
    ask = ("explain", "--sql", "SELECT age FROM users", "--table", "prod.db.Users=users")
    typed = ("--partition-type", "prod.db.Users.country=string")

    document = json.loads(whyscan(*ask, *typed, "--format", "json").out)

    assert [scan["name"] for scan in document["scans"]] == ["prod.db.Users"]


def test_partition_types_are_given_by_table(explain):
    document = explain("--partition-type", "users.country=string", "--format", "json")

    assert json.loads(document.out)["scans"][0]["levels"][0]["kept"] == 1


def test_a_baseline_has_an_entry_for_each_scan(explain, tmp_path):
    file = tmp_path / "baseline.json"

    assert explain("--baseline", file).code == 2
    assert explain("--baseline", file, "--update-baseline").code == 0
    assert explain("--baseline", file).code == 0
    baseline = json.loads(file.read_text())
    assert [entry["table"] for entry in baseline["questions"]] == ["flat f", "users u"]
    baseline["questions"][0]["pruned_files"] = 99.0
    file.write_text(json.dumps(baseline))
    failed = explain("--baseline", file, "--format", "json")
    assert failed.code == 1
    outcomes = [s["result"] for s in json.loads(failed.out)["scans"]]
    assert outcomes == ["pass", "fail"]
    baseline["exemptions"] = [
        {"table": "flat f", "gate": "baseline", "reason": "backfill", "until": "2999-01-01"},
        {"table": "*", "gate": "max_files", "reason": "backfill", "until": "2999-01-01"},
    ]
    file.write_text(json.dumps(baseline))
    assert explain("--baseline", file, "--max-files", "0").code == 0


def test_redacted_it_has_no_literal(explain):
    document = explain("--redact", "--format", "json", "-v").out

    assert "'DE'" not in document
    assert "country=DE" not in document
    valid(json.loads(document))


def test_a_predicate_alone_imports_nothing_of_statements(lake):
    code = (
        "import sys\nfrom whyscan.cli.main import run\n"
        "run(['explain', 'users', '-w', 'age > 40'])\n"
        "print(*(name for name in sys.modules if name.startswith('whyscan.statements')))"
    )

    run = subprocess.run(
        [sys.executable, "-c", code], cwd=lake, capture_output=True, text=True, check=True
    )

    assert run.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("option", [("--assert-stats",), ("--assert-stats-of", "t")])
def test_statistics_are_asserted_in_files_that_the_statement_does_not_read(
    tmp_path, whyscan, option
):
    for month in (1, 2):
        (tmp_path / f"month={month}").mkdir()
        path = tmp_path / f"month={month}" / "a.parquet"
        pq.write_table(pa.table({"x": [1, 9]}), path, write_statistics=month == 1)
    sql = "SELECT * FROM t WHERE month = 1 AND x > 1"
    arguments = ("explain", "--sql", sql, "--table", f"t={tmp_path}", *option)

    ran = whyscan(*arguments)

    assert ran.code == 1, ran.err
    words = " ".join(ran.out.split())
    assert "1 of 2 files lack statistics of x: month=2/a.parquet" in words
