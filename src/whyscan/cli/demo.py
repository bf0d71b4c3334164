"""`whyscan demo`: a small lake in a folder, and a walk through it."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from msgspec import Struct

from whyscan.cli.output import terminal_page, write
from whyscan.demo.events import TABLES as EVENTS_TABLES
from whyscan.demo.lake import TABLES, write_lake
from whyscan.table import open as open_table


class TourStop(Struct, frozen=True):
    """One stop of the tour: a table, a predicate, and the text that explains the report."""

    title: str
    table: str
    predicate: str
    flags: tuple[str, ...]
    lesson: str


TOUR = (
    TourStop(
        "one month of twelve",
        "months",
        "month = 1",
        (),
        "The folder names alone decide: eleven files are never opened. The twelfth holds nothing "
        "but matching rows, so that there is nothing left to check.",
    ),
    TourStop(
        "users, partitioned by country",
        "users",
        "country = 'DE' AND age > 40",
        ("--verbose",),
        "country removes four files by their folders, and the bounds of age one of the two that "
        "are left. The survivor's ages reach across 40: it must be read and checked.",
    ),
    TourStop(
        "the same users, not partitioned",
        "users-flat",
        "country = 'DE' AND age > 40",
        ("--verbose",),
        "The same rows, and four files instead of one. Every file mixes countries, so that each "
        "one's bounds of country reach across DE: country alone removes nothing.",
    ),
    TourStop(
        "the same users as a Delta table",
        "users-delta",
        "country = 'DE' AND age > 40",
        (),
        "The log has the partition values and the bounds: every file is decided before one is "
        "opened. What is left shows its row groups in its footer.",
    ),
    TourStop(
        "row groups: none, some, all",
        "prices",
        "price > 1000",
        (),
        "One file, three row groups: [100, 900] cannot match, [800, 1500] may, and [1200, 2000] "
        "matches whole. Two of three are read.",
    ),
    TourStop(
        "the same prices as doubles",
        "prices-double",
        "price > 1000",
        (),
        "A double may be NaN, NaN is greater than every number, and this file's writer left it "
        "out of the bounds: [100, 900] may still hold a match. That is what NaN costs.",
    ),
    TourStop(
        "on your word that there is no NaN",
        "prices-double",
        "price > 1000",
        ("--assume-no-nan",),
        "With your word for it, the first row group goes as it does for decimals.",
    ),
    TourStop(
        "an Iceberg archive: one mission, one week",
        "archive",
        "mission = 'artemis-2' AND at >= '2024-03-01' AND at < '2024-03-08' "
        "AND panel_voltage < 24.5",
        (),
        "A pyramid: the manifest list rules out all manifests but two, and they are the only ones "
        "that are read. Their partition values leave the days of the week, the bounds the files "
        "with a deep night, and the footers of these the hours around midnight.",
    ),
)

EVENTS_TOUR = (
    TourStop(
        "a terabyte of events, and the condition that everybody writes",
        "events",
        "date_format(day, 'yyyy-MM') = '2025-06'",
        (),
        "A function stands around the partition column. whyscan evaluates it on every value of "
        "day, and says what to write so that every engine can skip the other months.",
    ),
    TourStop(
        "one user of two million",
        "events",
        "day = DATE '2025-06-03' AND user_id = 48151",
        (),
        "The day leaves 24 files. Every one of them holds nearly every user, so that user_id "
        "removes nothing. No other predicate helps here, only another layout: `--layout` plans the "
        "table in one that does not exist yet, and `whyscan advise` looks for the best.",
    ),
    TourStop(
        "the same year without partitions",
        "events-streamed",
        "at >= TIMESTAMP '2025-06-03' AND at < TIMESTAMP '2025-06-04'",
        (),
        "No partitions, and yet 99 % of the files go: they were written in the order of time, so "
        "that the bounds of `at` are narrow. Partitions are not the only layout that prunes.",
    ),
)


@click.command(short_help="Write a small lake into a folder, and walk through it.")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("whyscan-demo"))
@click.option("--force", is_flag=True, help="Write into a folder that is not empty.")
@click.option(
    "--size",
    type=click.Choice(["small", "medium"]),
    default="small",
    help="medium adds a terabyte of events, of which only the metadata is written.",
)
@click.option(
    "--spark",
    is_flag=True,
    help="Continue with the pipeline on Spark: inventory, audit and verify.",
)
def demo(folder: Path, *, force: bool, size: str, spark: bool) -> int:
    """Write a small lake into FOLDER (./whyscan-demo) and walk through it."""
    medium = size == "medium"
    write_lake(folder, force=force, medium=medium)
    tour = TOUR + EVENTS_TOUR if medium else TOUR
    tables = len(TABLES) + len(EVENTS_TABLES) if medium else len(TABLES)
    stops = [_stop(number, step, folder) for number, step in enumerate(tour, start=1)]
    write("\n".join([f"A lake of {tables} tables is in {folder}. A walk through it:\n", *stops]))
    if not spark:
        return 0
    from whyscan.cli.demo_pipeline import walk

    return walk(folder, first=len(tour) + 1)


def _stop(number: int, step: TourStop, folder: Path) -> str:
    from whyscan.reports.text import text

    place = str(folder / step.table)
    report = open_table(place).explain(
        step.predicate,
        verbose="--verbose" in step.flags,
        assume_no_nan="--assume-no-nan" in step.flags,
    )
    page = terminal_page()
    return (
        f"--- {number}. {step.title}\n\n"
        f"$ {_command(place, step)}\n"
        f"{text(report.view(), page)}\n"
        f"{page.wrap(step.lesson)}\n"
    )


def _command(place: str, step: TourStop) -> str:
    flags = "".join(f" {flag}" for flag in step.flags)
    return f'whyscan explain {shlex.quote(place)} -w "{step.predicate}"{flags}'
