"""Why each survivor survived: one code a file, from a closed list."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from whyscan.planning.judgement import Flags, flags
from whyscan.predicate.tree import Opaque, columns_of, walk
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import Mask, either, known, opposite

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.planning.plan import ScanPlan
    from whyscan.planning.pushdown import Class
    from whyscan.predicate.tree import Column
    from whyscan.pruning.containers import Containers


class Reason(StrEnum):
    """What kept a container, the most specific first."""

    MATCHES_ALL = "MATCHES_ALL"
    NAN_POSSIBLE = "NAN_POSSIBLE"
    NO_STATISTICS = "NO_STATISTICS"
    UNINTERPRETED = "UNINTERPRETED"
    STRADDLES = "STRADDLES"
