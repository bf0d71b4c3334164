"""ORDER BY with a LIMIT: which containers lie behind rows that are sure to come first.

The bounds of containers whose rows surely match say how many rows come no later than a place in
the order. Once those are as many as were asked for, what lies strictly behind that place is not
needed. Ties stay: another sort key, or nobody, decides among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.judgement import Flags, flags
from whyscan.planning.limit import Unproven, before_limit, cut, limited, too_few
from whyscan.planning.matching import UNCOUNTED, counts, of_files, of_row_groups
from whyscan.planning.plan import Limit
from whyscan.predicate.arrow import arrow_type
from whyscan.pruning.mask import opposite, written_out

if TYPE_CHECKING:
    from whyscan.planning.matching import Counts, Population
    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.predicate.tree import Expression
    from whyscan.pruning.interval import Interval

_BEYOND = np.int64(1 << 62)
"""Behind every place, or before it: nothing is known."""


class SortKey(Struct, frozen=True):
    """The first expression of ORDER BY. NaN is the greatest value; NULL stands where it is told.

    Its columns must be among the predicate's, or `measured` in the plan's options.
    """

    expression: Expression
    descending: bool
    nulls_first: bool


def top(plan: ScanPlan, key: SortKey, rows: int, offset: int = 0) -> ScanPlan | Unproven:
    """What `ORDER BY key LIMIT rows OFFSET offset` needs of a plan; the first key alone decides."""
    plan = before_limit(plan)
    if not rows:
        return limited(plan, 0)
    evidence, asked = plan.evidence, rows + offset
    inside = of_row_groups(evidence)
    levels = [of_files(evidence), *([] if inside is None else [inside])]
    sure = int(levels[0].sure.sum())
    if sure < asked:
        return Unproven(too_few(sure, asked))
    spans = _spans(levels, key, plan)
    reached = (_reached(level, span, key, asked) for level, span in zip(levels, spans, strict=True))
    place = min(reached)
    needed = [span.first <= place for span in spans]
    files, groups = needed[0], needed[1] if inside is not None else None
    if plan.snapshot.footers_describe_files and groups is not None:
        files &= _inhabited(evidence, groups)
    return cut(plan, Limit(asked, ordered=True, before=evidence), files, groups)


class _Span(Struct, frozen=True):
    """Places in the order: of the first and the last row, of the last that is not NULL, of NULL."""

    first: Counts
    last: Counts
    last_present: Counts
    null: np.int64


def _reached(level: Population, span: _Span, key: SortKey, asked: int) -> np.int64:
    """The least place that so many rows are sure not to come after; beyond all where none is."""
    told = level.exact(key.expression).nulls
    nulls = np.full(len(level.rows), UNCOUNTED) if told is None else counts(told, UNCOUNTED)
    counted = level.every & (nulls != UNCOUNTED) & (level.rows != UNCOUNTED)
    null = np.where(counted, (nulls - level.gone).clip(0, level.sure), 0)
    others = (level.rows - nulls - level.gone).clip(0, level.sure - null)
    present = np.where(counted, others, 0)
    places = np.concatenate((np.full(len(null), span.null), span.last_present, span.last))
    rows = np.concatenate((null, present, level.sure - null - present))
    order = np.argsort(places, kind="stable")
    enough = int(np.searchsorted(rows[order].cumsum(), asked))
    return places[order][enough] if enough < len(order) else _BEYOND


def _spans(levels: list[Population], key: SortKey, plan: ScanPlan) -> list[_Span]:
    """Where each container's rows may stand, by the ranks of all bounds together."""
    intervals = [level.interval(key.expression, plan) for level in levels]
    kind = arrow_type(intervals[0].type)
    sizes = [level.containers.count for level in levels]
    ends = [
        written_out(end, size, kind)
        for interval, size in zip(intervals, sizes, strict=True)
        for end in (interval.lower, interval.upper)
    ]
    ranks = _ranks(pa.concat_arrays(ends))
    most = int(ranks.max(initial=0))
    parts = np.split(ranks, np.cumsum([size for size in sizes for _ in range(2)])[:-1])
    pairs = zip(intervals, parts[::2], parts[1::2], strict=True)
    return [_span(interval, lower, upper, most, key) for interval, lower, upper in pairs]


def _ranks(ends: pa.Array) -> Counts:
    """From 1, equal for equal values; 0 where one is unknown."""
    if pa.types.is_null(ends.type):
        return np.zeros(len(ends), np.int64)
    if pa.types.is_floating(ends.type):
        ends = pc.if_else(pc.is_nan(ends), None, ends)
    ranks = pc.rank(ends, tiebreaker="dense").to_numpy().astype(np.int64)
    return np.where(ends.is_valid().to_numpy(zero_copy_only=False), ranks, 0)


def _span(interval: Interval, lower: Counts, upper: Counts, most: int, key: SortKey) -> _Span:
    """Ascending: values at their ranks, NaN behind them; descending: the same with a minus."""
    count = len(lower)
    value, null, nan = (flags(m, count) for m in (interval.value, interval.null, interval.nan))
    ends = lower, np.where(upper, upper, most + 1)
    first, last = (-ends[1], -ends[0]) if key.descending else ends
    greatest = np.int64(-(most + 2) if key.descending else most + 2)
    nowhere = np.int64(-(most + 3) if key.nulls_first else most + 3)
    calm = flags(opposite(interval.raises), count)

    def outermost(extreme: np.ufunc, ends: Counts, *, nulls: Flags) -> Counts:
        missing = _BEYOND if extreme is np.minimum else -_BEYOND
        found = np.where(value, ends, missing)
        found = extreme(found, np.where(nan, greatest, missing))
        found = extreme(found, np.where(nulls, nowhere, missing))
        return np.where(calm & (value | nan | nulls), found, -missing)

    return _Span(
        first=outermost(np.minimum, first, nulls=null),
        last=outermost(np.maximum, last, nulls=null),
        last_present=outermost(np.maximum, last, nulls=np.zeros(count, np.bool_)),
        null=nowhere,
    )


def _inhabited(evidence: Evidence, groups: Flags) -> Flags:
    """The files of which a row group that may match is needed."""
    inside, found = evidence.groups, evidence.group_judgement
    here = np.zeros(evidence.files.count, np.bool_)
    if inside is not None and found is not None:
        here[inside.owners.to_numpy()[found.kept & groups]] = True
    return here
