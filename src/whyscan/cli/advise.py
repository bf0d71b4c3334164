"""`whyscan advise`: say what layout the tables of a workload should have."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record

import click
from msgspec import Struct

from whyscan.advising import advise as advise_tables
from whyscan.cli import options
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.parameters import SIZE, pairs
from whyscan.cli.progress import steps
from whyscan.reports.prices import Prices
from whyscan.terms import SAMPLE_BYTES


class AdviseArguments(Struct, frozen=True):
    """The options of `advise`."""

    logs: tuple[str, ...]
    tables: tuple[str, ...]
    sample: int
    dialect: str
    timezone: str
    form: str
    redact: bool
    output: Path | None
    store: options.StorageOptions
    prices: options.PriceOptions


@click.command(short_help="Say what layout the tables of a workload should have.")
@click.option(
    "--workload",
    "logs",
    multiple=True,
    required=True,
    metavar="FILE",
    help="Read the queries of SQL files, query logs (CSV, Parquet, JSON), Spark event logs, dbt "
    "runs or Trino events; FILE may be a folder or a glob.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    required=True,
    metavar="NAME=URI",
    help="Name the location of a table of the queries.",
)
@click.option(
    "--sample",
    type=SIZE,
    default=SAMPLE_BYTES,
    show_default=True,
    metavar="SIZE",
    help="Read at most this many bytes of each table's rows.",
)
@click.option(
    "--dialect",
    default="spark",
    show_default=True,
    help="Read SQL in this dialect, where a log names none.",
)
@click.option(
    "--timezone",
    default="UTC",
    show_default=True,
    help="Use this session time zone for SQL.",
)
@options.STORAGE
@options.form(*FORMS)
@options.OUTPUT
@options.PRICES
@options.REDACT
@options.with_options(AdviseArguments)
def advise(arguments: AdviseArguments) -> int:
    """Replay a workload on layouts that its tables do not have, and rank them by what they save.

    Every number of a layout is an estimate from a sample of the table's rows, with its interval.
    Nothing is written.

    Exit codes: 0 fine, 2 wrong usage, 3 nothing to advise on, or a table could not be read.
    """
    prices = arguments.prices
    Prices.of(prices.price, prices.request_price)  # A wrong price ends here, and not after the run.
    with steps() as tell:
        advice = advise_tables(
            arguments.logs,
            pairs("--table", arguments.tables, "NAME=URI"),
            sample=arguments.sample,
            dialect=arguments.dialect,
            timezone=arguments.timezone,
            storage=options.storage(arguments.store),
            partition_types=options.partition_types_of_tables(arguments.store),
            progress=tell,
        )
    advice = advice.priced(prices.price, prices.request_price)
    if arguments.redact:
        advice = advice.redacted()
    options.deliver(lambda page: rendered(advice, arguments.form, page), arguments.output)
    return 0
