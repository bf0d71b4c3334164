"""Tasks: which row groups of each file a plan reads, and which conditions are open in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.judgement import Flags

    Open = tuple[int, ...]


class Task(Struct, frozen=True):
    """What to read of one file. `at` is the position of the file in the plan.

    `open` has the numbers of the conjuncts that are open in the file. `groups` has the row groups
    to read, each with its open conjuncts. It is None if the footer was not read; then all row
    groups are read.
    """

    at: int
    open: Open
    groups: dict[int, Open] | None

    @property
    def ordinals(self) -> Sequence[int] | None:
        return None if self.groups is None else sorted(self.groups)

    def open_in(self, ordinal: int) -> Open:
        return self.open if self.groups is None else self.groups[ordinal]

    def open_anywhere(self) -> frozenset[int]:
        groups = [self.open] if self.groups is None else self.groups.values()
        return frozenset(number for numbers in groups for number in numbers)


def tasks(evidence: Evidence) -> Iterator[Task]:
    """One task per file that must be read, in the order of the table."""
    groups = _groups(evidence)
    every = evidence.judgement.conjunct_every
    for at in np.flatnonzero(evidence.judgement.kept).tolist():
        chosen = groups.get(at)
        if chosen is None or chosen:
            yield Task(at, _open(every, at), chosen)


def _groups(evidence: Evidence) -> dict[int, dict[int, Open]]:
    """The surviving row groups of each file whose footer was read."""
    level = evidence.row_group_level
    if level is None:
        return {}
    groups, verdicts = level.listed, level.verdicts
    collected: dict[int, dict[int, Open]] = {at: {} for at in groups.opened.to_pylist()}
    owners, ordinals = groups.owners.to_pylist(), groups.ordinal.to_pylist()
    for number in np.flatnonzero(evidence.read(level)).tolist():
        collected[owners[number]][ordinals[number]] = _open(verdicts.conjunct_every, number)
    return collected


def _open(every: Flags, at: int) -> Open:
    return tuple(np.flatnonzero(~every[:, at]).tolist())
