"""Hive tables of Glue, in a Glue that moto serves: registered partitions, and projection."""

from __future__ import annotations

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer

import whyscan
from support.reports import explained
from whyscan.errors import TableError
from whyscan.tables.catalogs.projection import projected
from whyscan.tables.identity import identity
from whyscan.tree.types import STRING, Field

KEYS = {"aws_access_key_id": "me", "aws_secret_access_key": "canary"}
SERDE = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
INPUT = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
HUDI = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
LINKS = "org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat"
ORC = (
    "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
)


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


def storage_of(location, classes=(INPUT, SERDE), columns=()):
    return {
        "Location": str(location),
        "InputFormat": classes[0],
        "SerdeInfo": {"SerializationLibrary": classes[1]},
        "Columns": [{"Name": name, "Type": kind} for name, kind in columns],
    }


def create(glue, location, columns, partition_columns=(), parameters=None, **more):
    table = {
        "Name": "t",
        "TableType": "EXTERNAL_TABLE",
        "StorageDescriptor": storage_of(location, columns=columns.items(), **more),
        "PartitionKeys": [{"Name": name, "Type": kind} for name, kind in partition_columns],
        "Parameters": parameters or {"classification": "parquet"},
    }
    glue.create_table(DatabaseName="db", TableInput=table)


def register(glue, location, *values, **more):
    partition = {"Values": list(values), "StorageDescriptor": storage_of(location, **more)}
    glue.create_partition(DatabaseName="db", TableName="t", PartitionInput=partition)


def write(folder, *ids, name="a.parquet", **more):
    folder.mkdir(parents=True, exist_ok=True)
    columns = {"id": pa.array(ids, pa.int64()), **{k: [v] * len(ids) for k, v in more.items()}}
    pq.write_table(pa.table(columns), folder / name)


def ids(where="TRUE"):
    rows = whyscan.open("aws.db.t").scan(where).read_all().to_pylist()
    return sorted(row["id"] for row in rows)


def test_partitions_are_where_the_catalog_says(glue, tmp_path):
    lake, far = tmp_path / "lake", tmp_path / "far"
    create(glue, lake, {"id": "bigint"}, [("day", "date")])
    write(lake / "day=2024-01-01", 1)
    write(far / "anything", 2)
    write(lake / "day=2024-01-03", 3)
    register(glue, lake / "day=2024-01-01", "2024-01-01")
    register(glue, f"file://{far}/anything/", "2024-01-02")
    register(glue, lake / "day=2024-01-01", "2024-02-01")
    register(glue, lake / "day=2024-05-05", "2024-05-05")
    register(glue, lake / "null", "__HIVE_DEFAULT_PARTITION__")
    write(lake / "null", 4)

    assert ids() == [1, 1, 2, 4]
    assert ids("day = DATE '2024-01-02'") == [2]
    assert ids("day = DATE '2024-02-01'") == [1]
    assert ids("day IS NULL") == [4]
    assert ids("day = DATE '2024-01-03'") == []
    table = whyscan.open("aws.db.t")
    assert table.format == "hive"
    assert table.plan("day >= DATE '2024-02-01'").summary.files_kept == 1


def test_what_is_not_registered_is_a_finding(glue, tmp_path):
    create(glue, tmp_path, {"id": "bigint"}, [("p", "int")])
    write(tmp_path / "p=1", 1)
    write(tmp_path / "p=1" / "inside", 2)
    write(tmp_path / "p=2", 3)
    write(tmp_path / "_tmp" / "p=3", 4)
    write(tmp_path / "p=1", 5, name="_hidden.parquet")
    register(glue, tmp_path / "p=1", "1")
    register(glue, tmp_path / "p=9", "9")

    (difference,) = [
        each
        for each in explained(whyscan.open("aws.db.t").snapshot, "p = 1")["findings"]
        if each["code"] == "CATALOG_DIFFERS"
    ]

    assert ids() == [1]
    assert difference["severity"] == "warning"
    counts = {"partitions": 2, "without_files": 1, "unregistered_files": 1, "nested_files": 1}
    assert difference["evidence"] == counts


def test_folders_that_are_as_the_catalog_says_are_no_finding(glue, tmp_path):
    create(glue, tmp_path, {"id": "bigint"}, [("p", "int")])
    write(tmp_path / "p=1", 1)
    register(glue, tmp_path / "p=1", "1")

    findings = explained(whyscan.open("aws.db.t").snapshot, "p = 1")["findings"]
    assert [each for each in findings if each["code"] == "CATALOG_DIFFERS"] == []


def test_a_value_that_the_catalog_changes_is_another_identity(glue, tmp_path):
    create(glue, tmp_path, {"id": "bigint"}, [("p", "int")])
    write(tmp_path / "any", 1)
    register(glue, tmp_path / "any", "1")
    before = whyscan.open("aws.db.t").snapshot

    glue.delete_partition(DatabaseName="db", TableName="t", PartitionValues=["1"])
    register(glue, tmp_path / "any", "2")

    assert identity(whyscan.open("aws.db.t").snapshot) != identity(before)


def test_the_columns_are_those_of_the_catalog(glue, tmp_path):
    create(glue, tmp_path, {"id": "bigint", "later": "string"})
    write(tmp_path, 1, extra=7)

    table = whyscan.open("aws.db.t")

    assert [field.name for field in table.schema.fields] == ["id", "later"]
    assert table.scan("later IS NULL").read_all().to_pylist() == [{"id": 1, "later": None}]
    assert table.plan("later = 'x'").summary.files_kept == 0


def test_a_partition_of_another_format_is_not_opened_and_never_skipped_by_statistics(
    glue, tmp_path
):
    create(glue, tmp_path, {"id": "bigint"}, [("p", "int")])
    write(tmp_path / "p=1", 1)
    (tmp_path / "p=2").mkdir()
    (tmp_path / "p=2" / "a").write_bytes(b"ORC of some kind")
    register(glue, tmp_path / "p=1", "1")
    register(glue, tmp_path / "p=2", "2", classes=ORC)

    report = explained(whyscan.open("aws.db.t").snapshot, "id = 99", verbose=True)

    assert {f["path"]: f["verdict"] for f in report["files"]} == {
        "p=1/a.parquet": "none",
        "p=2/a": "some",
    }
    assert [each["why"] for each in report["unchecked"]] == [
        "1 of 1 data files are of the format orc"
    ]


@pytest.mark.parametrize(
    ("more", "parameters", "message"),
    [
        ({"classes": (HUDI, SERDE)}, None, "is a Hudi table"),
        ({"classes": (LINKS, SERDE)}, None, "is no Iceberg, Delta or Hive table"),
        ({}, {"transactional": "true"}, "is a transactional Hive table"),
        ({}, {"spark.sql.sources.provider": "jdbc"}, "is no Iceberg, Delta or Hive table"),
    ],
)
def test_tables_whose_files_are_not_their_rows_are_refused(
    glue, tmp_path, more, parameters, message
):
    create(glue, tmp_path, {"id": "bigint"}, parameters=parameters, **more)

    with pytest.raises(TableError, match=message):
        whyscan.open("aws.db.t")


PROJECTION = {
    "projection.enabled": "true",
    "projection.day.type": "date",
    "projection.day.format": "yyyy/MM/dd",
    "projection.day.range": "2024/01/01,NOW",
    "projection.shop.type": "enum",
    "projection.shop.values": "berlin, paris",
    "projection.hour.type": "integer",
    "projection.hour.range": "0,22",
    "projection.hour.interval": "2",
    "projection.hour.digits": "2",
    "projection.user.type": "injected",
}


def test_projected_partitions_are_the_folders_that_the_template_makes(glue, tmp_path):
    template = f"file://{tmp_path}/x/${{day}}/at-${{shop}}/${{hour}}/${{user}}"
    create(
        glue,
        tmp_path / "elsewhere",
        {"id": "bigint"},
        [(name, "string") for name in ("day", "shop", "user")] + [("hour", "int")],
        PROJECTION | {"storage.location.template": template},
    )
    write(tmp_path / "x/2024/01/02/at-berlin/02/u1", 1)
    write(tmp_path / "x/2024/01/02/at-paris/04/u2/deeper", 2)
    write(tmp_path / "x/2023/01/02/at-berlin/02/u1", 3)
    write(tmp_path / "x/2024/01/02/at-rome/02/u1", 4)
    write(tmp_path / "x/2024/01/02/at-berlin/03/u1", 5)
    write(tmp_path / "x/2024/01/02/at-berlin/2/u1", 6)
    write(tmp_path / "x/2024/13/02/at-berlin/02/u1", 7)
    write(tmp_path / "x/2999/01/02/at-berlin/02/u1", 8)

    assert ids() == [1, 2]
    assert ids("user = 'u2'") == [2]
    assert ids("day = '2024/01/02' AND hour < 4") == [1]
    assert whyscan.open("aws.db.t").plan("shop = 'rome'").summary.files_kept == 0


@pytest.mark.parametrize(
    ("properties", "folder", "values"),
    [
        ({"type": "integer", "range": "-5,5"}, "c=-3", ("-3",)),
        ({"type": "integer", "range": "-5,5"}, "c=6", None),
        ({"type": "integer", "range": "1,9", "interval": "3"}, "c=4", ("4",)),
        ({"type": "integer", "range": "1,9", "interval": "3"}, "c=5", None),
        ({"type": "enum", "values": "a,a/b"}, "c=a/b", ("a/b",)),
        ({"type": "date", "range": "NOW-3YEARS,NOW", "format": "yyyy"}, "c=1999", None),
        (
            {
                "type": "date",
                "range": "2020-01,2030-01",
                "format": "yyyy-MM",
                "interval": "3",
                "interval.unit": "MONTHS",
            },
            "c=2021-04",
            ("2021-04",),
        ),
        (
            {
                "type": "date",
                "range": "2020-01,2030-01",
                "format": "yyyy-MM",
                "interval": "3",
                "interval.unit": "MONTHS",
            },
            "c=2021-05",
            None,
        ),
        (
            {"type": "date", "range": "20240101-00,20240109-00", "format": "yyyyMMdd'-'HH"},
            "c=20240102-07",
            ("20240102-07",),
        ),
    ],
)
def test_a_folder_has_the_values_that_the_projection_computes(properties, folder, values):
    settings = {f"projection.c.{key}": value for key, value in properties.items()}

    assert projected(settings, "s3://b/t", [Field("C", STRING)]).values(folder) == values


@pytest.mark.parametrize(
    "properties",
    [
        {"type": "enum"},
        {"type": "integer", "range": "a,b"},
        {"type": "date", "range": "1,2", "format": "QQQ"},
        {"type": "odd"},
        {},
    ],
)
def test_a_projection_that_cannot_be_read_is_an_error_that_names_the_column(properties):
    settings = {f"projection.c.{key}": value for key, value in properties.items()}

    with pytest.raises(TableError, match="the partition column c"):
        projected(settings, "s3://b/t", [Field("c", STRING)])


def test_ls_lists_tables_of_all_formats_and_no_view(glue, tmp_path):
    create(glue, tmp_path, {"id": "bigint"})
    view = {"Name": "v", "TableType": "VIRTUAL_VIEW"}
    glue.create_table(DatabaseName="db", TableInput=view)

    from whyscan.tables.catalogs.configured import listed

    assert listed("aws", ("db",))[1] == [("db", "t")]
