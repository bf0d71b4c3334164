"""A part of a Delta, Iceberg or Hudi table is refused: its files alone may show deleted rows.

A case is a layout of files and what is named in it; a new one needs a line in `REFUSED` or
`OPENED`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

import whyscan
from support.commands import whyscan as command
from tables.iceberg.by_hand import Lake
from whyscan.errors import TableError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = pa.table({"year": [1995, 1995, 1996], "id": [1, 2, 3]})


def parquet(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(ROWS.select(["id"]), path)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Delta, Iceberg and Hudi tables, and tables of plain files beside them."""
    root = tmp_path / "lake"
    write_deltalake(str(root / "delta"), ROWS, partition_by=["year"])
    DeltaTable(str(root / "delta")).delete("id = 2")
    iceberg = Lake(root / "iceberg", {"id": "long"})
    parquet(root / "iceberg" / "data" / "f.parquet")
    iceberg.manifest([iceberg.file("f.parquet", rows=3)])
    iceberg.commit()
    (root / "unhinted" / "metadata").mkdir(parents=True)
    (root / "unhinted" / "metadata" / "00000-a.metadata.json").write_text("{}")
    parquet(root / "unhinted" / "data" / "f.parquet")
    (root / "hudi" / ".hoodie").mkdir(parents=True)
    parquet(root / "hudi" / "2024" / "f.parquet")
    parquet(root / "hive" / "year=1995" / "f.parquet", root / "hive" / "year=1996" / "f.parquet")
    (root / "metadata").mkdir()
    (root / "metadata" / "owners.json").write_text("{}")
    (root / "metadata" / "table.metadata.json.txt").write_text("{}")
    (tmp_path / "link").symlink_to(root / "delta" / "year=1995")
    return root


REFUSED: dict[str, tuple[str, str]] = {
    "a partition of Delta": ("delta/year=1995", "delta"),
    "a partition of Delta by a slash": ("delta/year=1995/", "delta"),
    "a glob in Delta": ("delta/*/*.parquet", "delta"),
    "a glob over a lake": ("*/year=1995/*.parquet", "delta"),
    "a glob over partitions": ("delta/year=*", "delta"),
    "the log of Delta": ("delta/_delta_log/../year=1996", "delta"),
    "a link into Delta": ("../link", "delta"),
    "the data of Iceberg": ("iceberg/data", "iceberg"),
    "a file of Iceberg": ("iceberg/data/f.parquet", "iceberg"),
    "the data of Iceberg without a hint": ("unhinted/data", "unhinted"),
    "a folder of Hudi": ("hudi/2024", "hudi"),
}
OPENED = {
    "Hive beside Delta": ("hive", 6),
    "a partition of Hive": ("hive/year=1995", 3),
    "a glob of Hive": ("hive/*/*.parquet", 6),
    "a file of Hive": ("hive/year=1995/f.parquet", 3),
}


def place_of(lake: Path, named: str) -> str:
    return f"{lake}/{named}" if named else str(lake)


@pytest.mark.parametrize(("named", "table"), REFUSED.values(), ids=REFUSED)
def test_a_part_of_a_table_is_refused_with_the_tables_path(lake, named, table):
    with pytest.raises(TableError) as error:
        whyscan.open(place_of(lake, named))
    assert f"table {lake}/{table}" in error.value.message
    assert f"open {lake}/{table}:" in error.value.hint


def test_a_folder_of_files_that_holds_tables_is_refused(lake):
    file = next((lake / "hive").rglob("*.parquet"))
    (lake / "top.parquet").write_bytes(file.read_bytes())

    with pytest.raises(TableError, match=f"{lake} holds files of the Iceberg table {lake}/"):
        whyscan.open(lake)


def test_a_file_of_delta_is_refused_and_opened_as_a_file(lake):
    (live, *_) = sorted((lake / "delta" / "year=1996").glob("*.parquet"))
    with pytest.raises(TableError, match=f"Delta table {lake}/delta"):
        whyscan.open(live)
    assert rows(whyscan.open(live, as_files=True)) == 1


def test_several_files_are_refused_if_one_of_them_is_of_a_table(lake):
    files = [lake / "hive" / "year=1995" / "f.parquet", lake / "iceberg" / "data" / "f.parquet"]
    with pytest.raises(TableError, match="Iceberg table"):
        whyscan.open(files)


@pytest.mark.parametrize(("named", "count"), OPENED.values(), ids=OPENED)
def test_files_beside_tables_are_opened(lake, named, count):
    assert rows(whyscan.open(place_of(lake, named))) == count


def test_a_table_is_opened_by_its_root_and_without_deleted_rows(lake):
    assert whyscan.open(lake / "delta").format == "delta"
    assert rows(whyscan.open(lake / "delta")) == 2
    assert whyscan.open(lake / "iceberg").format == "iceberg"


def test_as_files_reads_old_files_too(lake):
    opened = whyscan.open(lake / "delta" / "year=1995", as_files=True)
    assert opened.format == "parquet"
    assert rows(opened) == 3  # Two rows, and the one that the delete wrote again.
    assert rows(whyscan.open(f"{lake}/delta/*/*.parquet", as_files=True)) == 4


def test_the_root_of_a_table_is_the_table_although_files_are_asked_for(lake):
    assert whyscan.open(lake / "delta", as_files=True).format == "delta"
    assert whyscan.open(lake / "iceberg", as_files=True).format == "iceberg"


def rows(table: Any) -> int:
    return table.plan("true").to_arrow().num_rows


# Every command that takes a path.

PART = "{lake}/delta/year=1995"
COMMANDS: dict[str, list[str]] = {
    "explain": ["explain", PART, "-w", "id = 1"],
    "explain a glob": ["explain", PART + "/*.parquet", "-w", "id = 1"],
    "scan": ["scan", PART, "-o", "{out}/rows.csv"],
    "stats": ["stats", PART],
    "diff": ["diff", PART, "{lake}/delta", "-w", "id = 1"],
    "explain --sql": ["explain", "--sql", "SELECT * FROM parquet.`" + PART + "` WHERE id = 1"],
    "explain --table": [
        "explain", "--sql", "SELECT * FROM t WHERE id = 1", "--table", "t=" + PART,
    ],
}  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_ends_with_code_3_and_runs_with_as_files(lake, tmp_path, words):
    arguments = [word.format(lake=lake, out=tmp_path) for word in words]
    refused = command(*arguments, cwd=tmp_path)
    assert (refused.code, refused.out) == (3, "")
    assert f"Delta table {lake}/delta" in refused.err
    assert "--as-files" in refused.err
    allowed = command(*arguments, "--as-files", cwd=tmp_path)
    assert allowed.code == 0, allowed.err


def test_the_data_source_of_spark_refuses_a_part_and_takes_as_files(lake):
    from whyscan.engines.spark_source import LoadOptions

    part = str(lake / "delta" / "year=1995")
    with pytest.raises(TableError, match="Delta table"):
        LoadOptions.of({"path": part}).plan(None)
    plan = LoadOptions.of({"path": part, "as_files": "true"}).plan(None)
    assert plan.evidence.files.containers.count == 2


def test_an_inventory_reports_a_part_as_failed(lake):
    from whyscan.spark.stages.inventory.opening import Opener
    from whyscan.spark.stages.inventory.reading import InventoryDepth
    from whyscan.spark.tables import NamedTable

    part = str(lake / "delta" / "year=1995")
    opener = Opener(InventoryDepth.FILES)
    (failed,) = opener.open_all([NamedTable("t", part, {})])
    assert isinstance(failed.error, TableError)
    (opened,) = opener.open_all([NamedTable("t", part, {"as_files": "on"})])
    assert opened.format == "parquet"


def test_a_report_of_files_is_made_of_the_files(lake):
    report = whyscan.open(lake / "delta" / "year=1995", as_files=True).explain("id = 1")
    assert json.loads(json.dumps(report.to_dict()))["table"]["format"] == "parquet"
