"""Divides a snapshot into parts, for more than one process. A part of a snapshot is a snapshot.

Each live file is in exactly one part, and the files of all parts in order are the files of the
snapshot. Schema, specs and version of a part are those of the snapshot, so a query means the same
in every part. A part is small to pickle; the process that gets it reads its files:

| format | a part | what is read to divide |
|---|---|---|
| Delta | a slice of the checkpoint, or some commits, less what later commits hide | its footers |
| Iceberg | some manifests, and all manifests of deletes | the manifest list |
| Hive, Parquet | a slice of the listing | two footers, for the schema |

What opens a store (keys among it) is in the pickle. It goes to executors, and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from whyscan.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tables.snapshot import Snapshot

FILES_EACH = 100_000
"""The statistics of this many files take about two seconds and some hundred megabytes."""


FETCHED_WHOLE = 1 << 24
"""A Delta checkpoint in a store of up to this many bytes is fetched at once.

Of a larger one the reader first fetches the columns that describe the table. For a smaller one two
requests take longer than to fetch it all.
"""


@runtime_checkable
class Divisible(Protocol):
    """A snapshot that can be divided."""

    def parts(self, files_each: int) -> Sequence[Snapshot]:
        """At least one snapshot, each with about `files_each` files."""
        ...


def parts(snapshot: Snapshot, files_each: int = FILES_EACH) -> Sequence[Snapshot]:
    """At least one part, each with about `files_each` files; an indivisible snapshot is one part.

    No part is smaller than a manifest or a commit.
    """
    if files_each < 1:
        raise UsageError(f"a part cannot hold {files_each} files")
    return snapshot.parts(files_each) if isinstance(snapshot, Divisible) else (snapshot,)
