"""Renders dbt models in a child process, with limits on time, memory and length.

A thread cannot be ended, and a limit on memory holds for a whole process. So a model that never
ends, or uses all memory, costs one child process and raises a typed error. The next model uses the
same process: starting it takes longer than rendering a hundred models.
"""

from __future__ import annotations

import atexit
import json
import os
import pkgutil
import subprocess
import sys
from functools import lru_cache
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import SyntaxProblem, TextSpan
from whyscan.predicate.syntax.parse import MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.errors import WhyscanError

SECONDS = 10.0
"""The longest time for rendering one model; milliseconds are usual."""
MEMORY = 1 << 29
"""The bytes of address space of the child process."""
COMPILE = "run dbt compile, and explain the SQL that it writes"

_PASSED = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL")
"""Environment variables that Python may need to start; none of them is a credential."""


class Rendered(Struct, frozen=True):
    """The SQL of a model, and the settings of its `config` that decide how a run executes it."""

    sql: str
    settings: Mapping[str, Any]


class _Renderer:
    """The child process of this process; it is started again after it was ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._child: subprocess.Popen[str] | None = None

    def ask(self, task: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The answer to one task; None where the child process ended before it answered."""
        with self._lock:
            if self._child is None or self._child.poll() is not None:
                self._end()
                self._child = _start()
            child, line = self._child, ""
            timer = Timer(task["seconds"], child.kill)
            timer.daemon = True
            timer.start()
            try:
                if child.stdin is not None and child.stdout is not None:
                    child.stdin.write(json.dumps(task) + "\n")
                    child.stdin.flush()
                    line = child.stdout.readline()
            except OSError:
                line = ""
            finally:
                timer.cancel()
            answer: Mapping[str, Any] | None = json.loads(line) if line.endswith("\n") else None
            if answer is None or answer.get("problem") == "memory":
                self._end()
            return answer

    def close(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None


_renderers: dict[int, _Renderer] = {}
"""By process id: a forked process must not use the child of its parent."""


def _start() -> subprocess.Popen[str]:
    """Start the child process, with few environment variables."""
    program = pkgutil.get_data("whyscan.statements.changes", "template_process.py")
    if program is None or not sys.executable:
        raise SyntaxProblem("no Python was found that could render the model", hint=COMPILE)
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-S", "-s", "-P", "-c", program.decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**passed, "PYTHONPATH": path, "PYTHONUTF8": "1"},
        encoding="utf-8",
    )


def render(text: str) -> Rendered:
    """The SQL of a model; SyntaxProblem where it cannot be rendered within the limits."""
    if len(text) > MAX_CHARACTERS:
        raise _failed(f"it has more than {MAX_CHARACTERS:,} characters")
    answer = _answer(text)
    if answer is None:
        raise _failed(f"it takes longer than {SECONDS:g} seconds, or ends the process")
    if "problem" in answer:
        raise _problem(answer, text)
    return Rendered(answer["sql"], answer["settings"])


@lru_cache(maxsize=8)
def _answer(text: str) -> Mapping[str, Any] | None:
    """The answer of the child process; cached, so that a failed model is not tried twice."""
    process = os.getpid()
    if process not in _renderers:
        _renderers[process] = _Renderer()
        atexit.register(_renderers[process].close)
    limits = {"longest": MAX_CHARACTERS, "memory": MEMORY, "seconds": SECONDS}
    return _renderers[process].ask({"text": text, **limits})


def _problem(answer: Mapping[str, Any], text: str) -> WhyscanError:
    """The error for a problem that the child process reports."""
    message = answer["message"]
    match answer["problem"]:
        case "syntax":
            span = _line(text, answer["line"])
            return SyntaxProblem(
                f"this is not Jinja: {message}", text=text, span=span, hint=COMPILE
            )
        case "template":
            return SyntaxProblem(f"dbt alone can render this: {message}", hint=COMPILE)
        case "memory":
            return _failed(f"it takes more than {MEMORY >> 20} MiB of memory")
        case _:
            return _failed(message)


def _failed(why: str) -> SyntaxProblem:
    return SyntaxProblem(f"the model cannot be rendered: {why}", hint=COMPILE)


def _line(text: str, number: int) -> TextSpan:
    lines = text.split("\n")
    number = min(max(number, 1), len(lines))
    start = sum(len(line) + 1 for line in lines[: number - 1])
    return TextSpan(start, start + len(lines[number - 1]))
