"""`whyscan completion`: print the script that completes command lines in a shell."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from whyscan.cli.output import write

SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
VARIABLE = "_WHYSCAN_COMPLETE"
"""The environment variable by which click's scripts call the program."""


HOW = """\b
In a shell's start-up file:
bash  ~/.bashrc                   eval "$(whyscan completion bash)"
zsh   ~/.zshrc, after compinit    eval "$(whyscan completion zsh)"
fish  ~/.config/fish/config.fish  whyscan completion fish | source"""


@click.command(short_help="Print the completion script for bash, zsh or fish.", epilog=HOW)
@click.argument("shell", type=click.Choice(list(SHELLS)), metavar="bash|zsh|fish")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes whyscan's commands, options and values in SHELL."""
    completer = SHELLS[shell](context.find_root().command, {}, "whyscan", VARIABLE)
    write(completer.source())
