"""What Delta and Iceberg add to the plans of an event log, and what they print otherwise."""

from __future__ import annotations

import re

import pytest

import whyscan
import whyscan.spark
from spark.stages.workload.recording import recording

pytestmark = pytest.mark.spark

ROWS = (
    "SELECT id, date'2024-01-01' + cast(id div 100 AS int) AS d, cast(id div 50 AS int) AS p, "
    "id % 2 = 0 AS even, concat('s', id) AS s, cast(id / 10 AS float) AS f, "
    "timestamp'2024-01-01' + make_interval(0, 0, 0, 0, id) AS ts FROM range(400)"
)
WIDE = ROWS.replace(" FROM", f", {', '.join(f'cast(NULL AS int) AS z{i}' for i in range(20))} FROM")
QUERIES = (
    "SELECT id FROM {0} WHERE d = date'2024-01-03' AND even",
    "SELECT id FROM {0} WHERE d IN (date'2024-01-01', date'2024-01-04') AND p >= 6",
    "SELECT id FROM {0} WHERE p = 2 AND s LIKE 's1%'",
    "SELECT id FROM {0} WHERE p != 0 AND d < date'2024-01-02' AND (id = 3 OR s = 's77')",
    "SELECT id FROM {0} WHERE ts >= timestamp'2024-01-10' AND ts < timestamp'2024-01-11'",
    "SELECT id FROM {0} WHERE f = cast(0.1 AS float) AND p < 2",
    "SELECT * FROM {0} WHERE id > 3 AND z19 IN (1, 2)",
)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """A folder with a log of `ASKED` on Iceberg, and of reads and changes of deleted rows."""
    folder = tmp_path_factory.mktemp("formats")
    delta = f"delta.`{folder}/delta`"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.formats")
    spark.sql("DROP TABLE IF EXISTS ice.formats.t")
    spark.sql(f"CREATE TABLE ice.formats.t USING iceberg PARTITIONED BY (d, p) AS {WIDE}")
    spark.sql(
        f"CREATE TABLE {delta} USING delta "
        f"TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') AS {ROWS}"
    )
    spark.sql(f"DELETE FROM {delta} WHERE id = 7")
    with recording(spark, folder / "log"):
        for text in QUERIES:
            spark.sql(text.format("ice.formats.t")).collect()
        spark.sql(f"SELECT id, s FROM {delta} WHERE id < 50").collect()
        spark.sql(f"SELECT max(s) FROM {delta}").collect()
        spark.sql("SELECT snapshot_id FROM ice.formats.t.snapshots").collect()
        spark.sql("UPDATE ice.formats.t SET s = 'x' WHERE p = 3 AND id = 150").collect()
    return folder


@pytest.fixture(scope="module")
def workload(spark, lake):
    tables = {"formats.t": f"{spark.conf.get('spark.sql.warehouse.dir')}/ice/formats/t"}
    return whyscan.spark.audit(spark, str(lake / "log" / "plain"), tables)


def where(text):
    return text.partition(" WHERE ")[2]


def test_a_table_that_is_known_gives_the_numbers_of_an_iceberg_scan_their_types(workload):
    scans = [query for query in workload.queries if query.tables[0].name == "formats.t"]

    day = ("TIMESTAMP '2024-01-10 00:00:00+00:00'", "TIMESTAMP '2024-01-11 00:00:00+00:00'")
    texts = {where(query.sql) for query in scans}
    assert texts >= {
        "`d` = DATE '2024-01-03' AND `even` = true AND `even`",
        "`d` IN (DATE '2024-01-01', DATE '2024-01-04') AND `p` >= 6",
        "`s` IS NOT NULL AND `p` = 2 AND startswith(`s`, 's1')",
        f"`ts` >= {day[0]} AND `ts` < {day[1]}",
        "`f` = CAST('0.1' AS FLOAT) AND `p` < 2",
        "`id` > 3 AND `z19` IN (1, 2)",
    }
    assert [query.notes for query in scans if query.notes] == []
    for query in scans:
        (table,) = query.tables
        assert table.scan.report.summary.files_kept == table.actual.files / table.actual.runs, (
            query.sql
        )


def test_a_table_that_is_not_known_leaves_its_numbers_out_and_says_so(lake):
    workload = whyscan.spark.read_workload([str(lake / "log" / "plain")])

    (query,) = [one for one in workload.queries if "`even` = true" in one.text]
    assert where(query.text) == "`d` IS NOT NULL AND `even` = true AND `even`"
    assert query.notes == ("left out of its text: d = 19725",)
    (query,) = [one for one in workload.queries if "startswith" in one.text]
    assert query.notes == ("left out of its text: p = 2",)
    (query,) = [one for one in workload.queries if " = 0.1" in " ".join(one.notes)]
    assert "0.1" not in query.text


def test_the_rows_that_an_update_of_iceberg_copies_are_a_scan_of_its_columns(workload):
    copied = [query for query in workload.queries if where(query.sql) == "`p` = 3 AND `id` = 150"]

    assert len(copied) == 2
    assert not any("_file" in query.sql or "_pos" in query.sql for query in copied)


def test_metadata_of_iceberg_is_no_table(workload):
    (entry,) = [one for one in workload.unparsed if "ice.formats.t.snapshots" in one.text]

    assert entry.why == "it reads metadata of a table, and no rows of it"
    assert not any(table.error for table in workload.tables)


def test_a_read_around_deleted_rows_asks_for_the_tables_own_columns(workload, lake):
    place = f"{lake}/delta"
    scans = [query for query in workload.queries if query.tables[0].uri == place]

    assert sorted(query.sql for query in scans) == [
        f"SELECT `id`, `s` FROM delta.`{place}` WHERE `id` < 50",
        f"SELECT `s` FROM delta.`{place}`",
    ]
    assert all(not query.notes for query in scans)
    kept = whyscan.open(place).plan("id < 50").summary.files_kept
    assert {query.tables[0].actual.files for query in scans if "50" in query.sql} == {kept}
    assert not any(re.search("delta_internal|row_index", one.why) for one in workload.unparsed)
