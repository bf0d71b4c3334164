"""`whyscan explain`: which files and row groups a predicate reads, which it skips, and why."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from whyscan.cli import options, suggestions
from whyscan.cli.baseline import against_baseline
from whyscan.cli.engine_option import ENGINES
from whyscan.cli.formats import EXPLAIN_FORMS, LISTS_FILES, rendered_checks
from whyscan.cli.gates import gates_of_table, thresholds_of_table
from whyscan.cli.progress import Progress
from whyscan.cli.spark_session import MASTER, spark_session
from whyscan.cli.startup import loading_the_parser, start_duckdb
from whyscan.errors import UsageError
from whyscan.statement import RESOLVE_LIMIT
from whyscan.table import explain_table
from whyscan.terms import PlanTerms  # noqa: TC001 - msgspec reads the annotations of a record

if TYPE_CHECKING:
    from whyscan.reports.report import Report
    from whyscan.reports.text_layout import Page


EVERY_ROW = "true"
"""The predicate if only statistics are checked."""


class ExplainArguments(Struct, frozen=True):
    """The arguments and options of `explain`."""

    places: tuple[str, ...]
    predicate: str | None
    sql: str | None
    tables: tuple[str, ...]
    resolve_joins: bool
    resolve_limit: int
    inventory: str | None
    layouts: tuple[str, ...]
    sample: int
    no_sample: bool
    select: str | None
    form: str
    output: Path | None
    show: int
    redact: bool
    on_spark: bool
    master: str | None
    version: options.VersionOptions
    terms: PlanTerms
    store: options.StorageOptions
    prices: options.PriceOptions
    gates: options.GateOptions


@click.command(
    cls=options.WithColumnsOfStatistics,
    short_help="Explain which files a predicate reads, and why.",
)
@click.argument("places", metavar="[TABLE]...", nargs=-1, shell_complete=suggestions.places)
@options.predicate(required=False)
@click.option(
    "--sql",
    metavar="QUERY",
    help="Explain a whole statement or a dbt model, instead of TABLE and -w; @FILE reads it from a "
    "file, - from standard input.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME=URI",
    shell_complete=suggestions.named_places,
    help="Name the location of a table of the statement. [default: its catalog knows it]",
)
@click.option(
    "--resolve-joins",
    is_flag=True,
    help="Read the join keys of small tables, and plan the joined tables with them.",
)
@click.option(
    "--resolve-limit",
    type=click.IntRange(min=1),
    default=RESOLVE_LIMIT,
    show_default=True,
    metavar="ROWS",
    help="Read the join keys of tables with at most this many rows.",
)
@click.option(
    "--inventory",
    metavar="PLACE",
    help="Plan TABLE, or the tables of the statement, by the containers that an inventory has of "
    "them; the tables are not read.",
)
@options.LAYOUT
@click.option(
    "-s", "--select", metavar="COLS", help="Read only these columns: a,b,c. [default: all]"
)
@options.VERSION
@options.TERMS
@ENGINES
@options.STORAGE
@options.form(*EXPLAIN_FORMS, about="Write the report in this format; html lists every file.")
@options.OUTPUT
@click.option("-v", "--verbose", is_flag=True, help="List every live file with its bounds.")
@click.option(
    "--show",
    type=click.IntRange(min=0),
    default=1_000,
    show_default=True,
    metavar="N",
    help="List at most N files in the text report.",
)
@options.REDACT
@options.PRICES
@options.GATES
@click.option(
    "--spark",
    "on_spark",
    is_flag=True,
    help="Read the metadata of a very large table, and plan it, on the executors of Spark.",
)
@MASTER
@options.with_options(ExplainArguments)
def explain(arguments: ExplainArguments) -> int:
    """Explain which files and row groups PREDICATE reads, which it skips, and why.

    TABLE is a Delta or Iceberg table, a metadata.json, a folder of Parquet files, a quoted
    glob, or several files, local or in a store; or catalog.namespace.table.

    With --sql, every table of a whole statement; a gate is for all that it reads, or with a
    name before it for one table.

    Without -w, --assert-stats checks every file of the table.

    Exit codes: 0 fine, 1 a gate failed, 2 wrong usage, 3 could not evaluate.
    """
    start_duckdb(arguments.places)
    options.refuse_cost_without_price(arguments.gates.max_cost, arguments.prices)
    if arguments.master is not None and not arguments.on_spark:
        raise UsageError("--master goes with --spark", hint="add --spark, or leave it out")
    if arguments.layouts and arguments.on_spark:
        raise UsageError(
            "--layout does not go with --spark",
            hint="whyscan explain TABLE -w PREDICATE --layout LAYOUT",
        )
    if arguments.sql is None:
        return _explain_table(arguments)
    from whyscan.cli.statement import explain_statement

    return explain_statement(arguments)


def _explain_table(arguments: ExplainArguments) -> int:
    """Report on one table, check its gates, and return the exit code."""
    places, predicate = arguments.places, arguments.predicate
    asserted = options.asserted_statistics(arguments.gates)
    if predicate is None and asserted:
        predicate = EVERY_ROW
    if not places or predicate is None:
        missing = "a TABLE" if not places else "-w PREDICATE"
        hint = "whyscan explain TABLE -w PREDICATE, or whyscan explain --sql QUERY"
        raise UsageError(f"explain needs {missing}", hint=hint)
    if len(arguments.layouts) > 1:
        raise UsageError("TABLE has one layout", hint="write its clauses in one --layout")
    if arguments.tables or arguments.resolve_joins:
        option = "--table" if arguments.tables else "--resolve-joins"
        raise UsageError(f"{option} goes with --sql", hint="without it, TABLE is the one table")
    thresholds = thresholds_of_table(arguments.gates)
    terms = replace(
        arguments.terms,
        verbose=arguments.terms.verbose or arguments.form in LISTS_FILES,
        assert_stats=asserted,
    )
    report = _report(options.read_predicate(predicate), terms, arguments)
    report = report.priced(arguments.prices.price, arguments.prices.request_price)
    report = report.gated(gates_of_table(thresholds))
    if arguments.gates.baseline is not None or arguments.gates.update_baseline:
        report = against_baseline(report, " ".join(places), arguments.gates)
    if arguments.redact:
        report = report.redacted()

    def render(page: Page) -> str:
        shown = replace(page, files=arguments.show)
        return rendered_checks(report, arguments.form, shown, predicate)

    options.deliver(render, arguments.output)
    return 0 if report.passed else options.GATE_FAILED


def _report(predicate: str, terms: PlanTerms, arguments: ExplainArguments) -> Report:
    with Progress() as progress:
        with loading_the_parser(arguments.places):
            table = options.opened(
                arguments.places, arguments.version, arguments.store, arguments.inventory
            )
        progress.watch(table.snapshot.traffic)
        for layout in arguments.layouts:
            sample = 0 if arguments.no_sample else arguments.sample
            table = table.with_layout(layout, sample=sample)
        session = spark_session(arguments.master) if arguments.on_spark else nullcontext()
        with session as spark:
            select = options.columns(arguments.select)
            return explain_table(table, predicate, select, terms, spark)
