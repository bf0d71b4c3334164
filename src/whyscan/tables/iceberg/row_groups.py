"""The row groups of an Iceberg table's data files, whose columns are looked up by field id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct, field

from whyscan.pruning.interval import Interval, meet
from whyscan.tables.iceberg.defaults import default_value
from whyscan.tables.parquet.data_files import DataFiles
from whyscan.tables.parquet.metadata import Decoder
from whyscan.tables.parquet.metadata_columns import FILE_PATH
from whyscan.tables.parquet.statistics import FooterStatistics, read_statistics
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.tables.iceberg.field_columns import IcebergFileColumns
    from whyscan.tables.iceberg.metadata_location import Places
    from whyscan.tables.parquet.footers import Footer
    from whyscan.tables.snapshot import Files, RowGroups
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column, Path


class IcebergFooters(Struct, frozen=True):
    """Reads the footers of a table's data files, only below its present location."""

    store: Store
    places: Places
    file_columns: IcebergFileColumns

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,
    ) -> RowGroups:
        """The row groups of the files at the positions `opened`, except for files out of reach."""
        data_columns = [column for column in columns if column.path[0] != FILE_PATH[0]]
        data = DataFiles(self.store, files, opened, self.places.below)
        return data.row_groups(
            lambda footers: self._measured(
                footers, data_columns, projection, keep_footers=keep_footers
            )
        )

    def _measured(
        self,
        footers: Iterator[Footer],
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool,
    ) -> FooterStatistics:
        watch = _Older(self.file_columns, columns)
        measured = read_statistics(
            watch.over(footers),
            columns,
            projection,
            self.file_columns.find,
            keep_footers=keep_footers,
        )
        for column in columns:
            constant = watch.default(column, measured.file)
            if constant is not None:
                interval = measured.statistics[column.path]
                measured.statistics[column.path] = meet(interval, constant)
                # The file does not contain the default: its NULL count is not the column's.
                del measured.exact[column.path]
        return measured


class _Older(Struct):
    """Passes footers on, and records the files that are older than a column with a default."""

    file_columns: IcebergFileColumns
    columns: Sequence[Column]
    older: dict[Path, list[int]] = field(default_factory=dict)
    count: int = 0

    def over(self, footers: Iterator[Footer]) -> Iterator[Footer]:
        named = [c.path for c in self.columns if c.path in self.file_columns.leaves]
        watched = [path for path in named if self.file_columns.leaves[path].default is not None]
        decoder = Decoder()
        for footer in footers:
            for path in watched:
                if self.file_columns.takes_default(decoder.schema(footer.data), path):
                    self.older.setdefault(path, []).append(self.count)
            self.count += 1
            yield footer

    def default(self, column: Column, file: pa.Array) -> Interval | None:
        """Return the interval of a column per row group, None if no file is older than the column.

        The column has its default value in files that are older than it, and may have any value in
        others.
        """
        older = self.older.get(column.path)
        if older is None:
            return None
        value = default_value(self.file_columns.leaves[column.path].default, column.type)
        if value is None:
            return None
        is_older = np.zeros(self.count, np.bool_)
        is_older[older] = True
        in_older_file = is_older[file.to_numpy()]
        point = pa.repeat(value, 1).take(
            pa.array(np.zeros(len(in_older_file), np.int64), mask=~in_older_file)
        )
        # A member of a struct is the default only in rows whose struct is not NULL.
        null = pa.array(~in_older_file) if len(column.path) == 1 else True
        nan = pa.array(~in_older_file) if isinstance(column.type, FloatType) else False
        return Interval(column.type, point, point, null=null, nan=nan)
