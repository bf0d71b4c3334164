"""Layouts that Spark really writes, by the statements that advice prints, beside predictions."""

from datetime import datetime, timedelta
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import whyscan
import whyscan.spark as whyscan_spark
from support import schemas
from tables.iceberg.pyiceberg_lakes import Memory
from whyscan.errors import TableError, UsageError
from whyscan.spark import Workload
from whyscan.spark.stages.workload import Query

pytestmark = pytest.mark.spark

ROWS, FILES = 24_000, 12
QUERIES = {
    "SELECT * FROM events WHERE user_id = 77": 50,
    "SELECT * FROM events WHERE user_id BETWEEN 300 AND 340 AND country = 'DE'": 5,
    "SELECT * FROM events WHERE ts >= TIMESTAMP '2024-01-28 00:00:00'": 20,
    "SELECT * FROM events WHERE x < 5e4": 9,
    "SELECT * FROM events WHERE country = 'FR' AND ts < TIMESTAMP '2024-01-03 00:00:00'": 7,
}
WORKLOAD = Workload(tuple(Query(text, "spark", runs) for text, runs in QUERIES.items()), ())


def rows():
    random = Random(5)
    first = datetime(2024, 1, 1)  # noqa: DTZ001 - a clock's reading has no zone
    return pa.table(
        {
            "user_id": pa.array([random.randint(0, 999) for _ in range(ROWS)], pa.int64()),
            "ts": pa.array(
                [first + timedelta(minutes=random.randint(0, 43_199)) for _ in range(ROWS)],
                pa.timestamp("us"),
            ),
            "day": pa.array([random.randint(0, 29) for _ in range(ROWS)], pa.date32()),
            "x": [random.random() * 1e6 for _ in range(ROWS)],
            "country": [random.choice(["DE", "FR", "IT"]) for _ in range(ROWS)],
            # Bytes that do not compress: a row is as large in every order.
            "payload": [random.randbytes(1_000) for _ in range(ROWS)],
        }
    )


def parts():
    table = rows()
    return [table.slice(at * ROWS // FILES, ROWS // FILES) for at in range(FILES)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """The same rows as a table of each format; one of Delta has partitions."""
    from pyiceberg.io.pyarrow import _pyarrow_to_schema_without_ids
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import assign_fresh_schema_ids

    folder = tmp_path_factory.mktemp("lake")
    schema = assign_fresh_schema_ids(_pyarrow_to_schema_without_ids(rows().schema))
    place = folder / "iceberg"
    iceberg = Memory(place).create(schema, PartitionSpec(), str(place), 2)
    (folder / "parquet").mkdir()
    for number, part in enumerate(parts()):
        write_deltalake(folder / "delta", part, mode="append")
        write_deltalake(folder / "parted", part, mode="append", partition_by=["country"])
        iceberg.append(part)
        pq.write_table(part, folder / "parquet" / f"{number}.parquet")
    return folder


LAYOUTS = [
    ("delta", "sort by user_id"),
    ("delta", "zorder by user_id, ts"),
    ("delta", "cluster by user_id, ts"),
    ("delta", "sort by country, user_id"),
    ("parted", "zorder by ts, user_id"),
    ("parted", "partition by none cluster by user_id, ts"),
    ("iceberg", "sort by user_id"),
    ("iceberg", "zorder by user_id, ts"),
    ("iceberg", "zorder by country, ts, user_id"),
    ("iceberg", "partition by country, bucket(4, user_id) sort by ts"),
    ("parquet", "partition by country sort by user_id"),
]


@pytest.mark.parametrize(("table", "layout"), LAYOUTS)
def test_the_printed_statements_run_and_the_copy_reads_what_was_predicted(
    spark, lake, tmp_path, table, layout
):
    before = whyscan.open(lake / table).snapshot.version

    check = whyscan_spark.verify_layout(
        spark, str(lake / table), layout, WORKLOAD, name="events", to=tmp_path / "copy"
    )

    assert check.statements
    assert check.error < 0.15, check.to_text()
    assert whyscan.open(lake / table).snapshot.version == before


def test_a_share_of_the_rows_predicts_the_table_in_small(spark, lake, tmp_path):
    layout = "zorder by user_id, ts"

    check = whyscan_spark.verify_layout(
        *(spark, str(lake / "delta"), layout, WORKLOAD),
        name="events",
        to=tmp_path / "copy",
        fraction=0.5,
    )

    assert check.written_bytes == pytest.approx(check.table_bytes / 2, rel=0.1)
    assert check.written_files == FILES
    assert check.error < 0.2
    document = schemas.valid("verify-layout", check.to_dict())
    assert document["error"] == check.error
    assert [line["query"] for line in document["queries"]] == [q.query for q in check.queries]
    assert "77" not in check.redacted().to_text()


def test_settings_of_the_session_are_as_before(spark, lake, tmp_path):
    before = spark.conf.get("spark.databricks.delta.optimize.maxFileSize")

    whyscan_spark.verify_layout(
        *(spark, f"events={lake / 'delta'}", "sort by user_id", WORKLOAD), to=tmp_path / "copy"
    )

    assert spark.conf.get("spark.databricks.delta.optimize.maxFileSize") == before


REFUSED = {
    "inside the table": (UsageError, {"to": "{lake}/delta/copy"}),
    "is not empty": (UsageError, {"to": "{lake}"}),
    "no share of a table": (UsageError, {"to": "{lake}/new", "fraction": 0.0}),
    "no folder of this machine": (UsageError, {"to": "s3://bucket/copy"}),
    "no condition on 'others'": (TableError, {"to": "{lake}/new", "name": "others"}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_compared_is_refused_before_anything_is_written(spark, lake, message):
    kind, options = REFUSED[message]
    chosen = {"name": "events", **options, "to": options["to"].format(lake=lake)}

    with pytest.raises(kind, match=message):
        whyscan_spark.verify_layout(
            spark, str(lake / "delta"), "sort by user_id", WORKLOAD, **chosen
        )

    assert not (lake / "new").exists()
