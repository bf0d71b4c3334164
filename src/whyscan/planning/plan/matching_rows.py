"""How many live rows of each container match a predicate, as far as metadata goes.

Row groups count where a footer was opened, files elsewhere. Nobody knows in which row group a
deleted row was: all of a file's may have matched, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.judgement import bits
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.exact import NOTHING, Exact
from whyscan.pruning.interval import equal
from whyscan.pruning.mask import both, keep, opposite, surely
from whyscan.pruning.same_representation import column_below

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import Evidence, ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.interval import Interval
    from whyscan.tables.snapshot import Files, RowGroups
    from whyscan.tree.nodes import Expression

    Counts = npt.NDArray[np.int64]

UNCOUNTED = -1


def surely_matching(evidence: Evidence) -> pa.Array:
    """At least so many of each file; null where nobody counted its rows."""
    files, inside = evidence.files, evidence.group_judgement
    every = _rows(evidence, evidence.judgement.every, None if inside is None else inside.every)
    if files.deleted is not None or files.maybe_deleted is not None:
        gone = perhaps_gone(files)
        every = pc.if_else(pc.equal(every, 0), every, pc.subtract(every, gone))
    return pc.max_element_wise(every, 0, skip_nulls=False)


def perhaps_matching(evidence: Evidence) -> pa.Array:
    """At most so many of each file; null where nobody counted its rows."""
    files, inside = evidence.files, evidence.group_judgement
    kept = _rows(evidence, evidence.judgement.kept, None if inside is None else inside.kept)
    if inside is None and files.deleted is None:
        return kept
    live = evidence.rows if files.deleted is None else pc.subtract(evidence.rows, files.deleted)
    return pc.if_else(pc.equal(kept, 0), kept, pc.min_element_wise(kept, live))


def perhaps_gone(files: Files) -> pa.Array:
    """At most so many rows of each file are deleted: all of them where nobody knows."""
    gone = pa.repeat(pa.scalar(0, pa.int64()), files.count)
    if files.deleted is not None:
        gone = pc.add(gone, files.deleted)
    if files.maybe_deleted is None:
        return gone
    return pc.coalesce(pc.add(gone, files.maybe_deleted), files.rows)


def group_rows(groups: RowGroups) -> pa.Array:
    """The rows of each row group; null where they are not known."""
    rows = groups.containers.rows
    return pa.nulls(groups.count, pa.int64()) if rows is None else rows


def _rows(evidence: Evidence, files: Flags, groups: Flags | None) -> pa.Array:
    """The rows of flagged containers, file by file: row groups where a footer was opened."""
    rows = pc.if_else(bits(files), evidence.rows, pa.scalar(0, pa.int64()))
    opened = evidence.groups
    if opened is None or groups is None:
        return rows
    counted = group_rows(opened).to_numpy(zero_copy_only=False)[groups]
    at = opened.opened.to_numpy()
    inside = np.bincount(opened.file.to_numpy()[groups], weights=counted, minlength=len(at))
    whole = np.zeros(evidence.count)
    whole[at] = inside
    is_open = np.zeros(evidence.count, np.bool_)
    is_open[at] = True
    known = pa.array(np.nan_to_num(whole).astype(np.int64), mask=np.isnan(whole))
    return pc.if_else(bits(is_open), known, rows)


def counts(numbers: pa.Array, unknown: int = 0) -> Counts:
    """Counts as numbers, `unknown` where nobody counted."""
    found: Counts = numbers.fill_null(unknown).to_numpy(zero_copy_only=False)
    return found


class Population(Struct, frozen=True):
    """Containers of one level, which have no row in common.

    Those that are not `kept` have no row that matches. At least `sure` rows of each do, and where
    it matches in `every` row, all of its `rows` but the deleted ones: at most `gone`. Rows that
    nobody counted are `UNCOUNTED`.
    """

    containers: Containers
    kept: Flags
    every: Flags
    rows: Counts
    sure: Counts
    gone: Counts

    @property
    def whole(self) -> Flags:
        """Every row that was written is there and matches."""
        found: Flags = self.every & (self.gone == 0) & (self.rows != UNCOUNTED)
        return found

    def interval(self, expression: Expression, plan: ScanPlan) -> Interval:
        """Where the values of an expression lie."""
        told = self.containers.without_nan() if plan.options.assume_no_nan else self.containers
        return interval_of(expression, ContainerBatch(told, plan.zone))

    def exact(self, expression: Expression) -> Exact:
        """What is exact of a column; nothing of any other expression."""
        column = column_below(expression)
        told = None if column is None else self.containers.exact.get(column.path)
        if column is None or told is None:
            return NOTHING
        recorded = self.containers.statistics[column.path]
        # Partition values may say less than statistics, and are believed where they contradict.
        both_told = self.containers.interval(column)
        no_null = opposite(both_told.null)
        return Exact(
            keep(opposite(both(no_null, surely(pc.greater, told.nulls, 0))), told.nulls),
            both(told.lower, surely(equal, recorded.lower, both_told.lower)),
            both(told.upper, surely(equal, recorded.upper, both_told.upper)),
        )


def of_files(evidence: Evidence) -> Population:
    """The files of a plan."""
    files, found = evidence.files, evidence.judgement
    rows = counts(files.rows, UNCOUNTED)
    return Population(
        files.containers,
        found.kept & (counts(perhaps_matching(evidence), UNCOUNTED) != 0),
        found.every,
        rows,
        counts(surely_matching(evidence)),
        counts(perhaps_gone(files), 1),
    )


def of_row_groups(evidence: Evidence) -> Population | None:
    """The row groups of a plan; None where no footer was opened.

    Any of a file's deleted rows may have been in any of its row groups.
    """
    groups, found = evidence.groups, evidence.group_judgement
    if groups is None or found is None:
        return None
    rows = counts(group_rows(groups), UNCOUNTED)
    gone = counts(perhaps_gone(evidence.files), 1)[groups.owners.to_numpy()]
    sure = np.where(found.every, np.maximum(rows - gone, 0), 0)
    return Population(groups.containers, found.kept & (rows != 0), found.every, rows, sure, gone)
