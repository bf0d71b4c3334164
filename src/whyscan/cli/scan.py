"""`whyscan scan`: write the rows of a plan into a file or a pipe."""

from __future__ import annotations

import sys
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from whyscan.cli import options, suggestions
from whyscan.cli.output import atomic_file, require_standard_output, silence
from whyscan.cli.progress import Progress
from whyscan.cli.startup import sigterm_as_interrupt
from whyscan.errors import StorageError, UsageError
from whyscan.reports.words import counted
from whyscan.table import plan_table
from whyscan.terms import PlanTerms  # noqa: TC001 - msgspec reads the annotations of a record

if TYPE_CHECKING:
    from whyscan.plans import Plan
    from whyscan.tables.snapshot import Traffic

PIPE = Path("-")
FORMS = ("parquet", "csv", "arrow")


class ScanArguments(Struct, frozen=True):
    """The arguments and options of `scan`."""

    places: tuple[str, ...]
    predicate: str | None
    select: str | None
    limit: int | None
    output: Path
    form: str | None
    force: bool
    version: options.VersionOptions
    terms: PlanTerms
    store: options.StorageOptions


@click.command(short_help="Read the rows of a plan into a file.")
@click.argument(
    "places", metavar="TABLE...", nargs=-1, required=True, shell_complete=suggestions.places
)
@options.predicate(required=False, default=" [default: all rows]")
@click.option(
    "-s", "--select", metavar="COLS", help="Read only these columns: a,b,c. [default: all]"
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Stop after N rows, any rows. Files in which every row matches are read first."
    " [default: all rows]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    default=PIPE,
    metavar="FILE",
    help="Write the rows to this .parquet, .csv or .arrow file; - is standard output. [default: -]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="Write the rows in this format. [default: by the name of the file]",
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@options.VERSION
@options.TERMS
@options.STORAGE
@options.with_options(ScanArguments)
def scan(arguments: ScanArguments) -> None:
    """Read the rows of TABLE for which PREDICATE is TRUE: the files of the plan and no others.

    Deleted rows are left out, and only the columns that are needed are read. A file gets its name
    when it is whole.

    Exit codes: 0 fine, 2 wrong usage, 3 could not evaluate.
    """
    form = _form(arguments.form, arguments.output)
    _refuse_existing(arguments.output, force=arguments.force)
    predicate = arguments.predicate
    where = "true" if predicate is None else options.read_predicate(predicate)
    with sigterm_as_interrupt(), Progress() as progress:
        table = options.opened(arguments.places, arguments.version, arguments.store)
        progress.watch(table.snapshot.traffic)
        columns = options.columns(arguments.select)
        plan = plan_table(table, where, columns, arguments.terms, limit=arguments.limit)
        _write(plan, form, arguments.output)
    _say_pages(table.snapshot.traffic())


def _say_pages(traffic: Traffic) -> None:
    """Say whether only the pages that stay were read, if a plan skipped pages."""
    read = [f"{counted(traffic.paged, 'row group')} read by the pages that stay"]
    read += [f"{count:,} read whole: {why}" for why, count in traffic.whole]
    if traffic.paged or traffic.whole:
        click.echo(f"pages: {'; '.join(read)}", err=True)


def _form(chosen: str | None, output: Path) -> str:
    if chosen is not None:
        return chosen
    if output == PIPE:
        return "csv"
    suffix = output.suffix.removeprefix(".").lower()
    if suffix not in FORMS:
        raise UsageError(
            f"{output} does not say its format", hint=f"name it with --format {'|'.join(FORMS)}"
        )
    return suffix


def _refuse_existing(output: Path, *, force: bool) -> None:
    if output != PIPE and output.is_file() and not force:
        raise UsageError(f"{output} is there already", hint="--force replaces it")


def _write(plan: Plan, form: str, output: Path) -> None:
    if output != PIPE:
        with atomic_file(output) as file:
            _rows(plan, form, file)
        return
    require_standard_output()
    if form != "csv" and sys.stdout.isatty():
        raise UsageError(f"{form} is not for a terminal", hint="-o FILE writes it to a file")
    try:
        _rows(plan, form, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence()
    except OSError as error:
        raise StorageError(f"cannot write to standard output: {error.strerror}") from error


def _rows(plan: Plan, form: str, file: Any) -> None:
    from whyscan.cli.row_formats import open_writer

    rows = plan.to_reader()
    # A predicate that cannot be evaluated at all fails before anything is written.
    first = list(islice(rows, 1))
    with open_writer(form, file, rows.schema) as writer:
        for batch in chain(first, rows):
            writer.write(batch)
