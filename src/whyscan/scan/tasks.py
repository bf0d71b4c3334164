"""Tasks: which row groups of each file a plan reads, which rows, and which conditions are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whyscan.tables.storage.store import joined_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.judgement import Flags
    from whyscan.tables.file_columns import RowRanges

    Open = tuple[int, ...]


class GroupTask(Struct, frozen=True):
    """What to read of one row group: `open` has the numbers of the conjuncts that are open in it.

    `rows` are the rows of the pages that stay; None means all rows.
    """

    open: Open
    rows: RowRanges | None = None


class Task(Struct, frozen=True):
    """What to read of one file. `at` is the position of the file in the plan.

    `open` has the numbers of the conjuncts that are open in the file. `groups` has the row groups
    to read. It is None if the footer was not read; then all row groups are read.
    """

    at: int
    open: Open
    groups: dict[int, GroupTask] | None

    @property
    def ordinals(self) -> Sequence[int] | None:
        return None if self.groups is None else sorted(self.groups)

    def open_in(self, ordinal: int) -> Open:
        return self.open if self.groups is None else self.groups[ordinal].open

    def rows_in(self, ordinal: int) -> RowRanges | None:
        return None if self.groups is None else self.groups[ordinal].rows

    def open_anywhere(self) -> frozenset[int]:
        if self.groups is None:
            return frozenset(self.open)
        return frozenset(number for group in self.groups.values() for number in group.open)

    def without_conditions(self) -> Task:
        """The same rows, of which none is checked."""
        if self.groups is None:
            return replace(self, open=())
        groups = {ordinal: replace(group, open=()) for ordinal, group in self.groups.items()}
        return replace(self, open=(), groups=groups)


def tasks(evidence: Evidence) -> Iterator[Task]:
    """One task per file that must be read, in the order of the table."""
    groups = _groups(evidence)
    every = evidence.judgement.conjunct_every
    for at in np.flatnonzero(evidence.judgement.kept).tolist():
        chosen = groups.get(at)
        if chosen is None or chosen:
            yield Task(at, _open(every, at), chosen)


def _groups(evidence: Evidence) -> dict[int, dict[int, GroupTask]]:
    """The surviving row groups of each file whose footer was read."""
    level = evidence.row_group_level
    if level is None:
        return {}
    groups, verdicts = level.listed, level.verdicts
    collected: dict[int, dict[int, GroupTask]] = {at: {} for at in groups.opened.to_pylist()}
    rows = _rows_of_pages(evidence)
    owners, ordinals = groups.owners.to_pylist(), groups.ordinal.to_pylist()
    for number in np.flatnonzero(evidence.read(level)).tolist():
        open_conjuncts = _open(verdicts.conjunct_every, number)
        group = GroupTask(open_conjuncts, rows.get(number))
        collected[owners[number]][ordinals[number]] = group
    return collected


def _rows_of_pages(evidence: Evidence) -> dict[int, RowRanges]:
    """The rows of the pages that stay, for each row group of which a page was skipped."""
    level = evidence.levels[-1]
    if level is evidence.row_group_level or level.listed.pieces is None:
        return {}
    owners, rows = level.listed.owners.to_numpy(), level.listed.rows.to_numpy()
    ends = np.cumsum(rows)
    first_pieces = np.flatnonzero(np.diff(owners, prepend=-1))
    before = np.repeat(
        ends[first_pieces] - rows[first_pieces], np.diff(first_pieces, append=len(owners))
    )
    skipped = set(owners[~level.verdicts.kept].tolist())
    stay: dict[int, list[tuple[int, int]]] = {}
    kept = level.verdicts.kept
    columns = (values[kept].tolist() for values in (owners, ends - rows - before, ends - before))
    for owner, first, end in zip(*columns, strict=True):
        if owner in skipped:
            stay.setdefault(owner, []).append((first, end))
    return {owner: tuple(joined_ranges(ranges, gap=0)) for owner, ranges in stay.items()}


def _open(every: Flags, at: int) -> Open:
    return tuple(np.flatnonzero(~every[:, at]).tolist())
