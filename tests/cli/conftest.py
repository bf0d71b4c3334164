"""The demo's lake, written once, and the command line run inside its folder."""

import pytest

from support import commands
from whyscan.demo.lake import write_lake


@pytest.fixture(scope="session")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    write_lake(folder, force=False)
    return folder


@pytest.fixture
def whyscan(lake):
    """Run a command line in the folder of the lake."""

    def run(*arguments, cwd=lake, **streams):
        return commands.whyscan(*arguments, cwd=cwd, **streams)

    return run
