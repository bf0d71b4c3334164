"""The magics of IPython and Jupyter: `%load_ext whyscan`, then `%whyscan` and `%%whyscan`.

    %whyscan lake/users where country = 'DE' AND age > 40

    %whyscan stats lake/users

    %%whyscan users=lake/users
    SELECT * FROM users WHERE country = 'DE'

A table is a location, a name in a catalog, or a variable of the notebook that is a `whyscan.Table`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from whyscan.errors import UsageError, WhyscanError
from whyscan.statement import explain_sql
from whyscan.table import Table
from whyscan.table import open as open_table

if TYPE_CHECKING:
    from whyscan.reports.report import Report
    from whyscan.statements.records import StatementReport

USAGE = """\
%whyscan TABLE where CONDITION  show the report on a table
%whyscan COMMAND ...            run a command: %whyscan stats lake/users
%%whyscan NAME=TABLE ...        show the report on the statement in the cell
A TABLE is a location, a name in a catalog, or a variable of the notebook."""
WHERE = re.compile(r"\swhere\s", re.IGNORECASE)
RUN = "from whyscan.cli.main import main; main()"


def register(shell: Any) -> None:
    """Make the magics of a shell of IPython."""

    def whyscan(line: str, cell: str | None = None) -> Report | StatementReport | None:
        """Show what a condition or a statement reads, or run a whyscan command."""
        try:
            variables = shell.user_ns
            return _line(line, variables) if cell is None else _statement(line, cell, variables)
        except WhyscanError as error:
            # The frames of the library say nothing to a reader.
            print(f"error: {error}", file=sys.stderr)
            return None

    shell.register_magic_function(whyscan, "line_cell", "whyscan")


def _line(line: str, variables: dict[str, Any]) -> Report | None:
    place, *condition = WHERE.split(line, 1)
    if condition and len(_words(place)) == 1:
        report: Report = _table(_words(place)[0], variables).explain(condition[0].strip())
        return report
    if line.strip():
        _run(_words(line))
    else:
        print(USAGE)
    return None


def _statement(line: str, cell: str, variables: dict[str, Any]) -> StatementReport:
    tables = {}
    for word in _words(line):
        name, sign, place = word.partition("=")
        if not sign:
            raise UsageError(f"{word!r} is no NAME=TABLE", hint="%%whyscan users=lake/users")
        tables[name] = _table(place, variables)
    return explain_sql(cell, tables)


def _words(line: str) -> list[str]:
    """The words of a line, as a shell splits it."""
    try:
        return shlex.split(line)
    except ValueError as error:
        hint = "quote a text that has one quote in the other kind"
        raise UsageError(f"{line.strip()!r}: {error}", hint=hint) from None


def _table(place: str, variables: dict[str, Any]) -> Table:
    value = variables.get(place)
    return value if isinstance(value, Table) else open_table(place)


def _run(words: list[str]) -> None:
    """Run a command in another process: a kernel has signals and streams of its own."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", RUN, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
