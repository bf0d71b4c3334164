"""Counts the filters of one column while they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc
from msgspec import Struct, field

from whyscan.tables.snapshot import FilterCount

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from whyscan.tables.snapshot import FilterKind, RowGroups
    from whyscan.tree.nodes import Path


class FilterTally(Struct):
    """The filters of one column so far; `files` are the keys of the files that have one."""

    files: set[str] = field(default_factory=set)
    present: int = 0
    bytes: int = 0
    excluding: int = 0
    false_positives: float = 0.0

    def add(
        self, file: str, size: int, possible: npt.NDArray[np.bool_], false_positives: float = 0.0
    ) -> None:
        """Count one filter that was probed: `possible` flags the values that it has."""
        self.files.add(file)
        self.present += 1
        self.bytes += size
        self.excluding += not possible.any()
        self.false_positives += false_positives

    def counted(
        self, kind: FilterKind, column: Path, groups: RowGroups, at: pa.Array, *, read: bool = True
    ) -> FilterCount:
        """The count over the row groups at the positions `at`."""
        return FilterCount(
            kind,
            column,
            files=pc.count_distinct(groups.file.take(at)).as_py(),
            files_present=len(self.files),
            groups=len(at),
            present=self.present,
            bytes=self.bytes,
            read=read,
            excluding=self.excluding if read else 0,
            false_positives=self.false_positives,
        )
