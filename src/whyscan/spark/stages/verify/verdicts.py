"""Plans against rows: containers that were dropped and match, or called `all` and do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.spark.stages.verify.result import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import Evidence

    Numbers = npt.NDArray[np.int64]

NOWHERE = -1


class Observed(Struct, frozen=True):
    """Row groups that were read, and what is TRUE in them for one predicate.

    `file` is the position among the plan's files, `ordinal` the row group's number. `first_true`
    and `first_other` are positions of rows, -1 for none.
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
        """Live rows that are FALSE or NULL, or raise."""
        return self.live - self.true


class Verdicts(Struct, frozen=True):
    """The verdict of the container of a level that each row group lies in."""

    level: str
    kept: Flags
    every: Flags


def verdicts(evidence: Evidence, observed: Observed) -> tuple[Verdicts, ...]:
    """The levels above each row group that was read, from the top."""
    levels = []
    above, of_file = evidence.manifests, evidence.files.manifest
    if above is not None and of_file is not None:
        at = of_file.to_numpy()[observed.file]
        levels.append(Verdicts("manifests", above.judgement.kept[at], above.judgement.every[at]))
    files = evidence.judgement
    levels.append(Verdicts("files", files.kept[observed.file], files.every[observed.file]))
    inside = _row_groups(evidence, observed)
    if inside is not None:
        levels.append(inside)
    return tuple(levels)


def _row_groups(evidence: Evidence, observed: Observed) -> Verdicts | None:
    """Of a file whose footer the plan left closed nothing is said."""
    groups, judgement = evidence.groups, evidence.group_judgement
    if groups is None or judgement is None:
        return None
    kept = np.ones(len(observed.file), np.bool_)
    every = np.zeros(len(observed.file), np.bool_)
    if groups.count:
        inside = groups.owners.to_numpy(), groups.ordinal.to_numpy()
        at = places(inside, (observed.file, observed.ordinal))
        matched = at != NOWHERE
        kept[matched], every[matched] = judgement.kept[at[matched]], judgement.every[at[matched]]
    return Verdicts("row_groups", kept, every)


def places(listed: tuple[Numbers, Numbers], wanted: tuple[Numbers, Numbers]) -> Numbers:
    """Where each wanted row group stands among the known ones, -1 for nowhere.

    Row groups are told by the position of their file and by their number.
    """
    most = int(max(listed[1].max(initial=0), wanted[1].max(initial=0))) + 1
    keys = listed[0].astype(np.int64) * most + listed[1]
    wanted_keys = wanted[0] * most + wanted[1]
    order = np.argsort(keys, kind="stable")
    near = np.minimum(np.searchsorted(keys[order], wanted_keys), len(keys) - 1)
    at = order[near]
    return np.where(keys[at] == wanted_keys, at, NOWHERE)


def lost(levels: Sequence[Verdicts], observed: Observed, paths: Sequence[str]) -> Iterator[Wrong]:
    """Containers that the plan drops and that hold rows for which the predicate is TRUE.

    A row is told of once, at the topmost level that loses it.
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
    """Containers called `all` that hold a live row for which the predicate is not TRUE."""
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
    """One line a row group, or one a file where the file was judged."""
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
