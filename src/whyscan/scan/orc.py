"""Reads ORC data files in batches of rows."""

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
            self._source = pa.PythonFile(source) if isinstance(source, RangeFile) else source
            self._file = orc.ORCFile(self._source)
            self.columns = file_columns(self._file.schema)
        self._start = 0

    def units(self, ordinals: Sequence[int] | None) -> Iterator[ReadUnit]:
        """One unit, the whole file: PyArrow does not say how many rows a stripe has."""
        del ordinals
        yield ReadUnit(0, 0)

    def unit_bytes(self, unit: ReadUnit, leaves: Collection[int]) -> int:
        """None: the bytes are read when they are decoded."""
        del unit, leaves
        return 0

    def fetch(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Nothing to do: stripes are read when they are decoded."""

    def check_memory(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Nothing to do: batches are decoded one by one."""

    def pieces(self, unit: ReadUnit, leaves: Collection[int]) -> Iterator[Piece]:
        """The rows in batches."""
        from pyarrow import dataset

        chosen = [c for c in self.columns if any(c.leaves[0] <= i < c.leaves[1] for i in leaves)]
        start = unit.start
        if not chosen:
            yield Piece(0, self._file.nrows, {})
            return
        # Of equal rows a stripe of some kilobytes may hold a billion: batches are read, no stripes.
        fragment = dataset.OrcFileFormat().make_fragment(self._source)
        with errors_of_file(self._data):
            for batch in fragment.to_batches(
                columns=[c.name for c in chosen],
                batch_size=ROWS_AT_MOST,
                batch_readahead=0,
                use_threads=False,
            ):
                arrays = {c.leaves[0]: batch.column(c.name) for c in chosen}
                yield Piece(start, batch.num_rows, arrays)
                start += batch.num_rows

    def close(self) -> None:
        """Nothing to do: the file needs no closing."""
