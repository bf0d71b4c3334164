"""`whyscan dbt`: report what each model of a dbt project reads, and what a change makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from msgspec import Struct
from msgspec.structs import replace

from whyscan.cli import options, suggestions
from whyscan.cli.baseline import statement_against_baseline
from whyscan.cli.engine_option import ENGINES
from whyscan.cli.formats import EXPLAIN_FORMS, rendered_checks
from whyscan.cli.gates import gates_of_statement
from whyscan.cli.parameters import PERCENT, pairs
from whyscan.cli.progress import Progress
from whyscan.dbt import explain_project
from whyscan.errors import UsageError
from whyscan.statement import RESOLVE_LIMIT, Lake
from whyscan.terms import PlanTerms  # noqa: TC001 - msgspec reads the annotations of a record

if TYPE_CHECKING:
    from whyscan.statements.dbt.report import DbtReport

NOT_EXPLAINED = 3


class DbtArguments(Struct, frozen=True):
    """The arguments and options of `dbt`."""

    project: Path
    select: tuple[str, ...]
    exclude: tuple[str, ...]
    against: Path | None
    full_refresh: bool
    tests: bool
    tables: tuple[str, ...]
    resolve_joins: bool
    inventory: str | None
    form: str
    output: Path | None
    redact: bool
    max_regression: float | None
    max_regression_bytes: float | None
    terms: PlanTerms
    store: options.StorageOptions
    prices: options.PriceOptions
    gates: options.GateOptions


@click.command(short_help="Show what each model of a dbt project reads.")
@click.argument("project", default=".", type=click.Path(path_type=Path), metavar="[PROJECT]")
@click.option(
    "--select",
    "--models",
    "select",
    multiple=True,
    metavar="MODELS",
    help="Explain these models: a name, a folder, tag:X, config.X:Y, state:modified, +name+.",
)
@click.option("--exclude", multiple=True, metavar="MODELS", help="Leave these models out.")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="PLACE",
    help="Compare with the models of this manifest.json, or of the folder that it is in.",
)
@click.option(
    "--full-refresh",
    is_flag=True,
    help="Explain the whole query of an incremental model instead of its incremental run.",
)
@click.option("--tests", is_flag=True, help="Explain the data tests, too.")
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME=URI",
    shell_complete=suggestions.named_places,
    help="Name the location of a source or model. [default: its catalog knows it]",
)
@click.option(
    "--resolve-joins",
    is_flag=True,
    help="Read the join keys of small tables, and plan the joined tables with them.",
)
@click.option(
    "--inventory",
    metavar="PLACE",
    help="Plan the tables by the containers that an inventory has of them; they are not read.",
)
@options.TERMS
@ENGINES
@options.STORAGE
@options.form(*EXPLAIN_FORMS)
@options.OUTPUT
@options.REDACT
@options.PRICES
@options.GATES
@click.option(
    "--max-regression",
    type=PERCENT,
    help="With --against, fail when the share of files that a model skips fell by more percentage "
    "points than this.",
)
@click.option(
    "--max-regression-bytes",
    type=PERCENT,
    help="With --against, fail when the share of bytes that a model skips fell by more percentage "
    "points than this.",
)
@options.with_options(DbtArguments)
def dbt(arguments: DbtArguments) -> int:
    """Show what the run of each model of a dbt project reads, and why.

    PROJECT is the folder of the project (the default is this one), its target folder, or a
    manifest.json; dbt compile writes it. dbt itself is not needed, and nothing is run. The SQL
    dialect is that of the project's adapter unless --dialect names another.

    A gate is for each model, or with a name before it for one model.

    Exit codes: 0 fine, 1 a gate failed, 2 wrong usage, 3 a model could not be explained.
    """
    options.refuse_cost_without_price(arguments.gates.max_cost, arguments.prices)
    regressions = (arguments.max_regression, arguments.max_regression_bytes)
    if arguments.against is None and any(limit is not None for limit in regressions):
        raise UsageError("--max-regression needs two states", hint="--against names the other one")
    if arguments.gates.assert_stats_columns is not None:
        raise UsageError(
            "--assert-stats=COLUMNS goes with one TABLE of explain",
            hint="--assert-stats checks the columns that each scan is filtered by",
        )
    report = _checked(_report(arguments), arguments)
    if arguments.redact:
        report = report.redacted()
    options.deliver(
        lambda page: rendered_checks(report, arguments.form, page, ""), arguments.output
    )
    if not report.passed:
        return options.GATE_FAILED
    return NOT_EXPLAINED if report.failed else 0


def _report(arguments: DbtArguments) -> DbtReport:
    source = click.get_current_context().get_parameter_source("dialect")
    dialect = "" if source is ParameterSource.DEFAULT else arguments.terms.dialect
    gates = arguments.gates
    terms = replace(
        arguments.terms,
        dialect=dialect,
        assert_stats=gates.assert_stats or bool(gates.assert_stats_of),
    )
    lake = Lake(
        pairs("--table", arguments.tables, "NAME=URI"),
        options.storage(arguments.store),
        options.partition_types_of_tables(arguments.store),
        arguments.inventory,
    )
    with Progress() as progress:
        progress.watch(lake.traffic)
        return explain_project(
            arguments.project,
            lake,
            terms,
            select=arguments.select,
            exclude=arguments.exclude,
            against=arguments.against,
            full_refresh=arguments.full_refresh,
            tests=arguments.tests,
            resolve=RESOLVE_LIMIT if arguments.resolve_joins else None,
        )


def _checked(report: DbtReport, arguments: DbtArguments) -> DbtReport:
    """Return the report with prices, gates and the baseline."""
    prices, gates = arguments.prices, gates_of_statement(arguments.gates)
    report = report.priced(prices.price, prices.request_price).gated(
        gates.whole,
        gates.tables,
        max_regression=arguments.max_regression,
        max_regression_bytes=arguments.max_regression_bytes,
    )
    if arguments.gates.baseline is None and not arguments.gates.update_baseline:
        return report
    models = (
        replace(model, statement=statement_against_baseline(model.statement, arguments.gates))
        for model in report.models
    )
    return replace(report, models=tuple(models))
