"""`whyscan schema`: print the JSON Schemas of the documents that commands print."""

from __future__ import annotations

import json
from importlib.resources import files

import click

from whyscan.cli.output import write

DOCUMENTS = {
    "report": "reports/report.schema.json",
    "statement": "statements/statement.schema.json",
    "diff": "reports/diff/diff.schema.json",
    "stats": "reports/stats/stats.schema.json",
    "inventory": "spark/stages/inventory/inventory.schema.json",
    "audit": "spark/stages/audit/audit.schema.json",
    "verify": "spark/stages/verify/verify.schema.json",
}


@click.command()
@click.argument("document", type=click.Choice(list(DOCUMENTS)), default="report")
def schema(document: str) -> None:
    """Print the JSON Schema of a report, or of another DOCUMENT."""
    text = _text("report")
    write(text if document == "report" else _bundled(document, text))


def _bundled(document: str, report: str) -> str:
    """Return a schema with the report's schema inside, so that it needs no other file."""
    bundle = json.loads(_text(document))
    bundle["$defs"]["report"] = json.loads(report)
    return json.dumps(bundle, indent=2) + "\n"


def _text(document: str) -> str:
    return files("whyscan").joinpath(DOCUMENTS[document]).read_text("utf-8")
