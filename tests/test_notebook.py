"""The magics in a shell of IPython: reports show themselves, and errors are one line."""

from __future__ import annotations

import pytest

import whyscan
from support.commands import whyscan as run
from whyscan.reports.report import Report
from whyscan.statements.records import StatementReport

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    run("demo", cwd=folder)
    return folder / "whyscan-demo"


@pytest.fixture
def shell(lake, monkeypatch):
    """A shell as a kernel has one, in the folder of the lake."""
    monkeypatch.chdir(lake)
    shell = interactiveshell.InteractiveShell()
    shell.run_line_magic("load_ext", "whyscan")
    return shell


def test_a_line_with_a_condition_is_a_report_that_the_notebook_shows(shell):
    done = shell.run_cell("%whyscan users where country = 'DE' AND age > 40")

    assert isinstance(done.result, Report)
    assert done.result.files_level.kept == 1
    shown, _ = shell.display_formatter.format(done.result)
    assert "reads 1 of 6 files" in shown["text/html"]


def test_a_cell_is_a_statement_over_locations_and_variables(shell, lake):
    shell.push({"people": whyscan.open(lake / "users")})
    cell = "%%whyscan u=people m=months\nSELECT * FROM u JOIN m ON u.id = m.id WHERE m.month = 1"

    done = shell.run_cell(cell)

    assert isinstance(done.result, StatementReport)
    assert [scan.name for scan in done.result.scans] == ["u", "m"]
    assert done.result.scans[1].report.files_level.kept == 1


def test_a_command_prints_below_the_cell(shell, capsys):
    shell.run_cell("%whyscan explain users -w \"age > 40 AND country = 'DE'\"")

    assert capsys.readouterr().out.startswith("reads 1 of 6 files")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%whyscan users where nothing = 1", "error: unknown column 'nothing'"),
        ("%whyscan users WHERE nothing = 1", "error: unknown column 'nothing'"),
        ("%whyscan stats it's", 'error: "stats it\'s": No closing quotation'),
        ("%%whyscan users\nSELECT 1", "error: 'users' is no NAME=TABLE"),
        ("%whyscan explain nowhere -w a=1", "error: "),
    ],
)
def test_an_error_is_a_line_and_no_traceback(shell, capsys, cell, message):
    done = shell.run_cell(cell)
    printed = capsys.readouterr()

    assert done.success
    assert done.result is None
    assert message in printed.err
    assert "Traceback" not in printed.err + printed.out


def test_without_words_the_magic_says_how_it_is_used(shell, capsys):
    shell.run_cell("%whyscan")

    assert "%%whyscan NAME=TABLE" in capsys.readouterr().out
