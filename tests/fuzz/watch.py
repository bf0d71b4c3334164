"""Mutants in a process of their own: one that ends the process, or never ends, is named."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fuzz.victims import Case

TESTS = Path(__file__).resolve().parent.parent
SOURCE = TESTS.parent / "src"
CPU_SECONDS = 20
"""What a mutant may take before it is a hang; milliseconds are usual."""

WALL_SECONDS = 300
"""And one that does nothing at all, on a machine that may have no time for it."""

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: `word` is `answer` or an error's name, `why` what is wrong."""

    case: Case | None
    word: str
    why: str | None = None


class Watch:
    """One worker, started anew when a mutant ends it."""

    def __init__(self, *program: str) -> None:
        self._program = program or ("-m", "fuzz.worker")
        self._worker: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker

    def run(self, cases: Iterable[Case]) -> Iterator[Outcome]:
        """The outcome of each case."""
        for case in cases:
            yield replace(self._run(asdict(case)), case=case)

    def ask(self, place: Path, predicate: str) -> Outcome:
        """The outcome of one question to one table; an error's name is followed by its text."""
        return self._run({"place": str(place), "predicate": predicate})

    def command(self, *arguments: object, stdin: str = "", cwd: Path) -> Outcome:
        """What one command line does; the program is `fuzz.command_worker`."""
        words = [str(argument) for argument in arguments]
        return self._run({"arguments": words, "stdin": stdin, "cwd": str(cwd)})

    def workload(self, log: Path) -> Outcome:
        """What is read of one log, as JSON; the program is `fuzz.command_worker`."""
        return self._run({"log": str(log)})

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.communicate()
            self._worker = None
        self._errors.close()

    def _run(self, question: dict[str, Any]) -> Outcome:
        worker = self._worker = self._worker or self._start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(question).encode() + b"\n")
        worker.stdin.flush()
        if not _answers(worker):
            worker.send_signal(signal.SIGABRT)  # says where it is
            return self._gone("it has no end")
        line = worker.stdout.readline()
        if not line:
            return self._gone("the process is gone")
        verdict, _, rest = line.decode().strip().partition(" ")
        answer = json.loads(rest)
        return Outcome(None, answer) if verdict == "ok" else Outcome(None, "bad", answer)

    def _gone(self, what: str) -> Outcome:
        assert self._worker is not None
        try:
            self._worker.wait(5)
        except subprocess.TimeoutExpired:
            self._worker.kill()
        self._worker.communicate()
        code, self._worker = self._worker.returncode, None
        self._errors.seek(0)
        last = self._errors.read().decode("utf-8", "replace")[-4000:]
        return Outcome(None, "bad", f"{what}, exit code {code}\n{last}")

    def _start(self) -> subprocess.Popen[bytes]:
        self._errors.seek(0)
        self._errors.truncate()
        return subprocess.Popen(
            [sys.executable, *self._program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=TESTS,
            env={**os.environ, "PYTHONPATH": f"{SOURCE}:{TESTS}"},
        )


def _answers(worker: subprocess.Popen[bytes]) -> bool:
    """Wait for a line, or the end of the process; False for a hang."""
    began, spent = time.monotonic(), _cpu(worker)
    while not select.select([worker.stdout], [], [], 1)[0]:
        if _cpu(worker) - spent > CPU_SECONDS or time.monotonic() - began > WALL_SECONDS:
            return False
    return True


def _cpu(worker: subprocess.Popen[bytes]) -> float:
    """The seconds that all threads have had so far."""
    fields = Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
