"""`whyscan diff`: what changed between two tables, or between two versions of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whyscan.cli import options, suggestions
from whyscan.cli.parameters import PERCENT
from whyscan.cli.progress import Progress
from whyscan.errors import UsageError
from whyscan.table import open as open_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.reports.diff import Difference
    from whyscan.reports.report import Report
    from whyscan.reports.text_layout import Page
    from whyscan.table import Table, When


@click.command(short_help="What changed between two tables or versions.")
@click.argument("table", metavar="TABLE", shell_complete=suggestions.places)
@click.argument("other", metavar="[OTHER]", required=False, shell_complete=suggestions.places)
@click.option("--from", "before", metavar="VERSION", help="The version before. [default: today's]")
@click.option("--to", "after", metavar="VERSION", help="The version after. [default: today's]")
@options.PREDICATE
@options.TERMS
@options.STORAGE
@options.form("text", "json")
@options.OUTPUT
@click.option("-v", "--verbose", is_flag=True, help="Name every file that changed.")
@options.REDACT
@click.option(
    "--max-regression",
    type=PERCENT,
    help="Fail where the share of files skipped fell by more points than this.",
)
@click.option("--max-regression-bytes", type=PERCENT, help="Likewise of bytes.")
def diff(table: str, other: str | None, predicate: str, **arguments: Any) -> int:
    """What a predicate reads of TABLE and of OTHER, and what changed.

    With --from and --to, two versions of TABLE: a Delta version, an Iceberg snapshot id, a branch
    or tag, or a time.
    """
    if other is None and arguments["before"] is None and arguments["after"] is None:
        raise UsageError(
            "there is nothing to compare", hint="name a second table, or --from and --to a version"
        )
    difference = _difference((table, other or table), options.read_predicate(predicate), arguments)
    difference = difference.gated(arguments["max_regression"], arguments["max_regression_bytes"])
    options.deliver(lambda page: _rendered(difference, arguments, page), arguments["output"])
    return 0 if difference.passed else options.GATE_FAILED


def _difference(
    places: tuple[str, str], predicate: str, arguments: Mapping[str, Any]
) -> Difference:
    with Progress() as progress:
        before = _report(places[0], arguments["before"], predicate, arguments, progress)
        after = _report(places[1], arguments["after"], predicate, arguments, progress)
    from whyscan.reports.diff import compare

    if not arguments["redact"]:
        return compare(before, after)
    from whyscan.reports.redaction import new_key, redacted

    key = new_key()
    return compare(redacted(before, key), redacted(after, key))


def _report(
    place: str,
    version: str | None,
    predicate: str,
    arguments: Mapping[str, Any],
    progress: Progress,
) -> Report:
    table = _open_version(place, version, arguments)
    progress.watch(table.snapshot.traffic)
    # Files are compared by their paths, so every manifest must be opened.
    return table.explain(predicate, verbose=True, **options.terms(arguments))


def _open_version(place: str, version: str | None, arguments: Mapping[str, Any]) -> Table:
    types, storage = options.partition_types(arguments), options.storage(arguments)
    table = open_table(place, partition_types=types, options=storage)
    if version is None:
        return table
    when = _when(version, table.format)
    return open_table(place, partition_types=types, options=storage, **when)


def _when(version: str, format_name: str) -> When:
    """Read a version: a number is a version or snapshot, a timestamp a time, the rest a ref."""
    if version.isascii() and version.isdigit():
        number = int(version)
        return {"snapshot": number} if format_name == "iceberg" else {"version": number}
    from whyscan.tree.time_text import read_timestamp

    read = read_timestamp(version)
    if read is not None and read.day is not None:
        return {"as_of": version}
    return {"ref": version}


def _rendered(difference: Difference, arguments: Mapping[str, Any], page: Page) -> str:
    if arguments["form"] == "json":
        from whyscan.reports.document import to_json

        return to_json(difference if arguments["verbose"] else difference.without_paths())
    from whyscan.reports.diff.text import text

    return text(difference, page, verbose=arguments["verbose"])
