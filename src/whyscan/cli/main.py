"""`whyscan`: the group of commands, and how their errors are printed."""

from __future__ import annotations

import difflib
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from whyscan.cli.startup import Interrupts, begin, end
from whyscan.errors import UsageError, WhyscanError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    "explain",
    "scan",
    "stats",
    "describe",
    "ls",
    "diff",
    "dbt",
    "inventory",
    "audit",
    "advise",
    "verify",
    "mcp",
    "demo",
    "doctor",
    "schema",
    "cache",
    "completion",
)
"""Each command is the function of that name in the file of that name."""

INTERRUPTED = 130


def _show_version(context: click.Context, _: click.Parameter, is_set: bool) -> None:  # noqa: FBT001 - click's signature
    if is_set and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"whyscan {version('whyscan')}")
        context.exit()


class _Commands(click.Group):
    """A group that imports only the command that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse a name that is not a command, with the nearest command as a hint."""
        if args[0] in COMMANDS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        near = difflib.get_close_matches(args[0], COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else "whyscan --help shows what there is"
        raise UsageError(f"No such command {args[0]!r}.", hint=hint)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"whyscan.cli.{cmd_name}"), cmd_name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
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


def main() -> None:
    """Run the program."""
    begin()
    end(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    with Interrupts() as interrupts:
        return _run(arguments, interrupts)


def _run(arguments: Sequence[str], interrupts: Interrupts) -> int:
    try:
        code = whyscan.main(list(arguments), prog_name="whyscan", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return _print_error(_usage_error(error))
    except (click.Abort, KeyboardInterrupt):
        return _print_interrupt()
    except WhyscanError as error:
        return _print_interrupt() if interrupts.any() else _print_error(error)
    except BrokenPipeError:
        from whyscan.cli.output import silence

        silence()
        return 0
    except MemoryError:
        return _print_error(_out_of_memory())
    except Exception as error:  # noqa: BLE001 - users never see a traceback
        return _print_interrupt() if interrupts.any() else _report_bug(error)
    return code if isinstance(code, int) else 0


def _usage_error(error: click.ClickException) -> UsageError:
    """Turn an error of click into one of ours."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = "whyscan" if context is None else context.command_path
    near = getattr(error, "possibilities", None)
    if near:
        return UsageError(error.message, hint=f"did you mean {_nearest(error.message, near)}?")
    message = " ".join(error.format_message().split())
    return UsageError(message, hint=f"{command} --help shows what there is")


def _nearest(message: str, near: Sequence[str]) -> str:
    """Return the candidate that is most like the word that the message quotes."""
    wrong = message.split("'")[1] if message.count("'") > 1 else message
    return max(near, key=lambda word: difflib.SequenceMatcher(None, wrong, word).ratio())


def _print_interrupt() -> int:
    from whyscan.cli.output import complain

    complain("interrupted\n")
    return INTERRUPTED


def _out_of_memory() -> WhyscanError:
    return WhyscanError(
        "the machine has no memory left for this",
        hint="--memory SIZE limits what one file may take",
    )


def _report_bug(error: Exception) -> int:
    """Report a bug of whyscan in one line; WHYSCAN_TRACEBACK shows the traceback."""
    if os.environ.get("WHYSCAN_TRACEBACK"):
        from traceback import format_exception

        from whyscan.cli.output import complain

        complain("".join(format_exception(error)))
    problem = WhyscanError(
        f"whyscan itself failed: {type(error).__name__}: {error}",
        hint="this is a bug; WHYSCAN_TRACEBACK=1 shows where",
    )
    return _print_error(problem)


def _print_error(error: WhyscanError) -> int:
    from whyscan.cli.output import complain
    from whyscan.cli.trouble import describe

    complain(describe(error))
    return error.exit_code
