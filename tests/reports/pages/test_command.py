"""`whyscan explain --format html`, from the command line to a file."""

import json
import re

import pytest

from support import commands
from whyscan.demo.lake import write_lake

BLOCK = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    write_lake(folder, force=False)
    return folder


def explain(lake, *arguments):
    return commands.whyscan("explain", *arguments, cwd=lake)


def test_the_page_is_written_to_a_file_whole_and_lists_every_file(lake):
    run = explain(lake, "users", "-w", "age > 40", "--format", "html", "-o", "report.html")

    html = (lake / "report.html").read_text("utf-8")
    assert (run.code, run.out, run.err) == (0, "", "")
    assert html.startswith("<!doctype html>")
    assert html.endswith("</html>\n")
    assert json.loads(BLOCK.findall(html)[0])["count"] == 6


def test_a_gate_that_fails_is_in_the_page_and_in_the_exit_code(lake):
    run = explain(lake, "users", "-w", "age > 40", "--format", "html", "--max-files", "1")

    assert run.code == 1
    assert re.search(r'<li class="fail"><b>fail</b> max_files', run.out)


def test_pages_of_the_same_run_differ_in_nothing_but_what_was_measured(lake):
    first, second = (
        explain(lake, "users", "-w", "age > 40", "--format", "html").out for _ in range(2)
    )

    assert first == second
