"""The step of action.yml that asks: predicates of one table, statements, files that changed.

Inputs come from the environment. The command line is called rather than the package, since the
input `package` may have installed another version.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from amounts import Amount, amount, together
from changes import ChangedFile, Comparison, base_commit, changed_files, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VALUES = ("min-pruning", "min-pruning-bytes", "max-files", "max-bytes", "baseline")
FLAGS = ("require-partition-filter",)
WHYSCAN = Path(sysconfig.get_path("scripts")) / "whyscan"
RESULTS = {0: "pass", 1: "fail"}
NO_QUESTION = 2
KILLED = 3


class Answer(NamedTuple):
    """The exit code, the Markdown, and what is read; None if the question has no answer."""

    code: int
    text: str
    read: Amount | None


def main() -> int:
    """The exit code: the worst of all answers."""
    folder = Path(tempfile.mkdtemp(prefix="reports-", dir=os.environ["RUNNER_TEMP"]))
    summary, reports = folder / "summary.md", folder / "reports"
    reports.mkdir()
    # What is printed may quote a table's words: the runner must not take them for commands.
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    answers = [
        ask(question, reports / str(number)) for number, question in enumerate(questions(), start=1)
    ]
    compared = list(compare(folder, reports, len(answers)))
    answers += [answer for _, answer in compared]
    print(f"::{token}::")
    # A pull request that changes no query asks nothing, and that is no mistake.
    nothing = 0 if any(lines("CHANGED")) else NO_QUESTION
    if not answers and nothing:
        print("::error::the inputs 'where', 'sql' and 'changed' hold no question")
    if os.environ["FORMAT"] == "sarif":
        join(reports)
    parts = [table(comparison for comparison, _ in compared), *(a.text for a in answers)]
    summary.write_text("\n".join(part for part in parts if part), "utf-8")
    code = max((answer.code for answer in answers), default=nothing)
    append("GITHUB_STEP_SUMMARY", summary.read_text("utf-8"))
    outcome = {
        "result": RESULTS.get(code, "error"),
        "summary": summary,
        "reports": reports,
        **numbers(answers),
    }
    append("GITHUB_OUTPUT", "".join(f"{name}={value}\n" for name, value in outcome.items()))
    return code


def questions() -> Iterator[Sequence[str]]:
    """The words of each: predicates of the table, then statements."""
    predicates = list(lines("WHERE"))
    for predicate in predicates:
        yield [f"--where={predicate}", "--", os.environ["TABLE"]]
    if not predicates and os.environ["TABLE"] and any(statistics()):
        yield ["--", os.environ["TABLE"]]
    for text in lines("SQL"):
        yield statement(text)


def statement(text: str) -> list[str]:
    """The words that ask a whole statement of the tables by their names."""
    return [f"--sql={text}", *(f"--table={place}" for place in lines("TABLES"))]


def compare(folder: Path, reports: Path, count: int) -> Iterator[tuple[Comparison, Answer]]:
    """The SQL files that the pull request changes: what each reads before and after."""
    patterns = list(lines("CHANGED"))
    base = base_commit() if patterns else ""
    if not base:
        return
    for number, file in enumerate(changed_files(patterns, base), start=count + 1):
        answer = ask(statement(f"@{file.path}"), reports / str(number))
        before = None if file.before is None else earlier(file, folder / f"before-{number}.sql")
        text = f"### {Path(file.path).name.replace('#', '')}\n\n{answer.text}"
        yield Comparison(file.path, before, answer.read), answer._replace(text=text)


def earlier(file: ChangedFile, place: Path) -> Amount | None:
    """What the file read at the base; None if it could not be answered."""
    place.write_text(file.before or "", "utf-8")
    return read_by(statement(f"@{place}"), place.with_suffix(".json"))


def numbers(answers: Sequence[Answer]) -> dict[str, str]:
    """The outputs about all answers together; empty if one question has no answer."""
    amounts = [answer.read for answer in answers if answer.read is not None]
    whole = together(amounts)
    complete = len(amounts) == len(answers) > 0
    return {
        "pruning-pct": f"{whole.pruned:.3f}" if complete else "",
        "files-read": str(whole.files) if complete else "",
        "bytes-read": str(whole.bytes) if complete and whole.bytes is not None else "",
    }


def ask(question: Sequence[str], report: Path) -> Answer:
    """One question; its report in another form beside it."""
    code, outcome = explain(question, ["--format=markdown"])
    if code not in RESULTS:
        return Answer(code, outcome, None)
    form = os.environ["FORMAT"]
    if form:
        also, _ = explain(question, [f"--format={form}", f"--output={report}.{form}"])
        code = max(code, also)
    return Answer(code, outcome, read_by(question, report.parent.parent / "amounts.json"))


def read_by(question: Sequence[str], place: Path) -> Amount | None:
    """What a question reads, from the JSON document; None if it has no answer."""
    code, _ = explain(question, ["--format=json", f"--output={place}"])
    return amount(place.read_text("utf-8")) if code in RESULTS else None


def explain(question: Sequence[str], how: Sequence[str]) -> tuple[int, str]:
    """One call, shown in the log."""
    words = [str(WHYSCAN), "explain", *options(), *how, *question]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    print(done.stdout, done.stderr, sep="", flush=True)
    if done.returncode in RESULTS:
        return done.returncode, done.stdout
    indented = "".join(f"    {line}\n" for line in done.stderr.splitlines())
    # By a signal the code is negative, which would be better than any other.
    code = done.returncode if done.returncode > 0 else KILLED
    return code, f"**whyscan could not answer** (exit code {done.returncode})\n\n{indented}"


def options() -> Iterator[str]:
    """The gates that are set and the engines, then what `args` says."""
    for name in VALUES:
        if value := input_of(name):
            yield f"--{name}={value}"
    for name in FLAGS:
        if input_of(name) == "true":
            yield f"--{name}"
    yield from statistics()
    yield from (f"--engine={name}" for name in lines("ENGINE"))
    yield from lines("ARGS")


def statistics() -> Iterator[str]:
    """`true` for the columns that are asked about, or the names of columns."""
    columns = input_of("assert-stats")
    if columns == "true":
        yield "--assert-stats"
    elif columns not in {"", "false"}:
        yield f"--assert-stats={columns}"


def input_of(name: str) -> str:
    return os.environ[name.upper().replace("-", "_")].strip()


def lines(name: str) -> Iterator[str]:
    """Of an input: without the empty ones and comments."""
    for line in os.environ[name].split("\n"):
        if (text := line.strip()) and not text.startswith("#"):
            yield text


def join(reports: Path) -> None:
    """Code scanning takes one run of a tool an upload: the results of all become one."""
    parts = sorted(reports.glob("*.sarif"), key=lambda part: int(part.stem))
    documents: list[Any] = [json.loads(part.read_text("utf-8")) for part in parts]
    runs = [run for document in documents for run in document["runs"]]
    for part in parts:
        part.unlink()
    if not runs:
        return
    rules = {rule["id"]: rule for run in runs for rule in run["tool"]["driver"]["rules"]}
    runs[0]["tool"]["driver"]["rules"] = list(rules.values())
    runs[0]["results"] = [result for run in runs for result in run["results"]]
    whole = {**documents[0], "runs": runs[:1]}
    (reports / "whyscan.sarif").write_text(json.dumps(whole, indent=2), "utf-8")


def append(name: str, text: str) -> None:
    """To one of the files through which a step talks to the runner."""
    with Path(os.environ[name]).open("a", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
