"""The demo's lake, written once, in a folder where a job would have it; and installing offline."""

import sysconfig
from pathlib import Path

import pytest

from integrations.steps import ACTION, EXPLAIN, INSTALL, ROOT, run_step
from whyscan.demo.lake import write_lake


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace")
    write_lake(folder / "lake", force=False)
    return folder


@pytest.fixture(scope="session")
def lent():
    """Under these variables pip builds and installs this checkout with what is here already."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it the other way round: 0 is "no isolation"
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }


@pytest.fixture(scope="session")
def installed(tmp_path_factory, workspace, lent):
    """The first step, for real: this checkout built and installed, its dependencies lent to it."""
    done = run_step(
        INSTALL,
        {"inputs.package": "", "github.action_path": str(ROOT)},
        tmp_path_factory.mktemp("install"),
        workspace,
        **lent,
    )
    assert done.code == 0, done.log
    return Path(done.outputs["bin"])


@pytest.fixture
def act(installed, workspace, tmp_path, lent):
    """The second step with these inputs; the others are at their defaults."""
    defaults = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}

    def run(where_it_runs=workspace, environment=lent, **inputs):
        values = {**defaults, **{name.replace("_", "-"): text for name, text in inputs.items()}}
        context = {f"inputs.{name}": text for name, text in values.items()}
        context |= {"steps.install.outputs.bin": str(installed), "github.action_path": str(ROOT)}
        return run_step(EXPLAIN, context, tmp_path / "step", where_it_runs, **environment)

    return run
