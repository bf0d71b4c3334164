"""The formats of reports; a writer is imported when its format is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whyscan.reports.rendering import CheckedReport, WrittenReport
    from whyscan.reports.text_layout import Page

FORMS = ("text", "json", "markdown", "html")
EXPLAIN_FORMS = (*FORMS, "sarif", "junit")
LISTS_FILES = frozenset({"html"})
"""The formats that always list every file."""


def rendered_checks(report: CheckedReport, form: str, page: Page, sql: str) -> str:
    """Write the whole report in one of `EXPLAIN_FORMS`; `sql` may name the file that has it."""
    match form:
        case "sarif":
            return report.to_sarif(sql[1:] if sql.startswith("@") else None)
        case "junit":
            return report.to_junit()
        case _:
            return rendered(report, form, page)


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
