"""A difference as the JSON document that `diff.schema.json` describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from whyscan.reports.diff.files import FileChange
from whyscan.reports.document import (
    Json,
    of_assertion,
    of_finding,
    of_level,
    of_share,
    of_subject,
    version,
)

if TYPE_CHECKING:
    from whyscan.reports.diff.difference import ConjunctChange, Difference, LevelChange

SCHEMA_VERSION = "1.0"


def to_json(difference: Difference, *, verbose: bool) -> str:
    """Return the JSON document as ASCII text, so that escape codes in names have no effect."""
    return json.dumps(document(difference, verbose=verbose), indent=2, allow_nan=False) + "\n"


def document(difference: Difference, *, verbose: bool) -> Json:
    """Return dictionaries and lists; `verbose` names the files that changed."""
    question = difference.after.question
    counts = difference.files.counts
    members: Json = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "whyscan", "version": version()},
        "before": of_subject(difference.before.table),
        "after": of_subject(difference.after.table),
        "predicate": question.predicate,
        "dialect": question.dialect,
        "timezone": question.timezone,
        "levels": [_level(change) for change in difference.levels],
        "conjuncts": [_conjunct(change) for change in difference.conjuncts],
        "findings": {
            "appeared": [of_finding(record) for record in difference.appeared],
            "gone": [of_finding(record) for record in difference.gone],
        },
        "files": {fate.name.lower(): counts[fate] for fate in FileChange},
        "assertions": [of_assertion(record) for record in difference.assertions],
        "result": "pass" if difference.passed else "fail",
    }
    if verbose:
        changed = difference.files.changed()
        members["changes"] = [{"path": path, "fate": fate.name.lower()} for path, fate in changed]
    return members


def _level(change: LevelChange) -> Json:
    return {
        "level": change.level,
        "before": None if change.before is None else of_level(change.before),
        "after": None if change.after is None else of_level(change.after),
    }


def _conjunct(change: ConjunctChange) -> Json:
    return {
        "sql": change.after.sql,
        "alone": {"before": of_share(change.before.alone), "after": of_share(change.after.alone)},
        "only": {"before": of_share(change.before.only), "after": of_share(change.after.only)},
    }
