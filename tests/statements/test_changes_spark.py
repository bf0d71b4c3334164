"""Changes that Spark carries out: files that a commit removes are among those that were told."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

import whyscan
from support.spark_sessions import settings
from whyscan.statements.roles import Role

if TYPE_CHECKING:
    from pathlib import Path

    from whyscan.statements.records import ScanReport

pytestmark = pytest.mark.spark

KEYS = "t.id = s.id AND t.month = s.month"
UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"

PART = "(SELECT * FROM {s} WHERE month = 2) AS s"

# The change, and how many files it removes whole.
CHANGES = {
    "delete": ("DELETE FROM {t} AS t WHERE month = 2 AND id >= 205", 1),
    "update": ("UPDATE {t} AS t SET v = v + 1 WHERE month = 3 AND id > 306", 0),
    "merge": (f"MERGE INTO {{t}} AS t USING {{s}} AS s ON {KEYS} {UPSERT}", 0),
    "merge of a part": (
        f"MERGE INTO {{t}} AS t USING {PART} ON {KEYS} WHEN MATCHED AND t.id > 202 THEN DELETE",
        0,
    ),
    "replace where": (
        "INSERT INTO {t} REPLACE WHERE month = 3 SELECT * FROM {s} WHERE month = 3",
        2,
    ),
}
BY_SOURCE = (
    f"MERGE INTO {{t}} AS t USING {PART} ON {KEYS} WHEN MATCHED THEN UPDATE SET v = s.v "
    "WHEN NOT MATCHED BY SOURCE AND t.month = 4 AND t.id < 405 THEN DELETE"
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    """Of `t` two files a month, of five ids each; `s` has an id of either in months 1 to 3."""
    folder = tmp_path_factory.mktemp("lake")
    for name, months, ids in (("t", range(1, 5), range(10)), ("s", range(1, 4), (3, 12))):
        for part in (0, 5) if name == "t" else (0,):
            chosen = [i for i in ids if name == "s" or part <= i < part + 5]
            rows = [{"month": m, "id": 100 * m + i, "v": i} for m in months for i in chosen]
            kinds = pa.schema([("month", pa.int32()), ("id", pa.int64()), ("v", pa.int64())])
            write_deltalake(
                folder / name,
                pa.Table.from_pylist(rows, kinds),
                mode="append",
                partition_by=["month"],
            )
    return folder


@pytest.fixture(scope="module")
def quick(spark):
    """Small joins, planned and shuffled as such."""
    with settings(spark, {"spark.sql.shuffle.partitions": "1"}):
        yield spark


@pytest.mark.parametrize(("change", "whole"), CHANGES.values(), ids=CHANGES)
def test_what_delta_removes_was_reported(quick, lake, tmp_path, change, whole):
    scan, removed, left = carried_out(quick, lake, tmp_path, change)

    assert removed <= kept(scan)
    assert len(removed) <= scan.rewrite.removed.files + scan.rewrite.rewritten.files
    assert scan.rewrite.removed.files == whole
    assert gone(scan) <= removed
    assert rows_beside(lake / "t", scan) <= left


def test_by_source_delta_copies_every_file_and_changes_rows_only_in_reported_files(
    quick, lake, tmp_path
):
    scan, removed, left = carried_out(quick, lake, tmp_path, BY_SOURCE)

    assert len(kept(scan)) == 3
    assert len(removed) == 8
    assert rows_beside(lake / "t", scan) <= left


def test_a_dynamic_overwrite_replaces_only_reported_partitions(quick, lake, tmp_path):
    place = shutil.copytree(lake / "t", tmp_path / "t")
    query = "SELECT month, id, v FROM {} WHERE month IN (2, 3) AND id < 300"
    settled = "materialized='incremental', incremental_strategy='insert_overwrite'"
    model = f"{{{{ config({settled}, partition_by=['month']) }}}} " + query.format("s")
    report = whyscan.explain_sql(model, {"this": place, "s": lake / "s"})
    (scan,) = [scan for scan in report.scans if scan.role is Role.TARGET]
    before = removed_by(place)
    with settings(quick, {"spark.sql.sources.partitionOverwriteMode": "dynamic"}):
        source = f"delta.`{lake / 's'}`"
        quick.sql(f"INSERT OVERWRITE delta.`{place}` {query.format(source)}")

    assert before == set()
    assert {path.split("/")[0] for path in removed_by(place)} == {"month=2"}
    assert removed_by(place) <= kept(scan)
    assert scan.rewrite.removed.files == 4


def carried_out(spark, lake, tmp_path, change) -> tuple[ScanReport, set[str], Counter]:
    """The target's scan, the files that the change's commit takes away, and the rows behind it."""
    place = shutil.copytree(lake / "t", tmp_path / "t")
    sql = change.format(t=f"delta.`{place}`", s=f"delta.`{lake / 's'}`")
    report = whyscan.explain_sql(sql)
    spark.sql(sql)
    removed = removed_by(place)
    rows = DeltaTable(place).to_pyarrow_table().select(["month", "id", "v"])
    scan = next(scan for scan in report.scans if scan.role is Role.TARGET)
    return scan, removed, counted(rows)


def removed_by(place: Path) -> set[str]:
    """The files that the commits after the table's own two take away."""
    commits = sorted((place / "_delta_log").glob("*.json"))[2:]
    actions = [json.loads(line) for commit in commits for line in commit.read_text().splitlines()]
    return {action["remove"]["path"] for action in actions if "remove" in action}


def rows_beside(place: Path, scan: ScanReport) -> Counter:
    """The rows of the files that are not kept."""
    others = set(scan.plan.evidence.files.paths.to_pylist()) - kept(scan)
    row_counts: Counter = Counter()
    for path in others:
        month = int(path.split("/")[0].removeprefix("month="))
        for row in pq.read_table(place / path, partitioning=None).to_pylist():
            row_counts[month, row["id"], row["v"]] += 1
    return row_counts


def counted(rows: pa.Table) -> Counter:
    return Counter(tuple(row.values()) for row in rows.to_pylist())


def kept(scan: ScanReport) -> set[str]:
    return {file.path for file in scan.plan}


def gone(scan: ScanReport) -> set[str]:
    """The files that go whole."""
    if not scan.rewrite.removed.files:
        return set()
    evidence = scan.plan.evidence
    chosen = (evidence.judgement.kept & evidence.judgement.every).tolist()
    return {
        path
        for path, all_go in zip(evidence.files.paths.to_pylist(), chosen, strict=True)
        if all_go
    }


def test_iceberg_drops_the_reported_files_without_reading_them(quick):
    name = "ice.changes.dropped"
    quick.sql(f"CREATE TABLE {name} (month INT, id BIGINT) USING iceberg PARTITIONED BY (month)")
    for part in (0, 5):
        values = [f"({m}, {100 * m + part + i})" for m in range(1, 4) for i in range(5)]
        quick.sql(f"INSERT INTO {name} VALUES {', '.join(values)}")
    place = located(quick, name)
    for condition, operation in (("id < 105", "delete"), ("id = 203", "overwrite")):
        sql = f"DELETE FROM {name} WHERE {condition}"
        (scan,) = whyscan.explain_sql(sql, {name: place}).scans
        quick.sql(sql)
        last = quick.sql(f"SELECT operation, summary FROM {name}.snapshots").collect()[-1]

        files_changed = scan.rewrite.removed.files + scan.rewrite.rewritten.files
        assert last.operation == operation, condition
        assert (scan.rewrite.rewritten.files == 0) is (operation == "delete"), condition
        assert int(last.summary["deleted-data-files"]) == files_changed == 1, condition


def located(spark, name: str) -> Any:
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    return next(row.data_type for row in rows if row.col_name == "Location")
