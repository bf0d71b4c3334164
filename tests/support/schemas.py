"""The JSON Schemas of documents, as `whyscan schema` makes them from the records."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from jsonschema import Draft202012Validator

from whyscan.cli.schema import DOCUMENTS
from whyscan.reports.schema import schema


@cache
def validator(name: str) -> Draft202012Validator:
    module, _, record = DOCUMENTS[name].rpartition(".")
    made = schema(name, getattr(import_module(module), record))
    Draft202012Validator.check_schema(made)
    return Draft202012Validator(made)


def valid(name: str, document: dict) -> dict:
    """The document, once the schema has nothing to say against it."""
    complaints = [f"{e.json_path}: {e.message}" for e in validator(name).iter_errors(document)]
    assert complaints == []
    return document
