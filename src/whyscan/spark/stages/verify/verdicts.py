"""Compare verdicts with rows: pruned containers with TRUE rows, `all` containers with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.spark.stages.verify.result import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.judgement import Flags

    Numbers = npt.NDArray[np.int64]

NOWHERE = -1


class Observed(Struct, frozen=True):
    """The counts of one predicate, one item per row group that was read.

    `file` is the position among the plan's files, `ordinal` the number of the row group.
    `first_true` and `first_other` are positions of rows, -1 if there is none.
    """

    file: Numbers
    ordinal: Numbers
    live: Numbers
    true: Numbers
    raised: Numbers
    first_true: Numbers
    first_other: Numbers

    @property
    def other(self) -> Numbers:
        """The number of live rows that are FALSE or NULL, or raise an error."""
        return self.live - self.true


class Verdicts(Struct, frozen=True):
    """One verdict per row group: that of its container at a level."""

    level: str
    kept: Flags
    every: Flags


def verdicts(evidence: Evidence, observed: Observed) -> tuple[Verdicts, ...]:
    """The verdicts of all levels for the row groups that were read, top level first."""
    levels = []
    above, of_file = evidence.manifest_level, evidence.files.manifest
    if above is not None and of_file is not None:
        at = of_file.to_numpy()[observed.file]
        levels.append(Verdicts("manifests", above.verdicts.kept[at], above.verdicts.every[at]))
    files = evidence.judgement
    levels.append(Verdicts("files", files.kept[observed.file], files.every[observed.file]))
    inside = _row_groups(evidence, observed)
    if inside is not None:
        levels.append(inside)
    return tuple(levels)


def _row_groups(evidence: Evidence, observed: Observed) -> Verdicts | None:
    """The verdicts of row groups; `some` for files whose footers the plan did not open."""
    level = evidence.row_group_level
    if level is None:
        return None
    groups, of_groups = level.listed, level.verdicts
    kept = np.ones(len(observed.file), np.bool_)
    every = np.zeros(len(observed.file), np.bool_)
    if groups.count:
        inside = groups.owners.to_numpy(), groups.ordinal.to_numpy()
        at = places(inside, (observed.file, observed.ordinal))
        matched = at != NOWHERE
        kept[matched], every[matched] = of_groups.kept[at[matched]], of_groups.every[at[matched]]
    return Verdicts("row_groups", kept, every)


def places(listed: tuple[Numbers, Numbers], wanted: tuple[Numbers, Numbers]) -> Numbers:
    """The position of each wanted row group in `listed`, -1 if it is not there.

    A row group is identified by the position of its file and by its number.
    """
    most = int(max(listed[1].max(initial=0), wanted[1].max(initial=0))) + 1
    keys = listed[0].astype(np.int64) * most + listed[1]
    wanted_keys = wanted[0] * most + wanted[1]
    order = np.argsort(keys, kind="stable")
    near = np.minimum(np.searchsorted(keys[order], wanted_keys), len(keys) - 1)
    at = order[near]
    return np.where(keys[at] == wanted_keys, at, NOWHERE)


def lost(levels: Sequence[Verdicts], observed: Observed, paths: Sequence[str]) -> Iterator[Wrong]:
    """The containers that the plan prunes although they have TRUE rows.

    A row is reported once, at the highest level that loses it.
    """
    left = observed.true > 0
    for level in levels:
        wrong = left & ~level.kept
        yield from _gathered(
            level.level, wrong, (observed.true, observed.first_true), observed, paths
        )
        left &= level.kept


def false_all(
    levels: Sequence[Verdicts], observed: Observed, paths: Sequence[str]
) -> Iterator[Wrong]:
    """The containers with the verdict `all` that have a live row that is not TRUE."""
    left = observed.other > 0
    for level in levels:
        wrong = left & level.every
        yield from _gathered(
            level.level, wrong, (observed.other, observed.first_other), observed, paths
        )
        left &= ~level.every


def _gathered(
    level: str,
    wrong: Flags,
    counts: tuple[Numbers, Numbers],
    observed: Observed,
    paths: Sequence[str],
) -> Iterator[Wrong]:
    """One record per wrong row group, or per file if the verdict is of a file or manifest."""
    rows, first = counts
    if level == "row_groups":
        for at in np.flatnonzero(wrong).tolist():
            path = paths[observed.file[at]]
            yield Wrong(level, path, int(observed.ordinal[at]), int(rows[at]), int(first[at]))
        return
    for file in np.unique(observed.file[wrong]).tolist():
        of_this_file = wrong & (observed.file == file)
        yield Wrong(
            level, paths[file], None, int(rows[of_this_file].sum()), int(first[of_this_file].min())
        )
