"""Gates and findings as JUnit XML: a gate passes or fails, a finding always passes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from whyscan.reports.phrases import answer, gate
from whyscan.reports.words import inert, inert_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.reports.gates import GatedReport
    from whyscan.reports.report import Report


def junit(report: Report) -> str:
    """Write one test suite: the predicate, its gates and its findings."""
    where = inert(report.table.uri)
    question = case(where, inert_sql(report.question.predicate), answer(report))
    return suite([question, *outcomes(report, where)], report.metadata.seconds)


def suite(cases: Sequence[ET.Element], seconds: float) -> str:
    """Write the whole XML document."""
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
        time=f"{seconds:.3f}",
    )
    testsuite.extend(cases)
    root = ET.Element("testsuites", name="whyscan", tests=str(len(cases)), failures=str(failed))
    root.append(testsuite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def outcomes(report: GatedReport, where: str) -> Iterator[ET.Element]:
    """Yield one test case per gate and per finding."""
    for assertion in report.assertions:
        element = case(where, assertion.name, gate(assertion))
        # Inserted first, because JUnit fixes the order of a case's children.
        if not assertion.holds:
            element.insert(0, ET.Element("failure", message=gate(assertion), type=assertion.name))
        elif not assertion.passed:
            element.insert(0, ET.Element("skipped", message=gate(assertion)))
        yield element
    for finding in report.findings:
        fix = "" if finding.fix is None else f"\nfix: {inert_sql(finding.fix)}"
        name = f"{finding.severity.value} {finding.code.value}"
        yield case(where, name, inert_sql(finding.message) + fix)


def case(where: str, name: str, text: str) -> ET.Element:
    """Make one test case, which passes unless an outcome is added."""
    element = ET.Element("testcase", classname=where, name=name)
    ET.SubElement(element, "system-out").text = text
    return element
