"""Whole cold processes: commands that are run, and what they cost."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = Path(__file__).parent


def beside_python(name: str) -> str:
    """A command of this environment: `make setup` brings ours, and the peers pinned and hashed."""
    return str(Path(sys.executable).with_name(name))


WHYSCAN = beside_python("whyscan")


def environment() -> dict[str, str]:
    """The environment of commands: Python keeps bytecode, as an installed package has it.

    From a source tree of which no bytecode may be written every run would compile all modules.
    """
    inherited = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    return inherited | {"PYTHONPYCACHEPREFIX": str(FOLDER.parent / "build" / "bench" / "bytecode")}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took, and the most memory that it held."""

    seconds: float
    bytes: int


def run(command: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
    """Run a command to its end, in this folder so that Python finds these modules."""
    subprocess.run(
        command,
        check=True,
        cwd=FOLDER,
        env={**environment(), **(variables or {})},
        stdout=subprocess.DEVNULL,
    )


def cost(command: Sequence[str]) -> Cost:
    """Run a command and say what it took."""
    watched = [sys.executable, "-I", "-S", str(FOLDER / "watch.py"), *command]
    output = subprocess.run(
        watched, check=True, cwd=FOLDER, env=environment(), stdout=subprocess.PIPE, text=True
    ).stdout
    taken, most = output.split()
    return Cost(float(taken), int(most))
