"""The command line as a whole: help, version, schema, start-up, and errors of our own."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest
from jsonschema import Draft202012Validator

from whyscan.cli import main


def test_schema_is_a_valid_schema(whyscan):
    run = whyscan("schema")

    Draft202012Validator.check_schema(json.loads(run.out))
    assert (run.code, run.err) == (0, "")


def test_version_is_the_packages(whyscan):
    assert whyscan("--version").out == f"whyscan {version('whyscan')}\n"


@pytest.mark.parametrize("arguments", [("--help",), ("explain", "--help"), ("demo", "-h")])
def test_help_is_printed_and_fine(whyscan, arguments):
    run = whyscan(*arguments)

    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("Usage: whyscan")


def test_an_unknown_command_is_wrong_usage(whyscan):
    run = whyscan("frobnicate")

    assert (run.code, run.out) == (2, "")
    assert "No such command" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "--nope"), "error: No such option"),
        (("explain", "t", "-w"), "error: Option '-w' requires an argument."),
        (("explain", "t", "-w", "a=1", "--min-pruning", "x"), "error: Invalid value"),
        (("explain", "t", "-w", "a=1", "--format", "yaml"), "error: Invalid value"),
        (("scan",), "error: "),
        (("schema", "nope"), "error: Invalid value"),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(whyscan, arguments, message):
    run = whyscan(*arguments)

    line, hint = run.err.splitlines()
    assert (run.code, run.out) == (2, "")
    assert line.startswith(message)
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["explain", "--help"]])
def test_what_needs_no_table_imports_neither_arrow_nor_sql(arguments):
    code = (
        "import sys\nfrom whyscan.cli.main import run\n"
        f"run({arguments!r})\n"
        "print(*sorted({'pyarrow', 'sqlglot', 'duckdb', 'numpy'} & sys.modules.keys()))"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.splitlines()[-1] == ""


def test_a_mistake_of_our_own_is_one_line_and_a_hint(monkeypatch, capsysbinary):
    def fail(*_, **__):
        raise ZeroDivisionError("by \x1b[31mzero")

    monkeypatch.setattr(main.whyscan, "main", fail)

    assert main.run([]) == 3
    error = capsysbinary.readouterr().err.decode()
    assert error.startswith(r"error: whyscan itself failed: ZeroDivisionError: by \x1b[31mzero")
    assert len(error.splitlines()) == 2


def test_an_interrupt_ends_with_130_and_one_line(monkeypatch, capsysbinary):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(main.whyscan, "main", interrupt)

    assert main.run([]) == 130
    assert capsysbinary.readouterr() == (b"", b"interrupted\n")


def test_explaining_a_table_loads_neither_pandas_nor_duckdb(lake):
    arguments = ["whyscan", "explain", str(lake / "users"), "-w", "country = 'DE' AND age > 40"]
    code = (
        "import atexit, sys\nfrom whyscan.cli.main import main\n"
        "loaded = lambda: print(*sorted({'pandas', 'duckdb'} & sys.modules.keys()))\n"
        "atexit.register(loaded)\n"
        f"sys.argv = {arguments!r}\nmain()"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.splitlines()[-1] == ""
