"""Small Parquet files on disk, read many at a time by Arrow's scanner.

To open a small file one by one takes longer than to decode it. So files with one schema of which
nothing is deleted are scanned as one dataset of Arrow.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
from msgspec import Struct
from pyarrow.fs import LocalFileSystem

from whyscan.scan.columns_of_file import file_columns
from whyscan.scan.sources import ROWS_AT_MOST
from whyscan.tables.parquet.paged_files import PARQUET_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from whyscan.scan.columns_of_file import FileColumn
    from whyscan.scan.tasks import Task
    from whyscan.tables.file_columns import DataFile

_SMALL = 1 << 23
"""The most bytes of a small file. It has at most one batch of rows: Arrow decodes it whole."""
_AHEAD = 4
"""So many files are decoded in advance."""

_ARROWS_OWN = ("__fragment_index", "__batch_index", "__last_in_fragment", "__filename")
"""Columns that Arrow adds to each scan."""

_FORMAT = ds.ParquetFileFormat(**PARQUET_OPTIONS)
_DISK = LocalFileSystem()


def is_small(file: DataFile, task: Task) -> bool:
    """Whether a file is read here: Parquet on disk, without deletes, and not page by page."""
    return (
        file.store.folder is not None
        and file.format == "parquet"
        and not file.deletes
        and file.size is not None
        and file.size <= _SMALL
        and (task.groups is None or all(each.rows is None for each in task.groups.values()))
    )


class SmallFile(Struct, frozen=True, eq=False):
    """A small file, opened: the one at `place` of a portion, with the columns of `schema`."""

    place: int
    file: DataFile
    task: Task
    fragment: ds.ParquetFileFragment
    schema: pa.Schema

    @classmethod
    def open(cls, place: int, file: DataFile, task: Task) -> SmallFile | None:
        """Open a file.

        None if Arrow cannot open it, if it has many rows, or if two columns would have one name.
        """
        path = f"{file.store.folder}/{file.path}"
        if not os.path.isfile(path):  # noqa: PTH113 - many times faster than a Path
            return None
        try:
            fragment = _FORMAT.make_fragment(path, _DISK, row_groups=task.ordinals)
            schema = fragment.physical_schema.remove_metadata()
            footer = fragment.metadata
            rows = sum(footer.row_group(i).num_rows for i in range(footer.num_row_groups))
        except (pa.ArrowException, OSError):
            return None
        names = (*schema.names, *_ARROWS_OWN)
        if rows > ROWS_AT_MOST or len(set(names)) < len(names):
            return None
        return cls(place, file, task, fragment, schema)

    def joins(self, run: Sequence[SmallFile]) -> bool:
        """Whether a file can be scanned with others.

        They have the same columns and are checked for the same conditions. The file is none of
        them: two partitions may be in one folder, and Arrow tells files apart by their paths.
        """
        first = run[0]
        return (
            self.schema.equals(first.schema, check_metadata=True)
            and self.file.constants.keys() == first.file.constants.keys()
            and self.task.open_anywhere() == first.task.open_anywhere()
            and all(self.fragment.path != other.fragment.path for other in run)
        )

    @property
    def columns(self) -> tuple[FileColumn, ...]:
        return file_columns(self.schema)

    def count_bytes(self, leaves: Collection[int]) -> None:
        """Count the bytes of the column chunks that are read."""
        footer, ordinals = self.fragment.metadata, self.task.ordinals
        groups = map(
            footer.row_group, range(footer.num_row_groups) if ordinals is None else ordinals
        )
        size = sum(group.column(leaf).total_compressed_size for group in groups for leaf in leaves)
        self.file.store.meter.count(self.file.path, size)


def batches(
    files: Sequence[SmallFile], columns: Sequence[str]
) -> Iterator[tuple[SmallFile, pa.RecordBatch]]:
    """The rows of files with one schema, each batch with the file that it is from."""
    by_path = {each.fragment.path: each for each in files}
    fragments = [each.fragment for each in files]
    dataset = ds.FileSystemDataset(fragments, files[0].schema, _FORMAT, _DISK)
    scanner = dataset.scanner(
        columns=list(columns),
        batch_size=ROWS_AT_MOST,
        batch_readahead=_AHEAD,
        fragment_readahead=_AHEAD,
    )
    for tagged in scanner.scan_batches():
        yield by_path[tagged.fragment.path], tagged.record_batch
