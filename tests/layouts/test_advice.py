"""Advice: the layout that is advised reads least when it is really written."""

from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import whyscan
from support import schemas
from whyscan.errors import TableError, UsageError
from whyscan.layouts.engine_statements import spark_statements, trino_statements
from whyscan.layouts.language import parse_layout
from whyscan.spark import Workload
from whyscan.spark.stages.workload import Query

ROWS, FILES = 6_000, 12
QUERIES = {
    "SELECT * FROM events WHERE user_id = 77": 500,
    "SELECT * FROM events WHERE day BETWEEN 10 AND 12": 20,
    "SELECT * FROM events WHERE country = 'DE' AND day = 3": 5,
    "SELECT * FROM events": 1,
}


@pytest.fixture(scope="module")
def events():
    random = Random(7)
    return pa.table(
        {
            "user_id": [random.randint(0, 999) for _ in range(ROWS)],
            "day": [random.randint(0, 60) for _ in range(ROWS)],
            "country": [random.choice(["DE", "FR", "IT"]) for _ in range(ROWS)],
        }
    )


def written(table, folder):
    for number in range(FILES):
        part = table.slice(number * ROWS // FILES, ROWS // FILES)
        path = folder / f"{number:02}.parquet"
        # A row takes as many bytes in every order.
        pq.write_table(part, path, compression=None, use_dictionary=False)
    return folder


@pytest.fixture(scope="module")
def lake(events, tmp_path_factory):
    return written(events, tmp_path_factory.mktemp("events"))


def workload(queries):
    return Workload(tuple(Query(text, "spark", runs) for text, runs in queries.items()), ())


def bytes_of_all_runs(table):
    return sum(
        whyscan.explain_sql(sql, {"events": table}).scans[0].report.files_level.bytes_kept * runs
        for sql, runs in QUERIES.items()
    )


def test_the_advised_order_when_it_is_written_reads_what_was_estimated_and_least(
    events, lake, tmp_path
):
    (table,) = whyscan.advise(workload(QUERIES), {"events": lake}).tables

    best = table.advice[0]
    assert best.layout == "sort by user_id"
    assert table.today.bytes == best.bytes.before == bytes_of_all_runs(lake)
    read = {}
    for column in events.column_names:
        (tmp_path / column).mkdir()
        read[column] = bytes_of_all_runs(written(events.sort_by(column), tmp_path / column))
    assert min(read, key=read.get) == "user_id"
    assert best.bytes.after == pytest.approx(read["user_id"], rel=0.1)
    assert best.bytes.low <= best.bytes.after <= best.bytes.high
    assert table.today.floor_bytes <= best.bytes.after


def test_every_query_has_its_line_also_one_that_gains_nothing(lake):
    (table,) = whyscan.advise(workload(QUERIES), {"events": lake}).tables

    lines = {line.query: line for line in table.advice[0].queries}
    assert set(lines) == set(QUERIES)
    everything = lines["SELECT * FROM events"]
    assert everything.bytes_before == everything.bytes_after
    saved = [(q.bytes_before - q.bytes_after) * q.runs for q in table.advice[0].queries]
    assert saved == sorted(saved, reverse=True)


def test_a_table_that_no_layout_improves_is_left_alone(lake):
    (table,) = whyscan.advise(
        workload({"SELECT * FROM events WHERE user_id >= 0": 9}), {"events": lake}
    ).tables

    assert table.leave_alone
    assert table.advice == ()


def test_a_workload_that_reads_everything_on_purpose_has_no_advice(lake):
    with pytest.raises(TableError) as caught:
        whyscan.advise(workload({"SELECT * FROM events": 12}), {"events": lake})

    assert caught.value.message == ("nothing to advise on: 1 query read everything on purpose")


def test_a_table_that_cannot_be_read_does_not_stop_the_others(lake, tmp_path):
    advice = whyscan.advise(workload(QUERIES), {"events": lake, "gone": tmp_path / "gone"})

    assert [table.table for table in advice.tables] == ["events"]
    assert [table.table for table in advice.failed] == ["gone"]
    assert "gone could not be read" in advice.to_text()


def test_without_a_table_that_can_be_read_the_error_has_the_first_reason(tmp_path):
    with pytest.raises(TableError) as caught:
        whyscan.advise(workload(QUERIES), {"events": tmp_path / "gone"})

    assert caught.value.message.startswith("nothing to advise on: table events could not be read: ")


def test_partitions_that_no_query_filters_by_and_small_ones_are_named(events, tmp_path):
    write_deltalake(tmp_path, events, partition_by=["country", "day"])
    queries = {"SELECT * FROM events WHERE user_id = 77 AND country = 'DE'": 3}

    advice = whyscan.advise(workload(queries), {"events": tmp_path})

    partitions = 3 * 61
    assert advice.tables[0].structure == (
        "no query filters by the partition column day",
        f"{partitions} of {partitions} partitions have less than 32 MB: files stay small",
    )
    assert "no query filters by the partition column day" in advice.to_text()


def test_a_table_without_partitions_has_no_structure_to_judge(lake):
    (table,) = whyscan.advise(workload(QUERIES), {"events": lake}).tables

    assert table.structure == ()


def test_a_sample_of_nothing_is_refused(lake):
    with pytest.raises(UsageError):
        whyscan.advise(workload(QUERIES), {"events": lake}, sample=0)


def test_queries_that_cannot_be_read_are_named_with_the_reason(lake):
    advice = whyscan.advise(
        workload({**QUERIES, "SELECT nothing FROM events WHERE nothing = 1": 1}), {"events": lake}
    )

    assert [query.why for query in advice.unread] == ["unknown column 'nothing'"]


def test_the_document_fits_its_schema_and_every_format_is_written(events, tmp_path):
    write_deltalake(tmp_path, events)
    queries = {"SELECT * FROM events WHERE user_id = 1 OR day = 3": 3}

    advice = whyscan.advise(workload(queries), {"events": tmp_path})

    schemas.valid("advise", advice.to_dict())
    for form in (advice.to_text(), advice.to_markdown(), advice.to_html()):
        assert "events" in form
    assert "'" not in advice.redacted().to_text()


CALL = (
    "CALL system.rewrite_data_files(table => 't', strategy => 'sort', "
    "sort_order => '{}', options => map('rewrite-all', 'true'))"
)
PARTITIONING = "partitioning = ARRAY['bucket(a, 4)']"
STATEMENTS = {
    ("sort by a", "delta"): (["OPTIMIZE t ZORDER BY (a)"], []),
    ("zorder by a, b", "delta"): (["OPTIMIZE t ZORDER BY (a, b)"], []),
    ("cluster by a, b", "delta"): (["ALTER TABLE t CLUSTER BY (a, b)", "OPTIMIZE t FULL"], []),
    ("partition by a", "delta"): (
        ["CREATE TABLE t_new USING delta PARTITIONED BY (a) AS SELECT * FROM t ORDER BY a"],
        [],
    ),
    ("zorder by a, `b c`", "iceberg"): (
        [
            CALL.format("zorder(a, `b c`)"),
        ],
        [],
    ),
    ("partition by bucket(4, a) sort by b desc", "iceberg"): (
        [
            "ALTER TABLE t ADD PARTITION FIELD bucket(4, a)",
            "ALTER TABLE t WRITE ORDERED BY b DESC",
            CALL.format("b DESC"),
        ],
        [
            f"ALTER TABLE t SET PROPERTIES {PARTITIONING}, sorted_by = ARRAY['b DESC']",
            "ALTER TABLE t EXECUTE optimize(file_size_threshold => '10TB')",
        ],
    ),
    ("sort by a, b", "parquet"): (
        ["CREATE TABLE t_new USING parquet AS SELECT * FROM t ORDER BY a ASC, b ASC"],
        [],
    ),
}


@pytest.mark.parametrize(("layout", "table_format"), STATEMENTS)
def test_a_layout_has_the_statements_of_engines_that_write_it(layout, table_format):
    parsed = parse_layout(layout)

    spark, trino = STATEMENTS[layout, table_format]
    assert list(spark_statements(parsed, "t", table_format)) == spark
    assert list(trino_statements(parsed, "t", table_format)) == trino
