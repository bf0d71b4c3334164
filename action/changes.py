"""The SQL files that a pull request changes, each explained as it was and as it is."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from amounts import Amount, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class ChangedFile(NamedTuple):
    """A file of the working directory, and its text at the base; None if it is new."""

    path: str
    before: str | None


class Comparison(NamedTuple):
    """What a file reads before and after the change; None if it is new or not answered."""

    path: str
    before: Amount | None
    after: Amount | None


def base_commit() -> str:
    """The commit to compare with: the input `base`, else the target of the pull request."""
    if named := os.environ["BASE"].strip():
        return named
    event = Path(os.environ.get("GITHUB_EVENT_PATH", ""))
    document = json.loads(event.read_text("utf-8")) if event.is_file() else {}
    base: str = ((document.get("pull_request") or {}).get("base") or {}).get("sha", "")
    return base


def changed_files(patterns: Sequence[str], base: str) -> Iterator[ChangedFile]:
    """The files that match a pattern of git and differ from the base, in order of their names."""
    where = [f":(glob){pattern}" for pattern in patterns]
    names = git("diff", "--name-only", "--relative", "--diff-filter=d", "-z", base, "--", *where)
    for path in sorted(name for name in names.split("\0") if name):
        entry = git("ls-tree", "--name-only", "-z", base, "--", path)
        yield ChangedFile(path, git("show", f"{base}:./{path}") if entry else None)


def git(*words: str) -> str:
    """What git prints; its error ends the step."""
    done = subprocess.run(
        ["git", *words],  # noqa: S607 - the runner's git
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"git {words[0]}: {done.stderr}actions/checkout needs fetch-depth: 0")
    return done.stdout


def table(comparisons: Iterable[Comparison]) -> str:
    """The comparisons as a table of Markdown, with money where there is a price."""
    listed = list(comparisons)
    if not listed:
        return ""
    amounts = [a for one in listed for a in (one.before, one.after) if a is not None]
    priced = any(amount.cost is not None for amount in amounts)
    heads = ["query", "files before", "after", "bytes before", "after"]
    heads += ["cost before", "after"] if priced else []
    rows = [
        f"| {' | '.join(heads)} |",
        f"|---|{'---:|' * (len(heads) - 1)}",
    ]
    for one in listed:
        cells = [code(one.path), *pair(one, files), *pair(one, lambda a: size(a.bytes))]
        cells += pair(one, money) if priced else []
        rows.append(f"| {' | '.join(cells)} |")
    return "## What changed queries read\n\n" + "\n".join(rows) + "\n"


def pair(one: Comparison, shown: Callable[[Amount], str]) -> list[str]:
    """A cell for before and one for after; a new file and an error have no number."""
    before = "new" if one.before is None else shown(one.before)
    after = "error" if one.after is None else shown(one.after)
    return [before, after if before == after else f"**{after}**"]


def files(amount: Amount) -> str:
    return f"{amount.files:,} of {amount.all_files:,}"


def money(amount: Amount) -> str:
    return "unknown" if amount.cost is None else f"{amount.cost:,.4g}"


def code(text: str) -> str:
    """A path as code of Markdown, in one cell."""
    plain = "".join(character for character in text if character.isprintable())
    return "`" + plain.replace("`", "").replace("|", "\\|") + "`"
