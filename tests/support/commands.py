"""The command line in this process, and where it is as a program."""

from __future__ import annotations

import io
import sys
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from whyscan.cli.main import run

WHYSCAN = Path(sys.executable).with_name("whyscan")


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


def whyscan(*arguments, cwd, stdin="", encoding="utf-8") -> Run:
    """One command line with streams of its own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in range(2))
    with (
        chdir(cwd),
        patch.multiple(sys, stdin=io.StringIO(stdin), stdout=out, stderr=err),
    ):
        code = run([str(argument) for argument in arguments])
    return Run(code, *(stream.buffer.getvalue().decode(encoding) for stream in (out, err)))
