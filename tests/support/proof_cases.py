"""Cases that `make test` samples and `make proof` runs whole.

They prove of every table what other tests prove of the parts that it is made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP = 4


def sampled(cases: Sequence[Any]) -> list[Any]:
    """All cases: one in four as it is, the others with the mark `proof`."""
    proof = pytest.mark.proof
    return [pytest.param(case, marks=proof) if at % STEP else case for at, case in enumerate(cases)]
