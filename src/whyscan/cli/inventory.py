"""`whyscan inventory`: write the containers of a lake into a table, on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import Struct

from whyscan.cli import options, suggestions
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.output import terminal_page, write
from whyscan.cli.progress import steps
from whyscan.cli.spark_session import MASTER, spark_session, table_format

if TYPE_CHECKING:
    from whyscan.spark.stages.inventory.report import InventoryRun

SOME_FAILED = 3


class InventoryArguments(Struct, frozen=True):
    """The arguments and options of `inventory`."""

    places: tuple[str, ...]
    output: str
    output_format: str
    depth: str
    master: str | None
    form: str
    redact: bool
    store: options.StorageOptions


@click.command(short_help="Write a lake's files and their statistics as a table.")
@click.argument(
    "places",
    metavar="TABLE...",
    nargs=-1,
    required=True,
    shell_complete=suggestions.named_places,
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="PLACE",
    help="Write the inventory to this folder; for Iceberg to this namespace of a Spark catalog: "
    "lake.inventory.",
)
@table_format("--output-format", "The format of the tables that are written.")
@click.option(
    "--depth",
    type=click.Choice(["files", "row-groups"]),
    default="files",
    show_default=True,
    help="Read containers down to this level; row groups are in the footers of data files.",
)
@MASTER
@options.STORAGE
@options.form(*FORMS)
@options.REDACT
@options.with_options(InventoryArguments)
def inventory(arguments: InventoryArguments) -> int:
    """Write a row for each container of every TABLE: manifests, files, row groups.

    TABLE is NAME=URI, a path, a catalog's table, a glob of tables (lake/*) or a namespace
    (prod.db.*). What was read at the same snapshot before is not read again. One table that fails
    is named, and does not stop the others.

    Exit codes: 0 fine, 2 wrong usage, 3 a table could not be read.
    """
    run = _run_inventory(arguments)
    if arguments.redact:
        run = run.redacted()
    write(rendered(run, arguments.form, terminal_page()))
    return SOME_FAILED if run.failed else 0


def _run_inventory(arguments: InventoryArguments) -> InventoryRun:
    formats = arguments.output_format != "parquet"
    with steps() as tell, spark_session(arguments.master, formats=formats) as spark:
        from whyscan.spark.stages.inventory.run import write_inventory

        return write_inventory(
            spark,
            arguments.places,
            arguments.output,
            depth=arguments.depth,
            form=arguments.output_format,
            storage=options.storage(arguments.store),
            partition_types=options.partition_types_of_tables(arguments.store),
            progress=tell,
        )
