"""Completion, with the TAB key pressed in real shells."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from support.commands import WHYSCAN
from whyscan.cli.suggestions import DEPTHS
from whyscan.planning.plan.scan_plan import Depth

PROMPT = "ready> "
PATIENCE = 60  # seconds until a shell that says nothing is given up
ESCAPES = re.compile(r"\x1b\][^\x07]*\x07|\x1b\[[0-9;?]*[A-Za-z]|\x1b\(B|\x1b[=>]|[\r\x00\x07\x0f]")

# How each starts without anybody's configuration, and what is typed first.
SHELLS = {
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        f'PS1="{PROMPT}"; eval "$(whyscan completion bash)"',
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        f'autoload -U compinit; compinit -u -D; PS1="{PROMPT}"; eval "$(whyscan completion zsh)"',
    ),
    "fish": (
        ["fish", "-i"],
        f'function fish_prompt; echo -n "{PROMPT}"; end; whyscan completion fish | source',
    ),
}


@dataclass
class Terminal:
    """A shell that takes us for a person."""

    descriptor: int

    def press(self, keys):
        os.write(self.descriptor, keys.encode())

    def wait_for(self, pattern):
        """What is shown until the pattern is."""
        shown, until = "", time.monotonic() + PATIENCE
        while not re.search(pattern, ESCAPES.sub("", shown)):
            left = until - time.monotonic()
            assert left > 0, f"no {pattern!r} in {shown!r}"
            if select.select([self.descriptor], [], [], left)[0]:
                shown += os.read(self.descriptor, 65536).decode("utf-8", "replace")
        return ESCAPES.sub("", shown)


@contextmanager
def shell(name, folder):
    words, first = SHELLS[name]
    if shutil.which(words[0]) is None:
        pytest.skip(f"{name} is not installed")
    environment = {
        **os.environ,
        "PATH": f"{WHYSCAN.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "TERM": "xterm",
        "COLUMNS": "200",
        "HISTFILE": "",
    }
    child, descriptor = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(words[0], words, environment)
    terminal = Terminal(descriptor)
    try:
        terminal.press(f"{first}; echo set''up\n")
        terminal.wait_for(rf"setup(?s:.*){PROMPT}")
        yield terminal
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(descriptor)


# What is typed before TAB, and what stands there afterwards.
CASES = [
    ("whyscan exp", "whyscan explain "),
    ("whyscan explain --for", "whyscan explain --format "),
    ("whyscan explain --format mark", "whyscan explain --format markdown "),
    ("whyscan explain --dialect duc", "whyscan explain --dialect duckdb "),
    ("whyscan explain --depth row", "whyscan explain --depth row-groups "),
    ("whyscan diff --timezone Europe/Berl", "whyscan diff --timezone Europe/Berlin "),
    ("whyscan stats lak", "whyscan stats lake/"),
    ("whyscan explain --resolve-j", "whyscan explain --resolve-joins "),
]


@pytest.mark.parametrize("name", SHELLS)
def test_tab_completes_commands_options_values_and_paths(name, tmp_path):
    (tmp_path / "lake").mkdir()

    with shell(name, tmp_path) as terminal:
        for typed, completed in CASES:
            terminal.press(f"{typed}\t")
            terminal.wait_for(re.escape(completed.rstrip()))
            terminal.press("\x15\n")  # the line is forgotten
            terminal.wait_for(PROMPT)


def test_bash_completes_the_place_of_a_named_table(tmp_path):
    (tmp_path / "lake").mkdir()

    with shell("bash", tmp_path) as terminal:
        terminal.press("whyscan explain --table sales=lak\t")
        terminal.wait_for(re.escape("--table sales=lake/"))


def test_every_depth_is_offered():
    assert sorted(DEPTHS) == sorted(Depth)


def test_a_shell_that_has_no_script_is_wrong_usage(whyscan):
    run = whyscan("completion", "tcsh")

    assert (run.code, run.out) == (2, "")
