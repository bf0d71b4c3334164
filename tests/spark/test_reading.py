"""Reading on Spark: the rows that Spark's own readers give, by each way to read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

import whyscan
from scan.same_rows import difference
from scan.test_equality_deletes import Written, left
from scan.test_equality_deletes import write as write_deleted
from support.spark_sessions import settings
from tables.iceberg.by_hand import Lake as IcebergTable
from whyscan.errors import UsageError
from whyscan.spark import read, reader_of, register

pytestmark = pytest.mark.spark
# Spark 3.5 has no data sources in Python.
WhyscanDataSource = pytest.importorskip("whyscan.engines.spark_source").WhyscanDataSource

ROWS = """SELECT id, CAST(id AS INT) AS small, CONCAT('n', id) AS name,
  IF(id % 3 = 0, NULL, id / 2) AS half, DATE '2024-01-01' + CAST(id % 5 AS INT) AS day,
  TIMESTAMP '2024-01-01 00:00:00' + MAKE_DT_INTERVAL(0, CAST(id AS INT)) AS at,
  TIMESTAMP_NTZ '2024-01-01 00:00:00' + MAKE_DT_INTERVAL(0, CAST(id AS INT)) AS wall,
  CAST(id AS DECIMAL(12, 2)) AS price, X'00FF' AS raw, ARRAY(id, NULL) AS list,
  MAP('k', id) AS map, NAMED_STRUCT('x', id, 'y', NAMED_STRUCT('z', CONCAT('z', id))) AS nested
  FROM RANGE(0, 60, 1, 2)"""
PREDICATES = ["true", "id < 20 AND nested.y.z <> 'z7'", "day = '2024-01-03' AND half IS NOT NULL"]


@pytest.fixture(scope="module")
def tables(spark, tmp_path_factory):
    """Where each table is, what Spark calls it, and whether Spark's own reader may be used."""
    folder = tmp_path_factory.mktemp("reading")
    register(spark)
    plain = folder / "plain"
    spark.sql(f"CREATE TABLE delta.`{plain}` USING delta PARTITIONED BY (day) AS {ROWS}")
    deleted = folder / "deleted"
    spark.sql(
        f"CREATE TABLE delta.`{deleted}` USING delta PARTITIONED BY (day) TBLPROPERTIES ("
        "'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name', "
        f"'delta.enableTypeWidening' = 'true') AS {ROWS}"
    )
    spark.sql(f"DELETE FROM delta.`{deleted}` WHERE id IN (3, 17, 18)")
    spark.sql(f"ALTER TABLE delta.`{deleted}` ALTER COLUMN small TYPE BIGINT")
    spark.sql(f"ALTER TABLE delta.`{deleted}` RENAME COLUMN price TO cost")
    hive = folder / "hive"
    spark.sql(ROWS).write.partitionBy("day").parquet(str(hive))
    evolved = "ice.reading.evolved"
    spark.sql(
        f"CREATE TABLE {evolved} USING iceberg PARTITIONED BY (day) TBLPROPERTIES ("
        f"'format-version' = '2', 'write.delete.mode' = 'merge-on-read') AS {ROWS}"
    )
    spark.sql(f"DELETE FROM {evolved} WHERE id IN (3, 17, 18)")
    spark.sql(f"ALTER TABLE {evolved} ALTER COLUMN small TYPE BIGINT")
    spark.sql(f"ALTER TABLE {evolved} RENAME COLUMN price TO cost")
    spark.sql(f"ALTER TABLE {evolved} ADD COLUMN price STRING")
    warehouse = Path(spark.conf.get("spark.sql.catalog.ice.warehouse"))
    return {
        "plain": (plain, f"delta.`{plain}`", "parquet"),
        "deleted": (deleted, f"delta.`{deleted}`", "whyscan"),
        "hive": (hive, f"parquet.`{hive}`", "parquet"),
        "evolved": (warehouse / "reading" / "evolved", evolved, "whyscan"),
    }


def test_rows_that_equal_deleted_ones_are_gone(spark, tmp_path):
    """Written by hand, as Spark writes no such deletes."""
    few = tuple({"p": 1, "k": k, "s": s, "n": 1} for k in (None, 0, 1) for s in (None, "a"))
    gone = ({"p": 1, "k": 0, "s": "a", "n": 1}, {"p": 1, "k": None, "s": None, "n": 1})
    data, deletes = [Written(few, 1, 1)], [Written(gone, 2, 1, ("k", "s"))]
    write_deleted(tmp_path / "t", data, deletes)
    expected = left(data, deletes)

    assert expected.num_rows == len(few) - 2
    assert difference(load(spark, tmp_path / "t").toArrow(), expected) == ""
    assert difference(read(spark, f"{tmp_path}/t").toArrow(), expected) == ""


def load(spark, place, **options):
    register(spark)
    return spark.read.format("whyscan").options(**options).load(str(place))


@pytest.mark.parametrize("name", ["plain", "deleted", "hive", "evolved"])
def test_the_source_reads_the_rows_and_the_schema_of_sparks_own_reader(spark, tables, name):
    where, table, _ = tables[name]
    for predicate in PREDICATES:
        theirs = spark.sql(f"SELECT * FROM {table} WHERE {predicate}")
        ours = load(spark, where, predicate=predicate)

        assert ours.schema == T.StructType.fromJson(theirs.schema.jsonValue())
        assert difference(ours.toArrow(), theirs.toArrow()) == "", predicate


@pytest.mark.parametrize("name", ["plain", "deleted", "hive", "evolved"])
def test_a_plan_reads_the_same_rows_in_every_reader(spark, tables, name):
    where, table, reader = tables[name]
    for predicate in PREDICATES:
        plan = whyscan.open(where).plan(predicate, select=["name", "day"])
        theirs = spark.sql(f"SELECT name, day FROM {table} WHERE {predicate}")

        assert reader_of(plan, spark).format == reader
        assert difference(plan.to_spark(spark).toArrow(), theirs.toArrow()) == "", predicate


@pytest.mark.parametrize("name", ["plain", "deleted", "hive", "evolved"])
def test_reading_a_table_by_a_predicate(spark, tables, name):
    where, table, _ = tables[name]
    theirs = spark.sql(f"SELECT * FROM {table} WHERE id BETWEEN 7 AND 30")

    assert (
        difference(read(spark, str(where), "id BETWEEN 7 AND 30").toArrow(), theirs.toArrow()) == ""
    )


def test_one_dataframe_filtered_two_ways_has_the_rows_of_each(spark, tables):
    """With `pushFilters` the second filter would be that of both scans."""
    frame = load(spark, tables["plain"][0], predicate="id < 10", columns="id, name")
    three, four = frame.where("id = 3"), frame.where("id = 4")

    assert sorted(row.id for row in three.union(four).collect()) == [3, 4]
    assert three.alias("a").join(four.alias("b"), "name", "full").count() == 2
    assert frame.alias("a").join(frame.where("id > 7").alias("b"), "id").count() == 2
    assert (three.count(), frame.count()) == (1, 10)


def test_what_was_pruned_is_not_read(spark, tmp_path):
    """The second row group and the second file are made unreadable."""
    ids = list(range(200))
    pq.write_table(
        pa.table({"id": ids}), tmp_path / "a.parquet", row_group_size=100, compression="zstd"
    )
    pq.write_table(pa.table({"id": [i + 1000 for i in ids]}), tmp_path / "b.parquet")
    chunk = pq.read_metadata(tmp_path / "a.parquet").row_group(1).column(0)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    with (tmp_path / "a.parquet").open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * chunk.total_compressed_size)

    assert load(spark, tmp_path, predicate="id < 50").count() == 50
    with pytest.raises(PythonException, match="cannot read"):
        load(spark, tmp_path, predicate="id < 150").count()


def test_a_plan_without_files_is_a_frame_without_rows(spark, tables):
    where, table, _ = tables["plain"]
    schema = spark.table(table).schema

    assert load(spark, where, predicate="id < 0").collect() == []
    assert load(spark, where, predicate="id < 0").schema.names == schema.names
    assert read(spark, str(where), "id < 0").collect() == []


def test_partitions_are_few_unless_less_is_asked_of_each(spark, tables):
    where = tables["plain"][0]

    assert load(spark, where).rdd.getNumPartitions() <= 4
    assert load(spark, where, partition_bytes="1").rdd.getNumPartitions() == 10


def test_versions_are_pinned_when_a_frame_is_loaded(spark, tmp_path):
    table = f"delta.`{tmp_path}/t`"
    spark.sql(f"CREATE TABLE {table} USING delta AS SELECT id FROM RANGE(5)")
    before = load(spark, tmp_path / "t")
    spark.sql(f"INSERT INTO {table} VALUES (77)")

    assert before.count() == 5
    assert load(spark, tmp_path / "t").count() == 6
    assert load(spark, tmp_path / "t", version="0").count() == 5
    assert read(spark, f"{tmp_path}/t", version=0).count() == 5


def test_a_table_and_a_view_of_sql(spark, tables):
    where = tables["plain"][0]
    spark.sql(
        "CREATE TEMPORARY VIEW seen USING whyscan "
        f"OPTIONS (path '{where}', predicate 'id < 3', columns 'id, day')"
    )

    rows = spark.sql("SELECT id FROM seen WHERE day > '2024-01-01' ORDER BY id").collect()

    assert [row.id for row in rows] == [1, 2]


def test_where_and_select_are_other_names_of_predicate_and_columns(spark, tables):
    place = tables["plain"][0]
    by_first_name = load(spark, place, predicate="id = 5", columns="name")

    reader = spark.read.format("whyscan").option("where", "id = 5").option("select", "name")
    by_second_name = reader.load(str(place))

    assert by_second_name.columns == ["name"]
    assert by_second_name.collect() == by_first_name.collect()


def test_a_schema_of_ones_own_names_the_columns(spark, tables):
    reader = spark.read.format("whyscan").option("predicate", "id = 5")
    where = str(tables["plain"][0])

    assert reader.schema("name string, small int").load(where).collect() == [("n5", 5)]
    with pytest.raises(AnalysisException, match="is not the table's"):
        reader.schema("small string").load(where).collect()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"predicate": "nope = 1"}, "UnknownColumn: unknown column 'nope' (the columns are id"),
        ({"predicate": "id <"}, "SyntaxProblem: "),
        ({"columns": "id,zz"}, "UnknownColumn: unknown column 'zz'"),
        ({"predicates": "id = 1"}, "UsageError: unknown option 'predicates' (one of path"),
        ({"predicate": "id = 1", "where": "id = 1"}, "UsageError: predicate and where are one"),
        ({"columns": "[id"}, "UsageError: the option columns is no JSON list: '[id'"),
        ({"version": "x"}, "UsageError: the option version is no number: 'x'"),
        ({"version": "99"}, "Error: "),
    ],
)
def test_a_wrong_load_ends_with_one_clear_line(spark, tables, options, line):
    with pytest.raises(AnalysisException) as caught:
        load(spark, tables["plain"][0], **options)

    message = str(caught.value)
    assert f"whyscan.errors.{line}" in message or line in message
    assert len(message.splitlines()) < 8, message


def test_a_stream_is_refused_when_it_begins(tables):
    # Spark gives a stream's worker ten seconds to start: not on every machine is that enough.
    source = WhyscanDataSource({"path": str(tables["plain"][0])})
    stream = source.streamReader(source.schema())

    for question in (stream.latestOffset, stream.initialOffset):
        with pytest.raises(UsageError, match=r"no stream of it: use spark\.read"):
            question()


def test_a_process_that_planned_for_spark_ends_without_a_report_of_leaks(tmp_path):
    path = str(tmp_path / "one.parquet")
    pq.write_table(pa.table({"x": [1]}), path)
    code = f"""
import duckdb
from whyscan.engines.spark_source import WhyscanDataSource
WhyscanDataSource({{"path": {path!r}}}).schema()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stderr == ""


def test_a_missing_table_is_one_clear_line(spark, tmp_path):
    with pytest.raises(AnalysisException, match=r"whyscan\.errors\.\w+: "):
        load(spark, tmp_path / "nowhere")
    with pytest.raises(whyscan.WhyscanError):
        read(spark, str(tmp_path / "nowhere"))


def test_a_condition_that_only_spark_knows_is_left_to_it(spark, tables):
    where, table, _ = tables["deleted"]
    predicate = "soundex(name) = 'N000' AND id < 9"
    plan = whyscan.open(where).plan(predicate)
    theirs = spark.sql(f"SELECT * FROM {table} WHERE {predicate}")

    assert reader_of(plan, spark).applied_again
    assert difference(plan.to_spark(spark).toArrow(), theirs.toArrow()) == ""
    with pytest.raises(PythonException, match="cannot evaluate soundex"):
        load(spark, where, predicate=predicate).collect()


def test_types_that_spark_has_not(spark, tmp_path):
    kinds = {"u": "uuid", "f": "fixed[4]", "n": "timestamp_ns", "z": "timestamptz_ns", "t": "time"}
    uuid = bytes(range(16))
    arrays = {
        "u": pa.array([uuid, None], pa.binary(16)),
        "f": pa.array([b"abcd", None], pa.binary(4)),
        "n": pa.array([-1, None]).cast(pa.timestamp("ns")),
        "z": pa.array([1_999, None]).cast(pa.timestamp("ns", "UTC")),
        "t": pa.array([5, None], pa.int64()).view(pa.time64("us")),
    }
    write_iceberg(tmp_path, kinds, arrays)

    frame = load(spark, tmp_path, columns="u, f, n, z")

    assert frame.dtypes == [
        ("u", "string"),
        ("f", "binary"),
        ("n", "timestamp_ntz"),
        ("z", "timestamp"),
    ]
    rows = frame.selectExpr("u", "f", "CAST(n AS STRING)", "unix_micros(z)").collect()
    assert tuple(rows[0]) == (
        "00010203-0405-0607-0809-0a0b0c0d0e0f",
        b"abcd",
        "1969-12-31 23:59:59.999999",
        1,
    )
    assert tuple(rows[1]) == (None,) * 4
    with pytest.raises(AnalysisException, match=r"column t is of type time64.*leave it out"):
        load(spark, tmp_path)


def write_iceberg(folder, kinds, arrays):
    table = IcebergTable(folder, kinds, more={"format-version": 3})
    fields = [
        pa.field(name, array.type, metadata={"PARQUET:field_id": str(at + 1)})
        for at, (name, array) in enumerate(arrays.items())
    ]
    (folder / "data").mkdir(exist_ok=True)
    pq.write_table(
        pa.table(list(arrays.values()), pa.schema(fields)), folder / "data" / "a.parquet"
    )
    table.manifest([table.file("a.parquet", {}, {})])
    table.commit()


@pytest.mark.parametrize(
    ("predicate", "question", "why"),
    [
        ("id = 3", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo"),
        ("id = 3", {"dialect": "duckdb"}, "duckdb"),
        ("at < current_timestamp()", {}, "asks for the time"),
        ("_metadata.file_name LIKE 'part%'", {}, "no column of the rows"),
    ],
)
def test_a_predicate_that_spark_may_read_otherwise_is_not_applied_again(
    spark, tables, predicate, question, why
):
    where = tables["hive"][0]
    plan = whyscan.open(where).plan(predicate, **question)

    reader = reader_of(plan, spark)

    assert (reader.format, reader.applied_again) == ("whyscan", False)
    assert why in reader.why
    assert plan.to_spark(spark).count() == plan.to_arrow().num_rows


def test_errors_that_are_null_or_names_in_one_case_are_read_by_us(spark, tables):
    plan = whyscan.open(tables["hive"][0]).plan("id = 3")

    with settings(spark, {"spark.sql.ansi.enabled": "false"}):
        assert not reader_of(plan, spark).applied_again
    with settings(spark, {"spark.sql.caseSensitive": "true"}):
        assert reader_of(plan, spark).format == "whyscan"
    assert reader_of(plan, spark).format == "parquet"


def test_no_option_names_a_file_with_a_pickle(tmp_path):
    """A pickle can run code, and `OPTIONS` of SQL can name any file."""
    evil = tmp_path / "plan"
    evil.write_bytes(b"cbuiltins\nexec\n(Vraise SystemExit\ntR.")

    with pytest.raises(UsageError, match="unknown option 'handed_over'"):
        WhyscanDataSource({"handed_over": str(evil)}).schema()
