"""The pytest plugin: `assert_prunes` as a fixture.

Every test session loads this module, so it imports little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from whyscan.testing import assert_prunes as check

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.reports.report import Report


@pytest.fixture(scope="session")
def assert_prunes() -> Callable[..., Report]:
    """Fail with the report unless a predicate prunes: see `whyscan.testing.assert_prunes`."""
    return check
