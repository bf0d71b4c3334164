"""`whyscan audit`: a whole workload against its tables, on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whyscan.cli import options
from whyscan.cli.output import complain, write_file
from whyscan.cli.parameters import PERCENT, SIZE
from whyscan.cli.progress import steps
from whyscan.cli.spark_session import MASTER, spark_session, table_format

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whyscan.reports.text_layout import Page
    from whyscan.spark.stages.audit.report import Audit

NOTHING_AUDITED = 3


@click.command(short_help="What a workload reads in vain, query by query.")
@click.option(
    "--workload",
    "logs",
    multiple=True,
    required=True,
    metavar="FILE",
    help="SQL files, query logs (CSV, Parquet, JSON), Spark event logs, dbt runs, Trino events; "
    "folders and globs of them.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME=URI",
    help="Where a table of the queries is; or a glob of tables, or a catalog's namespace: db.*.",
)
@click.option(
    "--inventory",
    metavar="PLACE",
    help="The tables of an inventory, at the snapshots that it has of them.",
)
@table_format("--inventory-format", "Of the inventory.")
@options.TERMS
@MASTER
@click.option("--history", metavar="PLACE", help="Keep summaries there, and tell what fell since.")
@table_format("--history-format", "Of what is kept.")
@click.option(
    "--drift",
    "threshold",
    type=PERCENT,
    default="10",
    show_default=True,
    metavar="PCT",
    help="Tell where so much more of a table is kept than before.",
)
@options.STORAGE
@options.form("text", "json", "markdown", "html")
@click.option(
    "--show",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many queries the text lists.",
)
@options.REDACT
@click.option("--max-wasted", type=SIZE, metavar="SIZE", help="Fail where more is read in vain.")
@click.option("--fail-on-drift", is_flag=True, help="Fail where something fell since a run before.")
@options.OUTPUT
@click.option(
    "--dashboard",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the page of --format html there too.",
)
@click.option(
    "--metrics",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write OpenMetrics text there too, without literals.",
)
@click.option(
    "--lineage",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write OpenLineage events there too, without literals.",
)
def audit(**asked: Any) -> int:
    """What every query of a workload reads of its tables, and what of it in vain.

    Queries are ranked by the bytes that they read in vain, times how often they ran. Nothing but
    metadata is read. One query or table that fails is listed, and does not stop the others.
    """
    found = _audited(asked)
    shown = found.redacted() if asked["redact"] else found
    _export(found, shown, asked)
    options.deliver(lambda page: _rendered(shown, asked, page), asked["output"])
    failures = list(_failures(found, asked))
    complain("".join(f"{line}\n" for line in failures))
    if failures:
        return options.GATE_FAILED
    return 0 if any(query.error is None for query in found.queries) else NOTHING_AUDITED


def _audited(asked: Mapping[str, Any]) -> Audit:
    formats = any(
        asked[kept] is not None and asked[f"{kept}_format"] != "parquet"
        for kept in ("history", "inventory")
    )
    with steps() as tell, spark_session(asked["master"], formats=formats) as spark:
        from whyscan.spark import audit as audited

        return audited(
            spark,
            asked["logs"],
            asked["tables"],
            **options.terms(asked),
            options=options.storage(asked),
            partition_types=options.partition_types_of_tables(asked),
            inventory=asked["inventory"],
            inventory_format=asked["inventory_format"],
            history=asked["history"],
            history_format=asked["history_format"],
            threshold=asked["threshold"] / 100,
            told=tell,
        )


def _export(found: Audit, shown: Audit, asked: Mapping[str, Any]) -> None:
    """What is written beside the report: a page for people, and what other systems are told."""
    if asked["dashboard"] is not None:
        from whyscan.spark.stages.audit.page import page

        write_file(page(shown), asked["dashboard"])
    if asked["metrics"] is not None:
        from whyscan.spark.stages.audit.openmetrics import openmetrics

        write_file(openmetrics(found), asked["metrics"])
    if asked["lineage"] is not None:
        from whyscan.spark.stages.audit.openlineage import openlineage

        write_file(openlineage(found), asked["lineage"])


def _failures(found: Audit, asked: Mapping[str, Any]) -> Iterator[str]:
    """The gates that do not hold; what is not known does not pass."""
    from whyscan.reports.words import counted, size
    from whyscan.spark.stages.audit.totals import total

    if asked["max_wasted"] is not None:
        wasted = total(query.wasted for query in found.queries)
        if wasted is None or wasted > asked["max_wasted"]:
            most = size(asked["max_wasted"])
            yield f"fail  max_wasted: {size(wasted)}, at most {most} asked"
    if asked["fail_on_drift"] and found.drift:
        yield f"fail  drift: {counted(len(found.drift), 'query shape')}, none asked"


def _rendered(found: Audit, asked: Mapping[str, Any], page: Page) -> str:
    match asked["form"]:
        case "json":
            from whyscan.spark.stages.audit.document import to_json

            return to_json(found)
        case "markdown":
            from whyscan.spark.stages.audit.markdown import markdown

            return markdown(found)
        case "html":
            from whyscan.spark.stages.audit.page import page as html

            return html(found)
        case _:
            from whyscan.spark.stages.audit.text import text

            return text(found, page, asked["show"])
