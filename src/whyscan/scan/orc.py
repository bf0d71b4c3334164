"""Reads ORC data files, stripe by stripe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.scan.columns_of_file import file_columns
from whyscan.scan.ranges import RangeFile
from whyscan.scan.sources import ROWS_AT_MOST, Piece, ReadUnit, errors_of_file, open_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from whyscan.tables.file_columns import DataFile


class OrcSource:
    """An open ORC file."""

    def __init__(self, file: DataFile) -> None:
        from pyarrow import orc

        self._data = file
        with errors_of_file(file):
            source = open_bytes(file)
            self._file = orc.ORCFile(
                pa.PythonFile(source) if isinstance(source, RangeFile) else source
            )
            self.columns = file_columns(self._file.schema)
        self._start = 0

    def units(self, ordinals: Sequence[int] | None) -> Iterator[ReadUnit]:
        """One unit, the whole file: a stripe's number of rows is known only after reading it."""
        del ordinals
        yield ReadUnit(0, 0)

    def fetch(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Nothing to do: stripes are read when they are decoded."""

    def pieces(self, unit: ReadUnit, leaves: Collection[int]) -> Iterator[Piece]:
        """The rows, stripe by stripe."""
        chosen = [c for c in self.columns if any(c.leaves[0] <= i < c.leaves[1] for i in leaves)]
        start = unit.start
        if not chosen:
            yield Piece(0, self._file.nrows, {})
            return
        for stripe in range(self._file.nstripes):
            with errors_of_file(self._data):
                batch = self._file.read_stripe(stripe, columns=[c.name for c in chosen])
            for at in range(0, batch.num_rows, ROWS_AT_MOST):
                part = batch.slice(at, ROWS_AT_MOST)
                arrays = {c.leaves[0]: part.column(c.name) for c in chosen}
                yield Piece(start + at, part.num_rows, arrays)
            start += batch.num_rows

    def close(self) -> None:
        """Nothing to do: the file needs no closing."""
