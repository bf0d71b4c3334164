"""A file of what each question read when somebody was content with it.

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

Shares are percentages of what the table holds, so that a table may grow. Tolerances are points of
them. An exemption without a predicate holds for every question on its table.
"""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from whyscan.errors import UsageError
from whyscan.explain.gates import Assertion, Exemption, at_least, percent_pruned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.explain.report import Report

SCHEMA_VERSION = "1.0"


class Key(Struct, frozen=True):
    """A question as it was put: the table as it was named, and the predicate's words."""

    table: str
    predicate: str
    dialect: str
    timezone: str


class Shares(Struct, frozen=True):
    """Percent of files and bytes that were skipped; None where it was not known."""

    pruned_files: float | None
    pruned_bytes: float | None


class Baseline(Struct, frozen=True):
    """What was read, how much worse it may become, and what is let off until when."""

    questions: dict[Key, Shares] = field(default_factory=dict)
    exemptions: tuple[Exemption, ...] = ()
    tolerance_files: float = 0.0
    tolerance_bytes: float = 0.0

    def check(self, key: Key, report: Report) -> Iterator[Assertion]:
        """A question that the baseline does not know does not pass: nobody agreed to it."""
        known = self.questions.get(key)
        if known is None:
            yield Assertion("baseline", 0.0, None, passed=False)
            return
        now = shares(report)
        if known.pruned_files is not None:
            asked = max(known.pruned_files - self.tolerance_files, 0.0)
            yield at_least("baseline", asked, now.pruned_files)
        if known.pruned_bytes is not None:
            asked = max(known.pruned_bytes - self.tolerance_bytes, 0.0)
            yield at_least("baseline_bytes", asked, now.pruned_bytes)

    def updated(self, key: Key, report: Report) -> Baseline:
        """The same, with this question as it is now."""
        return replace(self, questions={**self.questions, key: shares(report)})

    def excuse(self, key: Key, assertion: Assertion, today: date) -> Assertion:
        """A gate that failed, with the exemption that covers it."""
        if assertion.passed:
            return assertion
        for exemption in self.exemptions:
            if exemption.covers(key.table, key.predicate, assertion.name):
                return replace(assertion, exemption=exemption, expired=exemption.until < today)
        return assertion


def shares(report: Report) -> Shares:
    """What of files and bytes a report skips."""
    files = report.files_level
    found = (
        percent_pruned(files.total, files.kept),
        percent_pruned(files.bytes_total, files.bytes_kept),
    )
    return Shares(*(None if share is None else round(share, 3) for share in found))


def to_json(baseline: Baseline) -> str:
    """The file: questions in order, so that a change shows as one line more or less."""
    order = sorted(baseline.questions, key=lambda key: (key.table, key.predicate))
    document = {
        "schema_version": SCHEMA_VERSION,
        "tolerance": {"files": baseline.tolerance_files, "bytes": baseline.tolerance_bytes},
        "questions": [asdict(key) | asdict(baseline.questions[key]) for key in order],
        "exemptions": [_exemption(exemption) for exemption in baseline.exemptions],
    }
    return json.dumps(document, indent=2) + "\n"


def _exemption(exemption: Exemption) -> dict[str, str]:
    found = asdict(exemption) | {"until": exemption.until.isoformat()}
    return {name: value for name, value in found.items() if value is not None}


def read_baseline(text: str, place: str) -> Baseline:
    """What a baseline file says; what it does not know is refused, not skipped."""
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
    known = {"schema_version", "tolerance", "questions", "exemptions"}
    if unknown := document.keys() - known:
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
