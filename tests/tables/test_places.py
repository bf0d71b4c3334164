"""Names that lead to no table: each is refused with what to do instead."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whyscan import open as open_table
from whyscan.errors import StorageError, TableError

SCHEMES = {
    "hdfs://nn:8020/t": ("hdfs://", "mount"),
    "HDFS://nn/t": ("hdfs://", "mount"),
    "hdfs:/t": ("hdfs://", "mount"),
    "webhdfs://nn/t": ("webhdfs://", "mount"),
    "viewfs://cluster/t": ("viewfs://", "mount"),
    "maprfs:///t": ("maprfs://", "mount"),
    "oss://bucket/t": ("oss://", "speaks S3"),
    "cosn://bucket/t": ("cosn://", "speaks S3"),
    "dbfs:/mnt/t": ("dbfs:/", "/dbfs/"),
    "dbfs:///mnt/t": ("dbfs:/", "/dbfs/"),
    "ftp://host/t": ("ftp://", "HTTP"),
    "jdbc:postgresql://host/db": ("jdbc:", "folder"),
    "nowhere://bucket/t": ("nowhere://", "s3://"),
}


@pytest.mark.parametrize(("named", "words"), SCHEMES.items())
def test_a_scheme_without_a_client_says_what_to_do(named, words):
    with pytest.raises(StorageError, match=f"no client for {words[0]} storage") as raised:
        open_table(named)

    assert words[1] in raised.value.hint


@pytest.mark.parametrize("named", ["s3:/bucket/t", "s3:bucket/t", "S3:/bucket/t"])
def test_a_store_with_too_few_slashes_is_hinted_at(named):
    with pytest.raises(StorageError) as raised:
        open_table(named)

    assert raised.value.hint == "did you mean s3://bucket/t?"


def test_a_folder_on_disk_may_be_called_like_a_scheme(tmp_path, monkeypatch):
    (tmp_path / "dbfs:").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "dbfs:" / "x.parquet")
    monkeypatch.chdir(tmp_path)

    assert open_table("dbfs:").schema.names() == ("a",)


def written(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".parquet":
            pq.write_table(pa.table({"a": [1]}), path)
        else:
            path.write_text("{}")


FOLDERS_OF_TABLES = {
    "delta": (("a/_delta_log/0.json", "a/x.parquet", "b/x.parquet"), "a, b", "a", "*"),
    "iceberg": (
        ("a/x.parquet", "b/metadata/v1.metadata.json", "b/data/x.parquet"),
        "a, b",
        "b",
        "*",
    ),
    "many": (
        tuple(f"t{n}/{name}" for n in range(7) for name in ("_delta_log/0.json", "x.parquet")),
        "t0, t1, t2, t3, t4 and 2 more",
        "t0",
        "*",
    ),
    "deeper": (("db/a/_delta_log/0.json", "db/a/x.parquet"), "db/a", "db/a", "db/*"),
    "beside other files": (
        ("queries.sql", "a/_delta_log/0.json", "a/x.parquet"),
        "a",
        "a",
        "*",
    ),
}


@pytest.mark.parametrize(
    ("names", "shown", "first", "glob"), FOLDERS_OF_TABLES.values(), ids=FOLDERS_OF_TABLES
)
def test_a_folder_of_tables_names_them(tmp_path, names, shown, first, glob):
    written(tmp_path, *names)

    with pytest.raises(TableError) as raised:
        open_table(f"{tmp_path}/")

    assert raised.value.message == f"{tmp_path} is a folder of tables: {shown}"
    assert raised.value.hint == (
        f"name one of them: {tmp_path}/{first}; "
        f"audit takes all of them: --table '{tmp_path}/{glob}'"
    )


TABLES = {
    "plain files in folders": ("a/x.parquet", "b/x.parquet"),
    "partitions": ("k=1/x.parquet", "k=2/x.parquet"),
}


@pytest.mark.parametrize("names", TABLES.values(), ids=TABLES)
def test_other_folders_are_opened_as_before(tmp_path, names):
    written(tmp_path, *names)

    assert "a" in open_table(str(tmp_path)).schema.names()
