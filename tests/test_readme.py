"""Every example of the README, run: commands with their output, and Python as it stands.

    ```console
    $ command
    its output, exactly
    ```

Commands run in one temporary folder in the order of the README, which begins with the demo.
WHYSCAN_GOLDEN=write renews the outputs in the README itself. `...` stands for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from commands import WHYSCAN
from golden import RENEWED

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("pip install", "git clone", "make ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("readme")
    subprocess.run([WHYSCAN, "demo"], cwd=where, check=True, capture_output=True)
    return where


def run(command, folder):
    """What a user sees: both streams, and the exit code where it is not 0."""
    path = f"{WHYSCAN.parent}{os.pathsep}{os.environ['PATH']}"
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


def examples(block):
    """Each command of a block with the output that stands below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def matches(expected, found):
    if expected.strip() == "...":
        return True
    pattern = ".*".join(re.escape(piece) for piece in expected.split("...\n"))
    return re.fullmatch(pattern, found, re.DOTALL) is not None


def test_every_command_of_the_readme_prints_what_it_shows(folder):
    text = README.read_text("utf-8")
    if RENEWED:
        text = BLOCK.sub(lambda block: renewed(block[1], folder), text)
        README.write_text(text, "utf-8")

    wrong = [
        (command, output)
        for block in BLOCK.findall(text)
        for command, shown in examples(block)
        if not command.startswith(NOT_RUN) and not matches(shown, output := run(command, folder))
    ]

    assert wrong == []


def renewed(block, folder):
    def again(command, shown):
        keep = command.startswith(NOT_RUN) or "...\n" in shown
        return f"$ {command}\n{shown if keep else run(command, folder)}"

    return "```console\n" + "".join(again(*example) for example in examples(block)) + "```"


def test_every_python_example_of_the_readme_runs(folder, monkeypatch):
    monkeypatch.chdir(folder)

    for code in PYTHON.findall(README.read_text("utf-8")):
        exec(compile(code, "README.md", "exec"), {})
