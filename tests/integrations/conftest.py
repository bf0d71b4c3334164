"""The demo's lake, written once, in a folder where a job would have it."""

import pytest

from whyscan.cli.lake import write_lake


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace")
    write_lake(folder / "lake", force=False)
    return folder
