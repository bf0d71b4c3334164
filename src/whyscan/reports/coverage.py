"""Of how many files the bounds of a column are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.obstacles import bounded as is_bounded
from whyscan.planning.why.pushdown import PSEUDO_COLUMNS
from whyscan.pruning.mask import tally

if TYPE_CHECKING:
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import Evidence, ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Column


EXAMPLES_AT_MOST = 10
"""As many files are named."""


class Coverage(Struct, frozen=True):
    """One column: the files whose statistics were read, and those of them that have bounds."""

    column: str
    files: int
    files_with_bounds: int

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            self.column,
            self.files + other.files,
            self.files_with_bounds + other.files_with_bounds,
        )

    @property
    def mode(self) -> str:
        if self.files_with_bounds == self.files:
            return "exact"
        return "partial" if self.files_with_bounds else "absent"

    @property
    def percent(self) -> float:
        return 100.0 * self.files_with_bounds / self.files if self.files else 100.0


class Lacking(Struct, frozen=True):
    """The files that lack statistics of a column; some by name, and the columns that they lack."""

    columns: tuple[str, ...]
    total: int
    files: int
    examples: tuple[str, ...]

    def __add__(self, other: Lacking) -> Lacking:
        return Lacking(
            tuple(dict.fromkeys((*self.columns, *other.columns))),
            self.total + other.total,
            self.files + other.files,
            (*self.examples, *other.examples)[:EXAMPLES_AT_MOST],
        )

    @property
    def percent(self) -> float:
        """The share of files that have all of them."""
        return 100.0 * (self.total - self.files) / self.total if self.total else 100.0


def lacking(plan: ScanPlan) -> Lacking | None:
    """The files that lack statistics of a column that must have them; None for no such column."""
    columns = plan.options.complete
    if columns is None:
        return None
    evidence = plan.evidence
    blind = np.zeros(evidence.files.count, np.bool_)
    names: list[str] = []
    for column in columns:
        without = ~_bounded_files(column, plan, evidence)
        if without.any():
            names.append(".".join(column.path))
        blind |= without
    at = np.flatnonzero(blind)[:EXAMPLES_AT_MOST]
    examples = evidence.files.paths.take(pa.array(at)).to_pylist() if len(at) else []
    return Lacking(tuple(names), evidence.files.count, int(blind.sum()), tuple(examples))


def coverage(plan: ScanPlan) -> tuple[Coverage, ...]:
    """The predicate's columns that are no partition's source, in order of appearance."""
    elsewhere = {*plan.snapshot.partition_sources, *PSEUDO_COLUMNS}
    return tuple(
        of_column(column, plan)
        for column in plan.predicate.columns()
        if column.path not in elsewhere
    )


def of_column(column: Column, plan: ScanPlan) -> Coverage:
    """One column whose statistics the plan has read."""
    evidence = plan.counted
    read = evidence.opened
    files = evidence.number(read)
    blocks = evidence.files.containers.blocks
    if evidence.cells is not None and blocks is not None:
        # Of a table that is asked many questions every file was read.
        bounded = blocks.noted(
            ("bounded", column), lambda: _number(column, evidence.files.containers)
        )
    else:
        bounded = evidence.number(_bounded_files(column, plan, evidence) & read)
    return Coverage(".".join(column.path), files, bounded)


def _number(column: Column, containers: Containers) -> int:
    return tally(is_bounded(column, containers), containers.count)


def _bounded_files(column: Column, plan: ScanPlan, evidence: Evidence) -> Flags:
    if not plan.snapshot.footers_describe_files:
        containers = evidence.files.containers
        return flags(is_bounded(column, containers), containers.count)
    found = np.ones(evidence.files.count, np.bool_)
    if evidence.groups is not None:
        containers = evidence.groups.containers
        blind = ~flags(is_bounded(column, containers), containers.count)
        found[evidence.groups.owners.to_numpy()[blind]] = False
    return found
