"""The line for work that takes its time: on a terminal alone, and gone afterwards."""

import io
import sys
from time import sleep

import pytest

from whyscan.cli import progress
from whyscan.tables.snapshot import Traffic


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "REFRESH", 0.001)


def watched(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.Progress() as shown:
        shown.watch(lambda: Traffic(1234, 5_600_000))
        sleep(0.2)
    return stream.getvalue()


def test_a_terminal_sees_what_was_read_and_then_a_clear_line(impatient, monkeypatch):
    said = watched(Terminal(), monkeypatch)

    assert "1,234 objects, 5.6 MB" in said
    assert said.endswith(progress.CLEAR)


def test_a_pipe_sees_nothing(impatient, monkeypatch):
    assert watched(io.StringIO(), monkeypatch) == ""


def test_quick_work_is_not_announced(monkeypatch):
    assert watched(Terminal(), monkeypatch) == ""
