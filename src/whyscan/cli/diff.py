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
def diff(table: str, other: str | None, predicate: str, **asked: Any) -> int:
    """What a predicate reads of TABLE and of OTHER, and what changed.

    With --from and --to, two versions of TABLE: a Delta version, an Iceberg snapshot id, a branch
    or tag, or a time.
    """
    if other is None and asked["before"] is None and asked["after"] is None:
        raise UsageError(
            "there is nothing to compare", hint="name a second table, or --from and --to a version"
        )
    found = _difference((table, other or table), options.read_predicate(predicate), asked)
    found = found.gated(asked["max_regression"], asked["max_regression_bytes"])
    options.deliver(lambda page: _rendered(found, asked, page), asked["output"])
    return 0 if found.passed else options.GATE_FAILED


def _difference(places: tuple[str, str], predicate: str, asked: Mapping[str, Any]) -> Difference:
    with Progress() as progress:
        before = _report(places[0], asked["before"], predicate, asked, progress)
        after = _report(places[1], asked["after"], predicate, asked, progress)
    from whyscan.reports.diff import compare

    if not asked["redact"]:
        return compare(before, after)
    from whyscan.reports.redaction import new_key, redacted

    key = new_key()
    return compare(redacted(before, key), redacted(after, key))


def _report(
    place: str, version: str | None, predicate: str, asked: Mapping[str, Any], progress: Progress
) -> Report:
    table = _opened(place, version, asked)
    progress.watch(table.snapshot.traffic)
    # Files are compared by their paths, so that no manifest may stay closed.
    return table.explain(predicate, verbose=True, **options.terms(asked))


def _opened(place: str, version: str | None, asked: Mapping[str, Any]) -> Table:
    types, storage = options.partition_types(asked), options.storage(asked)
    table = open_table(place, partition_types=types, options=storage)
    if version is None:
        return table
    when = _when(version, table.format)
    return open_table(place, partition_types=types, options=storage, **when)


def _when(version: str, format_name: str) -> When:
    """A number is a version or a snapshot, what reads as a time is one, the rest are names."""
    if version.isascii() and version.isdigit():
        number = int(version)
        return {"snapshot": number} if format_name == "iceberg" else {"version": number}
    from whyscan.tree.time_text import read_timestamp

    read = read_timestamp(version)
    if read is not None and read.day is not None:
        return {"as_of": version}
    return {"ref": version}


def _rendered(found: Difference, asked: Mapping[str, Any], page: Page) -> str:
    if asked["form"] == "json":
        from whyscan.reports.diff.document import to_json

        return to_json(found, verbose=asked["verbose"])
    from whyscan.reports.diff.text import text

    return text(found, page, verbose=asked["verbose"])
