"""`whyscan stats`: is the layout of a table any good, whatever is asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whyscan.cli import options, suggestions
from whyscan.cli.progress import Progress
from whyscan.table import open as open_table

if TYPE_CHECKING:
    from whyscan.reports.stats import TableStats
    from whyscan.reports.text_layout import Page


@click.command(short_help="Which columns of a table prune, and how it lies.")
@click.argument("table", metavar="TABLE", shell_complete=suggestions.places)
@click.argument("columns", metavar="[COLUMN]...", nargs=-1)
@options.VERSION
@click.option("--full", is_flag=True, help="Open the footers of however many files.")
@options.STORAGE
@options.form("text", "json", "html")
@options.OUTPUT
def stats(table: str, columns: tuple[str, ...], **asked: Any) -> None:
    """How the files of TABLE lie: bounds, overlap, sizes; the columns that prune best first.

    COLUMNs are those to measure, all by default. Nothing but metadata is read.
    """
    with Progress() as progress:
        opened = open_table(
            table,
            partition_types=options.partition_types(asked),
            options=options.storage(asked),
            **options.version(asked),
        )
        progress.watch(opened.snapshot.traffic)
        found = opened.stats(list(columns) or None, full=asked["full"])
    options.deliver(lambda page: _rendered(found, asked["form"], page), asked["output"])


def _rendered(found: TableStats, form: str, page: Page) -> str:
    match form:
        case "json":
            from whyscan.reports.stats.document import to_json

            return to_json(found)
        case "html":
            from whyscan.reports.stats.page import page as html

            return html(found)
        case _:
            from whyscan.reports.stats.text import text

            return text(found, page)
