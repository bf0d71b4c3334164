"""Every example of the README, run as its reader would: in a shell, in the order of the page.

WHYSCAN_GOLDEN=write renews the outputs in the README itself.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.examples import PYTHON, in_a_shell, wrong_examples

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("readme")
    in_a_shell("whyscan demo --size medium", where)
    return where


def test_every_command_of_the_readme_prints_what_it_shows(folder):
    assert wrong_examples(README, folder, in_a_shell) == []


def test_every_python_example_of_the_readme_runs(folder):
    examples = PYTHON.findall(README.read_text("utf-8"))
    assert examples

    # In a process of its own: the JVM of another test's session stands in another folder.
    for number, code in enumerate(examples):
        (folder / f"example-{number}.py").write_text(code, "utf-8")
        in_a_shell(f"python example-{number}.py > said-{number} 2>&1 || touch failed", folder)
        said = (folder / f"said-{number}").read_text("utf-8")
        assert not (folder / "failed").exists(), said


def test_every_link_to_a_file_leads_to_one():
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README.read_text("utf-8"))

    assert "docs/findings.md" in links
    assert [link for link in links if not (README.parent / link).is_file()] == []
