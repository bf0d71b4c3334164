"""Examples of a page: commands with what they print, and Python as it stands.

    ```console
    $ command
    its output, exactly
    ```

A line `...` stands for any lines. WHYSCAN_GOLDEN=write renews the outputs in the page itself; of an
output with `...` it renews the passages that are shown, found by their first two words.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from typing import TYPE_CHECKING

from support import commands
from support.golden import RENEWED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("pip install", "git clone", "make ")
ELIDED = "...\n"
ELISION = re.compile(r"^ *\.\.\.\n", re.MULTILINE)

# A paragraph, or one of the findings in it.
PASSAGE = re.compile(r"\n\n+|^(?=(?:warning|info) [A-Z_]+:)|^ *\.\.\.\n", re.MULTILINE)


def in_a_shell(command: str, folder: Path) -> str:
    """What a user sees: both streams of whatever bash makes of it."""
    path = f"{commands.WHYSCAN.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def in_this_process(command: str, folder: Path) -> str:
    """The same, and much quicker, where it is whyscan and nothing else."""
    words = shlex.shlex(command, posix=True, punctuation_chars="|;&<>")
    words.whitespace_split = True
    program, *arguments = words
    if program != "whyscan" or any(set(word) <= set("|;&<>") for word in arguments):
        return in_a_shell(command, folder)
    done = commands.whyscan(*arguments, cwd=folder)
    return done.out + done.err


def wrong_examples(page: Path, folder: Path, run: Callable[[str, Path], str]) -> list:
    """Each command that prints something else than the page shows, with what it prints."""
    text = page.read_text("utf-8")
    if RENEWED:
        text = BLOCK.sub(lambda block: _renewed_block(block[1], folder, run), text)
        page.write_text(text, "utf-8")
    return [
        (command, output)
        for block in BLOCK.findall(text)
        for command, shown in _examples(block)
        if not command.startswith(NOT_RUN) and not _matches(shown, output := run(command, folder))
    ]


def run_python(page: Path) -> None:
    for code in PYTHON.findall(page.read_text("utf-8")):
        exec(compile(code, page.name, "exec"), {})


def _examples(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a block with the output that stands below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def _matches(expected: str, printed: str) -> bool:
    if expected.strip() == "...":
        return True
    pattern = ".*".join(re.escape(piece) for piece in ELISION.split(expected))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def _renewed_block(block: str, folder: Path, run: Callable[[str, Path], str]) -> str:
    def again(command: str, shown: str) -> str:
        if command.startswith(NOT_RUN) or shown.strip() == "...":
            return f"$ {command}\n{shown}"
        return f"$ {command}\n{_renewed(shown, run(command, folder), folder)}"

    return "```console\n" + "".join(again(*example) for example in _examples(block)) + "```"


def _renewed(shown: str, printed: str, folder: Path) -> str:
    if not ELISION.search(shown):
        return printed
    passages = list(_passages(printed))
    places = {_begin(passage): at for at, passage in enumerate(passages)}
    wanted = [places[_begin(old)] for old in _passages(shown)]
    renewed = "" if wanted[0] == 0 else ELIDED
    for at in wanted:
        renewed += _without_paths(passages[at], folder)
        both = "\n".join(passages[at : at + 2])
        renewed += "\n" if at + 1 in wanted and both in printed else ELIDED
    return renewed


def _passages(text: str) -> Iterator[str]:
    for passage in PASSAGE.split(text):
        if passage.strip():
            yield passage.strip("\n") + "\n"


def _begin(passage: str) -> tuple[str, ...]:
    return tuple(passage.split()[:2])


def _without_paths(passage: str, folder: Path) -> str:
    """A fix that names the table by where it is today is left to the words around."""
    if str(folder) not in passage:
        return passage
    return passage[: passage.index("  fix:")] + "  " + ELIDED
