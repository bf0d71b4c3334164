"""An audit of an inventory gives the answers that it gave with the lake, when the lake is gone."""

from __future__ import annotations

import json

import pytest

import whyscan
import whyscan.spark
from spark.stages.audit.lake import write_delta, write_hive, write_iceberg
from support.commands import whyscan as command
from whyscan.spark.stages.workload.query import Query, Workload

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

CONDITIONS = (
    "id >= 60",
    "country = 'DE' AND amount > 80",
    "ts BETWEEN '2024-01-05' AND '2024-01-07' OR id IS NULL",
    "upper(country) = 'FR' AND code = '03'",
)
TABLES = {"sales": write_delta, "events": write_iceberg, "visits": write_hive}
JOIN = "SELECT count(*) FROM sales JOIN events ON sales.id = events.id WHERE sales.id < 10"


@pytest.fixture(scope="module")
def workload():
    texts = [f"SELECT id FROM {name} WHERE {c}" for name in TABLES for c in CONDITIONS]
    return Workload(tuple(Query(text, "spark") for text in (*texts, JOIN)))


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    for name, write in TABLES.items():
        write(folder / name, 3)
    return folder


def answers(audit):
    """What the audit says of every query and every scan of it, by its text.

    Where the metadata was read from, and how much of it, is no part of an answer.
    """
    document = json.loads(audit.to_json())
    assert document["unparsed"] == []
    for scan in (scan for query in document["queries"] for scan in query["tables"]):
        for of_reading in ("metadata", "notes"):
            del scan[of_reading]
    return {query["sql"]: query for query in document["queries"]}


@pytest.mark.parametrize(
    ("form", "depth"), [("parquet", "row-groups"), ("delta", "files"), ("iceberg", "row-groups")]
)
def test_without_the_lake_every_query_has_the_answer_that_it_had(
    spark, lake, workload, tmp_path, form, depth
):
    place = "ice.without_the_lake" if form == "iceberg" else str(tmp_path / "inventory")
    tables = {name: str(lake / name) for name in TABLES}
    if depth == "files":
        # Footers describe the files of Hive tables: they are not read at this depth.
        tables.pop("visits")
        kept = [query for query in workload.queries if "visits" not in query.text]
        workload = Workload(tuple(kept))
    whyscan.spark.write_inventory(spark, tables, place, form=form, depth=depth)
    terms = {"depth": "auto" if depth == "row-groups" else "files"}
    before = answers(whyscan.spark.audit(spark, workload, tables, **terms))

    gone = lake.rename(lake.with_name(f"gone-{form}"))
    try:
        audit = whyscan.spark.audit(
            spark, workload, {}, inventory=place, inventory_format=form, **terms
        )
    finally:
        gone.rename(lake)

    after = answers(audit)
    assert after.keys() == before.keys()
    for sql, query in before.items():
        assert query["error"] is None
        assert after[sql] == query, sql


def test_explain_and_stats_take_tables_from_an_inventory(spark, lake, tmp_path):
    place = str(tmp_path / "inventory")
    tables = {name: str(lake / name) for name in TABLES}
    whyscan.spark.write_inventory(spark, tables, place, depth="row-groups")
    condition = CONDITIONS[1]
    with_the_lake = whyscan.open(tables["sales"]).explain(condition).to_dict()
    statement = whyscan.explain_sql(JOIN, tables).to_dict()
    stats = whyscan.open(tables["sales"]).stats().to_dict()
    gone = lake.rename(lake.with_name("gone"))
    try:
        from_inventory = ("explain", "--inventory", place, "--format", "json")
        run = command(*from_inventory, "sales", "-w", condition, cwd=tmp_path)
        joined = command(*from_inventory, "--sql", JOIN, cwd=tmp_path)
        absent = command(*from_inventory, "nothing", "-w", condition, cwd=tmp_path)
        version = ("--sql", "SELECT * FROM sales VERSION AS OF {} WHERE id = 1")
        at_versions = [
            command(*from_inventory, version[0], version[1].format(n), cwd=tmp_path) for n in (2, 1)
        ]
        profile = command("stats", "--inventory", place, "sales", "--format", "json", cwd=tmp_path)
    finally:
        gone.rename(lake)

    assert (run.code, joined.code) == (0, 0), run.err + joined.err
    report = json.loads(run.out)
    for name in ("table", "levels", "conjuncts", "findings", "summary", "unchecked"):
        assert report.get(name) == with_the_lake.get(name), name
    assert "from the inventory at" in " ".join(report["notes"])
    scans = [scan["levels"] for scan in json.loads(joined.out)["scans"]]
    assert scans == [scan["levels"] for scan in statement["scans"]]
    assert absent.code == 3
    assert "it has events, sales, visits" in absent.err
    assert [one.code for one in at_versions] == [0, 2], at_versions
    assert "has version 2 alone of" in at_versions[1].err
    columns = json.loads(profile.out)["columns"]
    assert columns == stats["columns"]
