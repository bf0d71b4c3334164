"""The generated tables: Delta by delta-rs, Iceberg by PyIceberg, Hive-style Parquet by Arrow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from support.environments import digest, once
from tpc.environment import FOLDER, LOCK, PROGRAMS, generated
from tpc.layouts import LAYOUTS, ByQuarter, ByValue, InPieces, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tpc.layouts import Layout

SCALE = "0.03"
QUARTER = "quarter"
DAY_ZERO = 2415021
"""The key of 1 January 1900 among the dates of TPC-DS: they are numbered by day."""
DAYS_TO_1970 = 25567
GROUP_ROWS = 3_000
"""Few rows a row group where the writer lets one choose, so that row groups can be left out."""


def lake(benchmark: str, number: int) -> Path:
    """One of three folders of tables; each table has another format in each."""
    made_by = digest(LOCK, *(PROGRAMS / name for name in ("generate.py", "layouts.py", "lakes.py")))
    place = FOLDER / f"{benchmark}-{number}-{made_by}"
    with once(place) as missing:
        if missing:
            source = generated(SCALE) / benchmark
            for at, (name, layout) in enumerate(LAYOUTS[benchmark].items()):
                WRITERS[format_of(number, at)](
                    _read(source / f"{name}.parquet"), layout, place / name
                )
    return place


def _read(file: Path) -> pa.Table:
    """Without string views and field ids, which not every writer takes."""
    table = pq.read_table(file)
    plain = pa.schema(
        [(f.name, pa.string() if pa.types.is_string_view(f.type) else f.type) for f in table.schema]
    )
    return table.cast(plain)


def _with_quarter(table: pa.Table, column: str) -> pa.Table:
    """A text as people name them: 1998-Q3; NULL where the date is."""
    dates = table[column]
    if pa.types.is_integer(dates.type):
        days = pc.subtract(dates, DAY_ZERO + DAYS_TO_1970)
        dates = days.cast(pa.int32()).cast(pa.date32())
    quarter = pc.binary_join_element_wise(
        pc.year(dates).cast(pa.string()), pc.quarter(dates).cast(pa.string()), "-Q"
    )
    return table.append_column(QUARTER, quarter)


def _pieces(table: pa.Table, count: int) -> Iterator[pa.Table]:
    table = table.sort_by(table.column_names[0])
    rows = -(-len(table) // count)
    return (table.slice(start, rows) for start in range(0, len(table), rows))


def _write_delta(table: pa.Table, layout: Layout, place: Path) -> None:
    from deltalake import WriterProperties, write_deltalake

    write = partial(
        write_deltalake,
        place,
        mode="append",
        writer_properties=WriterProperties(max_row_group_size=GROUP_ROWS),
    )
    match layout:
        case ByQuarter(column):
            write(_with_quarter(table, column), partition_by=[QUARTER])
        case ByValue(column):
            write(table, partition_by=[column])
        case InPieces(count):
            for piece in _pieces(table, count):
                write(piece)


def _write_hive(table: pa.Table, layout: Layout, place: Path) -> None:
    match layout:
        case ByQuarter(column):
            table = _with_quarter(table, column)
            keys = [QUARTER]
        case ByValue(column):
            keys = [column]
        case InPieces(count):
            place.mkdir(parents=True, exist_ok=True)
            for number, piece in enumerate(_pieces(table, count)):
                file = place / f"part-{number:05}.parquet"
                pq.write_table(piece, file, row_group_size=GROUP_ROWS)
            return
    kinds = pa.schema([table.schema.field(key) for key in keys])
    ds.write_dataset(
        table,
        place,
        format="parquet",
        partitioning=ds.partitioning(kinds, flavor="hive"),
        existing_data_behavior="delete_matching",
        max_rows_per_group=GROUP_ROWS,
    )


def _write_iceberg(table: pa.Table, layout: Layout, place: Path) -> None:
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("lake", warehouse=place.parent.as_uri())
    catalog.create_namespace("tpc")
    made = catalog.create_table("tpc.t", table.schema, location=place.as_uri())
    match layout:
        case ByQuarter(column) if pa.types.is_date(table.schema.field(column).type):
            with made.update_spec() as spec:
                spec.add_field(column, "month")
            made.append(table)
        case ByQuarter(column):
            _append_pieces(made, table.sort_by(column), 20)
        case ByValue(column):
            with made.update_spec() as spec:
                spec.add_identity(column)
            made.append(table)
        case InPieces(count):
            _append_pieces(made, table.sort_by(table.column_names[0]), count)


def _append_pieces(made: object, table: pa.Table, count: int) -> None:
    """PyIceberg cuts what it writes by its size in memory."""
    size = str(max(table.nbytes // count, 1))
    with made.transaction() as change:
        change.set_properties({"write.target-file-size-bytes": size})
        change.append(table)


WRITERS: dict[str, Callable[[pa.Table, Layout, Path], None]] = {
    "delta": _write_delta,
    "iceberg": _write_iceberg,
    "hive": _write_hive,
}
