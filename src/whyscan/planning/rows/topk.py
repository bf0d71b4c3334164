"""ORDER BY with LIMIT: which containers come after rows that surely come first.

The bounds of containers whose rows surely match say how many rows come no later than a place in the
order. Once these are enough rows, containers that come strictly after that place are not needed.
Ties are kept: another sort key may decide among them.
"""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.matching_rows import UNCOUNTED, of_files, of_row_groups
from whyscan.planning.rows.expression_level import ExpressionLevel
from whyscan.planning.rows.limit import (
    LimitedPart,
    Unproven,
    before_limit,
    cut,
    divided,
    limited,
    too_few,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.matching_rows import Counts
    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.tree.nodes import Expression

_BEYOND = np.int64(1 << 62)
"""After every place, or (negative) before every place: the place is unknown."""


class SortKey(Struct, frozen=True):
    """The first expression of ORDER BY. NaN is the greatest value.

    Its columns must be among the predicate's, or `measured` in the plan's options.
    """

    expression: Expression
    descending: bool
    nulls_first: bool


def top(
    plan: PlannedSnapshot, key: SortKey, rows: int, offset: int = 0
) -> PlannedSnapshot | Unproven:
    """What `ORDER BY key LIMIT rows OFFSET offset` needs of a plan; only the first key is used."""
    if not rows:
        return limited(plan, 0)
    parts, needed_rows = plan.each(partial(_TopkPart.of, key=key)), rows + offset
    files = reduce(add, (part.files for part in parts))
    opened = [part.groups for part in parts if part.groups is not None]
    levels = [files, *([reduce(add, opened)] if opened else [])]
    sure = int(files.sure.sum())
    if sure < needed_rows:
        return Unproven(too_few(sure, needed_rows))
    spans = _spans(levels, key)
    reached = (
        _reached(level, span, needed_rows) for level, span in zip(levels, spans, strict=True)
    )
    place = min(reached)
    needed = [span.first <= place for span in spans]
    chosen = divided(needed[0], [len(part.files.sure) for part in parts])
    inside = iter(divided(needed[1], [len(groups.sure) for groups in opened]) if opened else ())
    cuts = []
    for part, flagged in zip(parts, chosen, strict=True):
        groups = None if part.groups is None else part.spread(next(inside))
        kept = part.files.spread(flagged)
        if part.described_by_groups:
            kept &= part.inhabited(groups)
        cuts.append(LimitedPart(needed_rows, ordered=True, files=kept, groups=groups))
    return cut(plan, cuts)


class _TopkPart(Struct, frozen=True):
    """The files of a part, and its row groups with their files; None where no footer was opened.

    `described_by_groups`: files have no statistics but those of their row groups.
    """

    files: ExpressionLevel
    groups: ExpressionLevel | None
    owners: Counts
    described_by_groups: bool = False

    @classmethod
    def of(cls, plan: ScanPlan, key: SortKey) -> _TopkPart:
        plan = before_limit(plan)
        evidence, inside = plan.evidence, of_row_groups(plan.evidence)
        files = ExpressionLevel.of(
            of_files(evidence), evidence.judgement.kept, key.expression, plan
        )
        level = evidence.row_group_level
        if inside is None or level is None:
            return cls(files, None, np.zeros(0, np.int64))
        row_groups = ExpressionLevel.of(inside, level.verdicts.kept, key.expression, plan)
        return cls(files, row_groups, level.listed.owners.to_numpy(), level.describes_parents)

    def spread(self, flagged: Flags) -> Flags | None:
        return None if self.groups is None else self.groups.spread(flagged)

    def inhabited(self, groups: Flags | None) -> Flags:
        """One flag per file: a needed row group is in it."""
        has_needed_group = np.zeros(self.files.all, np.bool_)
        if groups is not None:
            has_needed_group[self.owners[groups]] = True
        return has_needed_group


class _Span(Struct, frozen=True):
    """Places in the order: of the first and the last row of each container.

    `last_present` is the place of its last row that is not NULL, `null` the place of NULL.
    """

    first: Counts
    last: Counts
    last_present: Counts
    null: np.int64


def _reached(level: ExpressionLevel, span: _Span, needed_rows: int) -> np.int64:
    """The first place that enough rows surely do not come after; beyond all where there is none."""
    counted = level.every & (level.nulls != UNCOUNTED) & (level.rows != UNCOUNTED)
    null = np.where(counted, (level.nulls - level.gone).clip(0, level.sure), 0)
    others = (level.rows - level.nulls - level.gone).clip(0, level.sure - null)
    present = np.where(counted, others, 0)
    places = np.concatenate((np.full(len(null), span.null), span.last_present, span.last))
    rows = np.concatenate((null, present, level.sure - null - present))
    order = np.argsort(places, kind="stable")
    enough = int(np.searchsorted(rows[order].cumsum(), needed_rows))
    return places[order][enough] if enough < len(order) else _BEYOND


def _spans(levels: Sequence[ExpressionLevel], key: SortKey) -> list[_Span]:
    """The places at which each container's rows may be, by the ranks of all bounds together."""
    ranks = _ranks(
        pa.concat_arrays([end for level in levels for end in (level.lower, level.upper)])
    )
    most = int(ranks.max(initial=0))
    sizes = [len(level.sure) for level in levels for _ in range(2)]
    parts = np.split(ranks, np.cumsum(sizes)[:-1])
    pairs = zip(levels, parts[::2], parts[1::2], strict=True)
    return [_span(level, lower, upper, most, key) for level, lower, upper in pairs]


def _ranks(ends: pa.Array) -> Counts:
    """Ranks from 1, equal for equal values; 0 where the value is unknown."""
    if pa.types.is_null(ends.type):
        return np.zeros(len(ends), np.int64)
    if pa.types.is_floating(ends.type):
        ends = pc.if_else(pc.is_nan(ends), None, ends)
    ranks = pc.rank(ends, tiebreaker="dense").to_numpy().astype(np.int64)
    return np.where(ends.is_valid().to_numpy(zero_copy_only=False), ranks, 0)


def _span(level: ExpressionLevel, lower: Counts, upper: Counts, most: int, key: SortKey) -> _Span:
    """Ascending: values at their ranks, NaN after them. Descending: the negative places."""
    value, null, nan, calm = level.value, level.null, level.nan, ~level.raises
    ends = lower, np.where(upper, upper, most + 1)
    first, last = (-ends[1], -ends[0]) if key.descending else ends
    greatest = np.int64(-(most + 2) if key.descending else most + 2)
    nowhere = np.int64(-(most + 3) if key.nulls_first else most + 3)

    def outermost(extreme: np.ufunc, ends: Counts, *, nulls: Flags) -> Counts:
        missing = _BEYOND if extreme is np.minimum else -_BEYOND
        places = np.where(value, ends, missing)
        places = extreme(places, np.where(nan, greatest, missing))
        places = extreme(places, np.where(nulls, nowhere, missing))
        return np.where(calm & (value | nan | nulls), places, -missing)

    return _Span(
        first=outermost(np.minimum, first, nulls=null),
        last=outermost(np.maximum, last, nulls=null),
        last_present=outermost(np.maximum, last, nulls=np.zeros(len(lower), np.bool_)),
        null=nowhere,
    )
