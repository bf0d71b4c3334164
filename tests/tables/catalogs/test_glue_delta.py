"""Delta tables of Glue, in a Glue that moto serves on this machine."""

from __future__ import annotations

import boto3
import pytest
from moto.server import ThreadedMotoServer

import whyscan
from tables.catalogs import events
from tables.delta.conftest import Lake as DeltaTable
from tables.delta.conftest import bounds

KEYS = {"aws_access_key_id": "me", "aws_secret_access_key": "canary"}
BY_SPARK = {"spark.sql.sources.provider": "delta"}
BY_ATHENA = {"table_type": "DELTA"}


@pytest.fixture(scope="module")
def endpoint():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def glue(endpoint, configure):
    """A client of an empty Glue, which is the catalog `aws`."""
    client = boto3.client("glue", endpoint_url=endpoint, region_name="eu-west-1", **KEYS)
    for database in client.get_databases()["DatabaseList"]:
        client.delete_database(Name=database["Name"])
    client.create_database(DatabaseInput={"Name": "db"})
    keys = {"glue.access-key-id": "me", "glue.secret-access-key": "canary"}
    configure(
        "aws", **{"type": "glue", "glue.region": "eu-west-1", "glue.endpoint": endpoint}, **keys
    )
    return client


@pytest.fixture
def clicks(tmp_path):
    """Two versions: one file, then two."""
    table = DeltaTable(tmp_path / "clicks").create({"id": "long"})
    table.commit(table.add("f1", bounds("id", 1, 9)))
    table.commit(table.add("f2", bounds("id", 10, 19)))
    return table.folder


def create(client, location, parameters, serde=None):
    storage = {"Location": str(location), "SerdeInfo": {"Parameters": serde or {}}}
    table = {"Name": "clicks", "Parameters": parameters, "StorageDescriptor": storage}
    client.create_table(DatabaseName="db", TableInput=table)


@pytest.mark.parametrize("parameters", [BY_SPARK, BY_ATHENA], ids=["spark", "athena"])
def test_a_delta_table_opens_by_its_name(glue, clicks, parameters):
    create(glue, f"file://{clicks}/", parameters)

    table = whyscan.open("aws.db.clicks")

    assert (table.format, table.uri) == ("delta", str(clicks))
    assert table.plan("id > 9").summary.files_kept == 1


def test_the_folder_that_spark_records_comes_before_a_placeholder(glue, clicks):
    create(glue, "file:/db/clicks-__PLACEHOLDER__", BY_SPARK, {"path": f"file:{clicks}"})

    assert whyscan.open("aws.db.clicks").uri == str(clicks)


def test_an_older_version_is_opened_and_one_of_iceberg_is_refused(glue, clicks, explain):
    create(glue, f"file://{clicks}", BY_SPARK)

    assert whyscan.open("aws.db.clicks", version=1).plan("TRUE").summary.files_total == 1
    assert "Delta tables have no ref" in explain("aws.db.clicks", "--ref", "main").err


def test_iceberg_tables_beside_it_open_as_before(glue, clicks, tmp_path):
    create(glue, f"file://{clicks}", BY_SPARK)
    made = events.catalog("w", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    place = events.write(made, "db", "events").metadata_location
    made.close()
    parameters = {"table_type": "ICEBERG", "metadata_location": place}
    glue.create_table(DatabaseName="db", TableInput={"Name": "events", "Parameters": parameters})

    assert whyscan.open("aws.db.events").format == "iceberg"


def test_a_table_of_no_format_is_refused(glue, clicks, error):
    create(glue, f"file://{clicks}", {"classification": "parquet"})

    assert "aws.db.clicks is no Iceberg, Delta or Hive table" in error("aws.db.clicks")
