"""Pipes, devices, links in circles and names that no file has: one line, and never a hang."""

import os
import shlex
import subprocess

import pytest

from support.commands import WHYSCAN
from whyscan.demo.lake import write_lake

PATIENCE = 60
LONG = "a" * 300
NOT_REGULAR = "is not a regular file"

# The file of the lake that becomes a pipe (None for none), the words, the exit code, the error.
CASES = {
    "table, a pipe": ("pipe", ("explain", "pipe", "-w", "a = 1"), 3, NOT_REGULAR),
    "table, a device": (None, ("explain", "/dev/zero", "-w", "a = 1"), 3, NOT_REGULAR),
    "table, standard input": (None, ("explain", "/dev/stdin", "-w", "a = 1"), 3, NOT_REGULAR),
    "predicate, a pipe": ("pipe", ("explain", "users", "-w", "@pipe"), 2, NOT_REGULAR),
    "predicate, a device": (None, ("explain", "users", "-w", "@/dev/zero"), 2, NOT_REGULAR),
    "predicate, a folder": (None, ("explain", "users", "-w", "@users"), 2, "it is a folder"),
    "statement, a pipe": ("pipe", ("explain", "--sql", "@pipe"), 2, NOT_REGULAR),
    "baseline, a pipe": (
        "pipe",
        ("explain", "users", "-w", "age = 1", "--baseline", "pipe"),
        2,
        NOT_REGULAR,
    ),
    "baseline, a device": (
        None,
        ("explain", "users", "-w", "age = 1", "--baseline", "/dev/zero"),
        2,
        NOT_REGULAR,
    ),
    "Delta log, a pipe": (
        "users-delta/_delta_log/00000000000000000001.json",
        ("explain", "users-delta", "-w", "age = 1"),
        3,
        "commit 1 of the log is missing",
    ),
    "manifest, a pipe": (
        "archive/metadata/m01.avro",
        ("explain", "archive", "-w", "mission = 'artemis-1'"),
        3,
        NOT_REGULAR,
    ),
    "manifest list, a pipe": (
        "archive/metadata/snap-1.avro",
        ("explain", "archive", "-w", "mission = 'artemis-1'"),
        3,
        NOT_REGULAR,
    ),
    "metadata file, a pipe": (
        "archive/metadata/v1.metadata.json",
        ("explain", "archive/metadata/v1.metadata.json", "-w", "mission = 'artemis-1'"),
        3,
        NOT_REGULAR,
    ),
    "version hint, a pipe": (
        "archive/metadata/version-hint.text",
        ("explain", "archive", "-w", "mission = 'artemis-1'"),
        3,
        NOT_REGULAR,
    ),
    "data file, a pipe": (
        "users-delta/country=DE/part-0.parquet",
        ("scan", "users-delta", "-w", "age > 40"),
        3,
        "is missing",
    ),
    "table, too long": (None, ("explain", LONG, "-w", "a = 1"), 3, "there is no "),
    "glob, too long": (None, ("explain", f"{LONG}/*.parquet", "-w", "a = 1"), 3, "there is no "),
    "path, too long": (
        None,
        ("explain", "/".join(["a" * 200] * 30), "-w", "a = 1"),
        3,
        "there is no ",
    ),
    "table of a statement, too long": (
        None,
        ("explain", "--sql", f"SELECT * FROM parquet.`{LONG}`"),
        3,
        "there is no ",
    ),
    "metadata file, too long": (
        None,
        ("explain", f"{LONG}/metadata/v1.metadata.json", "-w", "a = 1"),
        3,
        "there is no ",
    ),
    "predicate file, too long": (
        None,
        ("explain", "users", "-w", f"@{LONG}"),
        2,
        "File name too long",
    ),
    "baseline, too long": (
        None,
        ("explain", "users", "-w", "age = 1", "--baseline", LONG),
        2,
        "File name too long",
    ),
    "table, no Unicode": (None, ("explain", b"a\xff", "-w", "a = 1"), 3, "there is no "),
    "predicate, no Unicode": (
        None,
        ("explain", "users", "-w", b"country = 'a\xff'"),
        3,
        "not UTF-8",
    ),
    "statement, no Unicode": (None, ("explain", "--sql", b"SELECT '\xff'"), 3, "not UTF-8"),
    "predicate file, no Unicode": (None, ("explain", "users", "-w", b"@a\xff"), 2, "No such file"),
    "NUL in a path": (
        None,
        ("explain", "--sql", "@nul.sql"),
        3,
        "there is no ",
    ),
}


@pytest.fixture
def own_lake(tmp_path):
    write_lake(tmp_path / "lake", force=False)
    (tmp_path / "lake" / "nul.sql").write_text("SELECT * FROM parquet.`a\0b`")
    return tmp_path / "lake"


def run(folder, *words):
    return subprocess.run(
        [str(WHYSCAN), *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize(("pipe", "words", "code", "said"), CASES.values(), ids=CASES)
def test_what_is_no_file_is_refused_in_one_line(own_lake, pipe, words, code, said):
    if pipe is not None:
        (own_lake / pipe).unlink(missing_ok=True)
        os.mkfifo(own_lake / pipe)

    ended = run(own_lake, *words)
    err = ended.stderr.decode()

    assert (ended.returncode, ended.stdout) == (code, b""), err
    assert err.startswith("error: ")
    assert said in err.splitlines()[0]
    assert "whyscan itself failed" not in err


def test_bytes_on_standard_input_that_are_no_text_are_refused(own_lake):
    words = [str(WHYSCAN), "explain", "users", "-w", "-"]

    ended = subprocess.run(
        words, cwd=own_lake, input=b"country = '\xff'", capture_output=True, check=False
    )

    # By the locale Python refuses the bytes, or hands them on for the parser to refuse.
    assert ended.returncode in {2, 3}
    assert ended.stdout == b""
    assert b"not UTF-8" in ended.stderr
    assert b"itself failed" not in ended.stderr


def test_links_that_lead_to_one_folder_in_a_million_ways_end_quickly(own_lake):
    """Twenty folders, each with two links to the next: 2^20 ways to the last one."""
    folders = own_lake / "diamonds"
    for number in range(21):
        (folders / f"d{number}").mkdir(parents=True)
    for number in range(20):
        for name in ("left", "right"):
            (folders / f"d{number}" / name).symlink_to(folders / f"d{number + 1}")

    ended = run(own_lake, "explain", "diamonds/d0", "-w", "a = 1")

    assert ended.returncode == 3
    assert b"links lead to " in ended.stderr


def test_links_in_circles_and_two_ways_to_a_folder_are_read(own_lake):
    users = own_lake / "users"
    (users / "country=XX").symlink_to(users / "country=DE")
    (users / "country=DE" / "up").symlink_to(users)

    ended = run(own_lake, "explain", "users", "-w", "country = 'XX'", "--format", "json")

    assert ended.returncode == 0, ended.stderr
    assert b'"kept": 2' in ended.stdout, "both files are in both partitions"


def test_a_report_written_to_a_pipe_leaves_the_pipe_in_its_place(whyscan, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    run = whyscan("explain", "users", "-w", "age > 40", "-o", pipe)

    assert (run.code, run.err) == (0, "")
    assert os.read(reader, 1 << 16).startswith(b"reads 3 of 6 files")
    assert pipe.is_fifo()
    os.close(reader)


def test_a_report_written_to_a_link_leaves_the_link_in_its_place(whyscan, tmp_path):
    link, target = tmp_path / "link.txt", tmp_path / "target.txt"
    link.symlink_to(target)

    whyscan("explain", "users", "-w", "age > 40", "-o", link)

    assert link.is_symlink()
    assert target.read_text("utf-8").startswith("reads 3 of 6 files")


def test_a_byte_order_mark_before_a_predicate_is_no_part_of_it(whyscan, tmp_path):
    file = tmp_path / "predicate.sql"
    file.write_text("age > 40", "utf-8-sig")

    from_file = whyscan("explain", "users", "-w", f"@{file}")
    from_input = whyscan("explain", "users", "-w", "-", stdin="\ufeffage > 40")

    assert from_file.out == from_input.out
    assert from_file.code == from_input.code == 0


@pytest.mark.parametrize("command", [("explain", "-w", "age > 40"), ("scan",), ("stats",)])
def test_a_closed_standard_output_is_an_error_and_no_lost_report(lake, command):
    name, *options = command
    words = shlex.join([str(WHYSCAN), name, "users", *options])

    run = subprocess.run(
        ["sh", "-c", f"{words} >&-"], cwd=lake, capture_output=True, text=True, check=False
    )

    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr == "error: standard output is closed\nhint: -o FILE writes to a file\n"
