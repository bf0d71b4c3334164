"""The pre-commit hooks: `python -m whyscan.cli.predicates TABLE OPTIONS... -- FILES...`.

Each file contains one predicate or, if the first word is `--sql`, one statement. It is not a
command of `whyscan`, because a loop in a shell does the same.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from whyscan.cli.main import run
from whyscan.cli.output import complain
from whyscan.cli.startup import hide_pandas
from whyscan.cli.trouble import describe
from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def explain_each(words: Sequence[str]) -> int:
    """Run `whyscan explain` once per file and return the worst exit code."""
    if "--" not in words:
        hint = "end the hook's args with it: args: [TABLE, --max-files=10, --]"
        complain(describe(UsageError("no -- before the files", hint=hint)))
        return UsageError.exit_code
    option = "--sql" if words[0] == "--sql" else "--where"
    dashes = words.index("--")
    arguments, files = words[option == words[0] : dashes], words[dashes + 1 :]
    return max((run(["explain", *arguments, f"{option}=@{file}"]) for file in files), default=0)


if __name__ == "__main__":
    hide_pandas()
    sys.exit(explain_each(sys.argv[1:]))
