"""Every table of the zoo is read with the rows that its makers say it has."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from scan.same_rows import difference
from whyscan.errors import TableError

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


# Logs that do not describe their data: see tests/delta/test_zoo.py.
LYING = {"delta-explain/test-table-flat", "delta/parsed-stats"}
# Timestamps in partition values were written in this zone, and do not say so.
ZONES = {"delta/data-reader-partition-values/delta": "America/Los_Angeles"}
COLUMNS_AT_MOST = 2


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


def opened(table: str) -> whyscan.Table:
    try:
        return whyscan.open(str(ZOO / table))
    except TableError:
        pytest.skip("broken on purpose")


@pytest.mark.parametrize("table", [t for t in every if t not in WITHOUT_DATA] or [skipped])
def test_a_table_is_read_with_the_rows_that_it_has(table):
    plan = opened(table).plan("true", timezone=ZONES.get(table, "UTC"))
    found = plan.to_arrow()

    expected = expected_of(table)
    if expected is not None:
        shown = expected.select(found.column_names) if expected.num_rows else found.slice(0, 0)
        assert difference(found, shown) == ""
    elif plan.summary.rows_total is not None and table not in LYING:
        deleted = plan.evidence.files.deleted
        live = plan.summary.rows_total - (0 if deleted is None else sum(deleted.to_pylist()))
        assert found.num_rows == AFTER_DELETES.get(table, live)


@pytest.mark.parametrize("table", sorted(WITHOUT_DATA & set(every)) or [skipped])
def test_a_missing_data_file_is_named(table):
    plan = opened(table).plan("true")

    with pytest.raises(TableError, match="is missing, and the plan reads it"):
        plan.to_arrow()


@pytest.mark.parametrize("table", [t for t in every if t not in WITHOUT_DATA | LYING] or [skipped])
def test_what_a_predicate_and_its_opposites_read_is_the_whole_table(table):
    """Of some plain columns, by a value of its own: matching, not matching, NULL."""
    asked = opened(table)
    whole = asked.plan("true").to_arrow()
    for field in [f for f in whole.schema if is_plain(f)][:COLUMNS_AT_MOST]:
        values = whole.column(field.name).drop_null()
        if not len(values):
            continue
        middle = values[len(values) // 2].as_py()
        text = str(middle) if isinstance(middle, int) else f"'{middle}'"
        name = f"`{field.name}`"
        parts = [f"{name} <= {text}", f"NOT {name} <= {text}", f"{name} IS NULL"]
        read = [asked.plan(sql).to_arrow() for sql in parts]
        assert difference(pa.concat_tables(read), whole) == "", field.name
        assert read[0].num_rows, field.name


def is_plain(field: pa.Field) -> bool:
    return (pa.types.is_int32(field.type) or pa.types.is_string(field.type)) and (
        field.name.isidentifier()
    )
