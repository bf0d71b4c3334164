"""The tables of TPC-DS as metadata alone: Delta tables of as many files each as wanted.

A file's bounds are those of a slice of the generated rows, in the order of the table's layout.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import delta_tables
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tpc.environment import generated
from tpc.lakes import SCALE
from tpc.layouts import LAYOUTS, InPieces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = 1_000
BYTES = 100_000


def texts() -> dict[str, str]:
    """The 99 queries, in the words of DuckDB."""
    texts: dict[str, dict[str, str]] = json.loads((generated(SCALE) / "texts.json").read_text())
    return texts["tpcds"]


def many_files(folder: Path, count: int) -> dict[str, Path]:
    """Where each table of so many files is, made on first use."""
    root = folder / f"tpcds-{count}"
    for name, layout in LAYOUTS["tpcds"].items():
        log = root / name / "_delta_log"
        if not (log / delta_tables.HINT).exists():
            rows = pq.read_table(generated(SCALE) / "tpcds" / f"{name}.parquet")
            key = rows.column_names[0] if isinstance(layout, InPieces) else layout.column
            _write(log, rows.sort_by(key), count)
    return {name: root / name for name in LAYOUTS["tpcds"]}


def _write(log: Path, rows: pa.Table, count: int) -> None:
    fields = {field.name: _delta_type(field.type) for field in rows.schema}
    paths = [f"part-{number:07}.parquet" for number in range(count)]
    files = delta_tables.adds(paths, [[]] * count, np.full(count, BYTES), list(_stats(rows, count)))
    delta_tables.write(log, fields, [], files)


def _stats(rows: pa.Table, count: int) -> Iterator[str]:
    """A slice of the rows a file; rows of a small table stand in several files."""
    at = np.arange(max(len(rows), count))
    spread = rows.take(pa.array(at * len(rows) // len(at)))
    spread = spread.append_column("file", pa.array(at * count // len(at)))
    names = rows.column_names
    ends = [(name, end) for name in names for end in ("min", "max")]
    statistics = spread.group_by("file").aggregate(ends).sort_by("file").to_pylist()
    for slice_ in statistics:
        bounds = {
            end: {
                name: _json(value)
                for name in names
                if (value := slice_[f"{name}_{end}"]) is not None
            }
            for end in ("min", "max")
        }
        yield json.dumps(
            {
                "numRecords": ROWS,
                "minValues": bounds["min"],
                "maxValues": bounds["max"],
                "nullCount": {name: 0 if name in bounds["min"] else ROWS for name in names},
            }
        )


def _json(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, int | float | str) else str(value)


def _delta_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    named = {pa.int64(): "long", pa.int32(): "integer", pa.string(): "string", pa.date32(): "date"}
    return named[kind]
