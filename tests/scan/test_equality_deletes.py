"""Equality deletes of generated Iceberg tables: what brute force leaves of the rows."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import whyscan
from oracle.dice import tried
from scan.same_rows import counted
from tables.iceberg.by_hand import Lake
from whyscan.errors import TableError

COLUMNS = {"p": "int", "k": "int", "s": "string", "n": "long"}
ARROW = {"p": pa.int32(), "k": pa.int32(), "s": pa.string(), "n": pa.int64()}
NUMBERS = {name: at for at, name in enumerate(COLUMNS, start=1)}
BY_P = {"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}
NOWHERE, IN_P = {"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [BY_P]}
KEYS = [("k",), ("k", "s"), ("s",), ("n", "k", "p")]


@dataclass(frozen=True)
class Written:
    """A file: its rows, when it was written, its partition or None, what its deletes compare."""

    rows: tuple[dict[str, Any], ...]
    sequence: int
    partition: int | str | None
    key: tuple[str, ...] = ()

    def hides(self, row: dict[str, Any], data: Written) -> bool:
        meant = self.partition in ("none", data.partition)
        return (
            meant
            and self.sequence > data.sequence
            and any(all(row[c] == gone[c] for c in self.key) for gone in self.rows)
        )


def rows(partition=None):
    """Few values, so that many are hit; NULL is one of them."""
    few = {"k": [None, 0, 1, 2], "s": [None, "", "a", "b"], "n": [None, 1, 1 << 40]}
    p = st.sampled_from([None, 1, 2]) if partition == "none" else st.just(partition)
    return st.lists(
        st.fixed_dictionaries({"p": p} | {c: st.sampled_from(v) for c, v in few.items()}),
        min_size=1,
        max_size=5,
    ).map(tuple)


@st.composite
def files(draw, *, deletes):
    partition = draw(st.sampled_from([None, 1, 2, "none"] if deletes else [None, 1, 2]))
    key = draw(st.sampled_from(KEYS)) if deletes else ()
    return Written(draw(rows(partition)), draw(st.integers(1, 4)), partition, key)


def write(folder: Path, data: list[Written], deletes: list[Written]) -> None:
    lake = Lake(folder, COLUMNS, specs=[NOWHERE, IN_P])
    (folder / "data").mkdir()
    for at, one in enumerate((*data, *deletes)):
        spec = 0 if one.partition == "none" else 1
        table = pa.Table.from_pylist([dict(row) for row in one.rows], schema(one.key or COLUMNS))
        pq.write_table(table, folder / "data" / f"{at}.parquet", row_group_size=2)
        entry = lake.file(
            f"{at}.parquet",
            rows=len(one.rows),
            partition={"p": one.partition} if spec else {},
            **({"content": 2, "equality_ids": [NUMBERS[c] for c in one.key]} if one.key else {}),
        )
        lake.manifest([entry], spec=spec, content=1 if one.key else 0, sequence=one.sequence)
    lake.commit()


def schema(names):
    return pa.schema(
        [pa.field(n, ARROW[n], metadata={"PARQUET:field_id": str(NUMBERS[n])}) for n in names]
    )


def left(data, deletes):
    kept = [r for f in data for r in f.rows if not any(d.hides(r, f) for d in deletes)]
    return pa.Table.from_pylist(kept, schema(COLUMNS))


@tried(40)
@given(
    st.lists(files(deletes=False), min_size=1, max_size=3),
    st.lists(files(deletes=True), min_size=1, max_size=3),
)
def test_rows_that_equal_a_newer_delete_of_their_partition_or_of_none_are_gone(data, deletes):
    expected = left(data, deletes)
    folder = Path(tempfile.mkdtemp())
    try:
        write(folder / "t", data, deletes)
        table = whyscan.open(str(folder / "t"))
        assert counted(table.plan("true").to_arrow()) == counted(expected)
        # The compared columns are read, although they were not selected.
        chosen = table.plan("k > 0 OR s IS NULL", select=["n"]).to_arrow()
        kept = [r for r in expected.to_pylist() if (r["k"] or 0) > 0 or r["s"] is None]
        assert counted(chosen) == counted(pa.table({"n": [r["n"] for r in kept]}))
    finally:
        shutil.rmtree(folder)


ROW = {"p": 1, "k": 1, "s": None, "n": 1}
DELETE = Written((ROW,), 2, 1, ("k", "s"))


@pytest.mark.parametrize(
    ("delete", "gone"),
    [
        (DELETE, True),
        (Written((ROW,), 1, 1, ("k", "s")), False),
        (Written((ROW,), 2, 2, ("k", "s")), False),
        (Written((ROW,), 2, "none", ("k", "s")), True),
        (Written(({**ROW, "s": ""},), 2, 1, ("k", "s")), False),
        (Written(({**ROW, "s": "", "n": 7},), 2, 1, ("k",)), True),
    ],
    ids=["newer", "as old", "other partition", "of none", "NULL is not empty", "one column"],
)
def test_each_rule_by_itself(tmp_path, delete, gone):
    data = [Written((ROW,), 1, 1)]
    write(tmp_path / "t", data, [delete])

    assert left(data, [delete]).num_rows == (0 if gone else 1)
    assert whyscan.open(str(tmp_path / "t")).plan("true").to_arrow().num_rows == (0 if gone else 1)


def test_deletes_by_a_column_that_was_dropped_since_still_apply(tmp_path):
    write(tmp_path / "t", [Written((ROW, {**ROW, "k": 2}), 1, 1)], [DELETE])
    metadata = tmp_path / "t" / "metadata" / "v1.metadata.json"
    document = json.loads(metadata.read_text())
    kept = [f for f in document["schemas"][0]["fields"] if f["name"] in ("p", "n")]
    document["schemas"].append({"type": "struct", "schema-id": 1, "fields": kept})
    document["current-schema-id"] = document["snapshots"][0]["schema-id"] = 1
    metadata.write_text(json.dumps(document))

    rows = whyscan.open(str(tmp_path / "t")).plan("true").to_arrow()

    assert rows.to_pylist() == [{"p": 1, "n": 1}]


def test_a_delete_file_that_is_missing_is_named(tmp_path):
    write(tmp_path / "t", [Written((ROW,), 1, 1)], [DELETE])
    (tmp_path / "t" / "data" / "1.parquet").unlink()

    with pytest.raises(TableError, match=r"1\.parquet is missing"):
        whyscan.open(str(tmp_path / "t")).plan("true").to_arrow()
