"""`whyscan`: the commands, and what their errors look like."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from whyscan.cli.cache import cache
from whyscan.cli.demo import demo
from whyscan.cli.explain import explain
from whyscan.cli.output import complain, silence
from whyscan.cli.schema import schema
from whyscan.cli.startup import leave_out_pandas
from whyscan.cli.trouble import describe
from whyscan.errors import WhyscanError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
COULD_NOT_EVALUATE = WhyscanError.exit_code


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click's signature
    if asked and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"whyscan {version('whyscan')}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
def whyscan() -> None:
    """The dry run for the lakehouse: which files a predicate reads, which it skips, and why."""


whyscan.add_command(explain)
whyscan.add_command(demo)
whyscan.add_command(schema)
whyscan.add_command(cache)


def main() -> None:
    """The entry point."""
    leave_out_pandas()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """One command line; the exit code."""
    try:
        code = whyscan.main(list(arguments), prog_name="whyscan", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except WhyscanError as error:
        complain(describe(error))
        return error.exit_code
    except BrokenPipeError:
        silence()
        return 0
    except Exception as error:  # noqa: BLE001 - users never see a traceback
        return _internal(error)
    return code if isinstance(code, int) else 0


def _internal(error: Exception) -> int:
    """A mistake of ours: still one line and a hint. The traceback is for those who ask."""
    if os.environ.get("WHYSCAN_TRACEBACK"):
        raise error
    what = WhyscanError(
        f"whyscan itself failed: {type(error).__name__}: {error}",
        hint="this is a bug; WHYSCAN_TRACEBACK=1 shows where",
    )
    complain(describe(what))
    return COULD_NOT_EVALUATE
