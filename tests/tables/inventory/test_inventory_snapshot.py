"""An inventory's containers are planned as the table is that they were read from."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from spark.planning.plans_in_parts import (
    ZOO,
    in_one,
    in_parts,
    in_this_process,
    predicates,
    zoo,
)
from support.proof_cases import sampled
from whyscan.errors import StorageError, TableError, UsageError, WhyscanError
from whyscan.spark.stages.inventory.reading import InventoryDepth, rows
from whyscan.table import Table
from whyscan.tables import open_snapshot
from whyscan.tables.inventory.container_rows import ContainerFile, ContainerFiles
from whyscan.tables.inventory.description import description_from, description_of
from whyscan.tables.inventory.opening import open_inventory
from whyscan.tables.inventory.snapshot import InventorySnapshot
from whyscan.tables.parts import parts
from whyscan.tables.storage.store import local_store

ABOUT = {"table": "t", "uri": "u", "format": "f", "snapshot": "1"}


def inventoried(snapshot, folder, depth=InventoryDepth.ROW_GROUPS, files_each=1_000_000):
    """The snapshot of what an inventory of this one writes, part by part and level by level."""
    store = local_store(str(folder))
    divided = parts(snapshot, files_each)
    files = []
    for number, part in enumerate(divided):
        for level, batch in enumerate(rows({**ABOUT, "part": number}, part, depth)):
            path = f"{number}-{level}.parquet"
            pq.write_table(pa.Table.from_batches([batch]), folder / path)
            files.append(ContainerFile(store, path, (folder / path).stat().st_size))
    return InventorySnapshot(
        place="inventory",
        read_at="now",
        description=description_from(description_of(snapshot).to_json()),
        # In another order than that of the table.
        containers=ContainerFiles(tuple(reversed(files))),
        parts_written=len(divided),
        file_count=snapshot.files((), None).count,
        row_groups_read=depth is InventoryDepth.ROW_GROUPS,
    )


def questions(snapshot):
    """Conditions on columns whose names need no quotes of their own."""
    return [predicate for predicate in predicates(snapshot) if predicate.count("`") % 2 == 0]


def without_notes(document):
    return {name: value for name, value in document.items() if name != "notes"}


def answers(snapshot, predicate, **terms):
    return without_notes(in_one(snapshot, predicate, verbose=True, **terms))


@pytest.mark.parametrize("name", sampled(zoo))
def test_every_table_of_the_zoo_gives_the_same_reports_from_its_inventory(name, tmp_path):
    try:
        snapshot = open_snapshot([str(ZOO / name)], {}, {})
        inventory = inventoried(snapshot, tmp_path, files_each=2)
    except WhyscanError:
        pytest.skip("broken on purpose")
    for predicate in questions(snapshot):
        assert answers(inventory, predicate) == answers(snapshot, predicate), predicate
        selected = {"columns": [snapshot.schema().fields[0].name]}
        assert answers(inventory, predicate, **selected) == answers(
            snapshot, predicate, **selected
        ), predicate
        of_files = answers(inventory, predicate, depth="files")
        assert of_files == answers(snapshot, predicate, depth="files"), predicate


@pytest.mark.parametrize("name", sampled(zoo))
def test_the_parts_of_an_inventory_give_the_report_of_the_table(name, tmp_path):
    try:
        snapshot = open_snapshot([str(ZOO / name)], {}, {})
        inventory = pickle.loads(pickle.dumps(inventoried(snapshot, tmp_path, files_each=1)))
    except WhyscanError:
        pytest.skip("broken on purpose")
    for predicate in questions(snapshot)[:2]:
        whole = in_one(snapshot, predicate, verbose=True)
        divided = in_parts(in_this_process(inventory), inventory, predicate, verbose=True)
        assert without_notes(divided) == without_notes(whole), predicate


def findings(snapshot, predicate):
    return {finding["code"]: finding for finding in in_one(snapshot, predicate)["findings"]}


def test_what_the_inventory_left_out_is_no_reason_to_rewrite_files(tmp_path):
    (tmp_path / "t" / "day=1").mkdir(parents=True)
    for number in range(3):
        rows_of_file = pa.table({"id": range(number * 10, number * 10 + 10)})
        pq.write_table(rows_of_file, tmp_path / "t" / "day=1" / f"{number}.parquet")
    snapshot = open_snapshot([str(tmp_path / "t")], {}, {})
    inventory = inventoried(snapshot, tmp_path, InventoryDepth.FILES)

    finding = findings(inventory, "id > 15")["NO_STATISTICS"]

    assert "NO_STATISTICS" not in findings(snapshot, "id > 15")
    assert finding["severity"] == "info"
    assert "the inventory was written without --depth row-groups" in finding["message"]
    assert finding["fix"] == "plan the table itself, whose files may have them"


def test_a_column_that_the_inventory_cannot_tell_from_another_one_is_said(tmp_path):
    (tmp_path / "t").mkdir()
    flat, nested = pa.array([1, 2]), pa.array([{"b": 3}, {"b": 4}])
    pq.write_table(pa.table({"a.b": flat, "a": nested}), tmp_path / "t" / "0.parquet")
    snapshot = open_snapshot([str(tmp_path / "t")], {}, {})
    inventory = inventoried(snapshot, tmp_path)

    finding = findings(inventory, "`a.b` > 7")["NO_STATISTICS"]

    assert "the inventory cannot tell columns called a.b apart" in finding["message"]
    assert finding["fix"] == "plan the table itself, whose files may have them"


@pytest.mark.parametrize(
    ("number", "message"),
    [(3, None), (2, "has version 3 alone of"), (None, "has version 3 alone of")],
    ids=["its version", "another version", "a time or a branch"],
)
def test_an_inventory_answers_for_the_version_that_it_has(tmp_path, number, message):
    for month in range(4):
        write_deltalake(tmp_path / "t", pa.table({"id": [month]}), mode="append")
    inventory = inventoried(open_snapshot([str(tmp_path / "t")], {}, {}), tmp_path)

    if message is None:
        inventory.require_version(number)
        return
    with pytest.raises(UsageError, match=message) as error:
        inventory.require_version(number)
    assert "\n" not in error.value.message


def test_a_place_that_has_no_client_is_named_as_such():
    with pytest.raises(StorageError, match="no client for hdfs"):
        open_inventory("hdfs://nn/inventory", {})


NESTED = '{"name": "s", "type": "struct", "members": ['
DESCRIPTION = (
    '{"uri": "u", "format": "delta", "version": 1, "notes": [], "footers_describe_files": false, '
    '"fields": [%s], "partition_sources": [], "specs": [], "numbered_specs": [], "recordings": []}'
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(None, id="missing"),
        pytest.param("null", id="no object"),
        pytest.param(DESCRIPTION[:90], id="cut"),
        pytest.param(DESCRIPTION % '{"name": 1, "type": "int"}', id="a name that is a number"),
        pytest.param(DESCRIPTION % (NESTED * 480 + "]}" * 480), id="structs in structs"),
        pytest.param(DESCRIPTION % (NESTED * 9_999 + "]}" * 9_999), id="very many of them"),
    ],
)
def test_a_damaged_description_is_refused_in_one_line(text):
    with pytest.raises(TableError, match="does not describe its tables"):
        description_from(text)


@pytest.mark.parametrize("name", ["a\0b", "a.b", " ", "\x1b[31m", "é`"])
def test_a_column_of_any_name_is_pruned_by_as_in_the_table(tmp_path, name):
    table = tmp_path / "table"
    for values in ([1, 2], [8, 9]):
        write_deltalake(table, pa.table({name.replace("\0", "NUL"): values}), mode="append")
    for commit in (table / "_delta_log").glob("*.json"):
        # Arrow's names end at a NUL. Schema and statistics are JSON texts in JSON.
        commit.write_text(commit.read_text().replace("NUL", r"\\u0000"))
    snapshot = open_snapshot([str(table)], {}, {})
    predicate = f"`{name.replace('`', '``')}` > 5"

    opened = inventoried(snapshot, tmp_path, InventoryDepth.FILES)
    kept = [
        Table(each).plan(predicate, depth="files").summary.files_kept for each in (snapshot, opened)
    ]
    assert kept == [1, 1]
