"""`whyscan schema`: the JSON Schema of the report."""

from __future__ import annotations

from importlib.resources import files

import click

from whyscan.cli.output import write


@click.command()
def schema() -> None:
    """Print the JSON Schema of the report."""
    write(files("whyscan.explain").joinpath("report.schema.json").read_text("utf-8"))
