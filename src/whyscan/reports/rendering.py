"""Reports that can be written in every format: a report has a view, and each writer takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.fields import Record
from whyscan.reports.words import short_repr

if TYPE_CHECKING:
    from whyscan.reports.gates import CheckedSubject
    from whyscan.reports.view import Blocks


class WrittenReport(Record, frozen=True):
    """A report as text, Markdown, HTML and in a notebook; `print(report)` prints the text."""

    def view(self) -> Blocks:
        """Return the blocks that all formats show."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document as dictionaries and lists."""
        from whyscan.reports.document import document

        return document(self)

    def to_json(self) -> str:
        """Return the report as a JSON document; `whyscan schema` prints its schema."""
        from whyscan.reports.document import to_json

        return to_json(self)

    def to_text(self, width: int = 80) -> str:
        """Return the report as text without colours, wrapped at `width` columns."""
        from whyscan.reports.text import text
        from whyscan.reports.text_layout import Page

        return text(self.view(), Page(width=width))

    def to_markdown(self) -> str:
        """Return the report as GitHub Markdown, short enough for a comment."""
        from whyscan.reports.markdown import markdown

        return markdown(self.view())

    def to_html(self) -> str:
        """Return the report as an HTML page in one file, which loads nothing."""
        from whyscan.reports.pages.page import page

        return page(self.view())

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from whyscan.reports.pages.page import fragment

        return fragment(self.view())

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return short_repr(self)


class CheckedReport(WrittenReport, frozen=True):
    """A report with gates and findings, which continuous integration and code scanning read."""

    @property
    def elapsed(self) -> float:
        """The seconds that the run took."""
        raise NotImplementedError

    def subjects(self) -> tuple[CheckedSubject, ...]:
        """Return the table, or the statement and each of its scans, with gates and findings."""
        raise NotImplementedError

    def to_junit(self) -> str:
        """Return gates and findings as JUnit XML."""
        from whyscan.reports.junit import junit

        return junit(self)

    def to_sarif(self, source: str | None = None) -> str:
        """Return findings and failed gates as SARIF; `source` is the file that has the SQL."""
        from whyscan.reports.sarif import sarif

        return sarif(self, source)
