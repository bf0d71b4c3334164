"""Findings and failed gates as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from whyscan.explain.document import version
from whyscan.explain.findings import Severity
from whyscan.explain.phrases import gate
from whyscan.explain.wording import inert, inert_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.explain.findings import Finding
    from whyscan.explain.gates import Assertion
    from whyscan.explain.report import Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(report: Report, source: str | None = None) -> str:
    """One run. `source` is the file that the predicate stands in, where it came from one."""
    results = [*_findings(report), *_gates(report)]
    told = Counter[str]()
    place = _place(report, source)
    for result in results:
        rule = result["ruleId"]
        result["locations"] = [place]
        result["partialFingerprints"] = {"whyscan/v1": _fingerprint(report, rule, told[rule])}
        told[rule] += 1
    driver = {
        "name": "whyscan",
        "version": version(),
        "rules": [{"id": rule} for rule in told],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _findings(report: Report) -> Iterator[dict[str, Any]]:
    for finding in report.findings:
        yield {
            "ruleId": finding.code.value,
            "level": LEVELS[finding.severity],
            "message": {"text": _told(finding)},
        }


def _told(finding: Finding) -> str:
    message = inert_sql(finding.message)
    return message if finding.fix is None else f"{message}\nfix: {inert_sql(finding.fix)}"


def _gates(report: Report) -> Iterator[dict[str, Any]]:
    for assertion in report.assertions:
        if not assertion.passed:
            yield {
                "ruleId": f"gate/{assertion.name}",
                "level": "error",
                "message": {"text": gate(assertion)},
                **_suppression(assertion),
            }


def _suppression(assertion: Assertion) -> dict[str, Any]:
    """A gate that is let off stays visible, as suppressed."""
    if assertion.exemption is None or assertion.expired:
        return {}
    told = {"kind": "external", "justification": inert(assertion.exemption.reason)}
    return {"suppressions": [told]}


def _place(report: Report, source: str | None) -> dict[str, Any]:
    """Where a reader would change something: the query's file, else the table."""
    uri = quote(report.table.uri if source is None else source, safe="/:", errors="replace")
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": 1},
        },
        "logicalLocations": [{"fullyQualifiedName": inert(report.table.uri), "kind": "table"}],
    }


def _fingerprint(report: Report, rule: str, number: int) -> str:
    """The same fact in the next run, whatever its figures are by then."""
    whole = f"{rule}\0{number}\0{report.table.uri}\0{report.question.predicate}"
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
