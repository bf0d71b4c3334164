"""`whyscan doctor`: look at the installation and say what is missing."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record

import click
from msgspec import Struct

from whyscan.cli import options
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.progress import Progress


class DoctorArguments(Struct, frozen=True):
    """The options of `doctor`."""

    catalogs: bool
    form: str
    output: Path | None


@click.command(short_help="Look at the installation and say what is missing.")
@click.option(
    "--catalogs/--no-catalogs",
    default=True,
    help="Ask every configured catalog for its namespaces, ten seconds at most.",
)
@options.form(*FORMS)
@options.OUTPUT
@options.with_options(DoctorArguments)
def doctor(arguments: DoctorArguments) -> int:
    """Look at the installation: packages, engines, Java, credentials, cache and catalogs.

    Credentials are named by their variable or file, and never shown.

    Exit codes: 0 no problem, 1 a problem.
    """
    from whyscan.diagnosis import diagnose

    with Progress():
        diagnosis = diagnose(catalogs=arguments.catalogs)
    options.deliver(lambda page: rendered(diagnosis, arguments.form, page), arguments.output)
    return 1 if diagnosis.problems else 0
