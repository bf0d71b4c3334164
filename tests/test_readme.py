"""Every example of the README, run as its reader would: in a shell, in the order of the page.

WHYSCAN_GOLDEN=write renews the outputs in the README itself.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples import in_a_shell, run_python, wrong_examples

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("readme")
    in_a_shell("whyscan demo", where)
    return where


def test_every_command_of_the_readme_prints_what_it_shows(folder):
    assert wrong_examples(README, folder, in_a_shell) == []


def test_every_python_example_of_the_readme_runs(folder, monkeypatch):
    monkeypatch.chdir(folder)

    run_python(README)


def test_every_link_to_a_file_leads_to_one():
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README.read_text("utf-8"))

    assert "docs/findings.md" in links
    assert [link for link in links if not (README.parent / link).is_file()] == []
