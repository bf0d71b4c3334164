"""Tables with one object that claims, or inflates to, more than the memory limit allows.

A command reads each in a process of its own, with little memory and little time. `BOMBS` of the
modules `*_bombs.py` are the cases; another one needs no code but what writes it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.commands import WHYSCAN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

ADDRESSES = 6 << 30
"""The most address space that the process may ask for."""

CPU_SECONDS = 40
MEMORY = 128 << 20
"""The memory limit of a command: a hostile object that exceeds a small limit is made quickly."""

PROGRAM = 256 << 20
"""The most bytes that the program itself keeps resident."""

EXPLAIN = ("explain", "-w", "a = 1", "--format", "json")
SCAN = ("scan", "-w", "a = 1")
STATS = ("stats", "--format", "json")


@dataclass(frozen=True)
class Bomb:
    """A table that `write` puts into a folder, and the command that meets its hostile object.

    `says` must be in the error's line. None means that the command must answer all the same.
    `memory` is the limit that an answer needs. `proof`: another bomb meets the same code, so that
    only the proof runs this one.
    """

    write: Callable[[Path], None]
    says: str | None
    command: tuple[str, ...] = EXPLAIN
    seconds: int = CPU_SECONDS
    memory: int = MEMORY
    proof: bool = False


@dataclass(frozen=True)
class Run:
    """How a command ended: its exit code, its error, its largest memory and its time."""

    code: int
    error: str
    peak: int
    seconds: float


def bombs() -> Mapping[str, Bomb]:
    """Every bomb by name."""
    from fuzz import data_file_bombs, delta_bombs, iceberg_bombs, page_bombs, parquet_bombs

    modules = (iceberg_bombs, delta_bombs, parquet_bombs, page_bombs, data_file_bombs)
    return {name: bomb for module in modules for name, bomb in module.BOMBS.items()}


_LAUNCHER = """
import json, os, resource, subprocess, sys
addresses, seconds, *command = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(addresses), int(addresses)))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
error = process.stderr.read().decode("utf-8", "replace")
_, status, used = os.wait4(process.pid, 0)
time = used.ru_utime + used.ru_stime
print(json.dumps([os.waitstatus_to_exitcode(status), error, used.ru_maxrss * 1024, time]))
"""
"""A small process between this one and the command: a command's peak begins with its parent's."""


def run(bomb: Bomb, folder: Path, memory: int | None = None) -> Run:
    """The command on the table in `folder`, in a process of its own with a memory limit."""
    name, *arguments = bomb.command
    limits = [str(ADDRESSES), str(bomb.seconds)]
    options = ["--memory", str(memory or bomb.memory)]
    command = [str(WHYSCAN), name, str(folder), *arguments, *options]
    ran = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *limits, *command],
        stdout=subprocess.PIPE,
        check=True,
    )
    return Run(*json.loads(ran.stdout))
