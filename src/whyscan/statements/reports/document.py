"""A statement's report as the JSON document that `statement.schema.json` describes."""

from __future__ import annotations

import json
from textwrap import indent
from typing import TYPE_CHECKING

from whyscan.reports.document import (
    Json,
    as_text,
    files_of,
    of_assertion,
    of_finding,
    of_report,
    version,
)
from whyscan.statements.records import SCHEMA_VERSION

if TYPE_CHECKING:
    from whyscan.statements.records import (
        Amount,
        Dynamic,
        Edge,
        Placed,
        Rewrite,
        ScanReport,
        StatementReport,
        Supply,
    )

_SCANS = '\n  "scans": []'
"""The place of the scans in the text. No value contains a line break: JSON escapes it."""


def to_json(report: StatementReport) -> str:
    """The document as text, with one line per file."""
    scans = [
        indent(as_text(_scan(scan), scan.report.listing).rstrip("\n"), "    ")
        for scan in report.scans
    ]
    text = json.dumps(_about(report), indent=2, allow_nan=False)
    if not scans:
        return f"{text}\n"
    listed = '\n  "scans": [\n' + ",\n".join(scans) + "\n  ]"
    before, behind = text.split(_SCANS)
    return f"{before}{listed}{behind}\n"


def document(report: StatementReport) -> Json:
    """The document as dictionaries and lists, in reading order."""
    scans = [{**_scan(scan), **files_of(scan.report)} for scan in report.scans]
    return {**_about(report), "scans": scans}


def _about(report: StatementReport) -> Json:
    """The document without its scans; the key `scans` has an empty list."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "whyscan", "version": version()},
        "sql": report.sql,
        "dialect": report.dialect,
        "timezone": report.timezone,
        "operation": report.operation,
        "scans": [],
        "joins": [_edge(edge) for edge in report.joins],
        "findings": [of_finding(finding) for finding in report.findings],
        "notes": list(report.notes),
        "assertions": [of_assertion(assertion) for assertion in report.assertions],
        "metadata": {"seconds": round(report.seconds, 6)},
        "result": "pass" if report.passed else "fail",
    }


def _scan(scan: ScanReport) -> Json:
    return {
        "name": scan.name,
        "alias": scan.alias,
        "role": scan.role.value,
        "columns": list(scan.columns),
        **of_report(scan.report),
        "placed": [_placed(condition) for condition in scan.placed],
        "above": [{"sql": condition.sql, "why": condition.why} for condition in scan.above],
        "dynamic": None if scan.dynamic is None else _dynamic(scan.dynamic),
        "rewrite": None if scan.rewrite is None else _rewrite(scan.rewrite),
        "limit": scan.limit,
        "answer": scan.answer,
    }


def _placed(placed: Placed) -> Json:
    return {
        "sql": placed.sql,
        "origin": placed.origin.value,
        "written": placed.written,
        "via": placed.via,
    }


def _dynamic(dynamic: Dynamic) -> Json:
    return {
        "supplies": [_supply(supply) for supply in dynamic.supplies],
        "static": _amount(dynamic.static),
        "bounded": None if dynamic.bounded is None else _amount(dynamic.bounded),
        "actual": None if dynamic.actual is None else _amount(dynamic.actual),
    }


def _supply(supply: Supply) -> Json:
    return {
        "sql": supply.sql,
        "column": supply.column,
        "source": supply.source,
        "low": supply.low,
        "high": supply.high,
        "keys": supply.keys,
    }


def _amount(amount: Amount) -> Json:
    return {"files": amount.files, "bytes": amount.bytes, "rows": amount.rows}


def _rewrite(rewrite: Rewrite) -> Json:
    return {
        "operation": rewrite.operation,
        "removed": _amount(rewrite.removed),
        "rewritten": _amount(rewrite.rewritten),
    }


def _edge(edge: Edge) -> Json:
    return {"kind": edge.kind, "left": edge.left, "right": edge.right, "sql": edge.sql}
