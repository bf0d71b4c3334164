"""A Hive metastore: tables of Iceberg by name, and what is refused."""

from __future__ import annotations

import pytest
from hive_metastore.ttypes import FieldSchema, SerDeInfo, StorageDescriptor, Table

from tables.catalogs import events, hive_server

# One server for all of them.
pytestmark = pytest.mark.xdist_group("hive")


@pytest.fixture(scope="module")
def metastore(tmp_path_factory):
    with hive_server.running(tmp_path_factory.mktemp("hive")) as uri:
        yield uri


@pytest.fixture(scope="module")
def lake(metastore, tmp_path_factory):
    """A folder with a table that the metastore knows, beside one of Hive's own and a view."""
    folder = tmp_path_factory.mktemp("lake")
    writer = events.catalog("w", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")
    table = events.write(writer, "db", "events")
    writer.close()
    hive = events.catalog("hive", uri=metastore)
    hive.create_namespace("db", {"location": f"file:{folder}/db"})
    hive.register_table("db.events", table.metadata_location)
    with hive._client as client:
        client.create_table(entry(folder, "plain", {}))
        client.create_table(entry(folder, "view", {}, kind="VIRTUAL_VIEW"))
    return folder


def entry(folder, name, parameters, kind="EXTERNAL_TABLE"):
    storage = StorageDescriptor(
        [FieldSchema("a", "bigint", "")], f"file:{folder}/{name}", serdeInfo=SerDeInfo()
    )
    return Table(
        tableName=name,
        dbName="db",
        owner="whyscan",
        sd=storage,
        partitionKeys=[],
        parameters={"EXTERNAL": "TRUE", **parameters},
        tableType=kind,
        viewOriginalText="SELECT 1" if kind == "VIRTUAL_VIEW" else None,
        viewExpandedText="SELECT 1" if kind == "VIRTUAL_VIEW" else None,
    )


def test_a_name_gives_the_same_files_as_the_path(lake, metastore, configure, report):
    configure("hive", uri=metastore)

    by_name, by_path = report("hive.db.events"), report(lake / "db" / "events")

    assert by_name["files"] == by_path["files"]
    assert by_name["levels"] == by_path["levels"]
    assert [file["verdict"] for file in by_name["files"]].count("none") == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plain", "hive.db.plain is no Iceberg, Delta or Hive table"),
        ("view", "hive.db.view is a view"),
        ("nothing", "the catalog 'hive' has no table db.nothing"),
        ("events.more", "the catalog 'hive' has no table db.events.more"),
    ],
)
def test_what_is_no_iceberg_table(lake, metastore, configure, error, name, said):
    configure("hive", uri=metastore)

    assert said in error(f"hive.db.{name}")


def test_a_metastore_that_is_not_there(configure, error):
    configure("hive", uri="thrift://127.0.0.1:1")

    assert "cannot ask the catalog 'hive': it did not answer" in error("hive.db.events")
