"""The cases of hive_cases.py, put to Spark itself."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tables.hive_cases import FOLDERS, INFERRED
from whyscan.tables import open_snapshot
from whyscan.tree.nodes import Column
from whyscan.tree.types import STRING

pytestmark = pytest.mark.spark
ROW = pa.table({"x": [1]})


def write(root, folders):
    for at, folder in enumerate(folders):
        (root / folder).mkdir(parents=True, exist_ok=True)
        pq.write_table(ROW, root / folder / f"f{at:03}.parquet")
    return str(root)


def read(spark, root):
    """With the file's own column given Spark need not look into a file."""
    return spark.read.schema("x bigint").parquet(root)


@pytest.fixture(scope="module")
def inferred(spark, tmp_path_factory):
    """Type and values of every case, asked in one job."""
    kinds, queries = {}, []
    for at, (name, (texts, _, _)) in enumerate(INFERRED.items()):
        root = write(tmp_path_factory.mktemp("t"), [f"k={text}" for text in texts])
        frame = read(spark, root)
        kinds[name] = frame.schema["k"].dataType.simpleString()
        frame.selectExpr("_metadata.file_name AS f", "k").createOrReplaceTempView(f"case{at}")
        queries.append(f"SELECT {at} AS n, f, CAST(k AS STRING) AS k FROM case{at}")
    rows = sorted(spark.sql(" UNION ALL ".join(queries)).collect(), key=lambda row: row.f)
    return {
        name: (kinds[name], [row.k for row in rows if row.n == at])
        for at, name in enumerate(INFERRED)
    }


@pytest.mark.parametrize("name", INFERRED)
def test_spark_infers_the_same_type_and_values(inferred, name):
    _, kind, expected = INFERRED[name]

    assert inferred[name] == (kind, expected)


@pytest.mark.parametrize("name", FOLDERS)
def test_spark_finds_the_same_columns(spark, tmp_path, name):
    folders, columns = FOLDERS[name]
    root = write(tmp_path / "t", folders)

    try:
        rows = read(spark, root).columns[1:]
    except Exception:  # noqa: BLE001  Spark refuses in several ways
        rows = None

    # Of two spellings Spark takes the one that it happens to list first.
    assert rows == columns or [n.lower() for n in rows] == [n.lower() for n in columns]


def test_spark_reads_the_same_files_and_calls_them_the_same(spark, tmp_path):
    folders = ["", "k=a%20b+é#", "k=[x]{y}~!@$&'(),;^`|<>?", "k=1/_hidden", "k=1"]
    root = write(tmp_path / "t a%20b", folders)
    (tmp_path / "t a%20b" / "k=1" / "empty.parquet").touch()

    ours = open_snapshot([root], {}, {}).files([Column(("_metadata", "file_path"), STRING)])
    theirs = spark.read.parquet(root).selectExpr("_metadata.file_path AS p", "_metadata.file_size")

    paths = ours.containers.partition[("_metadata", "file_path")].lower.cast(pa.string())
    assert sorted(paths.to_pylist()) == sorted(row.p for row in theirs.collect())


def test_a_partition_column_that_also_stands_in_the_file_has_the_folders_type(spark, tmp_path):
    root = write(tmp_path / "t", ["X=abc", "X=1"])

    ours = open_snapshot([root], {}, {}).schema()

    frame = spark.read.parquet(root)
    assert [(f.name, str(f.type)) for f in ours.fields] == [
        (f.name, f.dataType.simpleString()) for f in frame.schema.fields
    ]
