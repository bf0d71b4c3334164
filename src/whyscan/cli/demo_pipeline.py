"""The last stops of the demo: the pipeline on Spark, over the lake and a log of queries."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.cli.output import terminal_page, write
from whyscan.cli.spark_session import spark_session
from whyscan.demo.lake import QUERIES, TABLES

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "pipeline"


class Stage(Struct, frozen=True):
    """One command of the pipeline, and the text that explains its output."""

    title: str
    arguments: tuple[str, ...]
    lesson: str


def stages(folder: Path) -> tuple[Stage, ...]:
    """Return the stages for the lake in a folder."""
    output = folder / FOLDER
    named = [f"{name.replace('-', '_')}={folder / name}" for name in TABLES]
    kept, log, page = str(output / "inventory"), str(folder / QUERIES), str(output / "audit.html")
    return (
        Stage(
            "inventory: what the lake is made of",
            ("inventory", *named, "-o", kept),
            "One row a file, with its bounds: a table to query. Run it again, and only what has "
            "changed is read.",
        ),
        Stage(
            "audit: a log of queries, ranked by what they waste",
            ("audit", "--workload", log, "--inventory", kept, "--dashboard", page),
            "Every query of the log was explained on the executors, as explain does it. The "
            f"dashboard is in {page}: open it in a browser.",
        ),
        Stage(
            "verify: the plan against the rows, and against real engines",
            ("verify", str(folder / "users-delta"), "-w", "country = 'DE' AND age > 40"),
            "Spark read every row and judged it: nothing was dropped that matches, and no "
            "statistic lies. Beside it, how many files each engine reads for the same predicate.",
        ),
    )


def walk(folder: Path, first: int) -> int:
    """Run the stages in one session, numbered from `first`; return the worst exit code."""
    from whyscan.cli.main import run

    shutil.rmtree(folder / FOLDER, ignore_errors=True)
    (folder / FOLDER).mkdir()
    page, worst = terminal_page(), 0
    with spark_session(None, formats=True):
        for number, stage in enumerate(stages(folder), start=first):
            write(f"\n--- {number}. {stage.title}\n\n$ {_command(stage)}\n")
            worst = max(worst, run(stage.arguments))
            write(f"\n{page.wrap(stage.lesson)}\n")
    return worst


def _command(stage: Stage) -> str:
    """Write a command line for people: words with single quotes are in double quotes."""
    words = (f'"{word}"' if "'" in word else shlex.quote(word) for word in stage.arguments)
    return " ".join(("whyscan", *words))
