"""`whyscan ls`: list what a catalog has."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record

import click
from msgspec import Struct

from whyscan.cli import options
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.progress import Progress


class LsArguments(Struct, frozen=True):
    """The arguments and options of `ls`."""

    place: str | None
    form: str
    output: Path | None


@click.command(short_help="List the namespaces and tables of a catalog.")
@click.argument("place", metavar="[CATALOG[.NAMESPACE]]", required=False)
@options.form(*FORMS)
@options.OUTPUT
@options.with_options(LsArguments)
def ls(arguments: LsArguments) -> None:
    """List the namespaces and tables of a catalog, or of a namespace in it.

    Without an argument, the catalogs are listed that are configured.
    """
    from whyscan.reports.contents import contents
    from whyscan.reports.masked_records import masked

    with Progress():
        listed = masked(contents(arguments.place))
    options.deliver(lambda page: rendered(listed, arguments.form, page), arguments.output)
