"""`whyscan explain --sql`: report what each table of a statement reads, and why."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.cli import options
from whyscan.cli.baseline import statement_against_baseline
from whyscan.cli.formats import rendered_checks
from whyscan.cli.gates import gates_of_statement
from whyscan.cli.parameters import named_layouts, pairs
from whyscan.cli.progress import Progress
from whyscan.cli.spark_session import spark_session
from whyscan.errors import UsageError
from whyscan.statement import Lake, Layouts, explain_lake

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whyscan.cli.explain import ExplainArguments
    from whyscan.cli.options import StorageOptions
    from whyscan.reports.text_layout import Page
    from whyscan.statements.records import StatementReport

TABLES = "the statement names its tables and conditions; --table says where they are"
VERSIONS = "the statement can say it: FROM t VERSION AS OF 3, or TIMESTAMP AS OF '2026-01-01'"


def explain_statement(arguments: ExplainArguments) -> int:
    """Report on a statement, check its gates, and return the exit code."""
    _refuse_single_table_options(arguments)
    gates = gates_of_statement(arguments.gates)
    report = _report(options.read_statement(arguments.sql or ""), arguments)
    prices = arguments.prices
    report = report.priced(prices.price, prices.request_price).gated(gates)
    if arguments.gates.baseline is not None or arguments.gates.update_baseline:
        report = statement_against_baseline(report, arguments.gates)
    if arguments.redact:
        report = report.redacted()

    def render(page: Page) -> str:
        shown = replace(page, files=arguments.show)
        return rendered_checks(report, arguments.form, shown, arguments.sql or "")

    options.deliver(render, arguments.output)
    return 0 if report.passed else options.GATE_FAILED


def _refuse_single_table_options(arguments: ExplainArguments) -> None:
    """Refuse options that are for one table only."""
    if arguments.gates.assert_stats_columns is not None:
        raise UsageError(
            "--assert-stats=COLUMNS goes with one TABLE",
            hint="with --sql, --assert-stats checks the columns that each scan is filtered by",
        )
    of_one_table = {
        "TABLE": arguments.places,
        "-w": arguments.predicate,
        "--select": arguments.select,
    }
    options.refuse(of_one_table, beside="--sql", hint=TABLES)
    options.refuse(arguments.version.by_option(), beside="--sql", hint=VERSIONS)


def _report(sql: str, arguments: ExplainArguments) -> StatementReport:
    places = pairs("--table", arguments.tables, "NAME=URI")
    storage = options.storage(arguments.store)
    types = _partition_types(arguments.store, places)
    sample = 0 if arguments.no_sample else arguments.sample
    layouts = Layouts(named_layouts(arguments.layouts), sample)
    lake = Lake(places, storage, types, arguments.inventory, layouts)
    gates = arguments.gates
    asserted = gates.assert_stats or bool(gates.assert_stats_of)
    terms = replace(arguments.terms, assert_stats=asserted)
    resolve = arguments.resolve_limit if arguments.resolve_joins else None
    with Progress() as progress:
        progress.watch(lake.traffic)
        session = spark_session(arguments.master) if arguments.on_spark else nullcontext()
        with session as spark:
            return explain_lake(sql, lake, terms, resolve=resolve, spark=spark)


def _partition_types(store: StorageOptions, tables: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the types of `NAME.COLUMN=TYPE`, by table and column."""
    types: dict[str, dict[str, str]] = {name: {} for name in tables}
    for word, kind in options.partition_types(store).items():
        name, _, column = word.rpartition(".")
        if name not in types:
            raise UsageError(
                f"--partition-type {word!r} names no table",
                hint="with --sql it is NAME.COLUMN=TYPE, for a NAME of --table",
            )
        types[name][column] = kind
    return types
