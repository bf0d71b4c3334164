"""Environments of their own for tests: pinned, hashed, made on demand and once."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install")


class NotInstalled(Exception):
    """The packages could not be had; the message is pip's."""


def lock_of(name: str) -> Path:
    """The hashed requirements of an environment."""
    return ROOT / "requirements" / f"{name}.txt"


def python_of(name: str) -> Path:
    """The Python of `requirements/NAME.txt`, which is installed when it is first asked for."""
    lock = lock_of(name)
    home = BUILD / name / f"environment-{digest(lock)}"
    python = home / "bin" / "python"
    with once(home) as missing:
        if missing:
            _run(sys.executable, "-m", "venv", str(home))
            _run(str(python), *PIP, "--require-hashes", "-r", str(lock))
    return python


def digest(*files: Path) -> str:
    """What a folder's name says of those that made it."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


@contextmanager
def once(place: Path) -> Iterator[bool]:
    """Whether a folder is still to be made, one process at a time; it is when the block ends."""
    place.mkdir(parents=True, exist_ok=True)
    done = place / ".done"
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not done.exists()
        done.touch()


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        reasons = done.stderr.strip().splitlines() or ["no reason was given"]
        raise NotInstalled(reasons[-1])
