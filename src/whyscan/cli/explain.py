"""`whyscan explain`: which files and row groups a predicate reads, which it skips, and why."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whyscan.cli.formats import FORMS, LISTS_FILES, rendered
from whyscan.cli.output import file_page, terminal_page, write, write_file
from whyscan.cli.parameters import PERCENT, SIZE, pairs
from whyscan.cli.progress import Progress
from whyscan.errors import UsageError
from whyscan.table import open as open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whyscan.explain.gates import Gates
    from whyscan.explain.report import Report
    from whyscan.table import When

GATE_FAILED = 1
ASKED = ("dialect", "timezone", "depth", "full", "assume_no_nan", "verbose")


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, listed by --help in this order."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


QUESTION = _options(
    click.option(
        "-w",
        "--where",
        "predicate",
        required=True,
        metavar="PREDICATE",
        help="A WHERE condition; @FILE reads it from a file, - from standard input.",
    ),
    click.option(
        "-s", "--select", metavar="COLS", help="Columns to be read: a,b,c. [default: all]"
    ),
    click.option("--at-version", type=int, metavar="N", help="A Delta version."),
    click.option("--at-snapshot", type=int, metavar="ID", help="An Iceberg snapshot."),
    click.option("--as-of", metavar="TIMESTAMP", help="The version at that time, UTC by default."),
    click.option("--ref", metavar="NAME", help="An Iceberg branch or tag."),
    click.option("--dialect", default="spark", show_default=True, help="SQL of the predicate."),
    click.option("--timezone", default="UTC", show_default=True, help="Its session time zone."),
    click.option(
        "--depth",
        default="auto",
        show_default=True,
        metavar="files|row-groups|auto",
        help="How far down to look.",
    ),
    click.option("--full", is_flag=True, help="Open all metadata, so that every figure is exact."),
    click.option("--assume-no-nan", is_flag=True, help="Take your word that no value is NaN."),
    click.option(
        "--partition-type",
        "partition_types",
        multiple=True,
        metavar="COLUMN=TYPE",
        help="Type of a Hive partition column: month=int. [default: inferred]",
    ),
    click.option(
        "--option",
        "storage",
        multiple=True,
        metavar="KEY=VALUE",
        help="Storage option, beside the environment's.",
    ),
    click.option("--no-cache", is_flag=True, help="Keep no metadata of a store on this machine."),
)

OUTPUT = _options(
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMS),
        default="text",
        show_default=True,
        help="html lists every file.",
    ),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write the report there. [default: standard output]",
    ),
    click.option("-v", "--verbose", is_flag=True, help="List every file with its bounds."),
)

GATES = _options(
    click.option("--min-pruning", type=PERCENT, help="Fail below this share of files skipped."),
    click.option("--min-pruning-bytes", type=PERCENT, help="Likewise of bytes."),
    click.option("--max-files", type=click.IntRange(min=0), help="Fail above."),
    click.option("--max-bytes", type=SIZE, help="Fail above: 10GB, 500MiB."),
    click.option("--assert-stats", is_flag=True, help="Fail where a column lacks bounds."),
    click.option(
        "--require-partition-filter",
        is_flag=True,
        help="Fail unless a condition on partition columns can skip files.",
    ),
)


@click.command(short_help="Which files a predicate reads, and why.")
@click.argument("places", metavar="TABLE...", nargs=-1, required=True)
@QUESTION
@OUTPUT
@GATES
def explain(places: tuple[str, ...], predicate: str, **asked: Any) -> int:
    """Which files and row groups PREDICATE reads, which it skips, and why.

    TABLE is a Delta or Iceberg table, a metadata.json, a folder of Parquet files, a quoted
    glob, or several files, local or in a store; or catalog.namespace.table.

    Exit codes: 0 fine, 1 a gate failed, 2 wrong usage, 3 could not evaluate.
    """
    asked["verbose"] |= asked["form"] in LISTS_FILES
    report = _report(places, _read(predicate), asked).gated(_gates(asked))
    source = predicate[1:] if predicate.startswith("@") else None
    output: Path | None = asked["output"]
    if output is None:
        write(rendered(report, asked["form"], terminal_page(), source))
    else:
        write_file(rendered(report, asked["form"], file_page(), source), output)
    return 0 if report.passed else GATE_FAILED


def _report(places: tuple[str, ...], predicate: str, asked: Mapping[str, Any]) -> Report:
    types = pairs("--partition-type", asked["partition_types"])
    storage = pairs("--option", asked["storage"])
    if asked["no_cache"]:
        storage["cache"] = "off"
    with Progress() as progress:
        table = open_table(places, partition_types=types, options=storage, **_when(asked))
        progress.watch(table.snapshot.traffic)
        from whyscan.explain.report import make_report

        question: Any = {name: asked[name] for name in ASKED}
        plan = table.plan(predicate, _columns(asked["select"]), **question)
        return make_report(plan, verbose=asked["verbose"])


def _when(asked: Mapping[str, Any]) -> When:
    """Which version of the table."""
    return {
        "version": asked["at_version"],
        "snapshot": asked["at_snapshot"],
        "as_of": asked["as_of"],
        "ref": asked["ref"],
    }


def _read(predicate: str) -> str:
    """The predicate's text, from where it stands."""
    if predicate == "-":
        return sys.stdin.read().strip()
    if not predicate.startswith("@"):
        return predicate
    try:
        return Path(predicate[1:]).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"cannot read the predicate from {predicate[1:]}: {why}",
            hint="-w @FILE reads a file, -w 'a = 1' is the condition itself",
        ) from error


def _columns(select: str | None) -> list[str] | None:
    return None if select is None else [name.strip() for name in select.split(",")]


def _gates(asked: Mapping[str, Any]) -> Gates:
    from whyscan.explain.gates import Gates

    return Gates(**{gate.name: asked[gate.name] for gate in fields(Gates)})
