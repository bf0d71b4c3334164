"""The environment that makes the TPC's data and knows its texts: pinned, hashed, made on demand."""

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

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build" / "tpc"
LOCK = ROOT / "requirements" / "tpc.txt"


class NotInstalled(Exception):
    """The packages could not be had; the message is pip's."""


def generated(scale: str) -> Path:
    """The folder of generated data: a Parquet file a table, and `texts.json`."""
    place = FOLDER / f"data-{scale}-{digest(LOCK, HERE / 'generate.py')}"
    with once(place) as missing:
        if missing:
            subprocess.run(
                [_python(), HERE / "generate.py", place, scale], check=True, stdout=subprocess.PIPE
            )
    return place


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


def _python() -> Path:
    home = FOLDER / f"environment-{digest(LOCK)}"
    python = home / "bin" / "python"
    with once(home) as missing:
        if missing:
            _run(sys.executable, "-m", "venv", str(home))
            _run(str(python), *PIP, "--require-hashes", "-r", str(LOCK))
    return python


PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install")


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        told = done.stderr.strip().splitlines() or ["no reason was given"]
        raise NotInstalled(told[-1])
