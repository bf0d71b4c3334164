"""Settings that a user writes once, in the environment or in a file of the project.

The engine, for example, is `WHYSCAN_ENGINE=duckdb`, or `engine = "duckdb"` in a `whyscan.toml`, or
the same below `[tool.whyscan]` in a `pyproject.toml`. A variable is stronger than a file. One file
counts: the nearest one, from the working directory up to the root of its repository.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SETTINGS = frozenset({"catalogs", "engine"})
"""The settings that a file may have."""

_OWN_FILE, _PROJECT_FILE = "whyscan.toml", "pyproject.toml"


class Configuration(Struct, frozen=True):
    """The settings of one file; `path` is None if there is no file."""

    values: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None

    def words(self, name: str) -> tuple[str, ...]:
        """The words of a setting: of its variable, separated by commas, else of the file."""
        variable = os.environ.get(f"WHYSCAN_{name.upper()}", "")
        if variable:
            return tuple(word.strip() for word in variable.split(",") if word.strip())
        value = self.values.get(name, [])
        words = [value] if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise UsageError(
                f"{name!r} in {self.path} is neither a text nor a list of texts",
                hint=f'{name} = "a", or {name} = ["a", "b"]',
            )
        return tuple(words)

    def table(self, name: str) -> Mapping[str, Any]:
        """The names and values of a setting that is a table of TOML."""
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            raise UsageError(f"{name!r} in {self.path} is no table", hint=f"write [{name}]")
        return value


def configuration(folder: Path | None = None) -> Configuration:
    """The settings of the file that is nearest to a folder; None is the working directory."""
    for place in _folders(Path.cwd() if folder is None else folder.resolve()):
        for name in (_OWN_FILE, _PROJECT_FILE):
            values = _settings(place / name)
            if values is not None:
                return Configuration(values, place / name)
    return Configuration()


def _folders(folder: Path) -> Iterator[Path]:
    """The folder and those around it, up to the root of its repository."""
    for place in (folder, *folder.parents):
        yield place
        if (place / ".git").exists():
            return


def _settings(path: Path) -> Mapping[str, Any] | None:
    """The settings of a file; None if it is not there, or has none."""
    if not path.is_file():
        return None
    try:
        text = path.read_text("utf-8")
        if path.name == _PROJECT_FILE and not _may_have_settings(text):
            return None
        import tomllib

        document = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint="it is no valid TOML") from error
    if path.name == _PROJECT_FILE:
        document = document.get("tool", {}).get("whyscan")
    if document is None:
        return None
    for name in document.keys() - SETTINGS:
        raise UsageError(
            f"unknown setting {name!r} in {path}", hint=f"one of {', '.join(sorted(SETTINGS))}"
        )
    return document


def _may_have_settings(text: str) -> bool:
    """Whether a `pyproject.toml` may have our table: to parse one takes longer than many imports.

    The name of the table is in one line with `tool`, or below a line `[tool]`.
    """
    lines = [line.partition("#")[0] for line in text.splitlines() if "tool" in line]
    return any("whyscan" in line or line.strip(" \t[]'\"") == "tool" for line in lines)
