"""Hostile objects: each command ends in time, in little memory, with an answer or a typed error."""

from __future__ import annotations

import pytest

from fuzz.bombs import PROGRAM, bombs, run

CASES = [
    pytest.param(name, marks=pytest.mark.proof) if bomb.proof else name
    for name, bomb in bombs().items()
]


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_object_is_a_typed_error_or_an_answer_in_bounded_memory(tmp_path, name):
    bomb = bombs()[name]
    bomb.write(tmp_path / "t")
    ran = run(bomb, tmp_path / "t")
    assert "whyscan itself failed" not in ran.error
    if bomb.says is None:
        assert ran.code == 0, ran
    else:
        assert ran.code == 3, ran
        assert bomb.says in ran.error.splitlines()[0], ran
    assert ran.peak <= bomb.memory + PROGRAM, ran


@pytest.mark.parametrize(
    "name", ["a manifest of deflate that inflates to 60 MB", "25 million deleted positions"]
)
def test_every_limit_is_kept_and_named_with_a_larger_one(tmp_path, name):
    bomb = bombs()[name]
    bomb.write(tmp_path / "t")
    ran = run(bomb, tmp_path / "t", 32 << 20)
    assert ran.code == 3, ran
    assert "and the memory limit is 32 MiB" in ran.error, ran
    assert "--memory 128MiB" in ran.error, ran
    assert ran.peak <= (32 << 20) + PROGRAM, ran
