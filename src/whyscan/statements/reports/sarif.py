"""A statement's findings and failed gates as SARIF 2.1.0: those of a scan at its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.reports.sarif import SarifSubject, place, results, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.records import StatementReport


def sarif(report: StatementReport, source: str | None = None) -> str:
    """One SARIF run. `source` is the file that contains the statement, None without a file."""
    return run(_results(report, source))


def _results(report: StatementReport, source: str | None) -> Iterator[dict[str, Any]]:
    """The results; a finding about several tables is placed at the first table."""
    first = report.scans[0].report.table.uri if report.scans else ""
    yield from results(report, SarifSubject(place(first, source), report.sql))
    for title, scan in zip(report.titles, report.scans, strict=True):
        where = place(scan.report.table.uri, source)
        yield from results(scan.report, SarifSubject(where, f"{title}\0{report.sql}"))
