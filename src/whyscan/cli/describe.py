"""`whyscan describe`: say what a table is, before anything is asked of it."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record

import click
from msgspec import Struct

from whyscan.cli import options, suggestions
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.progress import Progress


class DescribeArguments(Struct, frozen=True):
    """The arguments and options of `describe`."""

    table: str
    versions: int
    full: bool
    inventory: str | None
    form: str
    redact: bool
    output: Path | None
    version: options.VersionOptions
    store: options.StorageOptions


@click.command(short_help="Show what a table is: schema, partitions, settings, versions, sizes.")
@click.argument("table", metavar="TABLE", shell_complete=suggestions.places)
@click.option(
    "--versions",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Show at most this many versions, the newest.",
)
@options.VERSION
@click.option("--full", is_flag=True, help="Open the footers of all files, however many there are.")
@click.option(
    "--inventory",
    metavar="PLACE",
    help="Describe TABLE by the containers that an inventory has of it; the table is not read.",
)
@options.STORAGE
@options.form(*FORMS)
@options.OUTPUT
@options.REDACT
@options.with_options(DescribeArguments)
def describe(arguments: DescribeArguments) -> None:
    """Show what TABLE is: format, columns, partitions, settings, versions, sizes, statistics.

    Nothing but metadata is read.
    """
    with Progress() as progress:
        opened = options.opened(
            arguments.table, arguments.version, arguments.store, arguments.inventory
        )
        progress.watch(opened.snapshot.traffic)
        described = opened.describe(versions=arguments.versions, full=arguments.full)
    if arguments.redact:
        described = described.redacted()
    options.deliver(lambda page: rendered(described, arguments.form, page), arguments.output)
