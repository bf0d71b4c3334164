"""Reports for tests: made through the facade, and every one of them held to the JSON Schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from support import schemas
from whyscan.reports.document import to_json
from whyscan.table import Table

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

    from whyscan.reports.report import Report


def validator() -> Draft202012Validator:
    return schemas.validator("report")


def valid(document: dict) -> dict:
    """The document, once the schema has nothing to say against it."""
    return schemas.valid("report", document)


def explain(snapshot, predicate: str, **question) -> Report:
    """A report on a snapshot; its JSON is valid, verbose or not."""
    report = Table(snapshot).explain(predicate, **question)
    valid(json.loads(to_json(report)))
    return report


def explained(snapshot, predicate: str, **question) -> dict:
    """The same as a dictionary."""
    return explain(snapshot, predicate, **question).to_dict()


def grown(report: Report, count: int) -> Report:
    """The same with very many files, over and over; the first column of file i is [i, i + 9]."""
    listing = report.listing
    numbers = np.arange(count)
    again = pa.array(numbers % len(listing))
    columns = {
        name: value.take(again)
        for name in listing.__struct_fields__
        if isinstance(value := getattr(listing, name), pa.Array | pa.Table)
    }
    columns["paths"] = pa.array([f"p={i % 7}/part-{i:08d}.parquet" for i in range(count)])
    first, *others = listing.ranges
    ranges = (
        replace(first, lower=pa.array(numbers), upper=pa.array(numbers + 9)),
        *(replace(r, lower=r.lower.take(again), upper=r.upper.take(again)) for r in others),
    )
    return replace(report, listing=replace(listing, ranges=ranges, **columns))
