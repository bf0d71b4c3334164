"""`whyscan explain` on six files as a whole cold process, with and without pandas installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from measure import Ratio, compare

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORTS = "import pyarrow, duckdb"
ROOT = Path(__file__).parent.parent


def measurements(folder: Path) -> Iterator[Ratio]:
    """Both environments: pandas, where it is installed, is imported behind our back."""
    table = folder / "six" / "users"
    if not table.exists():
        _run([str(Path(sys.executable).parent / "whyscan"), "demo", str(folder / "six")])
    yield _cold("cold start, pandas installed", Path(sys.executable), folder)
    yield _cold("cold start, core alone", _core_environment(folder), folder)


def _cold(work: str, python: Path, folder: Path) -> Ratio:
    explain = [str(python.parent / "whyscan"), "explain", str(folder / "six" / "users")]
    predicate = ["-w", "country = 'DE' AND age > 40"]
    return compare(
        work,
        f'python -c "{IMPORTS}"',
        3.0,
        lambda: _run([*explain, *predicate]),
        lambda: _run([str(python), "-c", IMPORTS]),
    )


def _core_environment(folder: Path) -> Path:
    """An environment with what `pip install whyscan` brings and nothing else."""
    home = folder / "core-environment"
    python = home / "bin" / "python"
    if not (home / "bin" / "whyscan").exists():
        _run([sys.executable, "-m", "venv", str(home)])
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        _run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "core.txt")])
        _run([*pip, "--no-deps", str(ROOT)])
    return python


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
