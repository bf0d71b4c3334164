"""Every example of the documentation, run; WHYSCAN_GOLDEN=write renews what they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.glue import glue_of
from docs.lake import write_lake
from support.commands import whyscan
from support.examples import BLOCK, PYTHON, in_this_process, run_python, wrong_examples
from whyscan.cli.main import COMMANDS
from whyscan.planning.why.reason_codes import Reason
from whyscan.reports.findings import Code

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

pytestmark = pytest.mark.xdist_group("docs")  # one lake


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("docs")
    write_lake(where / "lake")
    whyscan("demo", "--size", "medium", cwd=where)
    with pytest.MonkeyPatch.context() as environment, glue_of(where / "shop", environment):
        yield where


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_command_of_a_page_prints_what_it_shows(page, folder):
    assert wrong_examples(page, folder, in_this_process) == []


def starts_spark(page):
    return any("session()" in code for code in PYTHON.findall(page.read_text("utf-8")))


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if not starts_spark(page)],
    ids=lambda page: page.relative_to(DOCS).as_posix(),
)
def test_every_python_example_of_a_page_runs(page, folder, monkeypatch):
    monkeypatch.chdir(folder)

    run_python(page)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if starts_spark(page)],
    ids=lambda page: page.relative_to(DOCS).as_posix(),
)
def test_every_python_example_of_a_page_runs_on_spark(page, folder, monkeypatch):
    monkeypatch.chdir(folder)

    run_python(page)


@pytest.mark.parametrize(
    ("page", "codes"), [("findings.md", Code), ("reasons.md", Reason)], ids=["findings", "reasons"]
)
def test_every_code_has_its_section_with_an_example_that_shows_it(page, codes):
    text = (DOCS / page).read_text("utf-8")
    _, *parts = re.split(r"^##+ ([A-Z_]+)$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    shown = {
        code: any(code in block for block in BLOCK.findall(section))
        for code, section in sections.items()
    }

    assert shown == dict.fromkeys(map(str, codes), True)


def test_every_command_has_its_page_with_its_options():
    for command in COMMANDS:
        page = (DOCS / "commands" / f"{command}.md").read_text("utf-8")
        assert f"$ whyscan {command} --help\n" in page
