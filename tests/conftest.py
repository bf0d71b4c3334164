"""What every test shares: generated cases that repeat, a cache that is nobody's home, and Spark."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from support import spark_sessions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# Derandomised: a failure on one machine is a failure on every machine. No limit of time for a case
# or for making it: two busy cores say nothing about a rule.
settings.register_profile(
    "whyscan",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# WHYSCAN_EXAMPLES=5000 searches for longer, elsewhere each time.
settings.register_profile(
    "long",
    settings.get_profile("whyscan"),
    derandomize=False,
    max_examples=int(os.environ.get("WHYSCAN_EXAMPLES", "5000")),
)
# `make check` takes the first examples of each property only.
settings.register_profile("quick", settings.get_profile("whyscan"), max_examples=20)
if "WHYSCAN_QUICK" in os.environ:
    settings.load_profile("quick")
else:
    settings.load_profile("long" if "WHYSCAN_EXAMPLES" in os.environ else "whyscan")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one file that need Spark are one group, so that both workers take such files."""
    for item in items:
        if item.get_closest_marker("spark") and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.location[0]))


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session a worker; a test that takes it has the mark `spark`."""
    session = spark_sessions.start(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()
