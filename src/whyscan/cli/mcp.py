"""`whyscan mcp`: answer the questions of an agent over standard input and output."""

from __future__ import annotations

import click
from msgspec import Struct

from whyscan.cli import options, suggestions
from whyscan.errors import UsageError


class McpArguments(Struct, frozen=True):
    """The arguments of `mcp`."""

    roots: tuple[str, ...]


@click.command(short_help="Answer the questions of an agent (MCP over standard input and output).")
@click.argument(
    "roots", metavar="ROOT...", nargs=-1, required=True, shell_complete=suggestions.places
)
@options.with_options(McpArguments)
def mcp(arguments: McpArguments) -> None:
    """Answer the questions of an agent by the Model Context Protocol.

    Each ROOT is a folder, an address (s3://bucket/lake) or a catalog (prod, prod.sales). Tables
    below the roots can be asked about, and nothing else is opened. Nothing is written.
    """
    try:
        from whyscan.agents import server
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] not in {"mcp", "pydantic"}:
            raise
        raise UsageError(
            "the MCP SDK is not installed", hint="pip install 'whyscan[mcp]'"
        ) from None
    server(arguments.roots).run("stdio")
