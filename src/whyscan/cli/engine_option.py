"""The option `--engine`, with what the environment and the project's file say without it."""

from __future__ import annotations

import click

from whyscan.cli import suggestions
from whyscan.configuration import configuration
from whyscan.table import checked_engines


def _named_engines(
    context: click.Context, _: click.Parameter, named: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the engines of the option, else those of the environment or of a file."""
    if context.resilient_parsing:
        return named
    words = named or configuration().words("engine")
    return checked_engines(words) if words else ()


ENGINES = click.option(
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME[@VERSION]",
    callback=_named_engines,
    shell_complete=suggestions.engines,
    help="Say what this engine reads, and why; `all` are all engines that read the table. Gates "
    "are for what it reads. [default: WHYSCAN_ENGINE, else whyscan.toml or pyproject.toml]",
)
