"""A process that runs command lines, with limits: a crash, a hang or a flood ends it alone.

It reads a command line a line, and writes an outcome a line: `ok` and what kind of outcome it was,
or `bad` and why. A command may answer, or it may refuse with exit code 2 or 3, nothing on standard
output and one line on standard error, which a place in the text and a hint may follow.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fuzz.worker import limit, little_room
from support.commands import Run, whyscan
from whyscan.statements.changes import templates

REFUSED = re.compile(
    r"error: (?P<message>[^\n]+)\n(?:  [^\n]*\n  [ ]*\^+\n)?(?:hint: (?P<hint>[^\n]+)\n)?"
)
LITTLE = "64MiB"
"""The memory of a log's reader: what is too large for it is made in little time."""
LONGEST_LINE = 2_000
"""Of an error: a text of the user's in it is cut."""


def word_of(run: Run) -> str:
    """`answer`, or the message and the hint of a refusal; AssertionError for anything else."""
    if run.code in {0, 1}:
        assert run.out or run.err, "it says nothing"
        return "answer"
    assert run.code in {2, 3}, f"exit code {run.code}"
    assert run.out == "", f"an error, and this on standard output: {run.out[:200]}"
    assert "whyscan itself failed" not in run.err, run.err[:1_000]
    match = REFUSED.fullmatch(run.err)
    assert match is not None, f"not one line and a hint: {run.err[:1_000]}"
    assert len(match["message"]) <= LONGEST_LINE, f"a line of {len(match['message'])} characters"
    return f"refused: {match['message']}" + (f" hint: {match['hint']}" if match["hint"] else "")


def read(log: str) -> str:
    """How many entries of a log were taken and left, where and why, as JSON."""
    from whyscan.spark.stages.workload import read_workload

    workload = read_workload([log])
    listed = [[entry.origin, entry.why, entry.times] for entry in workload.unparsed[:10]]
    return json.dumps(
        {"taken": workload.query_entries, "left": workload.unparsed_entries, "unparsed": listed}
    )


def outcome(question: dict[str, Any]) -> str:
    if "log" in question:
        with little_room(), patch.dict(os.environ, WHYSCAN_MEMORY=LITTLE):
            return read(question["log"])
    with little_room():
        run = whyscan(*question["arguments"], cwd=Path(question["cwd"]), stdin=question["stdin"])
    return word_of(run)


def main() -> None:
    faulthandler.enable()
    limit()
    # A model that never ends is ended sooner, so that a test does not wait for it.
    templates.SECONDS = 2.0
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        try:
            print("ok", json.dumps(outcome(json.loads(line))), file=answers, flush=True)
        except BaseException:  # noqa: BLE001 - a panic of Rust is no Exception
            print("bad", json.dumps(traceback.format_exc()), file=answers, flush=True)


if __name__ == "__main__":
    main()
