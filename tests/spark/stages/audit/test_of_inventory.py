"""The audit of an inventory: its tables, at the snapshots that it has of them."""

from __future__ import annotations

import json

import pytest
from deltalake import write_deltalake

import whyscan.spark
from spark.stages.audit.lake import rows, write_delta, write_hive
from support.commands import whyscan as command
from tables.iceberg.pyiceberg_lakes import Memory
from whyscan.spark.stages.workload.query import Query, Workload

pytestmark = pytest.mark.spark

NAMES = ("sales", "events", "visits")
QUERIES = Workload(tuple(Query(f"SELECT id FROM {name} WHERE id >= 60", "spark") for name in NAMES))


def files(audit) -> dict[str, tuple[int, int]]:
    """By table, its files and those of them that stay."""
    levels = {t.name: t.scan.report.levels for query in audit.queries for t in query.tables}
    files_levels = {name: next(x for x in of if x.level == "files") for name, of in levels.items()}
    return {name: (level.total, level.kept) for name, level in files_levels.items()}


def write_events(folder):
    from pyiceberg.io.pyarrow import _pyarrow_to_schema_without_ids
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
    from pyiceberg.schema import assign_fresh_schema_ids

    schema = assign_fresh_schema_ids(_pyarrow_to_schema_without_ids(rows(0).schema))
    table = Memory(folder).create(schema, UNPARTITIONED_PARTITION_SPEC, str(folder), 2)
    for month in range(2):
        table.append(rows(month))
    return table


@pytest.mark.parametrize("form", ["parquet", "delta"])
def test_tables_that_have_changed_since_are_audited_as_the_inventory_has_them(
    spark, tmp_path, form
):
    write_delta(tmp_path / "sales", 2, ())
    events = write_events(tmp_path / "events")
    write_hive(tmp_path / "visits", 2)
    place = str(tmp_path / "inventory")
    tables = {name: str(tmp_path / name) for name in NAMES}
    whyscan.spark.write_inventory(spark, tables, place, form=form, depth="row-groups")
    before = whyscan.spark.audit(spark, QUERIES, {}, inventory=place, inventory_format=form)
    write_deltalake(tmp_path / "sales", rows(2), mode="append")
    events.append(rows(2))

    after = whyscan.spark.audit(spark, QUERIES, {}, inventory=place, inventory_format=form)
    now = whyscan.spark.audit(spark, QUERIES, tables)

    assert files(before) == files(after) == {"sales": (2, 1), "events": (2, 1), "visits": (6, 3)}
    assert files(now) == {"sales": (3, 2), "events": (3, 2), "visits": (6, 3)}


def test_the_last_snapshot_of_an_inventory_counts_and_a_named_table_comes_first(spark, tmp_path):
    write_delta(tmp_path / "sales", 2, ())
    write_delta(tmp_path / "other", 1, ())
    place = str(tmp_path / "inventory")
    for _ in range(2):
        whyscan.spark.write_inventory(spark, {"sales": str(tmp_path / "sales")}, place)
        write_deltalake(tmp_path / "sales", rows(2), mode="append")
    (tmp_path / "q.sql").write_text("SELECT id FROM sales WHERE id >= 60")
    words = ("audit", "--workload", "q.sql", "--inventory", place, "--format", "json")

    def totals(*more) -> int:
        run = command(*words, *more, cwd=tmp_path)
        assert run.code == 0, run.err
        (query,) = json.loads(run.out)["queries"]
        return next(x["total"] for x in query["tables"][0]["levels"] if x["level"] == "files")

    assert totals() == 3
    assert totals("--table", f"sales={tmp_path / 'other'}") == 1


def test_a_query_of_a_version_is_answered_if_the_inventory_has_it(spark, tmp_path):
    write_delta(tmp_path / "sales", 2, ())
    place = str(tmp_path / "inventory")
    whyscan.spark.write_inventory(spark, {"sales": str(tmp_path / "sales")}, place)
    texts = [f"SELECT id FROM sales VERSION AS OF {n} WHERE id > 70" for n in (1, 0)]
    workload = Workload(tuple(Query(text, "spark") for text in texts))

    audit = whyscan.spark.audit(spark, workload, {}, inventory=place)

    assert [query.sql for query in audit.queries] == texts[:1]
    assert files(audit) == {"sales": (2, 1)}
    (other,) = audit.unparsed
    assert "has version 1 alone of" in other.why
