"""The row groups of an Iceberg table's data files, their columns found by field id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct, field

from whyscan.pruning.interval import Interval, meet
from whyscan.tables.iceberg.defaults import default_value
from whyscan.tables.parquet.footers import read_footers
from whyscan.tables.parquet.metadata import Decoder
from whyscan.tables.parquet.metadata_columns import FILE_PATH
from whyscan.tables.parquet.statistics import Measured, measure
from whyscan.tables.storage.data_files import DataFiles
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.tables.iceberg.field_columns import IcebergFileColumns
    from whyscan.tables.iceberg.metadata_location import Places
    from whyscan.tables.parquet.footers import Footer
    from whyscan.tables.snapshot import Files, RowGroups
    from whyscan.tables.storage.data_files import Reached
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column, Path


class IcebergFooters(Struct, frozen=True):
    """The footers of a table's data files, below its present location only."""

    store: Store
    places: Places
    stored: IcebergFileColumns

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
    ) -> RowGroups:
        """The row groups of those files at `opened` that can be opened."""
        asked = [column for column in columns if column.path[0] != FILE_PATH[0]]
        data = DataFiles(self.store, files, opened, self.places.below)
        reached, found = data.read(lambda reached: self._measured(reached, asked, projection))
        at = pa.array(reached.at, pa.int64())
        return found.row_groups(at, files.containers, reached.unchecked)

    def _measured(
        self, reached: Reached, columns: Sequence[Column], projection: Sequence[Path] | None
    ) -> Measured:
        footers = read_footers(self.store, reached.paths, reached.sizes)
        watch = _Older(self.stored, columns)
        found = measure(watch.over(footers), columns, projection, self.stored.find)
        for column in columns:
            constant = watch.default(column, found.file)
            if constant is not None:
                told = found.statistics[column.path]
                found.statistics[column.path] = meet(told, constant)
                # Nobody wrote the default: counted as NULL it is none.
                del found.exact[column.path]
        return found


class _Older(Struct):
    """Passes footers on, and keeps which files are older than a column with a default."""

    stored: IcebergFileColumns
    columns: Sequence[Column]
    older: dict[Path, list[int]] = field(default_factory=dict)
    count: int = 0

    def over(self, footers: Iterator[Footer]) -> Iterator[Footer]:
        named = [c.path for c in self.columns if c.path in self.stored.leaves]
        watched = [path for path in named if self.stored.leaves[path].default is not None]
        decoder = Decoder()
        for footer in footers:
            for path in watched:
                if self.stored.takes_default(decoder.schema(footer.data), path):
                    self.older.setdefault(path, []).append(self.count)
            self.count += 1
            yield footer

    def default(self, column: Column, file: pa.Array) -> Interval | None:
        """A column's default in the row groups of older files, anything in the others."""
        older = self.older.get(column.path)
        if older is None:
            return None
        value = default_value(self.stored.leaves[column.path].default, column.type)
        if value is None:
            return None
        is_older = np.zeros(self.count, np.bool_)
        is_older[older] = True
        here = is_older[file.to_numpy()]
        point = pa.repeat(value, 1).take(pa.array(np.zeros(len(here), np.int64), mask=~here))
        # In a struct the default stands in rows that have the struct, and the others are NULL.
        null = pa.array(~here) if len(column.path) == 1 else True
        nan = pa.array(~here) if isinstance(column.type, FloatType) else False
        return Interval(column.type, point, point, null=null, nan=nan)
