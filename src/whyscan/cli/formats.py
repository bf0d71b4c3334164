"""The formats of reports; a writer is imported when its format is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whyscan.reports.rendering import WrittenReport
    from whyscan.reports.text_layout import Page

FORMS = ("text", "json", "markdown", "html")
EXPLAIN_FORMS = (*FORMS, "sarif", "junit")
LISTS_FILES = frozenset({"html"})
"""The formats that always list every file."""


def rendered(report: WrittenReport, form: str, page: Page) -> str:
    """Write the whole report in one of `FORMS`."""
    match form:
        case "json":
            return report.to_json()
        case "markdown":
            return report.to_markdown()
        case "html":
            return report.to_html()
        case _:
            from whyscan.reports.text import text

            return text(report.view(), page)
