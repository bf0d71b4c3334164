"""Findings and failed gates as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from whyscan.reports.document import version
from whyscan.reports.findings import Severity
from whyscan.reports.findings.rules import DOCUMENTATION, GATE, about, page
from whyscan.reports.phrases import gate
from whyscan.reports.words import inert, inert_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.findings import Finding
    from whyscan.reports.gates import Assertion, CheckedSubject, GatedReport
    from whyscan.reports.rendering import CheckedReport

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(report: CheckedReport, source: str | None = None) -> str:
    """Write one run. `source` is the file that contains the SQL, if it came from a file."""
    listed = [result for subject in report.subjects() for result in _results(subject, source)]
    driver = {
        "name": "whyscan",
        "version": version(),
        "informationUri": DOCUMENTATION,
        "rules": [_rule(rule) for rule in dict.fromkeys(result["ruleId"] for result in listed)],
    }
    run_object = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": listed}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run_object]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: str) -> dict[str, Any]:
    """Return what code scanning shows of a rule, with the address of its documentation."""
    sentence = {"text": about(rule)}
    return {
        "id": rule,
        "name": rule.removeprefix(GATE),
        "shortDescription": sentence,
        "fullDescription": sentence,
        "help": {"text": f"{about(rule)} {page(rule)}"},
        "helpUri": page(rule),
    }


def _results(subject: CheckedSubject, source: str | None) -> Iterator[dict[str, Any]]:
    """Yield one result per finding and per failed gate."""
    place, before = _place(subject.table, source), Counter[str]()
    for result in (*_findings(subject.report), *_gates(subject.report)):
        rule = result["ruleId"]
        mark = _fingerprint(subject.identity, rule, before[rule])
        yield {
            **result,
            "locations": [place],
            "partialFingerprints": {"whyscan/v1": mark},
        }
        before[rule] += 1


def _findings(report: GatedReport) -> Iterator[dict[str, Any]]:
    for finding in report.findings:
        yield {
            "ruleId": finding.code.value,
            "level": LEVELS[finding.severity],
            "message": {"text": _message(finding)},
        }


def _message(finding: Finding) -> str:
    message = inert_sql(finding.message)
    return message if finding.fix is None else f"{message}\nfix: {inert_sql(finding.fix)}"


def _gates(report: GatedReport) -> Iterator[dict[str, Any]]:
    for assertion in report.assertions:
        if not assertion.passed:
            yield {
                "ruleId": f"{GATE}{assertion.name}",
                "level": "error",
                "message": {"text": gate(assertion)},
                **_suppression(assertion),
            }


def _suppression(assertion: Assertion) -> dict[str, Any]:
    """Mark an exempted gate as suppressed, so that it stays visible."""
    if assertion.exemption is None or assertion.expired:
        return {}
    suppression = {"kind": "external", "justification": inert(assertion.exemption.reason)}
    return {"suppressions": [suppression]}


def _place(table: str, source: str | None) -> dict[str, Any]:
    """Return the location to show: the file of the query, or else the table."""
    uri = quote(table if source is None else source, safe="/:", errors="replace")
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": 1},
        },
        "logicalLocations": [{"fullyQualifiedName": inert(table), "kind": "table"}],
    }


def _fingerprint(question: str, rule: str, number: int) -> str:
    """Return an identifier of a result that is the same in the next run, with other numbers."""
    identity = f"{rule}\0{number}\0{question}"
    return sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
