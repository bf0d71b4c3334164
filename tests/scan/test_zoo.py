"""Every table of the zoo is read with the rows that its makers say it has."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake.exceptions import DeltaError
from pyiceberg.exceptions import ResolveError

import whyscan
from scan.same_rows import difference
from scan.zoo_peers import by_delta_rs, by_pyiceberg
from whyscan.errors import TableError

pytestmark = pytest.mark.xdist_group("scan of the zoo")

ZOO = Path(__file__).parents[3] / "shared" / "zoo"
every = json.loads((ZOO / "tables.json").read_text()) if (ZOO / "tables.json").exists() else []
skipped = pytest.param("", marks=pytest.mark.skip(reason=f"there is no zoo at {ZOO}"))

# Their log names data files that the zoo does not have.
WITHOUT_DATA = {
    "delta/app-txn-with-last-updated",
    "delta/checkpoint/delta",
    "delta/delete-re-add-same-file-different-transactions/delta",
    "delta/log-replay-special-characters-b/delta",
    "delta/with_checkpoint_no_last_checkpoint",
}
# Rows after deletes; without one every recorded row is live.
AFTER_DELETES = {
    "iceberg/equality_delete_cross_partition__warehouse__ns__t": 3,
    "iceberg/equality_delete_extra_column__warehouse__ns__t": 2,
}


# Logs that do not describe their data: see tests/tables/delta/test_zoo.py.
LYING = {"delta-explain/test-table-flat", "delta/parsed-stats"}
# Timestamps in partition values were written in this zone, and do not say so.
ZONES = {"delta/data-reader-partition-values/delta": "America/Los_Angeles"}
EVERY = 5
"""Of so many tables one is asked more than once."""

# delta-rs opens tables of reader version 2, which map their columns, and looks for the logical
# names in the files: every value is NULL. Spark, which wrote them, says what some of them hold: see
# `expected_of`.
READ_AS_NULL = {
    "delta/cdf-column-mapping-id-mode",
    "delta/cdf-column-mapping-name-mode",
    "delta/data-skipping-basic-stats-all-types-columnmapping-id/delta",
    "delta/data-skipping-basic-stats-all-types-columnmapping-name/delta",
    "delta/table-with-columnmapping-mode-id/delta",
    "delta/table-with-columnmapping-mode-name/delta",
}
# What their authors have not built, or what their own errors are.
CANNOT = (
    "not yet supported by the deltalake reader|PyIceberg does not yet support equality deletes|"
    "is not a valid decimal128 number|unqualified.* not found|Unsupported Delta table type|"
    "Field is required, and could not be found in the file"
)


def expected_of(table: str) -> pa.Table | None:
    parts = sorted((ZOO / table.removesuffix("/delta") / "expected").glob("*.parquet"))
    if not table.endswith("/delta") or not parts:
        return None
    return pa.concat_tables(
        (
            pq.read_table(part, partitioning=None, coerce_int96_timestamp_unit="us")
            for part in parts
        ),
        promote_options="permissive",
    )


@cache
def opened(table: str) -> whyscan.Table:
    try:
        return whyscan.open(str(ZOO / table))
    except TableError:
        pytest.skip("broken on purpose")


@cache
def plan_of(table: str) -> whyscan.Plan:
    return opened(table).plan("true", timezone=ZONES.get(table, "UTC"))


@cache
def rows_of(table: str) -> pa.Table:
    return plan_of(table).to_arrow()


@pytest.mark.parametrize("table", [t for t in every if t not in WITHOUT_DATA] or [skipped])
def test_a_table_is_read_with_the_rows_that_it_has(table):
    actual, expected = rows_of(table), expected_of(table)
    if expected is not None:
        shown = expected.select(actual.column_names) if expected.num_rows else actual.slice(0, 0)
        assert difference(actual, shown) == ""
        return
    plan = plan_of(table)
    if plan.summary.rows_total is not None and table not in LYING:
        deleted = plan.evidence.files.deleted
        live = plan.summary.rows_total - (0 if deleted is None else sum(deleted.to_pylist()))
        assert actual.num_rows == AFTER_DELETES.get(table, live)


@pytest.mark.parametrize("table", [t for t in every if t not in WITHOUT_DATA] or [skipped])
def test_delta_rs_and_pyiceberg_read_the_same_rows(table):
    # delta-rs takes a wall clock in a partition value for UTC, wherever it was written.
    rows = opened(table).plan("true").to_arrow() if table in ZONES else rows_of(table)
    theirs = read_by_peer(table)
    if table in READ_AS_NULL:
        assert all(column.null_count == len(column) > 0 for column in theirs.columns)
        assert rows.num_rows == theirs.num_rows
        return
    assert difference(rows, theirs.select(rows.column_names)) == ""


def read_by_peer(table: str) -> pa.Table:
    """Skips where the peer cannot read the table."""
    read = by_pyiceberg if table.startswith("iceberg") else by_delta_rs
    try:
        return read(ZOO / table)
    except (DeltaError, pa.ArrowException, ResolveError, OSError, ValueError) as error:
        expected_error = re.search(CANNOT, str(error))
        if expected_error is None:
            raise
        pytest.skip(expected_error[0])


@pytest.mark.parametrize("table", sorted(WITHOUT_DATA & set(every)) or [skipped])
def test_a_missing_data_file_is_named(table):
    plan = opened(table).plan("true")

    with pytest.raises(TableError, match="is missing, and the plan reads it"):
        plan.to_arrow()


@pytest.mark.parametrize(
    "table", [t for t in every if t not in WITHOUT_DATA | LYING][::EVERY] or [skipped]
)
def test_what_a_predicate_and_its_opposites_read_is_the_whole_table(table):
    """By a value of a plain column: matching, not matching, NULL."""
    source, whole = opened(table), rows_of(table)
    for field in [f for f in whole.schema if is_plain(f)][:1]:
        values = whole.column(field.name).drop_null()
        if not len(values):
            continue
        middle = values[len(values) // 2].as_py()
        text = str(middle) if isinstance(middle, int) else f"'{middle}'"
        name = f"`{field.name}`"
        parts = [f"{name} <= {text}", f"NOT {name} <= {text}", f"{name} IS NULL"]
        zone = ZONES.get(table, "UTC")
        read = [source.plan(sql, timezone=zone).to_arrow() for sql in parts]
        assert difference(pa.concat_tables(read), whole) == "", field.name
        assert read[0].num_rows, field.name


def is_plain(field: pa.Field) -> bool:
    return (pa.types.is_int32(field.type) or pa.types.is_string(field.type)) and (
        field.name.isidentifier()
    )
