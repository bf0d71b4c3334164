"""Gates and findings as JUnit XML: a gate passes or fails, a finding is told and fails nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from whyscan.explain.phrases import answer, gate
from whyscan.explain.wording import inert, inert_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.explain.report import Report


def junit(report: Report) -> str:
    """One suite: the question itself, its gates, its findings."""
    cases = list(_cases(report))
    failed, skipped = (
        sum(case.find(outcome) is not None for case in cases) for outcome in ("failure", "skipped")
    )
    suite = ET.Element(
        "testsuite",
        name="whyscan",
        tests=str(len(cases)),
        failures=str(failed),
        errors="0",
        skipped=str(skipped),
        time=f"{report.metadata.seconds:.3f}",
    )
    suite.extend(cases)
    root = ET.Element("testsuites", name="whyscan", tests=str(len(cases)), failures=str(failed))
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _cases(report: Report) -> Iterator[ET.Element]:
    yield _case(report, inert_sql(report.question.predicate), answer(report))
    for assertion in report.assertions:
        case = _case(report, assertion.name, gate(assertion))
        # First: the order of a case's parts is fixed.
        if not assertion.holds:
            case.insert(0, ET.Element("failure", message=gate(assertion), type=assertion.name))
        elif not assertion.passed:
            case.insert(0, ET.Element("skipped", message=gate(assertion)))
        yield case
    for finding in report.findings:
        fix = "" if finding.fix is None else f"\nfix: {inert_sql(finding.fix)}"
        name = f"{finding.severity.value} {finding.code.value}"
        yield _case(report, name, inert_sql(finding.message) + fix)


def _case(report: Report, name: str, told: str) -> ET.Element:
    case = ET.Element("testcase", classname=inert(report.table.uri), name=name)
    ET.SubElement(case, "system-out").text = told
    return case
