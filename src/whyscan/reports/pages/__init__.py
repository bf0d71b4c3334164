"""The report as a page of HTML: one file, no network; and as a fragment for notebooks."""

from whyscan.reports.pages.page import fragment, page

__all__ = ["fragment", "page"]
