"""Overlap depth: into how many files a value of a column falls, by the bounds of the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from whyscan.planning.plan import ScanPlan
    from whyscan.predicate.tree import Column

FILES_AT_MOST = 200_000
"""Of more files, so many in even steps are measured."""


@dataclass(frozen=True, slots=True)
class Depth:
    """The median over all bounds that there are, and what a sorted table would have.

    A column with fewer values than files cannot be told apart further: there `ideal` is more
    than 1.
    """

    files: int
    median: int
    ideal: int


def depth(plan: ScanPlan, column: Column) -> Depth | None:
    """The depth of a column; None where no two files have bounds of it."""
    evidence = plan.evidence
    containers = evidence.files.containers
    if plan.snapshot.footers_describe_files and evidence.groups is not None:
        containers = evidence.groups.containers
    interval = containers.statistics.get(column.path)
    if interval is None:
        return None
    lower, upper = interval.lower, interval.upper
    if not isinstance(lower, pa.Array) or not isinstance(upper, pa.Array):
        return None
    both = pc.and_(lower.is_valid(), upper.is_valid())
    return _depth(lower.filter(both), upper.filter(both))


def _depth(lower: pa.Array, upper: pa.Array) -> Depth | None:
    count = len(lower)
    if count <= 1:
        return None
    if count > FILES_AT_MOST:
        chosen = pa.array(np.linspace(0, count - 1, FILES_AT_MOST).astype(np.int64))
        lower, upper = lower.take(chosen), upper.take(chosen)
    ranks = (
        pc.rank(pa.concat_arrays([lower, upper]), tiebreaker="dense").to_numpy().astype(np.int64)
    )
    distinct = int(ranks.max())
    begun = np.bincount(ranks[: len(lower)], minlength=distinct + 1).cumsum()
    ended = np.bincount(ranks[len(lower) :] + 1, minlength=distinct + 2).cumsum()[:-1]
    median = float(np.median((begun - ended)[ranks]))
    scale = count / len(lower)
    ideal = max(1, -(-len(lower) // distinct))
    return Depth(count, round(median * scale), round(ideal * scale) if ideal > 1 else 1)
