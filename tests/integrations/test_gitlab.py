"""The template for GitLab: its script run in bash with the variables that GitLab would set."""

from __future__ import annotations

import os
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest
import yaml

from integrations.steps import ROOT

SPEC, JOBS = yaml.safe_load_all((ROOT / "templates" / "whyscan.yml").read_text("utf-8"))
JOB = JOBS["whyscan"]

pytestmark = pytest.mark.xdist_group("action")  # one installation


@pytest.fixture
def job(installed, workspace, lent, tmp_path):
    """The last part of the script, with whyscan as the parts before install it."""
    (tmp_path / ".whyscan").symlink_to(installed.parent)
    (tmp_path / "lake").symlink_to(workspace / "lake")

    def run(**inputs):
        defaults = {name: entry["default"] for name, entry in SPEC["spec"]["inputs"].items()}
        variables = {
            name: re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda m: {**defaults, **inputs}[m[1]], text)
            for name, text in JOB["variables"].items()
        }
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", JOB["script"][-1]],
            cwd=tmp_path,
            env={**os.environ, **lent, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        return done, tmp_path / "whyscan-reports"

    return run


def test_every_input_is_a_variable_or_a_word_of_the_job():
    text = yaml.safe_dump(JOBS)

    assert [n for n in SPEC["spec"]["inputs"] if f"inputs.{n} " not in text] == []
    assert "inputs." not in "".join(JOB["script"])


def test_a_gate_that_fails_is_the_code_of_the_job_and_in_its_reports(job):
    done, reports = job(
        table="lake/users", where="country = 'DE'", arguments="--max-files=1 --min-pruning=50"
    )

    assert done.returncode == 1
    assert "fail  max_files: 2, at most 1 asked" in done.stdout
    assert len(ET.parse(reports / "junit.xml").findall(".//failure")) == 1
    assert "<html" in (reports / "report.html").read_text()


def test_a_statement_is_asked_of_its_table(job):
    done, _ = job(table="users=lake/users", sql="SELECT * FROM users WHERE age > 40")

    assert (done.returncode, done.stderr) == (0, "")
    assert "reads 3 of 6 files" in done.stdout


def test_words_of_inputs_are_no_commands(job, tmp_path):
    done, _ = job(table="$(touch pwned)", where="`touch pwned`; touch pwned", arguments="$(x)")

    assert done.returncode > 0
    assert list(tmp_path.rglob("pwned*")) == []
