"""Gates and findings as JUnit XML: a gate passes or fails, a finding always passes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from whyscan.reports.phrases import gate
from whyscan.reports.words import inert, inert_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.gates import CheckedSubject
    from whyscan.reports.rendering import CheckedReport


def junit(report: CheckedReport) -> str:
    """Write one test suite: each question, its gates and its findings."""
    cases = [case for subject in report.subjects() for case in _cases(subject)]
    failed, skipped = (
        sum(case.find(outcome) is not None for case in cases) for outcome in ("failure", "skipped")
    )
    testsuite = ET.Element(
        "testsuite",
        name="whyscan",
        tests=str(len(cases)),
        failures=str(failed),
        errors="0",
        skipped=str(skipped),
        time=f"{report.elapsed:.3f}",
    )
    testsuite.extend(cases)
    root = ET.Element("testsuites", name="whyscan", tests=str(len(cases)), failures=str(failed))
    root.append(testsuite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _cases(subject: CheckedSubject) -> Iterator[ET.Element]:
    """Yield one test case for the question, and one per gate and per finding."""
    where = inert(subject.name)
    yield _case(where, inert_sql(subject.question), subject.answer)
    for assertion in subject.report.assertions:
        element = _case(where, assertion.name, gate(assertion))
        # Inserted first, because JUnit fixes the order of a case's children.
        if not assertion.holds:
            element.insert(0, ET.Element("failure", message=gate(assertion), type=assertion.name))
        elif not assertion.passed:
            element.insert(0, ET.Element("skipped", message=gate(assertion)))
        yield element
    for finding in subject.report.findings:
        fix = "" if finding.fix is None else f"\nfix: {inert_sql(finding.fix)}"
        name = f"{finding.severity.value} {finding.code.value}"
        yield _case(where, name, inert_sql(finding.message) + fix)


def _case(where: str, name: str, text: str) -> ET.Element:
    """Make one test case, which passes unless an outcome is added."""
    element = ET.Element("testcase", classname=where, name=name)
    ET.SubElement(element, "system-out").text = text
    return element
