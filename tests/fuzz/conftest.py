"""A watched process for tests of damaged and hostile tables."""

from __future__ import annotations

import pytest

from fuzz.watch import Watch


@pytest.fixture(scope="session")
def watch():
    watch = Watch()
    yield watch
    watch.close()


@pytest.fixture(scope="session")
def commands():
    watch = Watch("-m", "fuzz.command_worker")
    yield watch
    watch.close()
