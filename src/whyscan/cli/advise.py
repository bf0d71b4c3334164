"""`whyscan advise`: say what layout the tables of a workload should have."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record

import click
from msgspec import Struct

from whyscan.advising import advise as advise_tables
from whyscan.cli import options
from whyscan.cli.engine_option import ENGINES
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.parameters import SIZE, pairs
from whyscan.cli.progress import steps
from whyscan.reports.prices import Prices
from whyscan.terms import SAMPLE_BYTES


class AdviseArguments(Struct, frozen=True):
    """The options of `advise`."""

    logs: tuple[str, ...]
    tables: tuple[str, ...]
    inventory: str | None
    sample: int
    no_sample: bool
    engines: tuple[str, ...]
    max_cost: float | None
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
    metavar="NAME=URI",
    help="Name the location of a table of the queries.",
)
@click.option(
    "--inventory",
    metavar="PLACE",
    help="Advise on the tables of an inventory by the containers that it has; only rows of the "
    "sample are read.",
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
    "--no-sample",
    is_flag=True,
    help="Read no row, and advise by what the bounds of today's files prove.",
)
@ENGINES
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
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0),
    metavar="COST",
    help="Fail when all runs cost more than this today, at the prices of --price and "
    "--request-price.",
)
@options.REDACT
@options.with_options(AdviseArguments)
def advise(arguments: AdviseArguments) -> int:
    """Replay a workload on layouts that its tables do not have, and rank them by what they save.

    Every number of a layout is an estimate from a sample of the table's rows, with its interval;
    with --no-sample it is proved by bounds. Nothing is written.

    Exit codes: 0 fine, 1 a gate failed, 2 wrong usage, 3 nothing to advise on, or a table could
    not be read.
    """
    prices = arguments.prices
    options.refuse_cost_without_price(arguments.max_cost, prices)
    Prices.of(prices.price, prices.request_price)  # A wrong price ends here, and not after the run.
    with steps() as tell:
        advice = advise_tables(
            arguments.logs,
            pairs("--table", arguments.tables, "NAME=URI"),
            sample=0 if arguments.no_sample else arguments.sample,
            inventory=arguments.inventory,
            engines=arguments.engines,
            dialect=arguments.dialect,
            timezone=arguments.timezone,
            storage=options.storage(arguments.store),
            partition_types=options.partition_types_of_tables(arguments.store),
            progress=tell,
        )
    advice = advice.priced(prices.price, prices.request_price).gated(max_cost=arguments.max_cost)
    shown = advice.redacted() if arguments.redact else advice
    options.deliver(lambda page: rendered(shown, arguments.form, page), arguments.output)
    return 0 if advice.passed else options.GATE_FAILED
