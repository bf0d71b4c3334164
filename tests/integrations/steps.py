"""The steps of action.yml as the runner would run them: in bash, with GitHub's files."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

from support.commands import WHYSCAN

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
INSTALL, EXPLAIN, COMMENT = (step for step in ACTION["runs"]["steps"] if "run" in step)
EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")

OUTPUTS = ("result", "summary", "reports", "pruning-pct", "files-read", "bytes-read")
# The runner's own words for `shell: bash`.
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")


@dataclass(frozen=True)
class Done:
    code: int
    log: str
    summary: str
    outputs: dict[str, str]


def run_step(step, context, folder, cwd, **environment):
    """One step: expressions of `env` replaced, the script as it stands in a file."""
    folder.mkdir(exist_ok=True)
    files_of_runner = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files_of_runner.values():
        file.touch()
    script = folder / "script.sh"
    script.write_text(step["run"], "utf-8")
    variables = {
        name: EXPRESSION.sub(lambda match: context[match[1]], str(value))
        for name, value in step["env"].items()
    }
    path = f"{WHYSCAN.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*BASH, str(script)],
        cwd=cwd,
        env={
            **os.environ,
            "PATH": path,
            "RUNNER_TEMP": str(folder),
            **{name: str(file) for name, file in files_of_runner.items()},
            **variables,
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = files_of_runner["GITHUB_OUTPUT"].read_text("utf-8").splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    return Done(
        done.returncode, done.stdout, files_of_runner["GITHUB_STEP_SUMMARY"].read_text(), outputs
    )
