"""The report as one HTML file without network access, and as a fragment for notebooks."""

from whyscan.reports.pages.page import fragment, page

__all__ = ["fragment", "page"]
