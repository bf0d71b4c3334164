"""How many live rows of each container match a predicate, as far as metadata says.

Row groups are counted where a footer was opened, files elsewhere. Metadata does not say in which
row group a deleted row was: every deleted row of a file may have matched, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.judgement import EVERY, KEPT, bits
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.exact import NOTHING, Exact
from whyscan.pruning.interval import equal
from whyscan.pruning.mask import both, keep, opposite, surely
from whyscan.pruning.same_representation import column_below

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.planning.plan.evidence import Evidence, LevelEvidence
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.interval import Interval
    from whyscan.tables.snapshot import Files
    from whyscan.tree.nodes import Expression

    Counts = npt.NDArray[np.int64]

UNCOUNTED = -1


def surely_matching(evidence: Evidence) -> pa.Array:
    """At least this many rows of each file match; null where the file's row count is unknown."""
    files = evidence.files
    every = _rows(evidence, EVERY)
    if files.deleted is not None or files.maybe_deleted is not None:
        gone = perhaps_gone(files)
        every = pc.if_else(pc.equal(every, 0), every, pc.subtract(every, gone))
    return pc.max_element_wise(every, 0, skip_nulls=False)


def perhaps_matching(evidence: Evidence) -> pa.Array:
    """At most this many rows of each file match; null where the file's row count is unknown."""
    files = evidence.files
    kept = _rows(evidence, KEPT)
    if evidence.row_group_level is None and files.deleted is None:
        return kept
    live = evidence.rows if files.deleted is None else pc.subtract(evidence.rows, files.deleted)
    return pc.if_else(pc.equal(kept, 0), kept, pc.min_element_wise(kept, live))


def perhaps_gone(files: Files) -> pa.Array:
    """At most this many rows of each file are deleted: all rows where the number is unknown."""
    gone = pa.repeat(pa.scalar(0, pa.int64()), files.count)
    if files.deleted is not None:
        gone = pc.add(gone, files.deleted)
    if files.maybe_deleted is None:
        return gone
    return pc.coalesce(pc.add(gone, files.maybe_deleted), files.rows)


def _rows(evidence: Evidence, question: int) -> pa.Array:
    """The rows of the containers with the verdict `KEPT` or `EVERY`, summed per file.

    Those of the lowest level are counted that was opened.
    """
    rows: Any = None
    below: LevelEvidence[Any] | None = None
    for level in reversed(evidence.levels_from_files):
        flagged = bits(level.verdicts.row(question))
        own_rows = pc.if_else(flagged, level.rows, pa.scalar(0, pa.int64()))
        if below is not None:
            sums = np.bincount(
                below.listed.owners.to_numpy(),
                weights=rows.to_numpy(zero_copy_only=False),
                minlength=level.count,
            )
            inside = pa.array(np.nan_to_num(sums).astype(np.int64), mask=np.isnan(sums))
            own_rows = pc.if_else(bits(level.opened), inside, own_rows)
        rows, below = own_rows, level
    return rows


def counts(numbers: pa.Array, unknown: int = 0) -> Counts:
    """Counts as a NumPy array, with `unknown` in the place of nulls."""
    filled: Counts = numbers.fill_null(unknown).to_numpy(zero_copy_only=False)
    return filled


class Population(Struct, frozen=True):
    """The containers of one level; no row is in two of them.

    One flag or number per container. If `kept` is false, no row matches. At least `sure` rows
    match. If `every` is true, all `rows` match except the deleted ones, of which there are at most
    `gone`. A row count that is unknown is `UNCOUNTED`.
    """

    containers: Containers
    kept: Flags
    every: Flags
    rows: Counts
    sure: Counts
    gone: Counts

    @property
    def whole(self) -> Flags:
        """One flag per container: no row is deleted, and every row matches."""
        matching: Flags = self.every & (self.gone == 0) & (self.rows != UNCOUNTED)
        return matching

    def interval(self, expression: Expression, plan: ScanPlan) -> Interval:
        """The interval of an expression in each container."""
        return interval_of(expression, ContainerBatch(self.containers, plan.zone))

    def exact(self, expression: Expression) -> Exact:
        """The exact statistics of a column; `NOTHING` for every other expression."""
        column = column_below(expression)
        exact = None if column is None else self.containers.exact.get(column.path)
        if column is None or exact is None:
            return NOTHING
        recorded = self.containers.statistics[column.path]
        # Partition values may say less than statistics, and are believed where they contradict.
        combined = self.containers.interval(column)
        no_null = opposite(combined.null)
        return Exact(
            keep(opposite(both(no_null, surely(pc.greater, exact.nulls, 0))), exact.nulls),
            both(exact.lower, surely(equal, recorded.lower, combined.lower)),
            both(exact.upper, surely(equal, recorded.upper, combined.upper)),
        )


def of_files(evidence: Evidence) -> Population:
    """The files of a plan as one population."""
    files, judgement = evidence.files, evidence.judgement
    rows = counts(files.rows, UNCOUNTED)
    return Population(
        files.containers,
        judgement.kept & (counts(perhaps_matching(evidence), UNCOUNTED) != 0),
        judgement.every,
        rows,
        counts(surely_matching(evidence)),
        counts(perhaps_gone(files), 1),
    )


def of_row_groups(evidence: Evidence) -> Population | None:
    """The row groups of a plan as one population; None where no footer was opened.

    Each deleted row of a file may have been in any of its row groups.
    """
    level = evidence.row_group_level
    if level is None:
        return None
    verdicts, rows = level.verdicts, counts(level.rows, UNCOUNTED)
    gone = counts(perhaps_gone(evidence.files), 1)[level.listed.owners.to_numpy()]
    sure = np.where(verdicts.every, np.maximum(rows - gone, 0), 0)
    return Population(
        level.listed.containers, verdicts.kept & (rows != 0), verdicts.every, rows, sure, gone
    )
