"""The memory limit: one number for all readers, and errors that name the file and a way out."""

from __future__ import annotations

import pytest

from support.commands import whyscan
from whyscan.errors import TooLarge, UsageError
from whyscan.tables import budget
from whyscan.tables.sizes import parse_size, show_size


@pytest.mark.parametrize(
    ("text", "limit"), [(None, 1 << 30), ("", 1 << 30), ("4GiB", 4 << 30), ("5000", 5000)]
)
def test_the_limit_is_the_variable_or_a_gibibyte(monkeypatch, text, limit):
    monkeypatch.delenv(budget.VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(budget.VARIABLE, text)
    assert budget.limit() == limit


def test_a_variable_that_is_no_size_is_named(monkeypatch):
    monkeypatch.setenv(budget.VARIABLE, "much")
    with pytest.raises(UsageError, match="WHYSCAN_MEMORY is not a size: 'much'"):
        budget.limit()


@pytest.mark.parametrize(
    ("claimed", "enough"), [((1 << 30) + 1, "4GiB"), (5 << 30, "8GiB"), (1 << 62, "4096PiB")]
)
def test_a_size_above_the_limit_is_refused_with_a_limit_that_is_enough(claimed, enough):
    with pytest.raises(TooLarge, match=r"m\.avro: .* the memory limit is 1 GiB") as error:
        budget.check(claimed, "m.avro")
    assert error.value.hint.endswith(f"--memory {enough}")
    assert error.value.exit_code == 3


def test_a_size_at_the_limit_is_allowed():
    budget.check(1 << 30, "m.avro")


@pytest.mark.parametrize(
    ("packed", "most"),
    [(0, 64 << 20), (1 << 19, 64 << 20), (1 << 20, 128 << 20), (1 << 40, 1 << 30)],
)
def test_an_object_inflates_by_a_ratio_and_never_beyond_the_limit(packed, most):
    assert budget.most_inflated(packed) == most


def test_pieces_are_given_on_until_they_are_too_many():
    pieces = budget.bounded([b"abc", b"def", b"g"], 6, "log.gz")
    assert [next(pieces), next(pieces)] == [b"abc", b"def"]
    with pytest.raises(TooLarge, match=r"log\.gz: it inflates to more than 6 bytes"):
        next(pieces)


@pytest.mark.parametrize("size", [0, 1, 900, 1024, 1536, 64 << 20, 1 << 30, 4 << 30, 3 << 50])
def test_a_size_is_shown_as_it_is_read(size):
    assert parse_size(show_size(size, "")) == size


@pytest.mark.parametrize("command", ["stats", "explain", "scan"])
def test_the_option_is_the_limit_while_a_command_runs(monkeypatch, tmp_path, command):
    seen = []

    def open_table(*_, **__):
        seen.append(budget.limit())
        raise TooLarge("f", "this test ends here")

    monkeypatch.setattr("whyscan.cli.options.open_table", open_table)
    where = () if command == "stats" else ("-w", "a = 1")
    ran = whyscan(command, "t", *where, "--memory", "20MiB", cwd=tmp_path)
    assert (ran.code, seen, budget.limit()) == (3, [20 << 20], 1 << 30)


def test_an_option_that_is_no_size_is_refused(tmp_path):
    ran = whyscan("stats", "t", "--memory", "12x", cwd=tmp_path)
    assert ran.code == 2
    assert "Invalid value for '--memory': not a size: '12x'" in ran.err


def test_a_command_without_memory_left_says_so(monkeypatch, tmp_path):
    def open_table(*_, **__):
        raise MemoryError

    monkeypatch.setattr("whyscan.cli.options.open_table", open_table)
    ran = whyscan("stats", "t", cwd=tmp_path)
    assert ran.code == 3
    assert ran.err.startswith("error: the machine has no memory left")
