"""A statement's gates and findings as JUnit XML: those of the statement, then of each scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports import junit as single
from whyscan.reports.phrases import share_read
from whyscan.reports.words import inert, inert_sql
from whyscan.statements.reports.phrases import answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree import ElementTree as ET

    from whyscan.statements.records import StatementReport

WHOLE = "statement"


def junit(report: StatementReport) -> str:
    """One test suite."""
    return single.suite(list(_cases(report)), report.seconds)


def _cases(report: StatementReport) -> Iterator[ET.Element]:
    yield single.case(WHOLE, inert_sql(report.sql), answer(report))
    yield from single.outcomes(report, WHOLE)
    for title, scan in zip(map(inert, report.titles), report.scans, strict=True):
        yield single.case(title, inert_sql(scan.report.question.predicate), share_read(scan.report))
        yield from single.outcomes(scan.report, title)
