"""`--engine`, and the engine that the environment or a file names."""

from __future__ import annotations

import json

import pytest

ASK = ("explain", "users", "-w", "age + 1 = 42")


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("WHYSCAN_ENGINE", raising=False)


def named(run):
    assert run.code == 0, run.err
    return [engine["engine"] for engine in json.loads(run.out)["engines"]]


def test_the_option_may_be_repeated(whyscan):
    run = whyscan(*ASK, "--engine", "duckdb", "--engine", "trino@476", "--format", "json")

    assert named(run) == ["duckdb", "trino"]


@pytest.mark.parametrize(
    ("engine", "message", "hint"),
    [
        ("presto", "unknown engine 'presto'", "one of spark-delta, "),
        ("trino@9", "unknown version '9' of trino", "one of 484, 483, 476"),
    ],
)
@pytest.mark.parametrize("way", ["option", "variable"])
def test_an_unknown_engine_is_one_line(whyscan, monkeypatch, engine, message, hint, way):
    if way == "variable":
        monkeypatch.setenv("WHYSCAN_ENGINE", engine)
    option = ("--engine", engine) if way == "option" else ()

    run = whyscan(*ASK, *option)

    assert (run.code, run.out) == (2, "")
    error, following = run.err.splitlines()
    assert error == f"error: {message}"
    assert following.startswith(f"hint: {hint}")


def test_the_option_is_stronger_than_the_variable_and_the_variable_than_a_file(
    whyscan, monkeypatch, tmp_path
):
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.whyscan]\nengine = "polars"\n')
    lake = whyscan("explain", "users", "-w", "true", "--format", "json")
    ask = ("explain", json.loads(lake.out)["table"]["uri"], *ASK[2:], "--format", "json")

    of_file = named(whyscan(*ask, cwd=tmp_path))
    monkeypatch.setenv("WHYSCAN_ENGINE", "duckdb")
    of_variable = named(whyscan(*ask, cwd=tmp_path))
    of_option = named(whyscan(*ask, "--engine", "trino", cwd=tmp_path))

    assert (of_file, of_variable, of_option) == (["polars"], ["duckdb"], ["trino"])


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_format_has_the_sentence(whyscan, form):
    run = whyscan(*ASK, "--engine", "spark-parquet", "--format", form)

    assert run.code == 0
    assert "spark-parquet" in run.out
    assert "metadata proves" in " ".join(run.out.split())
