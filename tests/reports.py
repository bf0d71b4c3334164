"""Reports for tests: made through the facade, and every one of them held to the JSON Schema."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jsonschema import Draft202012Validator

from whyscan.explain.document import to_json
from whyscan.table import Table

if TYPE_CHECKING:
    from whyscan.explain.report import Report


@cache
def validator() -> Draft202012Validator:
    text = files("whyscan.explain").joinpath("report.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


def valid(document: dict) -> dict:
    """The document, once the schema has nothing to say against it."""
    complaints = [f"{e.json_path}: {e.message}" for e in validator().iter_errors(document)]
    assert complaints == []
    return document


def explain(snapshot, predicate: str, **question) -> Report:
    """A report on a snapshot; its JSON is valid, verbose or not."""
    report = Table(snapshot).explain(predicate, **question)
    valid(json.loads(to_json(report)))
    return report


def explained(snapshot, predicate: str, **question) -> dict:
    """The same as a dictionary."""
    return explain(snapshot, predicate, **question).to_dict()
