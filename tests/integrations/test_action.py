"""action.yml as the runner would run it: its steps in bash, with GitHub's files and variables."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from integrations.steps import ACTION, OUTPUTS

pytestmark = pytest.mark.xdist_group("action")  # one installation


def test_no_script_has_an_expression_pasted_into_it():
    steps = ACTION["runs"]["steps"]

    assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []
    assert all(step["shell"] == "bash" for step in steps if "run" in step)


def test_every_input_is_used_and_every_output_comes_from_a_step():
    text = json.dumps(ACTION["runs"])

    assert [name for name in ACTION["inputs"] if f"inputs.{name} " not in text] == []
    assert {entry["value"] for entry in ACTION["outputs"].values()} == {
        f"${{{{ steps.explain.outputs.{name} }}}}" for name in OUTPUTS
    }


def test_the_installed_program_is_the_one_of_the_action(installed):
    code = "import importlib.util as i; print(i.find_spec('whyscan').origin)"

    origin = subprocess.check_output([installed / "python", "-c", code], text=True)

    assert Path(origin.strip()).is_relative_to(installed.parent)


def test_one_predicate_passes_and_is_in_the_summary(act):
    done = act(table="lake/users", where="country = 'DE' AND age > 40", min_pruning="80")

    assert (done.code, done.outputs["result"]) == (0, "pass")
    assert "**reads 1 of 6 files" in done.summary
    numbers = [done.outputs[name] for name in ("pruning-pct", "files-read", "bytes-read")]
    assert numbers == ["83.333", "1", "505"]
    assert Path(done.outputs["summary"]).read_text() == done.summary


def test_several_predicates_are_asked_and_the_worst_answer_counts(act, workspace):
    (workspace / "young.sql").write_text("age < 100\n")
    where = "country = 'DE'\r\n\n# of every country\n@young.sql\n"

    done = act(table="lake/users", where=where, min_pruning="50", format="html")

    pages = sorted(file.name for file in Path(done.outputs["reports"]).iterdir())
    assert pages == ["1.html", "2.html"]
    assert (done.code, done.outputs["result"]) == (1, "fail")
    assert done.summary.count("**reads ") == 2
    assert "`country = 'DE'`" in done.summary
    assert "`age < 100`" in done.summary


def test_what_cannot_be_evaluated_is_an_error_beside_the_answers(act):
    done = act(table="lake/users", where="agee > 40\nage > 40")

    assert (done.code, done.outputs["result"]) == (3, "error")
    assert done.outputs["pruning-pct"] == done.outputs["files-read"] == ""
    assert "    error: unknown column 'agee'" in done.summary
    assert "**reads " in done.summary


def test_every_gate_and_more_arguments_reach_the_program(act, workspace):
    (workspace / "base.json").write_text('{"schema_version": "1.0"}')

    done = act(
        table="lake/users",
        where="age > 40",
        min_pruning="99",
        min_pruning_bytes="98.5 %",
        max_files="2",
        max_bytes="1kB",
        assert_stats="true",
        require_partition_filter="true",
        baseline="base.json",
        args="--timezone=Europe/Berlin\n\n--verbose",
        format="json",
    )

    [file] = Path(done.outputs["reports"]).iterdir()
    report = json.loads(file.read_text())
    results = {
        entry["name"]: (entry["threshold"], entry["result"]) for entry in report["assertions"]
    }
    assert results == {
        "min_pruning": (99, "fail"),
        "min_pruning_bytes": (98.5, "fail"),
        "max_files": (2, "fail"),
        "max_bytes": (1000, "fail"),
        "stats_complete": (100, "pass"),
        "partition_filter": (1, "fail"),
        "baseline": (0, "fail"),
    }
    assert report["timezone"] == "Europe/Berlin"
    assert len(report["files"]) == 6


def test_engines_are_named_and_the_gate_is_for_what_they_read(act):
    engine = "spark-parquet\npolars\n"

    done = act(table="lake/users", where="age + 1 = 42", engine=engine, max_files="5")

    assert (done.code, done.outputs["result"]) == (1, "fail")
    assert "spark-parquet" in done.summary
    assert "max\\_files: 6 by " in done.summary or "max_files: 6 by " in done.summary


@pytest.mark.parametrize(("asserted", "code"), [("true", 0), ("age", 0), ("agee", 3)])
def test_statistics_are_asserted_without_a_predicate(act, asserted, code):
    done = act(table="lake/users", assert_stats=asserted)

    assert done.code == code
    assert ("100 %, at least 100 % asked" in done.summary) is not bool(code)


def test_statements_are_asked_of_the_tables_by_name(act, workspace):
    (workspace / "old.sql").write_text("SELECT *\nFROM users u\nWHERE u.country = 'DE'\n")
    joined = "SELECT * FROM users JOIN flat USING (id) WHERE users.age > 40"

    done = act(
        tables="users=lake/users\nflat=lake/users-flat\n",
        sql=f"@old.sql\n{joined}\n",
        args="--max-files=users=2",
        format="sarif",
    )

    assert (done.code, done.outputs["result"]) == (1, "fail")
    assert done.summary.count("**reads ") == 2
    assert "| `flat` |" in done.summary
    [file] = Path(done.outputs["reports"]).iterdir()
    [run] = json.loads(file.read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]].count("gate/max_files") == 1


def test_no_predicate_at_all_is_wrong_usage(act):
    done = act(table="lake/users", where="\n# none\n")

    assert (done.code, done.outputs["result"]) == (2, "error")
    assert "::error::" in done.log


def test_sarif_of_all_predicates_is_one_run(act):
    done = act(
        table="lake/prices-double",
        where="price > 1000\nprice > 1500",
        format="sarif",
        max_files="0",
    )

    [file] = Path(done.outputs["reports"]).iterdir()
    [run] = json.loads(file.read_text())["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert file.name == "whyscan.sarif"
    assert len(rules) == len(set(rules))
    assert [result["ruleId"] for result in run["results"]].count("gate/max_files") == 2


HOSTILE = """\
country IN ('$(touch pwned)', '`touch pwned`', '"; touch pwned; "', '%0A::error::x')
::set-output name=result::pass
-
"""


def test_hostile_words_stay_words_and_are_no_commands_to_the_runner(act, workspace):
    done = act(
        table="--help $(touch pwned)\n::warning::y",
        where=HOSTILE,
        args="--select=$(touch pwned)",
        format='"; touch pwned; "',
        baseline="result=pass\nother=1",
    )

    assert (done.code, done.outputs["result"]) == (3, "error")
    assert done.outputs.keys() == set(OUTPUTS)
    assert list(workspace.rglob("pwned*")) == []
    first, *quoted, last = done.log.splitlines()
    token = first.removeprefix("::stop-commands::")
    assert re.fullmatch(r"[0-9a-f]{32}", token)
    assert last == f"::{token}::"
    assert not any(token in line for line in quoted)
    assert any("::warning::y" in line for line in quoted)
