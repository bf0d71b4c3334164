"""Leave out data files whose footers cannot be read, so that the other files are verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from whyscan.errors import CorruptFile
from whyscan.tables.parquet.snapshot import ParquetSnapshot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from whyscan.tables.snapshot import Files, RowGroups, Snapshot
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.zones import Zone


def damaged(snapshot: Snapshot, files: Files, at: Sequence[int]) -> dict[int, str]:
    """The positions of files with corrupt footers, and the reasons, by binary search."""
    try:
        snapshot.row_groups(files, pa.array(at, pa.int64()), (), ())
    except CorruptFile as error:
        if len(at) == 1:
            return {at[0]: error.message}
        middle = len(at) // 2
        first = damaged(snapshot, files, at[:middle])
        return {**first, **damaged(snapshot, files, at[middle:])}
    return {}


def without(snapshot: Snapshot, gone: Mapping[int, str]) -> Snapshot:
    """The snapshot without the footers of the files in `gone`; the positions of files stay.

    A listing of Parquet files has no other metadata: there the files themselves are left out, and
    the positions change.
    """
    if not gone:
        return snapshot
    if isinstance(snapshot, ParquetSnapshot):
        count = snapshot.objects.num_rows
        left = pa.array([at for at in range(count) if at not in gone], pa.int64())
        objects = snapshot.objects.take(left).combine_chunks()
        return ParquetSnapshot(snapshot.store, objects, snapshot.partitions.at(left))
    return cast("Snapshot", _Sparing(snapshot, gone))


class _Sparing:
    """A snapshot that does not open some footers."""

    def __init__(self, snapshot: Snapshot, gone: Collection[int]) -> None:
        self._snapshot = snapshot
        self._gone = gone

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def files(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None = None
    ) -> Files:
        return self._snapshot.files(columns, zone, manifests)

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
    ) -> RowGroups:
        left = [at for at in opened.to_pylist() if at not in self._gone]
        return self._snapshot.row_groups(files, pa.array(left, pa.int64()), columns, projection)
