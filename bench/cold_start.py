"""`whyscan explain` on six files as a whole cold process, with and without pandas installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from measure import Ratio, compare
from processes import FOLDER, WHYSCAN, run

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORTS = "import pyarrow, duckdb"


def measurements(folder: Path) -> Iterator[Ratio]:
    """Both environments: pandas, where it is installed, is imported behind our back."""
    table = folder / "six" / "users"
    if not table.exists():
        run([WHYSCAN, "demo", str(folder / "six")])
    yield _cold("cold start, pandas installed", Path(sys.executable), folder)
    yield _cold("cold start, core alone", _core_environment(folder), folder)


def _cold(work: str, python: Path, folder: Path) -> Ratio:
    explain = [str(python.parent / "whyscan"), "explain", str(folder / "six" / "users")]
    predicate = ["-w", "country = 'DE' AND age > 40"]
    return compare(
        work,
        f'python -c "{IMPORTS}"',
        3.0,
        lambda: run([*explain, *predicate]),
        lambda: run([str(python), "-c", IMPORTS]),
    )


def _core_environment(folder: Path) -> Path:
    """An environment with what `pip install whyscan` brings and nothing else, ours as it is now."""
    home, root = folder / "core-environment", FOLDER.parent
    python = home / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    if not (home / "bin" / "whyscan").exists():
        run([sys.executable, "-m", "venv", str(home)])
    run([*pip, "--require-hashes", "-r", str(root / "requirements" / "core.txt")])
    run([*pip, "--no-deps", "--force-reinstall", str(root)])
    return python
