"""The files of two reports, matched by their paths."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET, Struct, UnsetType

from whyscan.fields import Count, FilePath, Record, Word, object_of, one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from whyscan.reports.listing import Listing
    from whyscan.reports.report import Report


class FileChange(StrEnum):
    """Whether a file was added or removed, and whether the predicate reads it."""

    ADDED_READ = "added, read"
    ADDED_SKIPPED = "added, skipped"
    REMOVED_READ = "removed, was read"
    REMOVED_SKIPPED = "removed, was skipped"
    READ_NOW = "read now, was skipped"
    SKIPPED_NOW = "skipped now, was read"
    READ_STILL = "read on both sides"
    SKIPPED_STILL = "skipped on both sides"


SAME = frozenset({FileChange.READ_STILL, FileChange.SKIPPED_STILL})


class ChangedFile(Record, frozen=True):
    """One file that is not the same on both sides."""

    path: FilePath
    fate: Annotated[Word, one_of(*(c.name.lower() for c in FileChange if c not in SAME))]


class FileChanges(Record, frozen=True):
    """The number of files per kind of change, and the paths of changed files in their order."""

    OMITTED: ClassVar = ("counts", "paths", "listed")
    COMPUTED: ClassVar = {"files": "by_name", "changes": "changes"}

    counts: Mapping[FileChange, int]
    paths: Mapping[FileChange, pa.Array]
    listed: bool = True

    @property
    def by_name(
        self,
    ) -> Annotated[
        Mapping[Word, Count],
        object_of(
            tuple(change.name.lower() for change in FileChange),
            **{change.name.lower(): {"type": "integer"} for change in FileChange},
        ),
    ]:
        """How many files changed in each way, by their paths."""
        return {change.name.lower(): self.counts[change] for change in FileChange}

    @property
    def changes(self) -> tuple[ChangedFile, ...] | UnsetType:
        """With --verbose: every file that is not the same on both sides."""
        if not self.listed:
            return UNSET
        return tuple(ChangedFile(path, fate.name.lower()) for path, fate in self.changed())

    def changed(self) -> Iterator[tuple[str, FileChange]]:
        """Yield every file that is not the same on both sides."""
        for fate, paths in self.paths.items():
            for path in paths.to_pylist():
                yield path, fate


def file_changes(before: Report, after: Report) -> FileChanges:
    """Compare the files of two reports, which both list their files."""
    old, new = _side_of(before), _side_of(after)
    was = _positions(new.paths, old.paths)
    in_both = was >= 0
    read_before = np.zeros(len(new.paths), np.bool_)
    read_before[in_both] = old.read[was[in_both]]
    gone = np.ones(len(old.paths), np.bool_)
    gone[was[in_both]] = False
    paths_of = {
        FileChange.ADDED_READ: new.paths.filter(pa.array(~in_both & new.read)),
        FileChange.ADDED_SKIPPED: new.paths.filter(pa.array(~in_both & ~new.read)),
        FileChange.REMOVED_READ: old.paths.filter(pa.array(gone & old.read)),
        FileChange.REMOVED_SKIPPED: old.paths.filter(pa.array(gone & ~old.read)),
        FileChange.READ_NOW: new.paths.filter(pa.array(in_both & new.read & ~read_before)),
        FileChange.SKIPPED_NOW: new.paths.filter(pa.array(in_both & ~new.read & read_before)),
        FileChange.READ_STILL: new.paths.filter(pa.array(in_both & new.read & read_before)),
        FileChange.SKIPPED_STILL: new.paths.filter(pa.array(in_both & ~new.read & ~read_before)),
    }
    return FileChanges(
        counts={fate: len(paths) for fate, paths in paths_of.items()},
        paths={fate: paths for fate, paths in paths_of.items() if fate not in SAME},
    )


class _Side(Struct, frozen=True):
    paths: pa.Array
    read: npt.NDArray[np.bool_]


def _side_of(report: Report) -> _Side:
    if report.listing is None:
        raise ValueError("a comparison of files needs reports that list them")
    listed: Listing = report.listing
    verdict = listed.verdict.cast(pa.string())
    read = pc.not_equal(verdict, "none").to_numpy(zero_copy_only=False)
    return _Side(listed.paths.cast(pa.string()), read)


def _positions(needles: pa.Array, stack: pa.Array) -> npt.NDArray[np.int64]:
    """Return the position of each needle in the stack, -1 if it is not there."""
    positions = pc.fill_null(pc.index_in(needles, value_set=stack), -1)
    return np.asarray(positions.to_numpy(zero_copy_only=False), np.int64)
