"""The formats of a report; a renderer is imported when its format is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whyscan.reports.report import Report
    from whyscan.reports.text_layout import Page

FORMS = ("text", "json", "markdown", "html", "sarif", "junit")
LISTS_FILES = frozenset({"html"})
"""The formats that always list every file."""


def rendered(report: Report, form: str, page: Page, source: str | None = None) -> str:
    """Write the whole report. `source` is the file that the predicate came from."""
    match form:
        case "json":
            from whyscan.reports.document import to_json

            return to_json(report)
        case "markdown":
            from whyscan.reports.markdown import markdown

            return markdown(report)
        case "html":
            from whyscan.reports.pages import page as html

            return html(report)
        case "sarif":
            from whyscan.reports.sarif import sarif

            return sarif(report, source)
        case "junit":
            from whyscan.reports.junit import junit

            return junit(report)
        case _:
            from whyscan.reports.text import text

            return text(report, page)
