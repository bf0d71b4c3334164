"""The files of a Delta log, and the files that one version is read from.

A version is read from its newest complete checkpoint and all commits after it. `_last_checkpoint`
is not read: the listing of the folder shows the checkpoints, so that a missing, truncated or wrong
hint changes nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

LOG = "_delta_log"

_COMMIT = re.compile(r"(\d{20})\.json")
_COMPACTED = re.compile(r"(\d{20})\.(\d{20})\.compacted\.json")
_SINGLE_FILE = re.compile(r"(\d{20})\.checkpoint\.parquet")
_PART = re.compile(r"(\d{20})\.checkpoint\.(\d{10})\.(\d{10})\.parquet")
_NAMED_BY_UUID = re.compile(r"(\d{20})\.checkpoint\.[0-9A-Fa-f-]{36}\.(?:json|parquet)")


class LogFile(Struct, frozen=True):
    """One file of the log: its path below the table's folder, its bytes, its time (µs)."""

    path: str
    size: int
    modified: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_json(self) -> bool:
        return self.path.endswith(".json")


class Commit(Struct, frozen=True):
    """A JSON file of actions; a compacted file replaces the versions `first` to `version`."""

    first: int
    version: int
    file: LogFile


class Checkpoint(Struct, frozen=True):
    """The complete state at a version: one file, or all its parts. Sidecars are named inside."""

    version: int
    files: tuple[LogFile, ...]


class LogSegment(Struct, frozen=True):
    """The files that a version is replayed from, oldest commit first."""

    version: int
    checkpoint: Checkpoint | None
    commits: tuple[Commit, ...]


class DeltaLog(Struct, frozen=True):
    """The usable files of the log's folder; `checkpoints` are the complete ones, newest last."""

    commits: Mapping[int, Commit]
    compacted: tuple[Commit, ...]
    checkpoints: tuple[Checkpoint, ...]

    @property
    def latest(self) -> int:
        """The newest version of any commit or checkpoint."""
        return max([*self.commits, *(c.version for c in self.checkpoints)])

    def segment(self, version: int | None = None) -> LogSegment:
        """The files that `version` is replayed from; None stands for the newest version."""
        chosen = self.latest if version is None else version
        if not 0 <= chosen <= self.latest:
            raise TableError(
                f"there is no version {chosen} of the table", hint=f"the newest is {self.latest}"
            )
        checkpoint = self._checkpoint_at(chosen)
        first = 0 if checkpoint is None else checkpoint.version + 1
        return LogSegment(chosen, checkpoint, self._commits_between(first, chosen))

    def _checkpoint_at(self, version: int) -> Checkpoint | None:
        before = [c for c in self.checkpoints if c.version <= version]
        return before[-1] if before else None

    def _commits_between(self, first: int, last: int) -> tuple[Commit, ...]:
        longest = self._longest_compacted(last)
        commits: list[Commit] = []
        version = first
        while version <= last:
            commit = longest.get(version, self.commits.get(version))
            if commit is None:
                raise _gap(version, last)
            commits.append(commit)
            version = commit.version + 1
        return tuple(commits)

    def _longest_compacted(self, last: int) -> dict[int, Commit]:
        """For each first version the compacted file with the highest last version up to `last`."""
        usable = [c for c in self.compacted if c.version <= last]
        return {c.first: c for c in sorted(usable, key=lambda c: c.version)}


def _gap(missing: int, version: int) -> TableError:
    return TableError(
        f"version {version} cannot be rebuilt: commit {missing} of the log is missing",
        hint="it was cleaned up or lost; ask for a version whose log is whole",
    )


def read_log(listing: pa.Table) -> DeltaLog:
    """The log from the listing of its folder. Unknown files are ignored."""
    files = [
        LogFile(row["path"], row["size"], row["modified"])
        for row in listing.set_column(
            2, "modified", listing.column("modified").cast("int64")
        ).to_pylist()
        if row["path"].startswith(f"{LOG}/") and row["path"].count("/") == 1
    ]
    commits = {c.version: c for f in files if (c := _commit(f)) is not None}
    log = DeltaLog(commits, tuple(_compacted(files)), tuple(_checkpoints(files)))
    if not log.commits and not log.checkpoints:
        raise TableError(
            f"there is no Delta table: {LOG} holds neither a commit nor a checkpoint",
            hint="name the folder that holds the table",
        )
    return log


def _commit(file: LogFile) -> Commit | None:
    match = _COMMIT.fullmatch(file.name)
    return None if match is None else Commit(int(match[1]), int(match[1]), file)


def _compacted(files: Iterable[LogFile]) -> list[Commit]:
    matches = ((file, _COMPACTED.fullmatch(file.name)) for file in files)
    return [Commit(int(m[1]), int(m[2]), file) for file, m in matches if m is not None]


def _checkpoints(files: Iterable[LogFile]) -> list[Checkpoint]:
    """The complete checkpoints. An empty file is a write that did not end."""
    checkpoints: list[Checkpoint] = []
    parts: dict[tuple[int, int], dict[int, LogFile]] = {}
    for file in files:
        if file.size == 0:
            continue
        single = _SINGLE_FILE.fullmatch(file.name) or _NAMED_BY_UUID.fullmatch(file.name)
        if single is not None:
            checkpoints.append(Checkpoint(int(single[1]), (file,)))
        elif (part := _PART.fullmatch(file.name)) is not None:
            version, ordinal, count = (int(number) for number in part.groups())
            parts.setdefault((version, count), {})[ordinal] = file
    checkpoints += [
        Checkpoint(version, tuple(files_by_ordinal[n] for n in sorted(files_by_ordinal)))
        for (version, count), files_by_ordinal in parts.items()
        if files_by_ordinal.keys() == set(range(1, count + 1))
    ]
    return sorted(checkpoints, key=lambda c: (c.version, c.files[0].path))
