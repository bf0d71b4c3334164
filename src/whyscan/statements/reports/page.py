"""A statement's report as an HTML page: the scans and their joins, then each scan."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from whyscan.reports.markdown import sql_lines
from whyscan.reports.pages.page import report_words
from whyscan.reports.pages.shell import document
from whyscan.statements.reports import phrases
from whyscan.statements.reports.lanes import drawing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.listing import FileLine, Listing
    from whyscan.statements.records import StatementReport

OPEN_AT_ONCE = 12
"""Up to so many scans are shown open; with more, the reader opens the relevant ones."""
FILES_SHOWN = 500


def page(report: StatementReport) -> str:
    """A complete HTML document."""
    return document(
        "statement.html.j2",
        scripts=("start_statement.js",),
        styles=("statement.css",),
        report=report,
        **_words(report),
    )


def _words(report: StatementReport) -> dict[str, Any]:
    answer = phrases.answer(report)
    return report_words() | {
        "answer": answer[0].upper() + answer[1:],
        "titles": report.titles,
        "drawing": drawing(report),
        "files_shown": FILES_SHOWN,
        "few": len(report.scans) <= OPEN_AT_ONCE,
        "mechanisms": {m for scan in report.scans for m in scan.report.files_level.pruned_by},
        "resolved": any(
            supply.keys is not None
            for scan in report.scans
            if scan.dynamic is not None
            for supply in scan.dynamic.supplies
        ),
        "answers": phrases.answers,
        "amount_cells": phrases.amount_cells,
        "came": phrases.origin_text,
        "changed": phrases.changed,
        "condition": phrases.condition,
        "joins": phrases.joins(report),
        "stayed": phrases.conditions_above,
        "shown": _shown,
        "drawn_as": _drawn_as,
        "sql_lines": sql_lines,
        "supplied": phrases.supplied,
        "target": phrases.target,
    }


def _drawn_as(kind: str) -> str:
    """The CSS class of a join's line."""
    if "cross" in kind:
        return "cross"
    return "outer" if {"left", "right", "full"} & set(kind.split()) else "inner"


def _shown(listing: Listing) -> Iterator[FileLine]:
    return islice(listing.lines(), FILES_SHOWN)
