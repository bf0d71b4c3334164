"""Commands that need clouds are not run: their options are held against the program."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from whyscan.cli.main import COMMANDS, whyscan

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands():
    """Each line of a page's shell blocks that calls whyscan."""
    for page in sorted(DOCS.rglob("*.md")):
        for block in SHELL.findall(page.read_text("utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("whyscan "):
                    yield f"{page.name}: {line}"


@pytest.mark.parametrize("line", list(commands()))
def test_a_command_that_is_not_run_has_options_that_exist(line):
    _, name, *arguments = shlex.split(line.partition(": ")[2], comments=True)

    # A command keeps the option for help that its first context makes: it must be the program's.
    parent = whyscan.make_context("whyscan", ["--help"], resilient_parsing=True)
    command = whyscan.get_command(parent, name)
    context = click.Context(command, parent, info_name=name, resilient_parsing=True)
    _, rest, _ = command.make_parser(context).parse_args(list(arguments))

    assert name in COMMANDS
    assert rest == []


def test_the_home_lists_every_command():
    home = (DOCS / "index.md").read_text("utf-8")

    assert [name for name in COMMANDS if f"(commands/{name}.md)" not in home] == []


def test_no_page_has_a_placeholder_for_the_owner():
    texts = {path: path.read_text("utf-8") for path in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]}

    assert [path.name for path, text in texts.items() if "OWNER/" in text] == []


def test_the_suites_of_the_performance_page_exist():
    text = (ROOT / "bench" / "run.py").read_text("utf-8")
    suites = re.findall(r'"(\w+)"', text.partition("SUITES = (")[2].partition(")")[0])
    table = (
        (DOCS / "performance.md").read_text("utf-8").partition("| suite | what is measured |")[2]
    )
    rows = [row.split("|")[1] for row in table.partition("\n\n")[0].splitlines()[2:]]

    assert len(rows) > 8
    assert [n for row in rows for n in re.findall(r"`(\w+)`", row) if n not in suites] == []
