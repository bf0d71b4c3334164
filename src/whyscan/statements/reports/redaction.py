"""Redacts a statement's report for sharing: each scan's report, and everything between scans.

A value of a table has the same pseudonym in all scans of a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.predicate.syntax.redact import HIDDEN
from whyscan.reports import redaction

if TYPE_CHECKING:
    from whyscan.statements.records import (
        Dynamic,
        Placed,
        ScanReport,
        StatementReport,
        Stayed,
        Supply,
    )


def redacted(report: StatementReport) -> StatementReport:
    """The same report without literals and values."""
    key = redaction.new_key()
    hide = redaction.Redactor(report.sql, report.dialect, key)
    return replace(
        report,
        sql=hide.sql(report.sql),
        scans=tuple(_scan(scan, hide, key) for scan in report.scans),
        joins=tuple(
            replace(edge, sql=hide.sql(edge.sql) if edge.sql else "") for edge in report.joins
        ),
        findings=tuple(map(hide.finding, report.findings)),
        notes=tuple(map(hide.text, report.notes)),
    )


def _scan(scan: ScanReport, hide: redaction.Redactor, key: bytes) -> ScanReport:
    report = redaction.redacted(scan.report, key)
    return replace(
        scan,
        report=replace(report, findings=tuple(map(hide.finding, report.findings))),
        placed=tuple(_placed(condition, hide) for condition in scan.placed),
        above=tuple(_stayed(condition, hide) for condition in scan.above),
        dynamic=None if scan.dynamic is None else _dynamic(scan.dynamic, hide),
        limit=None if scan.limit is None else hide.text(scan.limit),
        # The least and the greatest value of a column are values of the table.
        answer=None if scan.answer is None else HIDDEN,
    )


def _placed(placed: Placed, hide: redaction.Redactor) -> Placed:
    return replace(
        placed,
        sql=hide.sql(placed.sql),
        written=hide.sql(placed.written),
        via=None if placed.via is None else hide.sql(placed.via),
    )


def _stayed(stayed: Stayed, hide: redaction.Redactor) -> Stayed:
    return replace(stayed, sql=hide.sql(stayed.sql), why=hide.text(stayed.why))


def _dynamic(dynamic: Dynamic, hide: redaction.Redactor) -> Dynamic:
    return replace(dynamic, supplies=tuple(_supply(supply, hide) for supply in dynamic.supplies))


def _supply(supply: Supply, hide: redaction.Redactor) -> Supply:
    return replace(
        supply,
        sql=hide.sql(supply.sql),
        column=hide.sql(supply.column),
        low=None if supply.low is None else HIDDEN,
        high=None if supply.high is None else HIDDEN,
    )
