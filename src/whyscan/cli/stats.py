"""`whyscan stats`: profile the layout of a table, for any predicate."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record

import click
from msgspec import Struct

from whyscan.cli import options, suggestions
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.progress import Progress


class StatsArguments(Struct, frozen=True):
    """The arguments and options of `stats`."""

    table: str
    columns: tuple[str, ...]
    full: bool
    inventory: str | None
    form: str
    redact: bool
    output: Path | None
    version: options.VersionOptions
    store: options.StorageOptions


@click.command(short_help="Show which columns of a table prune, and how it is organised.")
@click.argument("table", metavar="TABLE", shell_complete=suggestions.places)
@click.argument("columns", metavar="[COLUMN]...", nargs=-1)
@options.VERSION
@click.option("--full", is_flag=True, help="Open the footers of all files, however many there are.")
@click.option(
    "--inventory",
    metavar="PLACE",
    help="Profile TABLE by the containers that an inventory has of it; the table is not read.",
)
@options.STORAGE
@options.form(*FORMS)
@options.OUTPUT
@options.REDACT
@options.with_options(StatsArguments)
def stats(arguments: StatsArguments) -> None:
    """Show how TABLE is organised: bounds, overlap, file sizes; the columns that prune best first.

    COLUMNs are those to measure, all by default. Nothing but metadata is read.
    """
    with Progress() as progress:
        opened = options.opened(
            arguments.table, arguments.version, arguments.store, arguments.inventory
        )
        progress.watch(opened.snapshot.traffic)
        table_stats = opened.stats(select=arguments.columns or None, full=arguments.full)
    if arguments.redact:
        table_stats = table_stats.redacted()
    options.deliver(lambda page: rendered(table_stats, arguments.form, page), arguments.output)
