"""A snapshot in parts, for more than one process: a part of a snapshot is a snapshot.

The parts hold each live file once, in the order of the whole: their files one after another are
the whole's. Schema, specs and version are the whole's too, so that one question means the same to
all of them. A part is small to pickle, and reads what it describes where it is asked:

| format | a part | whoever divides reads |
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
"""So many take a second or two, and some hundred megabytes, with every column's statistics."""


FETCHED_WHOLE = 1 << 24
"""Of a larger Delta checkpoint in a store its reader first fetches what describes the table.

To ask twice for a smaller one takes longer than to fetch it.
"""


@runtime_checkable
class Divisible(Protocol):
    """A snapshot that can be divided."""

    def parts(self, files_each: int) -> Sequence[Snapshot]:
        """At least one snapshot, of about so many files each."""
        ...


def parts(snapshot: Snapshot, files_each: int = FILES_EACH) -> Sequence[Snapshot]:
    """At least one part, of about so many files each; what cannot be divided is its only one.

    No part is smaller than a manifest or a commit.
    """
    if files_each < 1:
        raise UsageError(f"a part cannot hold {files_each} files")
    return snapshot.parts(files_each) if isinstance(snapshot, Divisible) else (snapshot,)
