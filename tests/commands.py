"""The command line as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

WHYSCAN = Path(sys.executable).with_name("whyscan")


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


def whyscan(*arguments, cwd, stdin="", **environment) -> Run:
    done = subprocess.run(
        [WHYSCAN, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)
