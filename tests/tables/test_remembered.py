"""An open table keeps what it read, within bounds, for the next question on the same columns."""

from __future__ import annotations

import shutil

import pytest

import whyscan
from storage import lakes_to_upload
from whyscan.tables.remembered import Remembered, size

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

    asked = [kept(table, question) for question in (first, other, second, first)]

    assert asked == [kept(whyscan.open(lake / name), q) for q in (first, other, second, first)]


def test_what_was_used_least_recently_goes_first(lake):
    files = whyscan.open(lake / "delta").plan("x > 1", depth="files").evidence.files
    read = []
    remembered = Remembered(bound=2 * size(files))

    def ask(name):
        remembered.files(name, lambda: read.append(name) or files)

    for name in "abacab":
        ask(name)

    assert "".join(read) == "abcb"


def test_nothing_is_kept_that_is_larger_than_the_bound(lake):
    files = whyscan.open(lake / "delta").plan("x > 1", depth="files").evidence.files
    remembered = Remembered(bound=size(files) - 1)

    assert remembered.files("a", lambda: files) is files
    assert remembered.kept == {}
