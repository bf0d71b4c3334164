"""Row groups are judged again with bloom filters, and with dictionaries if a plan goes so deep.

Only the filters of row groups that are not decided yet are read: first bloom filters, which are
small, then dictionaries, which are exact. Otherwise dictionaries are counted for what they cost.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from whyscan.planning.plan.scan_plan import Depth
from whyscan.pruning.value_filters import values_to_probe
from whyscan.tables.snapshot import ProbedFilters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whyscan.planning.plan.evidence import LevelEvidence
    from whyscan.planning.plan.judgement import Judgement
    from whyscan.pruning.containers import Containers
    from whyscan.tables.snapshot import BelowRowGroups, RowGroups
    from whyscan.tree.nodes import Column, Predicate

    Judge = Callable[[Containers], Judgement]
    Read = Callable[[RowGroups, pa.Array], ProbedFilters]


def narrowed_by_filters(
    below: BelowRowGroups | None,
    predicate: Predicate,
    level: LevelEvidence[RowGroups],
    depth: Depth,
    judge: Judge,
) -> LevelEvidence[RowGroups]:
    """The row groups with the verdicts of `judge` on them and their filters.

    Nothing is read if the footers were not kept, or if the predicate compares no column by value.
    """
    if level.listed.footers is None or below is None:
        return level
    values = values_to_probe(conjunct.expression for conjunct in predicate.conjuncts)
    if not values:
        return level
    filtered = _probed(level, partial(below.bloom_filters, values=values), judge)
    by_bloom = None
    look_up: Read = partial(_counted_dictionaries, below, values)
    if depth is Depth.DICTIONARY:
        by_bloom = filtered.verdicts
        look_up = partial(below.dictionaries, values=values)
    filtered = _probed(filtered, look_up, judge)
    return replace(filtered, unfiltered=level.verdicts, by_bloom=by_bloom)


def _probed(level: LevelEvidence[RowGroups], read: Read, judge: Judge) -> LevelEvidence[RowGroups]:
    groups, verdicts = level.listed, level.verdicts
    undecided = np.flatnonzero(verdicts.kept & ~verdicts.every)
    if not len(undecided):
        return level
    probes = read(groups, pa.array(undecided))
    containers = groups.containers.with_filters(probes.filters)
    listed = replace(
        groups,
        containers=containers,
        unchecked=(*groups.unchecked, *probes.unchecked),
        filter_counts=(*groups.filter_counts, *probes.counts),
    )
    if not any(count.present and count.read for count in probes.counts):
        return replace(level, listed=listed)
    return replace(level, listed=listed, verdicts=judge(containers))


def _counted_dictionaries(
    below: BelowRowGroups, values: Mapping[Column, pa.Array], groups: RowGroups, at: pa.Array
) -> ProbedFilters:
    """The dictionaries that a deeper plan would read, which say nothing yet."""
    return ProbedFilters({}, below.dictionary_counts(groups, at, values))
