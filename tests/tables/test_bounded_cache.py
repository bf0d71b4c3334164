"""An open table keeps what it read, within bounds, for the next question on the same columns."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

import whyscan
from tables.storage import lakes_to_upload
from whyscan.errors import TableError
from whyscan.tables.bounded_cache import BoundedCache, size

QUESTIONS = {
    # table: its metadata, two questions on the same columns, one on others
    "delta": ("_delta_log", ("k = 'b' AND x > 150", "x < 60 AND k = 'a'"), "x > 150"),
    "iceberg": ("metadata", ("i < 0 AND yes", "yes IS NULL OR i > 5"), "s > 'm'"),
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    lakes_to_upload.write(folder)
    return folder


def kept(table, question):
    return sorted(file.path for file in table.plan(question, depth="files"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_next_question_on_the_same_columns_reads_nothing(lake, tmp_path, name):
    metadata, (first, second), _ = QUESTIONS[name]
    fresh = kept(whyscan.open(lake / name), second)
    shutil.copytree(lake / name, tmp_path / name)
    table = whyscan.open(tmp_path / name)
    assert sorted(file.path for file in table.plan(first, depth="files", full=True))
    shutil.rmtree(tmp_path / name / metadata)

    again = table.plan(second, depth="files", full=True)

    assert sorted(file.path for file in again) == fresh
    assert 0 < len(fresh) < again.summary.files_total


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_on_other_columns_is_read_anew(lake, name):
    _, (first, second), other = QUESTIONS[name]
    table = whyscan.open(lake / name)

    answers = [kept(table, question) for question in (first, other, second, first)]

    assert answers == [kept(whyscan.open(lake / name), q) for q in (first, other, second, first)]


def test_what_was_used_least_recently_goes_first(lake):
    files = whyscan.open(lake / "delta").plan("x > 1", depth="files").evidence.files
    read = []
    remembered = BoundedCache(bound=2 * size(files))

    def ask(name):
        remembered.get(name, lambda: read.append(name) or files)

    for name in "abacab":
        ask(name)

    assert "".join(read) == "abcb"


def test_nothing_is_kept_that_is_larger_than_the_bound(lake):
    files = whyscan.open(lake / "delta").plan("x > 1", depth="files").evidence.files
    remembered = BoundedCache(bound=size(files) - 1)

    assert remembered.get("a", lambda: files) is files
    assert len(remembered) == 0


def test_what_was_expected_is_read_once_and_before_it_is_asked_for(lake):
    files = whyscan.open(lake / "delta").plan("x > 1", depth="files").evidence.files
    read = []
    remembered = BoundedCache()

    def reader(name):
        return lambda: read.append(name) or files

    remembered.begin("a", reader("expected"))
    assert remembered.get("a", reader("asked")) is files
    assert remembered.get("a", reader("asked again")) is files
    assert read == ["expected"]


def test_an_expectation_that_fails_fails_where_it_is_asked_for_and_no_other_is_touched(lake):
    files = whyscan.open(lake / "delta").plan("x > 1", depth="files").evidence.files
    remembered = BoundedCache()

    def broken():
        raise TableError("no such log")

    remembered.begin("a", broken)
    assert remembered.get("b", lambda: files) is files
    with pytest.raises(TableError, match="no such log"):
        remembered.get("a", lambda: files)
    assert remembered.get("a", lambda: files) is files


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_process_that_reads_while_the_parser_is_imported_finds_the_same(lake, name):
    """Wrong guesses among them: a column's name as a string, a member that is no column."""
    _, (first, second), other = QUESTIONS[name]
    for question in (first, second, other, f'{other} AND "x" = "k"', "nothing = 1"):
        code = (
            "import sys, whyscan\n"
            "assert 'sqlglot' not in sys.modules\n"
            "try:\n"
            f"    plan = whyscan.open({str(lake / name)!r}).plan({question!r}, depth='files')\n"
            "except whyscan.WhyscanError as error:\n"
            "    print(type(error).__name__)\n"
            "else:\n"
            "    print(*sorted(file.path for file in plan))\n"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        try:
            expected = " ".join(kept(whyscan.open(lake / name), question))
        except whyscan.WhyscanError as error:
            expected = type(error).__name__
        assert (run.stdout.strip(), run.stderr, run.returncode) == (expected, "", 0)
