"""The report as HTML. Scripts draw only the charts and the file table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.reports import phrases, words
from whyscan.reports.pages.bars import part_of, segments
from whyscan.reports.pages.data import files_json
from whyscan.reports.pages.shell import document
from whyscan.reports.proofs import PROOFS

if TYPE_CHECKING:
    from whyscan.reports.report import Report

SCRIPTS = (
    "numbers.js",
    "values.js",
    "files.js",
    "chart.js",
    "grid.js",
    "table.js",
    "start.js",
)


def page(report: Report) -> str:
    """Write a whole HTML document. Without a listing it has no charts and no file table."""
    from markupsafe import Markup

    listing = report.listing
    # JSON without `<`, `>` and `&` is safe.
    data = None if listing is None else Markup(files_json(listing))  # noqa: S704
    return document("page.html.j2", scripts=SCRIPTS, report=report, data=data, **report_words())


def report_words() -> dict[str, Any]:
    """Return the functions for sentences and numbers that the templates use."""
    return {
        "answer": phrases.answer,
        "share_read": phrases.share_read,
        "why": phrases.why,
        "fate": phrases.fate,
        "fate_without_rows": phrases.fate_without_rows,
        "blind": phrases.blind,
        "overlapping": phrases.overlapping,
        "proofs": PROOFS,
        "removed": phrases.removed,
        "basis": phrases.basis,
        "gate": phrases.gate,
        "reasons": words.REASONS,
        "segments": segments,
        "part_of": part_of,
    }
