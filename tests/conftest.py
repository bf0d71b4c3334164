"""What every test shares: generated cases that repeat, and a cache that is nobody's home."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

# Derandomised: a failure on one machine is a failure on every machine. No deadline: two busy
# cores say nothing about a rule.
settings.register_profile("whyscan", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("whyscan")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
