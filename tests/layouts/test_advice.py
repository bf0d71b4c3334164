"""Advice: the layout that is advised reads least when it is really written."""

from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import whyscan
from support import schemas
from whyscan.errors import TableError, UsageError
from whyscan.layouts.engine_statements import LayoutRewrite
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


def test_a_sample_of_less_than_nothing_is_refused(lake):
    with pytest.raises(UsageError):
        whyscan.advise(workload(QUERIES), {"events": lake}, sample=-1)


def test_without_a_sample_advice_is_what_bounds_prove(events, tmp_path):
    """Each file has one day, and each day is in every fifth file: sorting by the day is proved."""
    days = events.sort_by("day")
    folder = tmp_path / "mixed"
    folder.mkdir()
    for number in range(60):
        part = days.slice((number * 7 % 60) * 100, 100)
        path = folder / f"{number:02}.parquet"
        pq.write_table(part, path, compression=None, use_dictionary=False)
    queries = {"SELECT * FROM events WHERE user_id = 77": 3}

    (table,) = whyscan.advise(workload(queries), {"events": folder}, sample=0).tables

    # The bounds of users say nothing, and "leave it alone" would be a claim about the rows.
    assert (table.advice, table.leave_alone) == ((), False)


def test_money_is_gated_by_what_all_runs_cost_today(lake):
    advice = whyscan.advise(workload(QUERIES), {"events": lake}).priced("5/TB")

    cost = advice.tables[0].today.cost
    assert cost == pytest.approx(advice.tables[0].today.bytes * 5e-12)
    assert advice.gated(max_cost=cost).passed
    assert not advice.gated(max_cost=cost * 0.9).passed
    assert "max_cost" in advice.gated(max_cost=0).to_text()


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


def call(sorting, where=""):
    return (
        f"CALL system.rewrite_data_files(table => 't', strategy => 'sort', sort_order => "
        f"'{sorting}'{where}, options => map('rewrite-all', 'true', "
        "'target-file-size-bytes', '900'))"
    )


SIZE = "SET spark.databricks.delta.optimize.maxFileSize = 900"
ROWS_A_FILE = "SET spark.sql.files.maxRecordsPerFile = 50"
OPTIMIZE = "ALTER TABLE t EXECUTE optimize(file_size_threshold => '10TB')"
TRINO_SIZE = "SET SESSION target_max_file_size = '900B'"
BY_A_AND_B = "SELECT /*+ REPARTITION_BY_RANGE(7, a, b) */ * FROM t SORT BY a ASC, b ASC"
# The layout, the format, the partitions of today, and the statements of Spark and of Trino.
STATEMENTS = [
    ("sort by a", "delta", "", [SIZE, "OPTIMIZE t ZORDER BY (a)"], []),
    ("zorder by a, b", "delta", "", [SIZE, "OPTIMIZE t ZORDER BY (a, b)"], []),
    (
        "cluster by a, b",
        "delta",
        "",
        [SIZE, "ALTER TABLE t CLUSTER BY (a, b)", "OPTIMIZE t FULL"],
        [],
    ),
    ("sort by a, b", "delta", "", [f"INSERT OVERWRITE t {BY_A_AND_B}"], []),
    (
        "partition by a",
        "delta",
        "",
        [
            ROWS_A_FILE,
            (
                "CREATE TABLE t_new USING delta PARTITIONED BY (a) AS "
                "SELECT /*+ REPARTITION(7, a) */ * FROM t SORT BY a"
            ),
        ],
        ["CREATE TABLE t_new WITH (partitioned_by = ARRAY['a']) AS SELECT b, \"b c\", a FROM t"],
    ),
    (
        "partition by none cluster by a, b",
        "delta",
        "partition by a",
        [
            (
                "CREATE TABLE t_new USING delta CLUSTER BY (a, b) AS "
                "SELECT /*+ REPARTITION(7) */ * FROM t"
            ),
            SIZE,
            "OPTIMIZE t_new FULL",
        ],
        [],
    ),
    ("zorder by a, `b c`", "iceberg", "", [call("zorder(a, `b c`)")], []),
    (
        "partition by bucket(4, a) sort by b desc",
        "iceberg",
        "partition by day(b)",
        [
            "ALTER TABLE t DROP PARTITION FIELD day(b)",
            "ALTER TABLE t ADD PARTITION FIELD bucket(4, a)",
            "ALTER TABLE t WRITE ORDERED BY b DESC",
            call("b DESC"),
        ],
        [
            (
                "ALTER TABLE t SET PROPERTIES partitioning = ARRAY['bucket(a, 4)'], "
                "sorted_by = ARRAY['b DESC']"
            ),
            TRINO_SIZE,
            OPTIMIZE,
        ],
    ),
    (
        "sort by a, b",
        "parquet",
        "",
        [f"CREATE TABLE t_new USING parquet AS {BY_A_AND_B}"],
        [],
    ),
    (
        "partition by b",
        "hive",
        "partition by a",
        [
            ROWS_A_FILE,
            (
                "CREATE TABLE t_new USING parquet PARTITIONED BY (b) AS "
                "SELECT /*+ REPARTITION(7, b) */ * FROM t SORT BY b"
            ),
        ],
        [
            (
                "CREATE TABLE t_new WITH (format = 'PARQUET', partitioned_by = ARRAY['b']) AS "
                'SELECT a, "b c", b FROM t'
            )
        ],
    ),
]


def rewrite(layout, table_format, today="", **more):
    partitions = parse_layout(today).partitions if today else ()
    return LayoutRewrite(
        parse_layout(layout),
        ("t",),
        table_format,
        partitions,
        ("a", "b", "b c"),
        file_bytes=900,
        file_rows=50,
        files=7,
        **more,
    ).statements()


@pytest.mark.parametrize(("layout", "table_format", "today", "spark", "trino"), STATEMENTS)
def test_a_layout_has_the_statements_of_engines_that_write_it(
    layout, table_format, today, spark, trino
):
    statements = rewrite(layout, table_format, today)

    assert list(statements.spark) == spark
    assert list(statements.trino) == trino


def test_a_catalog_is_that_of_the_name_and_odd_names_are_quoted():
    layout = parse_layout("sort by `b c`")
    written = LayoutRewrite(layout, ("lake", "db", "my-table"), "iceberg", (), ("b c",), 900, 50, 7)

    assert (
        written.statements()
        .spark[1]
        .startswith("CALL lake.system.rewrite_data_files(table => 'db.`my-table`', ")
    )
    assert written.statements().trino[:2] == (
        'ALTER TABLE lake.db."my-table" SET PROPERTIES sorted_by = ARRAY[\'"b c"\']',
        "SET SESSION lake.target_max_file_size = '900B'",
    )


@pytest.mark.parametrize(
    ("fields", "name"), [(set(), "b_day"), ({"b_days", "a"}, "b_days")], ids=["default", "own"]
)
def test_manifests_are_ordered_by_partition_fields_as_the_table_names_them(fields, name):
    layout = "order manifests by b"

    statements = rewrite(
        layout, "iceberg", "partition by day(b)", field_names=frozenset(fields)
    ).spark

    assert statements == (
        f"CALL system.rewrite_manifests(table => 't', sort_by => array('{name}'))",
    )


def test_the_condition_stands_in_the_statements_of_each_engine():
    iceberg = rewrite("sort by a", "iceberg", where="d >= 'x'")

    assert iceberg.spark[-1] == call("a ASC", ", where => 'd >= ''x'''")
    assert iceberg.trino[-1] == f"{OPTIMIZE} WHERE d >= 'x'"
    assert rewrite("sort by a, b", "delta", where="d = 1").spark == ()
    assert rewrite("sort by a", "hive", where="d = 1").spark == ()


def test_a_condition_that_an_engine_cannot_use_speaks_for_no_layout(events, lake, tmp_path):
    sql = "SELECT * FROM events WHERE user_id + 1 = 78"
    write_deltalake(tmp_path, events)
    for number in range(FILES):
        part = events.slice(number * ROWS // FILES, ROWS // FILES)
        mode = "append" if number else "overwrite"
        write_deltalake(tmp_path, part, mode=mode)

    for place, engine in ((lake, "spark-parquet"), (tmp_path, "spark-delta")):
        (proved,) = whyscan.advise(workload({sql: 5}), {"events": place}).tables
        by_engine = whyscan.advise(workload({sql: 5}), {"events": place}, engines=engine)

        assert proved.advice[0].layout == "sort by user_id"
        assert by_engine.tables[0].leave_alone
        assert by_engine.engines[0].startswith(engine)


def test_bytes_of_an_engine_are_those_that_explain_says_it_reads(events, lake, tmp_path):
    """The layout is advised on for the other query, and written."""
    queries = {"SELECT * FROM events WHERE user_id + 1 = 78": 1, **QUERIES}
    advice = whyscan.advise(workload(queries), {"events": lake}, engines="spark-parquet")

    best = advice.tables[0].advice[0]
    assert best.layout == "sort by user_id"
    table = whyscan.open(written(events.sort_by("user_id"), tmp_path))
    for line in best.queries:
        predicate = line.query.partition("WHERE ")[2] or "true"
        (reading,) = table.explain(predicate, engines="spark-parquet").engines
        assert line.bytes_after == pytest.approx(reading.bytes, rel=0.35), line.query


def test_a_small_sample_of_many_files_is_laid_out_in_larger_ones(events, tmp_path):
    """The sample has too few rows for files of today's size, which is no reason to leave it."""
    for number in range(300):
        part = events.slice(number * 20, 20)
        pq.write_table(part, tmp_path / f"{number:03}.parquet", compression=None)

    (table,) = whyscan.advise(workload(QUERIES), {"events": tmp_path}, sample=50_000).tables

    assert not table.leave_alone
    assert table.advice[0].layout.startswith("sort by user_id")
    assert 1 < table.advice[0].writes.files < 300
