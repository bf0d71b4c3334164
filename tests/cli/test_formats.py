"""Each form of a report from the command line: whole, of its kind, with the gates' exit code."""

import json
from xml.etree import ElementTree as ET

import pytest

from whyscan.cli.formats import FORMS

BEGINNINGS = {
    "text": "reads ",
    "json": "{",
    "markdown": "**reads ",
    "html": "<!doctype html>",
    "sarif": "{",
    "junit": "<?xml ",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_written_whole_and_the_gate_decides(whyscan, form):
    done = whyscan("explain", "users", "-w", "age > 40", "--format", form, "--max-files=0")

    assert done.code == 1
    assert done.out.lower().startswith(BEGINNINGS[form])
    assert done.out.endswith("\n")


def test_sarif_names_the_file_of_the_predicate(whyscan, tmp_path):
    question = tmp_path / "ages.sql"
    question.write_text("age > 40")
    done = whyscan("explain", "users", "-w", f"@{question}", "--format", "sarif")

    (result, *_) = json.loads(done.out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place == str(question)


def test_junit_goes_to_a_file(whyscan, tmp_path):
    out = tmp_path / "whyscan.xml"
    done = whyscan("explain", "users", "-w", "age > 40", "--format", "junit", "-o", out)

    assert (done.code, done.out) == (0, "")
    assert ET.parse(out).getroot().get("failures") == "0"
