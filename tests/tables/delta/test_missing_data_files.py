"""Data files that cannot be opened: the log's answer stands, row groups are not checked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan

ZOO = Path(__file__).parents[3].parent / "shared" / "zoo" / "delta-explain" / "test-table"
PREDICATE = "country = 'DE' AND age > 40"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    if not ZOO.exists():
        pytest.skip("the zoo is not beside the repository")
    target = tmp_path / "table"
    shutil.copytree(ZOO, target)
    for path in [target, *target.rglob("*")]:
        path.chmod(0o755)
    return target


def test_a_missing_data_file_leaves_its_row_groups_unchecked(table: Path) -> None:
    for path in table.rglob("*.parquet"):
        path.unlink()
    report = whyscan.open(table).explain(PREDICATE).to_dict()
    assert [(level["level"], level["kept"]) for level in report["levels"]] == [("files", 1)]
    assert report["unchecked"] == [{"level": "row_groups", "why": "1 of 1 data files are missing"}]
    assert report["rows_matched"] == {"at_least": 0, "at_most": 4}


def test_a_missing_data_file_stays_in_the_plan_whole(table: Path) -> None:
    for path in table.rglob("*.parquet"):
        path.unlink()
    (scan,) = whyscan.open(table).plan(PREDICATE)
    assert scan.row_groups is None
    assert scan.residual == "age > 40"


def test_a_path_that_leads_out_of_the_table_is_not_followed(table: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1]}), tmp_path / "elsewhere.parquet")
    log = table / "_delta_log"
    for commit in sorted(log.glob("*.json")):
        text = commit.read_text()
        start = text.find("part-00000-a35083c1")
        if start >= 0:
            name = text[text.rfind('"', 0, start) + 1 : text.find('"', start)]
            commit.write_text(text.replace(name, "../elsewhere.parquet"))
    report = whyscan.open(table).explain(PREDICATE).to_dict()
    assert report["levels"][0]["kept"] == 1
    assert report["unchecked"] == [
        {"level": "row_groups", "why": "1 of 1 data files are outside of the table's folder"}
    ]
