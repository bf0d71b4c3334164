"""The baseline file: how much each question pruned when the user accepted it.

{
  "schema_version": "1.0",
  "tolerance": {"files": 0.0, "bytes": 0.0},
  "questions": [
    {"table": "lake/users", "predicate": "age > 40", "dialect": "spark", "timezone": "UTC",
     "pruned_files": 83.3, "pruned_bytes": 83.2}
  ],
  "exemptions": [
    {"table": "lake/users", "predicate": "age > 40", "gate": "max_files",
     "reason": "backfill under way", "until": "2026-12-31"}
  ]
}

Shares are percentages of the table, so that the table may grow. Tolerances are percentage points.
An exemption without a predicate holds for every question on its table.
"""

from __future__ import annotations

import json
import os
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from whyscan.errors import UsageError
from whyscan.predicate.binding.canonical import canonical
from whyscan.reports.gates import Assertion, Exemption, at_least, percent_pruned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.report import Report

SCHEMA_VERSION = "1.0"
_SPELLINGS = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}


class Key(Struct, frozen=True):
    """A question as the user wrote it: the table's name and the text of the predicate."""

    table: str
    predicate: str
    dialect: str
    timezone: str

    def is_same(self, other: Key) -> bool:
        """Return whether the other key is the same question, perhaps in another spelling."""
        return (
            (self.dialect.lower(), self.timezone) == (other.dialect.lower(), other.timezone)
            and same_table(self.table, other.table)
            and same_sql(self.predicate, other.predicate, self.dialect)
        )


def same_table(first: str, second: str) -> bool:
    """Return whether two names are one location: `./t`, `t/` and `file:///lake/t` may be."""
    return first == second or _place(first) == _place(second)


def same_sql(first: str, second: str, dialect: str) -> bool:
    """Return whether two texts are the same SQL, ignoring blanks, parentheses and case."""
    return first == second or canonical(first, dialect) == canonical(second, dialect)


def _place(name: str) -> str:
    """Return a location in one spelling. Several locations are one name with blanks between."""
    if " " in name and not os.path.lexists(name):
        return " ".join(map(_place, name.split()))
    scheme, mark, rest = name.partition("://")
    if mark and scheme.lower() != "file":
        scheme = _SPELLINGS.get(scheme.lower(), scheme.lower())
        return f"{scheme}://{rest.rstrip('/')}"
    path = unquote(name.removeprefix("file:")) if name.lower().startswith("file:/") else name
    return os.path.abspath(f"/{path.lstrip('/')}" if path.startswith("//") else path)  # noqa: PTH100 - links stay


class Shares(Struct, frozen=True):
    """The percentages of files and bytes that were pruned; None if unknown."""

    pruned_files: float | None
    pruned_bytes: float | None


class Baseline(Struct, frozen=True):
    """The pruned shares of each question, the tolerances, and the exemptions."""

    questions: dict[Key, Shares] = field(default_factory=dict)
    exemptions: tuple[Exemption, ...] = ()
    tolerance_files: float = 0.0
    tolerance_bytes: float = 0.0

    def check(self, key: Key, report: Report) -> Iterator[Assertion]:
        """Yield the outcome of the baseline gates. A question that is not in the baseline fails."""
        recorded = next((self.questions[spelling] for spelling in self._spellings(key)), None)
        if recorded is None:
            yield Assertion("baseline", 0.0, None, passed=False)
            return
        now = shares(report)
        if recorded.pruned_files is not None:
            threshold = max(recorded.pruned_files - self.tolerance_files, 0.0)
            yield at_least("baseline", threshold, now.pruned_files)
        if recorded.pruned_bytes is not None:
            threshold = max(recorded.pruned_bytes - self.tolerance_bytes, 0.0)
            yield at_least("baseline_bytes", threshold, now.pruned_bytes)

    def updated(self, key: Key, report: Report) -> Baseline:
        """Return a baseline with the present shares of this question, in the file's spelling."""
        spellings = list(self._spellings(key))
        other_questions = {
            spelling: pruned
            for spelling, pruned in self.questions.items()
            if spelling not in spellings
        }
        spelled = spellings[0] if spellings else key
        return replace(self, questions={**other_questions, spelled: shares(report)})

    def _spellings(self, key: Key) -> Iterator[Key]:
        """Yield the questions of the file that are the same as `key`."""
        if key in self.questions:
            yield key
        yield from (
            question for question in self.questions if question != key and question.is_same(key)
        )

    def excuse(self, key: Key, assertion: Assertion, today: date) -> Assertion:
        """Add the exemption that covers a failed gate, if there is one."""
        if assertion.passed:
            return assertion
        for exemption in self.exemptions:
            if covers(exemption, key, assertion.name):
                return replace(assertion, exemption=exemption, expired=exemption.until < today)
        return assertion


def covers(exemption: Exemption, key: Key, gate: str) -> bool:
    """Return whether an exemption covers this gate for this question."""
    predicate = exemption.predicate
    return (
        exemption.gate == gate
        and same_table(exemption.table, key.table)
        and (predicate is None or same_sql(predicate, key.predicate, key.dialect))
    )


def shares(report: Report) -> Shares:
    """Return the percentages of files and bytes that a report prunes, or its named engine."""
    read = report.gated_reading
    percentages = (
        percent_pruned(read.total, read.kept),
        percent_pruned(read.bytes_total, read.bytes_kept),
    )
    return Shares(*(None if share is None else round(share, 3) for share in percentages))


def to_json(baseline: Baseline) -> str:
    """Write the file with the questions in order, so that a change shows as one changed line."""
    order = sorted(baseline.questions, key=lambda key: (key.table, key.predicate))
    document = {
        "schema_version": SCHEMA_VERSION,
        "tolerance": {"files": baseline.tolerance_files, "bytes": baseline.tolerance_bytes},
        "questions": [asdict(key) | asdict(baseline.questions[key]) for key in order],
        "exemptions": [_exemption(exemption) for exemption in baseline.exemptions],
    }
    return json.dumps(document, indent=2) + "\n"


def _exemption(exemption: Exemption) -> dict[str, str]:
    fields = asdict(exemption) | {"until": exemption.until.isoformat()}
    return {name: value for name, value in fields.items() if value is not None}


def read_baseline(text: str, place: str) -> Baseline:
    """Read a baseline file. Unknown members are an error."""
    try:
        return _baseline(json.loads(text))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{place} is no baseline: {error}",
            hint="--update-baseline writes one; exemptions take table, gate, reason, until",
        ) from error


def _baseline(document: dict[str, Any]) -> Baseline:
    if document["schema_version"] != SCHEMA_VERSION:
        raise ValueError("it is of another version")
    members = {"schema_version", "tolerance", "questions", "exemptions"}
    if unknown := document.keys() - members:
        raise ValueError(f"unknown member {min(unknown)!r}")
    tolerance = document.get("tolerance", {})
    return Baseline(
        questions=dict(map(_question, document.get("questions", []))),
        exemptions=tuple(map(_read_exemption, document.get("exemptions", []))),
        tolerance_files=float(tolerance.get("files", 0.0)),
        tolerance_bytes=float(tolerance.get("bytes", 0.0)),
    )


def _question(entry: dict[str, Any]) -> tuple[Key, Shares]:
    key = Key(*(str(entry[name]) for name in ("table", "predicate", "dialect", "timezone")))
    figures = (entry[name] for name in ("pruned_files", "pruned_bytes"))
    return key, Shares(*(None if figure is None else float(figure) for figure in figures))


def _read_exemption(entry: dict[str, Any]) -> Exemption:
    if unknown := entry.keys() - {"table", "predicate", "gate", "reason", "until"}:
        raise ValueError(f"an exemption has no {min(unknown)!r}")
    reason = str(entry["reason"]).strip()
    if not reason:
        raise ValueError("an exemption needs a reason")
    predicate = entry.get("predicate")
    return Exemption(
        table=str(entry["table"]),
        gate=str(entry["gate"]),
        reason=reason,
        until=date.fromisoformat(entry["until"]),
        predicate=None if predicate is None else str(predicate),
    )
