"""Names of tables without a schema are of the session's, where a log says which that was."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whyscan.spark.pinned_tables import pin_all
from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.query import Query, grouped
from whyscan.spark.stages.workload.scans import NamedTables, scans_of
from whyscan.spark.tables import NamedTable


@pytest.fixture
def tables(tmp_path):
    """Two tables of one name, and one with a name of its own."""
    names = ("lake.sales.orders", "crm.orders", "users")
    for name in names:
        folder = tmp_path / name
        folder.mkdir()
        pq.write_table(pa.table({"id": [1]}), folder / "a.parquet")
    return NamedTables(pin_all(NamedTable(name, str(tmp_path / name)) for name in names))


@pytest.mark.parametrize(
    ("text", "namespace", "table"),
    [
        ("orders", "lake.sales", "lake.sales.orders"),
        ("ORDERS", "LAKE.SALES", "lake.sales.orders"),
        ("orders", "crm", "crm.orders"),
        ("orders", "lake.crm", "crm.orders"),
        ("crm.orders", "lake.sales", "crm.orders"),
        ("sales.orders", "lake.crm", "lake.sales.orders"),
        ("lake.sales.orders", "other.crm", "lake.sales.orders"),
        ("users", "lake.sales", "users"),
        ("orders", "lake.hr", None),
        ("sales.orders", "other.crm", None),
        ("orders", "", None),
    ],
)
def test_a_name_is_of_the_sessions_schema(tables, text, namespace, table):
    query = Query(f"SELECT id FROM {text} WHERE id = 1", "trino", namespace=namespace)

    (scan,) = scans_of(query, tables, "UTC")

    assert scan.get("table") == table
    assert ("unparsed" in scan) == (table is None)


def test_one_text_in_two_schemas_is_two_queries():
    text = "SELECT id FROM orders"
    runs = [Query(text, "trino", namespace=name) for name in ("a.b", "a.c", "a.b")]

    assert [(query.namespace, query.times) for query in grouped(runs)] == [("a.b", 2), ("a.c", 1)]


def test_the_query_history_of_a_warehouse_says_the_schema(tmp_path):
    log = tmp_path / "history.csv"
    log.write_text(
        "QUERY_TEXT,DATABASE_NAME,SCHEMA_NAME\nSELECT 1 FROM t,PROD,SALES\n"
        "SELECT 2 FROM t,PROD,\nSELECT 3 FROM t,,SALES\n"
    )

    namespaces = [query.namespace for query in read_workload([str(log)]).queries]

    assert namespaces == ["PROD.SALES", "", "SALES"]


def test_an_event_of_trino_says_the_catalog_and_the_schema(tmp_path):
    event = {
        "metadata": {"queryId": "q", "query": "SELECT id FROM orders"},
        "statistics": {},
        "context": {"catalog": "lake", "schema": "sales"},
    }
    (tmp_path / "one.json").write_text(json.dumps(event))

    (query,) = read_workload([str(tmp_path / "one.json")]).queries

    assert query.within == ("lake", "sales")
