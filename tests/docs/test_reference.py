"""The reference pages are those that the source gives."""

from __future__ import annotations

from pathlib import Path

import pytest

import whyscan
from docs.reference import PAGES
from support.golden import golden
from whyscan.cli.main import COMMANDS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_the_source_says(name):
    made = PAGES[name]()

    assert golden(REFERENCE / f"{name}.md", made) == made


def test_everything_that_is_exported_and_every_command_is_there():
    python = (REFERENCE / "python.md").read_text("utf-8")
    options = (REFERENCE / "options.md").read_text("utf-8")

    assert [n for n in whyscan.__all__ if f"`{n}`" not in python and f"## {n}" not in python] == []
    without = {name for name in COMMANDS if f"[{name}]" not in options}
    assert without == {"mcp", "schema", "cache", "completion"}
