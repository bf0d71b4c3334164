"""Settings of the environment and of files, and which of them is used."""

from __future__ import annotations

import pytest

from whyscan.configuration import configuration
from whyscan.errors import UsageError


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("WHYSCAN_ENGINE", raising=False)


def project(folder, *, own=None, pyproject=None):
    (folder / ".git").mkdir(parents=True)
    if own is not None:
        (folder / "whyscan.toml").write_text(own)
    if pyproject is not None:
        (folder / "pyproject.toml").write_text(pyproject)
    return folder


def test_without_a_file_there_are_no_settings(tmp_path):
    assert configuration(project(tmp_path)).words("engine") == ()


def test_a_project_file_has_its_own_table(tmp_path):
    folder = project(tmp_path, pyproject='[tool.whyscan]\nengine = ["duckdb", "trino@476"]\n')

    assert configuration(folder).words("engine") == ("duckdb", "trino@476")


def test_the_nearest_file_with_settings_counts(tmp_path):
    folder = project(tmp_path, own='engine = "trino"')
    inner = folder / "jobs"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[project]\nname = 'jobs'\n")

    assert configuration(inner).words("engine") == ("trino",)
    assert configuration(inner).path == folder / "whyscan.toml"


def test_a_file_outside_of_the_repository_does_not_count(tmp_path):
    (tmp_path / "whyscan.toml").write_text('engine = "trino"')

    assert configuration(project(tmp_path / "repository")).words("engine") == ()


def test_a_variable_is_stronger_than_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("WHYSCAN_ENGINE", "duckdb, trino@476")

    folder = project(tmp_path, own='engine = "polars"')

    assert configuration(folder).words("engine") == ("duckdb", "trino@476")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("engine = 3", "'engine' in"),
        ("engin = 'duckdb'", "unknown setting 'engin'"),
        ("engine = ", "cannot read"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, message):
    folder = project(tmp_path, own=text)

    with pytest.raises(UsageError, match=message) as error:
        configuration(folder).words("engine")

    assert "whyscan.toml" in error.value.message


@pytest.mark.parametrize(
    "text",
    [
        '[tool.whyscan]\nengine = "duckdb"',
        '[ tool . "whyscan" ] # ours\nengine = "duckdb"',
        '[tool]\nwhyscan.engine = "duckdb"',
        ' ["tool"]\nwhyscan = { engine = "duckdb" }',
        'tool.whyscan.engine = "duckdb"',
        'tool = { whyscan = { engine = "duckdb" } }',
    ],
)
def test_every_spelling_of_the_table_is_found(tmp_path, text):
    assert configuration(project(tmp_path, pyproject=text)).words("engine") == ("duckdb",)


def test_a_project_without_the_table_is_not_parsed(tmp_path):
    folder = project(
        tmp_path, pyproject='[project]\nname = "whyscan"\n[tool.ruff]\nno TOML = at all'
    )

    assert configuration(folder).words("engine") == ()
