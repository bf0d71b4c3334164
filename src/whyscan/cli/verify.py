"""`whyscan verify`: compare plans and statistics with the rows, and with what engines read."""

from __future__ import annotations

import logging
from pathlib import Path  # noqa: TC003 - msgspec reads the annotations of a record
from typing import TYPE_CHECKING, TypedDict

import click
from msgspec import Struct

from whyscan.cli import options, suggestions
from whyscan.cli.formats import FORMS, rendered
from whyscan.cli.progress import steps
from whyscan.cli.spark_session import MASTER, spark_session
from whyscan.errors import UsageError
from whyscan.terms import PlanTerms  # noqa: TC001 - msgspec reads the annotations of a record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from whyscan.spark.stages.verify import Verification

LAKES = frozenset({"delta", "iceberg"})


class _VerifyOptions(TypedDict):
    """The options of `verify` and `verify_workload`."""

    select: Sequence[str]
    files: int | None
    engines: Sequence[str] | None
    duckdb_python: str | None
    timezone: str
    depth: str
    full: bool
    assume_no_nan: bool


WORKLOAD = "its queries name their tables and conditions; --table says where they are"


class VerifyArguments(Struct, frozen=True):
    """The arguments and options of `verify`."""

    places: tuple[str, ...]
    predicates: tuple[str, ...]
    logs: tuple[str, ...]
    tables: tuple[str, ...]
    sample: int | None
    select: str | None
    files: int | None
    engines: tuple[str, ...]
    duckdb_python: str | None
    trino: str | None
    layout: str | None
    to: str | None
    fraction: float
    master: str | None
    form: str
    redact: bool
    output: Path | None
    version: options.VersionOptions
    terms: PlanTerms
    store: options.StorageOptions


@click.command(short_help="Compare plans and statistics with the rows and real engines.")
@click.argument("places", metavar="[TABLE]...", nargs=-1, shell_complete=suggestions.places)
@click.option(
    "-w",
    "--where",
    "predicates",
    multiple=True,
    metavar="PREDICATE",
    help="Verify this WHERE condition; the option can be repeated; @FILE reads the condition from "
    "a file, - from standard input.",
)
@click.option(
    "--workload",
    "logs",
    multiple=True,
    metavar="FILE",
    help="Verify the predicates of a query log, instead of TABLE and -w; FILE is as for audit.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME=URI",
    shell_complete=suggestions.named_places,
    help="Name the location of a table of the workload.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Verify only the N predicates of the workload that ran most often.",
)
@click.option(
    "-s",
    "--select",
    metavar="COLS",
    help="Compare statistics of these columns, too: a,b,c; * means all.",
)
@click.option(
    "--files",
    type=click.IntRange(min=1),
    metavar="N",
    help="Read only N data files, chosen at random. [default: all]",
)
@click.option(
    "--engines",
    multiple=True,
    metavar="NAMES",
    help="Compare with these engines: spark-delta, spark-iceberg, spark-parquet, duckdb, "
    "datafusion, polars, pyiceberg, delta-rs, pyarrow, trino; or none. [default: those that fit "
    "and are installed]",
)
@click.option(
    "--duckdb-python",
    type=click.Path(dir_okay=False),
    metavar="PATH",
    help="Run DuckDB with this Python, which has its extensions for Delta and Iceberg.",
)
@click.option(
    "--trino",
    metavar="URL",
    help="Compare with this table of a Trino server: http://user@host:8080/catalog/schema/table.",
)
@click.option(
    "--layout",
    metavar="LAYOUT",
    help="Write a copy of TABLE in this layout to the folder of --to, and compare what the queries "
    "of --workload were predicted to read with what they read of the copy.",
)
@click.option("--to", metavar="FOLDER", help="Write the copy of --layout to this empty folder.")
@click.option(
    "--fraction",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=1.0,
    show_default=True,
    metavar="SHARE",
    help="Copy only this share of the rows, into files that are smaller by it.",
)
@MASTER
@options.VERSION
@options.TERMS
@options.STORAGE
@options.form(*FORMS)
@options.OUTPUT
@options.REDACT
@options.with_options(VerifyArguments)
def verify(arguments: VerifyArguments) -> int:
    """Compare the plans of PREDICATEs, and the statistics of TABLE, with its rows.

    Spark reads every data file once and judges every row. A container that was dropped and holds
    a matching row, one called `all` that holds another, a statistic that the rows contradict: each
    is named. Then real engines run the same predicates.

    Exit codes: 0 fine, 1 something is unsound or lies, 2 wrong usage, 3 could not evaluate.
    """
    _check_names(arguments)
    if arguments.layout is not None:
        _verify_layout(arguments, arguments.layout)
        return 0
    options.refuse({"--to": arguments.to}, beside="TABLE alone", hint="it goes with --layout")
    result = _of_workload(arguments) if arguments.logs else _of_table(arguments)
    shown = result.redacted() if arguments.redact else result
    options.deliver(lambda page: rendered(shown, arguments.form, page), arguments.output)
    return result.exit_code


def _check_names(arguments: VerifyArguments) -> None:
    """Refuse an unknown dialect or engine before Spark starts."""
    from whyscan.predicate.syntax.parse import dialect_named
    from whyscan.spark.stages.verify.engines.matrix import named

    dialect_named(arguments.terms.dialect)
    named(arguments.engines)


def _of_table(arguments: VerifyArguments) -> Verification:
    places = arguments.places
    if not places or not arguments.predicates:
        missing = "a TABLE" if not places else "-w PREDICATE"
        raise UsageError(f"verify needs {missing}", hint="whyscan verify TABLE -w PREDICATE")
    if arguments.tables or arguments.sample:
        option = "--table" if arguments.tables else "--sample"
        raise UsageError(f"{option} goes with --workload")
    texts = [options.read_predicate(word) for word in arguments.predicates]
    table = options.opened(places, arguments.version, arguments.store)
    with spark_session(arguments.master, formats=table.format in LAKES) as spark:
        from whyscan.spark import verify as verified

        _silence_spark_log(spark)
        return verified(
            spark,
            table,
            texts,
            dialect=arguments.terms.dialect,
            trino=arguments.trino,
            **_verify_options(arguments),
        )


def _of_workload(arguments: VerifyArguments) -> Verification:
    of_one_table = {
        "TABLE": arguments.places,
        "-w": arguments.predicates,
        "--partition-type": arguments.store.partition_types,
        "--trino": arguments.trino,
        **arguments.version.by_option(),
    }
    options.refuse(of_one_table, beside="--workload", hint=WORKLOAD)
    with spark_session(arguments.master, formats=True) as spark:
        from whyscan.spark import verify_workload
        from whyscan.spark.pinned_tables import column_types, pin_all
        from whyscan.spark.stages.workload import read_workload
        from whyscan.spark.tables import sources

        _silence_spark_log(spark)
        storage = options.storage(arguments.store)
        tables = sources(arguments.tables, storage)
        types = column_types(pin_all(tables))
        workload = read_workload(
            arguments.logs, arguments.terms.dialect, storage=storage, types=types
        )
        return verify_workload(
            spark, workload, tables, sample=arguments.sample, **_verify_options(arguments)
        )


def _verify_layout(arguments: VerifyArguments, layout: str) -> None:
    """Write a copy in a layout, and print what was predicted beside what was measured."""
    if len(arguments.places) != 1 or not arguments.logs or arguments.to is None:
        raise UsageError(
            "--layout needs one TABLE, a --workload and a folder for the copy",
            hint="whyscan verify NAME=TABLE --layout 'sort by a' --workload log.csv --to copy",
        )
    other = {
        "-w": arguments.predicates,
        "--table": arguments.tables,
        "--sample": arguments.sample,
        "--trino": arguments.trino,
        **arguments.version.by_option(),
    }
    options.refuse(other, beside="--layout", hint="it compares a workload on a table and a copy")
    with steps() as tell, spark_session(arguments.master, formats=True) as spark:
        from whyscan.spark import verify_layout

        _silence_spark_log(spark)
        check = verify_layout(
            spark,
            arguments.places[0],
            layout,
            arguments.logs,
            to=arguments.to,
            fraction=arguments.fraction,
            dialect=arguments.terms.dialect,
            timezone=arguments.terms.timezone,
            storage=options.storage(arguments.store),
            progress=tell,
        )
    shown = check.redacted() if arguments.redact else check
    options.deliver(lambda page: rendered(shown, arguments.form, page), arguments.output)


def _verify_options(arguments: VerifyArguments) -> _VerifyOptions:
    return {
        "select": options.columns(arguments.select) or (),
        "files": arguments.files,
        "engines": arguments.engines or None,
        "duckdb_python": arguments.duckdb_python,
        "timezone": arguments.terms.timezone,
        "depth": arguments.terms.depth,
        "full": arguments.terms.full,
        "assume_no_nan": arguments.terms.assume_no_nan,
    }


def _silence_spark_log(spark: SparkSession) -> None:
    """Silence Spark's log, because the report says what an engine cannot do."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    if hasattr(spark, "_jsparkSession"):
        spark.sparkContext.setLogLevel("OFF")
