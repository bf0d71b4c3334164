"""The number of files that have bounds for a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pyarrow as pa

from whyscan.fields import Count, FilePath, Name, Record, Word, one_of
from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.obstacles import bounded as is_bounded
from whyscan.planning.why.pushdown import PSEUDO_COLUMNS
from whyscan.pruning.mask import tally

if TYPE_CHECKING:
    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Column


EXAMPLES_AT_MOST = 10
"""The greatest number of file names in a report."""


class Coverage(Record, frozen=True):
    """One column: the number of files whose statistics were read, and how many have bounds."""

    COMPUTED: ClassVar = {"mode": "mode"}

    column: Name
    files: Count
    files_with_bounds: Count

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            self.column,
            self.files + other.files,
            self.files_with_bounds + other.files_with_bounds,
        )

    @property
    def mode(self) -> Annotated[Word, one_of("exact", "partial", "absent")]:
        """Whether all files, some or none have bounds."""
        if self.files_with_bounds == self.files:
            return "exact"
        return "partial" if self.files_with_bounds else "absent"

    @property
    def percent(self) -> float:
        return 100.0 * self.files_with_bounds / self.files if self.files else 100.0


class MissingStatistics(
    Record, frozen=True, rename={"total": "of", "files": "count", "examples": "files"}
):
    """The number of files without statistics of a column, some of their names, and the columns."""

    columns: tuple[Name, ...]
    total: Count
    files: Count
    examples: tuple[FilePath, ...]

    def __add__(self, other: MissingStatistics) -> MissingStatistics:
        return MissingStatistics(
            tuple(dict.fromkeys((*self.columns, *other.columns))),
            self.total + other.total,
            self.files + other.files,
            (*self.examples, *other.examples)[:EXAMPLES_AT_MOST],
        )

    @property
    def percent(self) -> float:
        """The percentage of files that have all statistics."""
        return 100.0 * (self.total - self.files) / self.total if self.total else 100.0


def missing_statistics(plan: ScanPlan) -> MissingStatistics | None:
    """Count the files that lack asserted statistics; None if no statistics are asserted."""
    columns = plan.options.complete
    if columns is None:
        return None
    evidence = plan.evidence
    blind = np.zeros(evidence.files.count, np.bool_)
    names: list[str] = []
    for column in columns:
        without = ~_bounded_files(column, evidence)
        if without.any():
            names.append(".".join(column.path))
        blind |= without
    at = np.flatnonzero(blind)[:EXAMPLES_AT_MOST]
    examples = evidence.files.paths.take(pa.array(at)).to_pylist() if len(at) else []
    return MissingStatistics(tuple(names), evidence.files.count, int(blind.sum()), tuple(examples))


def coverage(plan: ScanPlan) -> tuple[Coverage, ...]:
    """Measure the columns of the predicate, in their order, except the sources of partitions."""
    elsewhere = {*plan.snapshot.partition_sources, *PSEUDO_COLUMNS}
    return tuple(
        of_column(column, plan)
        for column in plan.predicate.columns()
        if column.path not in elsewhere
    )


def of_column(column: Column, plan: ScanPlan) -> Coverage:
    """Measure one column whose statistics the plan has read."""
    evidence = plan.counted
    read = evidence.described
    files = evidence.file_count(read)
    blocks = evidence.files.containers.blocks
    if blocks is not None:
        # A table with blocks of files has read the statistics of every file: count them once.
        bounded = blocks.cached(
            ("bounded", column), lambda: _number(column, evidence.files.containers)
        )
    else:
        bounded = evidence.file_count(_bounded_files(column, evidence) & read)
    return Coverage(".".join(column.path), files, bounded)


def _number(column: Column, containers: Containers) -> int:
    return tally(is_bounded(column, containers), containers.count)


def _bounded_files(column: Column, evidence: Evidence) -> Flags:
    groups = evidence.describing_groups
    containers = evidence.files.containers if groups is None else groups.containers
    has_bounds = flags(is_bounded(column, containers), containers.count)
    return has_bounds if groups is None else ~evidence.with_row_group(~has_bounds)
