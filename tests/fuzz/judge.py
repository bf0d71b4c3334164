"""What must hold of a damaged table: a typed error, or an answer that agrees with itself."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import whyscan
from fuzz.damage import Kind
from support.reports import valid
from whyscan.errors import WhyscanError
from whyscan.reports.document import to_json

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.damage import Mutant
    from fuzz.victims import Target

MOST_COLUMNS = 8


@dataclass(frozen=True)
class Answer:
    """A report, without what differs from run to run."""

    document: dict[str, Any]

    @property
    def live(self) -> Counter[str]:
        """The files that the table has, by name: a table that is found elsewhere is the same."""
        return Counter(file["path"].rpartition("/")[2] for file in self.document["files"])


class Judge:
    """Asks one table one question, again and again; documents seen before are not checked twice."""

    def __init__(self, place: Path, predicate: str | None) -> None:
        self.place = place
        self.checked: set[str] = set()
        self.predicate = predicate if predicate is not None else _of_all_columns(place)
        self.whole = None if self.predicate is None else self._answer()

    def judge(self, target: Target, mutant: Mutant) -> str:
        """The outcome in a word; an AssertionError says what is wrong with an answer."""
        if self.whole is None:
            return "broken before"
        try:
            answer = self._answer()
        except WhyscanError as error:
            if target.unread:
                raise AssertionError(f"{target.path} is not needed, and is in the way") from error
            return type(error).__name__
        if target.unread:
            assert answer == self.whole, f"{target.path} is not needed, and changed the answer"
        if target.lists_files and mutant.cut:
            _check_cut(target, mutant, answer, self.whole)
        return "answer"

    def _answer(self) -> Answer:
        document = answer(str(self.place), self.predicate)
        key = json.dumps(document)
        if key not in self.checked:
            self.checked.add(key)
            check(document)
        return Answer(document)


def answer(place: str, predicate: str) -> dict[str, Any]:
    """A report on a table as its JSON, without what differs from run to run."""
    document = json.loads(
        to_json(whyscan.open(place).explain(predicate, verbose=True, depth="pages"))
    )
    document["metadata"]["seconds"] = 0
    return document


def _of_all_columns(place: Path) -> str | None:
    """A predicate on a table of which nothing is known; None for one that does not open."""
    try:
        names = whyscan.open(str(place)).schema.names()[:MOST_COLUMNS]
    except WhyscanError:
        return None
    return " AND ".join(f"`{name.replace('`', '``')}` IS NOT NULL" for name in names) or "TRUE"


def _check_cut(target: Target, mutant: Mutant, answer: Answer, whole: Answer) -> None:
    """What is cut off must not hide a live file.

    A log of JSON lines that ends behind a line is a shorter log, which cannot be told from a
    whole one (PROTOCOL.md, Delta Log Entries); one that ends within a line is damaged.
    """
    if mutant.data == b"" and target.kind is Kind.PARQUET:
        return  # Nothing was ever written: Spark passes over such files, and such checkpoints.
    if target.kind is Kind.LINES and mutant.data.rpartition(b"\n")[2].strip() == b"":
        return
    lost = whole.live - answer.live
    assert not lost, f"cut to {len(mutant.data)} bytes, it hides {dict(lost)}"


def check(document: dict[str, Any]) -> None:
    """A report follows its schema, can be written, and its numbers agree with each other."""
    valid(document)
    json.dumps(document, ensure_ascii=False).encode("utf-8")
    for level in document["levels"]:
        _check_level(level)
    files = next(level for level in document["levels"] if level["level"] == "files")
    verdicts = Counter(file["verdict"] for file in document["files"])
    assert files["total"] == verdicts.total(), (files, verdicts)
    assert files["kept"] == verdicts["some"] + verdicts["all"], (files, verdicts)
    assert files["all"] == verdicts["all"], (files, verdicts)
    for file in document["files"]:
        assert (file["verdict"] == "none") == (file["pruned_by"] is not None), file
    matched = document["rows_matched"]
    if matched["at_least"] is not None and matched["at_most"] is not None:
        assert 0 <= matched["at_least"] <= matched["at_most"], matched


def _check_level(level: dict[str, Any]) -> None:
    assert 0 <= level["all"] <= level["kept"] <= level["total"], level
    assert level["kept_without_nan"] <= level["kept"], level
    assert sum(level["pruned_by"].values()) == level["total"] - level["kept"], level
    for what in ("rows", "bytes"):
        kept, total = level[f"{what}_kept"], level[f"{what}_total"]
        if kept is not None and total is not None:
            assert 0 <= kept <= total, level
