"""A report in each format."""

from __future__ import annotations

from whyscan.reports.text import text as written


def text(report, page=None, **terms):
    return written(report.view(**terms), page)


def markdown(report):
    return report.to_markdown()


def page(report):
    return report.to_html()


def fragment(report):
    return report._repr_html_()
