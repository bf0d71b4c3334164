"""Every Delta table of the zoo opens, with the right rows, and no plan loses one of them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from support.value_predicates import complaints
from whyscan.errors import TableError
from whyscan.tables.delta.snapshot import open_delta
from whyscan.tables.storage.store import local_store
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import Column
from whyscan.tree.types import BinaryType, NullType, OtherType, StructType, TimestampType

ZOO = Path(__file__).parents[4] / "shared" / "zoo"
ROWS_AT_MOST = 20_000
VALUES_AT_MOST = 5

# The tables that are broken on purpose, and what the error must say.
BROKEN = {
    "delta/crc-malformed": "neither a commit nor a checkpoint",
    "delta/data-reader-absolute-paths-escaped-chars/delta": "no metaData action",
    "delta/deltalog-commit-info/delta": "schema cannot be read",
    "delta/deltalog-invalid-protocol-version/delta": "reader version 99",
    "delta/deltalog-state-reconstruction-from-checkpoint-missing-metadata/delta": "no metaData",
    "delta/deltalog-state-reconstruction-from-checkpoint-missing-protocol/delta": "no protocol",
    "delta/deltalog-state-reconstruction-without-metadata/delta": "no metaData action",
    "delta/deltalog-state-reconstruction-without-protocol/delta": "no protocol action",
    "delta/update-deleted-directory/delta": "schema cannot be read",
    "delta/versions-not-contiguous/delta": "commit 1 of the log is missing",
}
# Logs that do not describe their data, so that no reader of statistics can be right about it:
# the columns they lie about. In the first every data file is a copy of one, under invented
# statistics; in the second the files do not have the column whose bounds are recorded.
LYING = {
    "delta-explain/test-table-flat": {"name", "age", "country", "score"},
    "delta/parsed-stats": {"ts_col"},
}
# Without an `expected` folder beside them: live files, and the rows that the log records.
COUNTED = {
    "delta-explain/test-table": (6, 24),
    "delta-explain/test-table-empty": (0, 0),
    "delta-explain/test-table-flat": (6, 24),
    "delta/canonicalized-paths-normal-a/delta": (0, 0),
    "delta/canonicalized-paths-normal-b/delta": (0, 0),
    "delta/canonicalized-paths-special-a/delta": (0, 0),
    "delta/canonicalized-paths-special-b/delta": (0, 0),
    "delta/cdf-table-with-cdc-and-dvs": (2, 5),
    "delta/compacted-log-files-table": (2, 5),
    "delta/parsed-stats": (6, 600),
    "delta/table-with-dv-small": (1, 8),
    "delta/v2-checkpoints-json-with-sidecars": (101, 1233),
    "delta/v2-checkpoints-parquet-with-sidecars": (101, 1233),
    "delta/with-short-dv": (2, 7),
}


def tables() -> list[str]:
    if not (ZOO / "tables.json").exists():
        return []
    return [t for t in json.loads((ZOO / "tables.json").read_text()) if t.startswith("delta")]


every_table = pytest.mark.parametrize(
    "table",
    tables() or [pytest.param("", marks=pytest.mark.skip(reason=f"there is no zoo at {ZOO}"))],
)


@every_table
def test_a_table_opens_with_its_live_rows_or_says_what_is_wrong(table):
    if table in BROKEN:
        with pytest.raises(TableError, match=BROKEN[table]):
            open_delta(local_store(str(ZOO / table)))
        return

    snapshot = open_delta(local_store(str(ZOO / table)))
    files = snapshot.files([])

    expected = ZOO / table.removesuffix("/delta") / "expected"
    if table in COUNTED:
        assert (files.count, sum(files.containers.rows.to_pylist())) == COUNTED[table]
    elif table.endswith("/delta") and expected.is_dir():
        assert live_rows(table, files) == sum(
            pq.read_metadata(part).num_rows for part in expected.glob("*.parquet")
        )


@every_table
def test_no_predicate_of_a_tables_own_values_loses_a_row_or_claims_too_much(table):
    if table in BROKEN:
        pytest.skip("broken on purpose")
    snapshot = open_delta(local_store(str(ZOO / table)))
    columns = [
        Column(path, column.type)
        for path, column in snapshot.state.schema.columns.items()
        if not isinstance(column.type, OtherType | StructType | NullType | BinaryType)
    ]
    files = snapshot.files(columns)
    data = [read(ZOO / table, path) for path in files.paths.to_pylist()]
    partitioned = {p.column.path: p for p in snapshot.partitions}

    wrong = defaultdict(list)
    for column in columns:
        values = [
            values_of(column, snapshot, files, at, rows, partitioned)
            for at, rows in enumerate(data)
        ]
        wrong[column.path[0]] += complaints(column, files.containers, values, VALUES_AT_MOST)

    assert {name for name, messages in wrong.items() if messages} == LYING.get(table, set()), wrong


@every_table
def test_the_recorded_rows_are_those_of_the_data_files(table):
    if table in BROKEN:
        pytest.skip("broken on purpose")
    files = open_delta(local_store(str(ZOO / table))).files([])

    wrong = {
        path: (recorded, rows)
        for path, recorded in zip(files.paths.to_pylist(), files.rows.to_pylist(), strict=True)
        if (rows := rows_of(ZOO / table, path)) not in {None, recorded} and recorded is not None
    }

    assert bool(wrong) is (table == "delta-explain/test-table-flat"), wrong


def live_rows(table, files):
    physical = [rows_of(ZOO / table, path) for path in files.paths.to_pylist()]
    return sum(rows - gone for rows, gone in zip(physical, files.deleted.to_pylist(), strict=True))


def rows_of(root, path):
    """A data file's rows by its footer, None where the zoo does not have it."""
    file = root / path
    return pq.read_metadata(file).num_rows if file.is_file() else None


def read(root, path):
    """A data file's rows, None where the zoo does not have it."""
    file = root / path
    return pq.read_table(file, partitioning=None) if file.is_file() else None


def values_of(column, snapshot, files, at, rows, partitioned):
    """A file's values of a column as the evaluator has them, None where they are unknown."""
    if rows is None or files.containers.rows[at].as_py() == 0:
        return None
    if column.path in partitioned:
        return partition_value(column, files, at, rows.num_rows)
    physical = snapshot.state.schema.columns[column.path].physical
    if physical[0] not in rows.column_names:
        return pa.nulls(rows.num_rows, arrow_type(column.type))
    values = rows.column(physical[0]).combine_chunks().slice(0, ROWS_AT_MOST)
    for name in physical[1:]:
        if name not in [field.name for field in values.type]:
            return pa.nulls(len(values), arrow_type(column.type))
        values = pc.struct_field(values, name)
    if isinstance(column.type, TimestampType) and pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", values.type.tz), safe=False).cast(pa.int64())
    return values.cast(arrow_type(column.type))


def partition_value(column, files, at, count):
    shown = files.partition.column(column.path[0]).combine_chunks()
    return pa.repeat(shown.cast(arrow_type(column.type))[at], count)
