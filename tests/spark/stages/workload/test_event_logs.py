"""Spark's event logs: what ran, what it read, and whatever becomes of the end of the file."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import write_deltalake

import whyscan
from spark.stages.workload.recording import SETTINGS, recording
from support.spark_sessions import settings
from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.query import ActualScan

pytestmark = pytest.mark.spark

NAMED = "SELECT count(*) FROM ice.logs.orders WHERE p = 1 AND id > 100"


def rows():
    """4,000 rows: p is 0 to 3, a thousand each."""
    ids = list(range(4000))
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "p": pa.array([n % 4 for n in ids], pa.int32()),
            "country": ["DE" if n % 2 else "FR" for n in ids],
            "s": [f"name {n % 3}, x" for n in ids],
            "d": pa.array([20454 + n % 10 for n in ids], pa.int32()).cast(pa.date32()),
            "ts": pa.array([1767225600_000000 + n for n in ids], pa.timestamp("us", "UTC")),
            "x": [n / 2 for n in ids],
        }
    )


def run_queries(spark, folder):
    """What the log holds: each of these is an execution, or two."""
    context = spark.sparkContext
    hive = spark.read.parquet(str(folder / "hive"))
    context.setJobDescription(NAMED)
    for _ in range(2):
        spark.sql(NAMED).collect()
    context.setJobDescription("nightly report")
    hive.where("p IN (1, 2) AND s = 'name 1, x' AND x > 1.5").select("id").collect()
    context.setJobDescription(None)
    with settings(spark, {"spark.sql.session.timeZone": "Europe/Berlin"}):
        hive.where("ts >= timestamp'2026-01-01 01:00:00.001' AND upper(s) = 'X'").collect()
    spark.sql(f"SELECT id FROM delta.`{folder}/delta` WHERE country = 'DE' AND id < 500").collect()
    orders = spark.table("ice.logs.orders").where("d = date'2026-01-02' AND p = 3")
    orders.join(hive.where("p = 3"), "id").select("id").collect()
    kept = hive.select("id", "p").cache()
    kept.count()
    kept.where("id = 5").collect()
    kept.unpersist()
    hive.createOrReplaceTempView("a_view_reads_nothing")


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory):
    place = tmp_path_factory.mktemp("logs")
    parts = ds.partitioning(pa.schema([("p", pa.int32())]), flavor="hive")
    ds.write_dataset(rows(), place / "hive", format="parquet", partitioning=parts)
    write_deltalake(place / "delta", rows().sort_by("id"), partition_by=["country"])
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.logs")
    frame = spark.createDataFrame(rows())
    frame.repartition(1).writeTo("ice.logs.orders").partitionedBy("p").createOrReplace()
    with recording(spark, place / "log"):
        run_queries(spark, place)
    return place


@pytest.fixture(scope="module")
def workload(folder):
    return read_workload([str(folder / "log" / "plain")])


def written(workload, part):
    """The one query that was written of a plan with this in its text."""
    (query,) = [q for q in workload.queries if part in q.text and q.text != NAMED]
    return query


def test_an_execution_whose_description_is_sql_is_that_query(workload, folder):
    (query,) = [query for query in workload.queries if query.text == NAMED]

    assert (query.times, query.dialect) == (2, "spark")
    assert all(re.fullmatch(r"app-1/execution \d+", origin) for origin in query.origins)
    assert len(query.origins) == 2
    (scan,) = query.actual
    assert (scan.table, scan.runs, scan.files, scan.rows) == ("ice.logs.orders", 2, 2, 2000)
    assert query.bytes_read == scan.bytes > 0
    today = datetime.now(UTC)
    assert abs((today - query.first).total_seconds()) < 3600
    assert sum(query.days.values()) == 2


def test_a_scan_of_files_is_written_with_the_filters_of_its_plan(workload, folder):
    query = written(workload, "name 1, x")

    assert query.text == (
        f"SELECT `id`, `s`, `x`, `p` FROM parquet.`{folder}/hive` "
        "WHERE `p` IN ('1', '2') AND `s` = 'name 1, x' AND `x` > 1.5D"
    )
    assert query.notes == ()
    assert query.actual[0].partitions == 2
    sizes = [file.stat().st_size for p in (1, 2) for file in (folder / f"hive/p={p}").iterdir()]
    assert query.actual == (ActualScan(f"{folder}/hive", 1, len(sizes), sum(sizes), 2000, 2),)


def test_a_filter_that_is_not_sure_is_left_out_and_said_and_times_keep_their_instant(workload):
    query = written(workload, "`ts` >=")

    assert query.text.endswith("`ts` >= TIMESTAMP '2026-01-01 00:00:00.001000+00:00'")
    (note,) = query.notes
    assert re.fullmatch(r"left out of its text: \(upper\(s#\d+\) = X\)", note)


def test_a_scan_of_delta_is_of_its_table_and_not_of_its_log(workload, folder):
    query = written(workload, "FROM delta.")

    assert query.text == (
        f"SELECT `id`, `country` FROM delta.`{folder}/delta` WHERE `country` = 'DE' AND `id` < 500"
    )
    assert (query.actual[0].files, query.actual[0].rows) == (1, 2000)
    assert not any("_delta_log" in query.text for query in workload.queries)


def test_the_scans_of_a_join_are_a_query_each(workload, folder):
    iceberg = written(workload, "`ice`.`logs`.`orders`")
    hive = written(workload, "`p` = '3'")

    assert iceberg.text.startswith("SELECT ")
    assert "`d` = '2026-01-02'" in iceberg.text
    assert "`p` = 3" in iceberg.text or any("p = 3" in note for note in iceberg.notes)
    assert iceberg.actual[0].table == "ice.logs.orders"
    assert iceberg.actual[0].files == 1
    assert f"{folder}/hive" in hive.text
    assert hive.origins == iceberg.origins


def test_a_cached_table_is_read_once_however_often_it_is_used(workload):
    (query,) = [query for query in workload.queries if query.text.endswith("/hive`")]

    assert query.text.startswith("SELECT `id`, `p` FROM")
    assert query.times == 1
    assert query.actual[0].rows == 4000


def test_what_reads_nothing_is_listed(workload):
    assert {entry.why for entry in workload.unparsed} == {
        "the log has no SQL of it, and its plan no scan of files"
    }
    assert any("createOrReplaceTempView" in entry.text for entry in workload.unparsed)


def test_a_plan_of_the_written_query_keeps_the_files_that_spark_read(workload):
    """Delta and Iceberg plan by statistics, too; of plain files Spark counts partitions alone."""
    for part in ("FROM delta.", "name 1, x"):
        query = written(workload, part)
        (scan,) = whyscan.explain_sql(query.text, depth="files").scans
        assert scan.report.files_level.kept == query.actual[0].files, query.text


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "plain"])
def test_every_codec_and_layout_gives_the_same_queries(folder, workload, name):
    assert read_workload([str(folder / "log" / name)]) == workload


@pytest.mark.parametrize("name", list(SETTINGS))
def test_a_log_that_is_cut_off_is_read_up_to_its_end(folder, workload, tmp_path, name):
    copy = tmp_path / name
    shutil.copytree(folder / "log" / name, copy)
    (file,) = [
        path for path in copy.rglob("*app-1*") if path.is_file() and path.stat().st_size > 99
    ]
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) * 3 // 4])

    again = read_workload([str(copy)])

    assert 0 < len(again.queries) <= len(workload.queries)
    assert NAMED in [query.text for query in again.queries]
    (cut,) = [entry for entry in again.unparsed if not entry.text]
    assert cut.why == ("the log ends in the middle of an entry, as one that is still being written")


def test_the_pieces_of_a_rolling_log_are_one_log_in_their_order(folder, workload, tmp_path):
    lines = (folder / "log" / "plain" / "app-1").read_bytes().splitlines(keepends=True)
    rolling = tmp_path / "eventlog_v2_app-1"
    rolling.mkdir()
    (rolling / "appstatus_app-1.inprogress").touch()
    for number in range(11):
        begin, end = (len(lines) * at // 11 for at in (number, number + 1))
        (rolling / f"events_{number + 1}_app-1").write_bytes(b"".join(lines[begin:end]))

    assert read_workload([str(tmp_path)]) == workload


def test_a_compacted_piece_stands_for_those_before_it(folder, workload, tmp_path):
    rolling = tmp_path / "eventlog_v2_app-1"
    rolling.mkdir()
    log = (folder / "log" / "plain" / "app-1").read_bytes()
    (rolling / "events_1_app-1").write_bytes(b"old\n")
    (rolling / "events_2_app-1.compact").write_bytes(log)

    assert read_workload([str(tmp_path)]) == workload


def test_the_sql_of_connect_is_found_by_its_job_tag(folder, tmp_path):
    tag = "SparkConnect_OperationTag_User_ann_Session_1_Operation_2"
    started = {
        "Event": "org.apache.spark.sql.connect.service.SparkListenerConnectOperationStarted",
        "jobTag": tag,
        "operationId": "2",
        "eventTime": 1772442000000,
        "statementText": 'sql {\n  query: "SELECT id FROM lake.orders WHERE p = 3"\n}\n',
    }
    log = []
    for line in (folder / "log" / "plain" / "app-1").read_text("utf-8").splitlines():
        event = json.loads(line)
        if (
            event["Event"].endswith("SQLExecutionStart")
            and event["description"] == "nightly report"
        ):
            event["jobTags"] = [tag]
        log.append(json.dumps(event, separators=(",", ":")))
    (tmp_path / "app-1").write_text("\n".join([json.dumps(started, separators=(",", ":")), *log]))

    workload = read_workload([str(tmp_path)])

    (query,) = [query for query in workload.queries if "lake.orders" in query.text]
    assert query.text == "SELECT id FROM lake.orders WHERE p = 3"
    assert query.actual[0].rows == 2000
    assert not any("name 1, x" in query.text for query in workload.queries)


def test_lines_that_are_no_events_are_counted(folder, tmp_path):
    log = (folder / "log" / "plain" / "app-1").read_bytes()
    (tmp_path / "app-1").write_bytes(log + b"not json\n" + b"neither\n")

    (entry,) = [e for e in read_workload([str(tmp_path)]).unparsed if not e.text]

    assert (entry.why, entry.times) == ("lines that are no events: 2", 2)
