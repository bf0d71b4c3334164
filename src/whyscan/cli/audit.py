"""`whyscan audit`: report what the queries of a workload waste, on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from whyscan.cli import options
from whyscan.cli.engine_option import ENGINES
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.output import complain, write_file
from whyscan.cli.parameters import PERCENT, SIZE, named_layouts
from whyscan.cli.progress import steps
from whyscan.cli.spark_session import MASTER, spark_session, table_format
from whyscan.reports.prices import Prices
from whyscan.terms import PlanTerms  # noqa: TC001 - msgspec reads the annotations of a record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.text_layout import Page
    from whyscan.spark.stages.audit.report import Audit

NOTHING_AUDITED = 3


class AuditArguments(Struct, frozen=True):
    """The options of `audit`."""

    logs: tuple[str, ...]
    tables: tuple[str, ...]
    inventory: str | None
    inventory_format: str
    master: str | None
    history: str | None
    history_format: str
    results: str | None
    results_format: str
    threshold: float
    form: str
    show: int
    redact: bool
    max_wasted: int | None
    max_cost: float | None
    fail_on_drift: bool
    output: Path | None
    dashboard: Path | None
    metrics: Path | None
    lineage: Path | None
    terms: PlanTerms
    layouts: tuple[str, ...]
    sample: int
    no_sample: bool
    store: options.StorageOptions
    prices: options.PriceOptions


@click.command(short_help="Show which bytes a workload wastes, query by query.")
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
    help="Name the location of a table of the queries; a glob of tables, or a namespace of a "
    "catalog (db.*), names many.",
)
@click.option(
    "--inventory",
    metavar="PLACE",
    help="Audit the tables of an inventory by the containers that it has; they are not read.",
)
@table_format("--inventory-format", "The format of the inventory.")
@options.TERMS
@ENGINES
@MASTER
@click.option(
    "--history",
    metavar="PLACE",
    help="Keep summaries of this run there, and report what prunes worse than in earlier runs.",
)
@table_format("--history-format", "The format of the history.")
@click.option(
    "--results",
    metavar="PLACE",
    help="Replace the tables queries, scans and findings there by those of this audit.",
)
@table_format("--results-format", "The format of the results.")
@click.option(
    "--drift",
    "threshold",
    type=PERCENT,
    default="10",
    show_default=True,
    metavar="PCT",
    help="Report a drift if the kept share of a table grew by more than this.",
)
@options.LAYOUT
@options.STORAGE
@options.form(*FORMS)
@click.option(
    "--show",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="List at most N queries in the text report.",
)
@options.REDACT
@click.option(
    "--max-wasted", type=SIZE, metavar="SIZE", help="Fail when more bytes than this are wasted."
)
@options.PRICES
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0),
    metavar="COST",
    help="Fail when all runs cost more than this, at the prices of --price and --request-price.",
)
@click.option(
    "--fail-on-drift", is_flag=True, help="Fail when something prunes worse than in an earlier run."
)
@options.OUTPUT
@click.option(
    "--dashboard",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the report as an HTML page to this file, too.",
)
@click.option(
    "--metrics",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write OpenMetrics text without literals to this file, too.",
)
@click.option(
    "--lineage",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write OpenLineage events without literals to this file, too.",
)
@options.with_options(AuditArguments)
def audit(arguments: AuditArguments) -> int:
    """Show what every query of a workload reads of its tables, and how much it wastes.

    Queries are ranked by the bytes that they waste, times how often they ran. Nothing but
    metadata is read. One query or table that fails is listed, and does not stop the others.
    """
    prices = arguments.prices
    options.refuse_cost_without_price(arguments.max_cost, prices)
    Prices.of(prices.price, prices.request_price)  # A wrong price ends here, and not after the run.
    result = _run_audit(arguments).priced(prices.price, prices.request_price)
    result = result.gated(
        max_wasted=arguments.max_wasted,
        max_cost=arguments.max_cost,
        fail_on_drift=arguments.fail_on_drift,
    )
    shown = result.redacted() if arguments.redact else result
    _export(result, shown, arguments)
    options.deliver(lambda page: _rendered(shown, arguments, page), arguments.output)
    if not result.passed:
        if arguments.form != "text" or arguments.output is not None:
            complain("".join(f"{line}\n" for line in _failures(result)))
        return options.GATE_FAILED
    return 0 if any(query.error is None for query in result.queries) else NOTHING_AUDITED


def _run_audit(arguments: AuditArguments) -> Audit:
    places = (
        (arguments.history, arguments.history_format),
        (arguments.inventory, arguments.inventory_format),
        (arguments.results, arguments.results_format),
    )
    formats = any(place is not None and form != "parquet" for place, form in places)
    with steps() as tell, spark_session(arguments.master, formats=formats) as spark:
        from whyscan.spark import audit as audited

        result = audited(
            spark,
            arguments.logs,
            arguments.tables,
            dialect=arguments.terms.dialect,
            timezone=arguments.terms.timezone,
            depth=arguments.terms.depth,
            full=arguments.terms.full,
            assume_no_nan=arguments.terms.assume_no_nan,
            engines=arguments.terms.engines or (),
            storage=options.storage(arguments.store),
            partition_types=options.partition_types_of_tables(arguments.store),
            inventory=arguments.inventory,
            inventory_format=arguments.inventory_format,
            history=arguments.history,
            history_format=arguments.history_format,
            threshold=arguments.threshold / 100,
            layouts=named_layouts(arguments.layouts),
            sample=0 if arguments.no_sample else arguments.sample,
            progress=tell,
        )
        if arguments.results is not None:
            from whyscan.spark.stages.audit.result_tables import write_results

            write_results(spark, result, arguments.results, arguments.results_format)
        return result


def _export(result: Audit, shown: Audit, arguments: AuditArguments) -> None:
    """Write the files beside the report: a page for people, and metrics and lineage events."""
    if arguments.dashboard is not None:
        from whyscan.spark.stages.audit.page import page

        write_file(page(shown), arguments.dashboard)
    if arguments.metrics is not None:
        from whyscan.spark.stages.audit.openmetrics import openmetrics

        write_file(openmetrics(result), arguments.metrics)
    if arguments.lineage is not None:
        from whyscan.spark.stages.audit.openlineage import openlineage

        write_file(openlineage(result), arguments.lineage)


def _failures(result: Audit) -> Iterator[str]:
    """Yield one line per gate that fails."""
    from whyscan.reports.phrases import gate

    return (f"fail  {gate(failed)}" for failed in result.assertions if not failed.holds)


def _rendered(result: Audit, arguments: AuditArguments, page: Page) -> str:
    if arguments.form != "text":
        return rendered(result, arguments.form, page)
    from whyscan.reports.text import text

    return text(result.view(arguments.show), page)
