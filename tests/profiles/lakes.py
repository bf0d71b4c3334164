"""The tables of the matrix: the same 24 files in each format, written by the format's own writers.

File m holds the values around m in every column, in two row groups. So what an engine reads tells
what it used of a predicate, and two engines that use the same read the same.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FILES = 24
PARTITIONS = ("a", "b", "c", "d")
ROWS_IN_A_GROUP = 8
GROUPS_IN_A_FILE = 2
ROWS = ROWS_IN_A_GROUP * GROUPS_IN_A_FILE
START = dt.datetime(2023, 9, 1, tzinfo=dt.UTC)
DAYS_IN_A_FILE = 10

SCHEMA = pa.schema(
    {
        "p": pa.string(),
        "q": pa.int32(),
        "i": pa.int64(),
        "n": pa.int32(),
        "v": pa.int64(),
        "s": pa.string(),
        "f": pa.float64(),
        "x": pa.decimal128(10, 2),
        "d": pa.date32(),
        "ts": pa.timestamp("us", "UTC"),
        "w": pa.timestamp("us"),
        "ok": pa.bool_(),
        "z": pa.string(),
        "g": pa.string(),
        "st": pa.struct({"a": pa.int64(), "b": pa.string()}),
    }
)


def rows_of(number: int) -> list[dict[str, object]]:
    """The rows of one file, in the order of `i`.

    `n` is NULL in the whole of two files in six, and in every other row of two more. `v` is far
    above `i` in odd files and far below it in even ones. `z` is NULL in the first half. `g` has
    one value in each row group.
    """
    return [_row(number, number * 100 + at * 6, at) for at in range(ROWS)]


def _row(number: int, i: int, at: int) -> dict[str, object]:
    moment = START + dt.timedelta(days=number * DAYS_IN_A_FILE, hours=at * 7)
    has_n = number % 6 < 2 or (number % 6 < 4 and at % 2 == 0)
    return {
        "p": PARTITIONS[number % 4],
        "q": number // 4,
        "i": i,
        "n": number * 10 + at // 4 if has_n else None,
        "v": i + (5_000 if number % 2 else -5_000),
        "s": f"k{number:02d}-{at:02d}",
        "f": number + at / 16,
        "x": Decimal(i).scaleb(-2),
        "d": moment.date(),
        "ts": moment,
        "w": moment.replace(tzinfo=None),
        "ok": (number % 3 == 1) if number % 3 < 2 else at % 2 == 0,
        "z": None if number < FILES // 2 else f"z{number % 3}",
        "g": f"g{number:02d}-{at // ROWS_IN_A_GROUP}",
        "st": {"a": i, "b": f"b{number:02d}"},
    }


def _file(number: int) -> pa.Table:
    return pa.Table.from_pylist(rows_of(number), SCHEMA)


def write_parquet(folder: Path) -> Path:
    """Files without partitions, by PyArrow.

    They have no dictionaries: whyscan reads none, and Spark would leave out row groups by them.
    """
    folder.mkdir(parents=True)
    for number in range(FILES):
        pq.write_table(
            _file(number),
            folder / f"{number:02d}.parquet",
            row_group_size=ROWS_IN_A_GROUP,
            use_dictionary=False,
        )
    return folder


def write_hive(folder: Path) -> Path:
    """Folders `p=…/q=…` by PyArrow, without dictionaries."""
    for number in range(FILES):
        table = _file(number)
        place = folder / f"p={table['p'][0]}" / f"q={table['q'][0]}"
        place.mkdir(parents=True)
        pq.write_table(
            table.drop_columns(["p", "q"]),
            place / f"{number:02d}.parquet",
            row_group_size=ROWS_IN_A_GROUP,
            use_dictionary=False,
        )
    return folder


def write_delta(folder: Path) -> Path:
    """A table partitioned by p and q, by delta-rs: four files a commit."""
    from deltalake import ColumnProperties, WriterProperties, write_deltalake

    properties = WriterProperties(
        max_row_group_size=ROWS_IN_A_GROUP,
        default_column_properties=ColumnProperties(dictionary_enabled=False),
    )
    for commit in range(FILES // 4):
        write_deltalake(
            folder,
            _commit(commit),
            mode="append",
            partition_by=["p", "q"],
            writer_properties=properties,
        )
    return folder


def _commit(number: int) -> pa.Table:
    return pa.concat_tables(_file(number * 4 + at) for at in range(4))


def _write_iceberg(folder: Path, transforms: Mapping[str, object]) -> Path:
    """A table by PyIceberg, with a transform by column: each commit writes one manifest."""
    from pyiceberg.catalog.sql import SqlCatalog

    folder.mkdir(parents=True)
    catalog = SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")
    catalog.create_namespace("n")
    properties = {
        "write.parquet.row-group-limit": str(ROWS_IN_A_GROUP),
        "write.metadata.metrics.default": "full",
    }
    table = catalog.create_table("n.t", SCHEMA, properties=properties)
    with table.update_spec() as spec:
        for column, transform in transforms.items():
            spec.add_field(column, transform)
    for commit in range(FILES // 4):
        table.append(_commit(commit))
    return folder / "n" / "t"


def write_iceberg(folder: Path) -> Path:
    """A table partitioned by p and q."""
    from pyiceberg.transforms import IdentityTransform

    return _write_iceberg(folder, {"p": IdentityTransform(), "q": IdentityTransform()})


def write_transformed(folder: Path) -> Path:
    """A table partitioned by transforms."""
    from pyiceberg.transforms import BucketTransform, MonthTransform, TruncateTransform

    return _write_iceberg(
        folder, {"ts": MonthTransform(), "s": TruncateTransform(3), "q": BucketTransform(4)}
    )


LAKES: Mapping[str, Callable[[Path], Path]] = {
    "parquet": write_parquet,
    "hive": write_hive,
    "delta": write_delta,
    "iceberg": write_iceberg,
    "iceberg-transforms": write_transformed,
}
"""By name: writes the table into a folder that is not there, and returns the table's address."""
