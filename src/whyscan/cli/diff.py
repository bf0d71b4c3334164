"""`whyscan diff`: what changed between two tables, or between two versions of one."""

from __future__ import annotations

from functools import partial
from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from whyscan.cli import options, suggestions
from whyscan.cli.engine_option import ENGINES
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.parameters import PERCENT
from whyscan.cli.progress import Progress
from whyscan.errors import UsageError
from whyscan.table import diff_tables
from whyscan.table import open as open_table
from whyscan.terms import PlanTerms  # noqa: TC001 - msgspec reads the annotations of a record

if TYPE_CHECKING:
    from whyscan.reports.diff import Difference
    from whyscan.table import Table


class DiffArguments(Struct, frozen=True):
    """The arguments and options of `diff`."""

    table: str
    other: str | None
    before: str | None
    after: str | None
    to_layout: str | None
    sample: int
    no_sample: bool
    predicate: str
    form: str
    output: Path | None
    verbose: bool
    redact: bool
    max_regression: float | None
    max_regression_bytes: float | None
    terms: PlanTerms
    store: options.StorageOptions


@click.command(short_help="Show what changed between two tables or versions.")
@click.argument("table", metavar="TABLE", shell_complete=suggestions.places)
@click.argument("other", metavar="[OTHER]", required=False, shell_complete=suggestions.places)
@click.option(
    "--from", "before", metavar="VERSION", help="Compare from this version. [default: the newest]"
)
@click.option(
    "--to", "after", metavar="VERSION", help="Compare to this version. [default: the newest]"
)
@click.option(
    "--to-layout",
    metavar="LAYOUT",
    help="Compare to TABLE as it would be in this layout: 'sort by a', 'zorder by a, b'.",
)
@options.SAMPLE
@options.PREDICATE
@options.TERMS
@ENGINES
@options.STORAGE
@options.form(*FORMS)
@options.OUTPUT
@click.option("-v", "--verbose", is_flag=True, help="List every file that changed.")
@options.REDACT
@click.option(
    "--max-regression",
    type=PERCENT,
    help="Fail when the share of skipped files fell by more percentage points than this.",
)
@click.option(
    "--max-regression-bytes",
    type=PERCENT,
    help="Fail when the share of skipped bytes fell by more percentage points than this.",
)
@options.with_options(DiffArguments)
def diff(arguments: DiffArguments) -> int:
    """Show what a predicate reads of TABLE and of OTHER, and what changed.

    With --from and --to, two versions of TABLE: a Delta version, an Iceberg snapshot id, a branch
    or tag, or a time. With --to-layout, TABLE today and in another layout.
    """
    others = (arguments.other, arguments.before, arguments.after, arguments.to_layout)
    if all(other is None for other in others):
        raise UsageError(
            "there is nothing to compare",
            hint="name a second table, --from and --to a version, or --to-layout a layout",
        )
    difference = _difference(arguments)
    difference = difference.gated(arguments.max_regression, arguments.max_regression_bytes)
    if arguments.redact:
        difference = difference.redacted()
    shown = difference if arguments.verbose else difference.without_paths()
    options.deliver(lambda page: rendered(shown, arguments.form, page), arguments.output)
    return 0 if difference.passed else options.GATE_FAILED


def _difference(arguments: DiffArguments) -> Difference:
    predicate = options.read_predicate(arguments.predicate)
    with Progress() as progress:
        before = _open_version(arguments.table, arguments.before, arguments.store)
        progress.watch(before.snapshot.traffic)
        after = _open_version(arguments.other or arguments.table, arguments.after, arguments.store)
        if arguments.to_layout is not None:
            sample = 0 if arguments.no_sample else arguments.sample
            after = after.with_layout(arguments.to_layout, sample=sample)
        return diff_tables(before, after, predicate, arguments.terms)


def _open_version(place: str, version: str | None, store: options.StorageOptions) -> Table:
    """Open a version: a number is a version or snapshot, a timestamp a time, the rest a ref."""
    opened = partial(
        open_table,
        place,
        partition_types=options.partition_types(store),
        storage=options.storage(store),
    )
    table = opened()
    if version is None:
        return table
    if version.isascii() and version.isdigit():
        number = int(version)
        return opened(snapshot=number) if table.format == "iceberg" else opened(version=number)
    from whyscan.tree.time_text import read_timestamp

    read = read_timestamp(version)
    is_time = read is not None and read.day is not None
    return opened(as_of=version) if is_time else opened(ref=version)
