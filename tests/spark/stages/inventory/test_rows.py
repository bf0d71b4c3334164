"""The rows of a table are the same however it is divided, and say of each file what it has."""

from __future__ import annotations

import pickle
from collections import Counter

import pytest

from support.proof_cases import sampled
from tables.iceberg import by_hand
from tables.test_parts import ZOO, skipped, tables
from whyscan.errors import WhyscanError
from whyscan.spark.stages.inventory.reading import InventoryDepth, rows
from whyscan.tables import open_snapshot
from whyscan.tables.parts import parts

ABOUT = {"table": "t", "uri": "u", "format": "f", "snapshot": "1", "part": 0}
# Where a container stands, and what is counted for a whole part.
OF_A_PART = {"part", "position", "wrong_counts"}


def listed(some):
    """Every row, as text, and how often it comes."""
    batches = [batch for part in some for batch in rows(ABOUT, part, InventoryDepth.FILES)]
    for batch in batches:
        batch.validate(full=True)
    rows_of_parts = (row for batch in batches for row in batch.to_pylist())
    return Counter(
        repr({name: value for name, value in row.items() if name not in OF_A_PART})
        for row in rows_of_parts
    )


def divided(snapshot, files_each):
    return [pickle.loads(pickle.dumps(part)) for part in parts(snapshot, files_each)]


@pytest.mark.parametrize("name", sampled(tables) or [skipped])
def test_every_table_of_the_zoo_has_the_same_rows_in_parts(name):
    try:
        snapshot = open_snapshot([str(ZOO / name)], {}, {})
        whole = listed([snapshot])
    except WhyscanError:
        pytest.skip("broken on purpose")
    assert listed(divided(snapshot, 1)) == whole


@pytest.fixture
def evolved(tmp_path):
    """An Iceberg table that was not partitioned, then by p, then by p and q."""
    p, q = (
        {"source-id": at, "field-id": 999 + at, "name": name, "transform": "identity"}
        for at, name in ((1, "p"), (2, "q"))
    )
    table = by_hand.Lake(tmp_path / "evolved", {"p": "int", "q": "string"}, [])
    table.specs += [{"spec-id": 1, "fields": [p]}, {"spec-id": 2, "fields": [p, q]}]
    table.manifest([table.file("plain")], spec=0)
    table.manifest([table.file("by-p", partition={"p": 1})], spec=1)
    table.manifest([table.file("by-p-q", partition={"p": None, "q": None})], spec=2)
    return table.commit().open()


@pytest.mark.parametrize("files_each", [1, 2, 100])
def test_a_file_has_the_partition_values_of_its_own_spec(evolved, files_each):
    intervals = {
        row["path"].rpartition("/")[2]: row["partition"]
        for part in divided(evolved, files_each)
        for batch in rows(ABOUT, part, InventoryDepth.FILES)
        for row in batch.to_pylist()
        if row["level"] == "file"
    }
    assert intervals == {
        "plain": None,
        "by-p": [("p", "1")],
        "by-p-q": [("p", None), ("q", None)],
    }
