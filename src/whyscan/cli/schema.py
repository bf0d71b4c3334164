"""`whyscan schema`: print the JSON Schemas of the documents that commands print."""

from __future__ import annotations

import json
from importlib import import_module

import click

from whyscan.cli.output import write

DOCUMENTS = {
    "report": "whyscan.reports.report.Report",
    "statement": "whyscan.statements.records.StatementReport",
    "dbt": "whyscan.statements.dbt.report.DbtReport",
    "diff": "whyscan.reports.diff.difference.Difference",
    "stats": "whyscan.reports.stats.profile.TableStats",
    "describe": "whyscan.reports.description.description.Description",
    "ls": "whyscan.reports.contents.Contents",
    "inventory": "whyscan.spark.stages.inventory.report.InventoryRun",
    "audit": "whyscan.spark.stages.audit.report.Audit",
    "verify": "whyscan.spark.stages.verify.result.Verification",
    "verify-layout": "whyscan.layouts.layout_check.LayoutCheck",
    "advise": "whyscan.layouts.advice.Advice",
    "doctor": "whyscan.diagnosis.Diagnosis",
}
"""The records that are the documents."""


@click.command()
@click.argument(
    "document", type=click.Choice(list(DOCUMENTS)), default="report", metavar="[DOCUMENT]"
)
def schema(document: str) -> None:
    """Print the JSON Schema of a document.

    DOCUMENT is report (the default), statement, dbt, diff, stats, describe, ls, inventory, audit,
    verify, verify-layout, advise or doctor.
    """
    from whyscan.reports.schema import schema as schema_of

    module, _, name = DOCUMENTS[document].rpartition(".")
    record = getattr(import_module(module), name)
    write(json.dumps(schema_of(document, record), indent=2) + "\n")
