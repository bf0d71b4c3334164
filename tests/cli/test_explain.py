"""`whyscan explain` as users run it: exit codes, streams, formats."""

import json
import os
import pty
import subprocess

import pytest

from support.commands import WHYSCAN
from support.reports import valid

BOTH = "country = 'DE' AND age > 40"

QUESTIONS = {
    "a month of twelve": ("months", "month = 1", (1, 12), (1, 1)),
    "users by country": ("users", BOTH, (1, 6), (1, 2)),
    "users without partitions": ("users-flat", BOTH, (4, 6), (4, 6)),
    "decimals: none, some, all": ("prices", "price > 1000", (1, 1), (2, 3)),
    "doubles: NaN is possible": ("prices-double", "price > 1000", (1, 1), (3, 3)),
    "a glob": ("users/*/*.parquet", BOTH, (1, 6), (1, 2)),
    "a file": ("prices/part-0.parquet", "price > 1000", (1, 1), (2, 3)),
}


@pytest.mark.parametrize(
    ("table", "predicate", "files", "row_groups"), QUESTIONS.values(), ids=QUESTIONS
)
def test_json_of_every_question_is_valid_and_counts_right(
    whyscan, table, predicate, files, row_groups
):
    run = whyscan("explain", table, "-w", predicate, "--format", "json", "--verbose")

    document = valid(json.loads(run.out))
    assert (run.code, run.err) == (0, "")
    levels = {level["level"]: (level["kept"], level["total"]) for level in document["levels"]}
    assert levels == {"files": files, "row_groups": row_groups}
    assert len(document["files"]) == files[1]


def test_several_paths_are_one_table(whyscan):
    run = whyscan(
        "explain", "users/country=DE/part-0.parquet", "users/country=IT/part-0.parquet", "-w", BOTH
    )

    assert run.out.startswith("reads 1 of 2 files")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--min-pruning", "80"), 0),
        (("--min-pruning", "90%"), 1),
        (("--min-pruning-bytes", "99"), 1),
        (("--max-files", "0"), 1),
        (("--max-bytes", "10GB"), 0),
        (("--max-bytes", "1"), 1),
        (("--assert-stats",), 0),
        (("--require-partition-filter",), 0),
    ],
)
def test_a_failed_gate_ends_with_1_and_the_report_is_still_printed(whyscan, arguments, code):
    run = whyscan("explain", "users", "-w", BOTH, *arguments, "--format", "json")

    assert run.code == code
    assert valid(json.loads(run.out))["result"] == ("fail" if code else "pass")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--assert-stats", "users"),
        ("users", "--assert-stats"),
        ("--assert-stats=age", "users"),
        ("users", "--assert-stats=age,id"),
        ("users", "--assert-stats=age", "-w", BOTH),
    ],
)
def test_statistics_are_asserted_without_a_predicate(whyscan, arguments):
    run = whyscan("explain", *arguments, "--format", "json")

    (assertion,) = valid(json.loads(run.out))["assertions"]
    assert (run.code, assertion["name"], assertion["result"]) == (0, "stats_complete", "pass")


WRONG = {
    "no column to assert": (("users", "--assert-stats="), 2, "names no column"),
    "an unknown column to assert": (("users", "--assert-stats=agee"), 3, "unknown column 'agee'"),
    "columns to assert of a statement": (
        ("--sql", "SELECT 1", "--assert-stats=age"),
        2,
        "goes with one TABLE",
    ),
    "no predicate": (("users",), 2, "explain needs -w PREDICATE"),
    "no table": (("-w", "a = 1"), 2, "explain needs a TABLE"),
    "an unknown flag": (("users", "-w", BOTH, "--frob"), 2, "--frob"),
    "an unknown format": (("users", "-w", BOTH, "--format", "xml"), 2, "xml"),
    "an unknown depth": (("users", "-w", BOTH, "--depth", "rows"), 2, "unknown depth"),
    "an unknown dialect": (("users", "-w", BOTH, "--dialect", "sparc"), 2, "did you mean spark"),
    "an unknown zone": (("users", "-w", BOTH, "--timezone", "Mars/Base"), 2, "Mars/Base"),
    "a percentage above 100": (("users", "-w", BOTH, "--min-pruning", "101"), 2, "101"),
    "a percentage that is none": (("users", "-w", BOTH, "--min-pruning", "nan"), 2, "nan"),
    "a size that is none": (("users", "-w", BOTH, "--max-bytes", "lots"), 2, "lots"),
    "a negative number of files": (("users", "-w", BOTH, "--max-files", "-1"), 2, "-1"),
    "an option without a value": (("users", "-w", BOTH, "--option", "key"), 2, "KEY=VALUE"),
    "a predicate file that is missing": (("users", "-w", "@nowhere.sql"), 2, "nowhere.sql"),
    "a table that is missing": (("userz", "-w", BOTH), 3, "userz"),
    "an unknown column": (("users", "-w", "agee > 40"), 3, "did you mean age"),
    "no SQL": (("users", "-w", "age >"), 3, "error: "),
    "an empty predicate": (("users", "-w", ""), 3, "empty"),
    "types that do not go together": (("users", "-w", "age > DATE '2024-01-01'"), 3, "error: "),
    "an unknown selected column": (("users", "-w", BOTH, "-s", "agee"), 3, "did you mean age"),
    "an output folder that is missing": (
        ("users", "-w", BOTH, "-o", "no/where.txt"),
        3,
        "no/where",
    ),
}


@pytest.mark.parametrize(("arguments", "code", "said"), WRONG.values(), ids=WRONG)
def test_bad_input_gets_one_line_a_hint_and_its_exit_code(whyscan, arguments, code, said):
    run = whyscan("explain", *arguments)

    assert (run.code, run.out) == (code, "")
    assert said in run.err
    assert "Traceback" not in run.err
    assert len(run.err.splitlines()) <= 4


def test_a_predicates_error_is_underlined(whyscan):
    run = whyscan("explain", "users", "-w", "country = 'DE' AND agee > 40")

    assert run.err.splitlines() == [
        "error: unknown column 'agee'",
        "  country = 'DE' AND agee > 40",
        "                     ^^^^",
        "hint: did you mean age?",
    ]


def test_escape_codes_in_an_error_are_inert(whyscan):
    run = whyscan("explain", "no\x1b[31mtable", "-w", "a\x1b[2J = 1")

    assert "\x1b" not in run.err


@pytest.mark.parametrize("spelling", ["@question.sql", "-"])
def test_the_predicate_may_stand_in_a_file_or_on_standard_input(whyscan, tmp_path, lake, spelling):
    (tmp_path / "question.sql").write_text(f"{BOTH}\n", "utf-8")

    run = whyscan("explain", lake / "users", "-w", spelling, cwd=tmp_path, stdin=f"{BOTH}\n")

    assert run.out.startswith("reads 1 of 6 files")


def test_output_goes_to_a_file_and_to_nothing_else(whyscan, tmp_path, lake):
    run = whyscan(
        "explain", lake / "users", "-w", BOTH, "--format", "json", "-o", "out.json", cwd=tmp_path
    )

    assert (run.code, run.out, run.err) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    valid(json.loads((tmp_path / "out.json").read_text("utf-8")))


def test_a_file_that_cannot_be_written_leaves_nothing_behind(whyscan, tmp_path, lake):
    (tmp_path / "out").mkdir()

    run = whyscan("explain", lake / "users", "-w", BOTH, "-o", tmp_path / "out")

    assert run.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_partition_type_can_be_given(whyscan):
    run = whyscan("explain", "months", "-w", "month = '1'", "--partition-type", "month=string")

    assert run.out.startswith("reads 1 of 12 files")


def test_a_reader_that_stops_early_is_no_error(lake):
    run = subprocess.run(
        f'{WHYSCAN} explain users -w "{BOTH}" --verbose | head -1; echo ${{PIPESTATUS[0]}}',
        shell=True,
        executable="/bin/bash",
        cwd=lake,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.stdout.splitlines()[0].startswith("reads 1 of 6 files")
    assert (run.stdout.splitlines()[-1], run.stderr) == ("0", "")


def test_a_closed_pipe_is_no_error(lake):
    read, sink = os.pipe()
    os.close(read)
    run = subprocess.run(
        [WHYSCAN, "explain", "users", "-w", BOTH],
        cwd=lake,
        stdout=sink,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(sink)

    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")  # noqa: PTH110
def test_a_full_disk_is_an_error(lake):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        run = subprocess.run(
            [WHYSCAN, "explain", "users", "-w", BOTH],
            cwd=lake,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert run.returncode == 3
    assert run.stderr.startswith("error: cannot write to standard output")


def test_a_pipe_that_knows_ascii_alone_gets_ascii(whyscan):
    run = whyscan("explain", "users", "-w", BOTH, encoding="ascii")

    assert run.code == 0
    assert run.out.isascii()
    assert "####" in run.out


def on_a_terminal(lake, **environment):
    """What the command writes when its standard output is a terminal of 100 columns."""
    import fcntl
    import struct
    import termios

    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "COLUMNS"}}
    command = [WHYSCAN, "explain", "users", "-w", BOTH]
    subprocess.run(
        command, cwd=lake, stdout=child, check=True, env={**kept, "TERM": "xterm", **environment}
    )
    os.close(child)
    output = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(parent)
    return output.decode()


def test_a_terminal_gets_colours_and_a_pipe_does_not(lake, whyscan):
    assert "\x1b[1m" in on_a_terminal(lake)
    assert "\x1b" not in on_a_terminal(lake, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(lake, TERM="dumb")
    assert "\x1b" not in whyscan("explain", "users", "-w", BOTH).out


def test_an_operand_below_not_keeps_its_parentheses(whyscan):
    run = whyscan("explain", "users-delta", "-w", "NOT (country = 'DE' AND age > 40)")

    assert "\n  NOT (country = 'DE' AND age > 40)  unsplittable" in run.out
    assert "NOT country" not in run.out
