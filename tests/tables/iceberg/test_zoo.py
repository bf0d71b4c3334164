"""Every Iceberg table of the zoo: it opens with its live files, and no predicate loses a row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from support.value_predicates import complaints
from whyscan.tables.iceberg.opening import open_iceberg
from whyscan.tables.parquet.footers import read_footers
from whyscan.tables.parquet.metadata import Decoder
from whyscan.tables.storage.store import local_store
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import Column
from whyscan.tree.types import NullType, OtherType, StructType, UuidType

if TYPE_CHECKING:
    from whyscan.tables.parquet.schemas import FileSchema

ZOO = Path(__file__).parents[4] / "shared" / "zoo" / "iceberg"
ROWS_AT_MOST = 2000

LIVE = {
    "add_columns_with_defaults_in_struct__default.db__add_columns_with_defaults_in_struct": (2, 2),
    "equality_delete_cross_partition__warehouse__ns__t": (2, 4),
    "equality_delete_extra_column__warehouse__ns__t": (1, 3),
    "hive_partitioned_table": (6, 6),
    "iceberg__lineitem_iceberg": (1, 51_793),
    "iceberg__lineitem_iceberg_gz": (1, 111_968),
    "iceberg__lineitem_iceberg_gz_no_hint": (1, 111_968),
    "iceberg__lineitem_iceberg_no_hint": (1, 51_793),
    "is_null_is_not_null": (3, 8),
    "map_stats__default.db__map_stats": (2, 2),
    "name_mapping__warehouse_1__mydb__t1": (1, 10_000),
    "partition_bigint": (2, 2),
    "partition_binary": (2, 2),
    "partition_decimal_smallint": (2, 2),
    "partition_double": (2, 2),
    "partition_fixed_length_binary__default.db__partition_fixed_length_binary": (2, 2),
    "partition_float": (2, 2),
    "partition_integer": (2, 2),
    "partition_time__default.db__partition_time": (2, 2),
    "partition_timestamptz__default.db__partition_timestamptz": (2, 2),
    "timestamptz_ns": (0, 0),
}
HIDDEN = {
    "equality_delete_cross_partition__warehouse__ns__t": [None, 0],
    "equality_delete_extra_column__warehouse__ns__t": [None],
}
table_names = [path.name for path in sorted(ZOO.iterdir())] if ZOO.is_dir() else []
skipped = pytest.param("", marks=pytest.mark.skip(reason=f"there is no zoo at {ZOO}"))
every_table = pytest.mark.parametrize("name", table_names or [skipped])


def opened(name):
    return open_iceberg(local_store(str(ZOO / name)))


@every_table
def test_a_table_opens_with_its_live_files_and_rows(name):
    files = opened(name).files([])
    assert (files.count, sum(files.rows.to_pylist())) == LIVE[name]
    hidden = None if files.maybe_deleted is None else files.maybe_deleted.to_pylist()
    assert hidden == HIDDEN.get(name)


@every_table
def test_every_data_file_is_found_and_has_the_recorded_rows(name):
    snapshot = opened(name)
    files = snapshot.files([])
    everything = pa.array(np.arange(files.count))
    groups = snapshot.row_groups(files, everything, [], None)
    counted = np.bincount(
        groups.file.to_numpy(), groups.containers.rows.to_numpy(), minlength=files.count
    )
    assert groups.unchecked == ()
    assert counted.tolist() == files.rows.to_pylist()


@every_table
def test_no_predicate_of_its_own_values_loses_a_row_or_claims_too_much(name):
    snapshot = opened(name)
    columns = [
        Column(leaf.path, leaf.type)
        for leaf in snapshot.at.schema.leaves.values()
        if not isinstance(leaf.type, OtherType | StructType | NullType | UuidType)
    ]
    files = snapshot.files(columns)
    tables = [data(snapshot, path) for path in files.paths.to_pylist()]
    groups = snapshot.row_groups(files, pa.array(np.arange(files.count)), columns, None)
    where = groups.owners.to_pylist()

    wrong = []
    for column in columns:
        values = [values_of(column, snapshot, table, i, files) for i, table in enumerate(tables)]
        wrong += complaints(column, files.containers, values)
        if all(file.parquet.num_row_groups == 1 for file in tables):
            wrong += complaints(column, groups.containers, [values[i] for i in where])
    assert wrong == []


@dataclass(frozen=True)
class DataFile:
    """A data file as PyArrow reads it, and its schema as whyscan does."""

    parquet: pq.ParquetFile
    schema: FileSchema


def data(snapshot, recorded):
    path = snapshot.opened.places.below(recorded)
    file = pq.ParquetFile(ZOO / snapshot.uri / path)
    size = (ZOO / snapshot.uri / path).stat().st_size
    footer = next(read_footers(snapshot.store, [path], [size]))
    return DataFile(file, Decoder().schema(footer.data))


def values_of(column, snapshot, file, at, files):
    """A file's values of a column, None where neither the file nor its partition has it."""
    node = snapshot._file_columns.find(file.schema, column.path)
    rows = file.parquet.metadata.num_rows
    if node is None:
        return pa.nulls(rows, arrow_type(column.type))
    if node.leaf is None:
        interval = files.containers.partition.get(column.path)
        return (
            None
            if interval is None or interval.lower is None
            else pa.repeat(interval.lower[at], rows)
        )
    name = file.parquet.schema.column(node.leaf.index).path
    values = file.parquet.read(columns=[name]).slice(0, ROWS_AT_MOST).column(0).combine_chunks()
    while pa.types.is_struct(values.type):
        values = pc.struct_field(values, values.type.field(0).name)
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp(column.type.unit.value, values.type.tz)).cast(pa.int64())
    return values.cast(arrow_type(column.type))
