"""The demo's lake, written once, in a folder where a job would have it; and installing offline."""

import sysconfig

import pytest

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
