"""The zoo's tables as delta-rs and PyIceberg read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltalake import DeltaTable
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import StaticTable

import whyscan

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from pyiceberg.io import InputFile


def by_delta_rs(folder: Path) -> pa.Table:
    return DeltaTable(folder).to_pyarrow_table()


class Moved(PyArrowFileIO):
    """Files of a table that was written elsewhere, where they are now."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def new_input(self, location: str) -> InputFile:
        for part in ("metadata", "data"):
            _, separator, below = location.rpartition(f"/{part}/")
            if separator:
                return super().new_input(str(self.folder / part / below))
        raise ValueError(location)


def by_pyiceberg(folder: Path) -> pa.Table:
    """By the metadata file that whyscan opens."""
    path = folder / whyscan.open(str(folder)).snapshot.metadata.path
    metadata = FromInputFile.table_metadata(PyArrowFileIO().new_input(str(path)))
    there = StaticTable(("zoo",), metadata, str(path), Moved(folder), None)
    return there.scan().to_arrow()
