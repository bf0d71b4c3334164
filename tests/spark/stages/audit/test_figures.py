"""What is wasted, by figures that are counted here again; and every way to tell of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import whyscan
from spark.stages.audit.lake import write_iceberg
from support.commands import whyscan as command
from support.formats import text
from whyscan.reports.document import to_json
from whyscan.spark.pinned_tables import pin_all
from whyscan.spark.stages.audit.report import Actual
from whyscan.spark.stages.audit.stage import explain_workload
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed, Workload
from whyscan.spark.tables import NamedTable

pytestmark = pytest.mark.spark

FUNCTION = "SELECT id FROM sales WHERE upper(country) = 'FR'"
BY_MONTH = "SELECT id FROM events WHERE date_trunc('month', ts) = '2024-02-01'"
GROUPS = "SELECT * FROM visits WHERE country = 'IT' AND id BETWEEN 40 AND 60"
COUNTED = "SELECT count(*) FROM visits"
WHOLE = "SELECT * FROM sales"
BOTH = "SELECT s.id FROM sales s JOIN gone g ON s.id = g.id"
ROTTEN = "SELECT * FROM rotten WHERE ts > TIMESTAMP '2024-02-02'"
BY_PATH = "SELECT id FROM delta.`{sales}` WHERE id = 7"
QUERIES = (
    Query(FUNCTION, "spark", times=7, days={"2026-11-01": 7}),
    Query(BY_MONTH, "spark", times=5),
    Query(GROUPS, "spark", times=3, actual=(ActualScan("prod.visits", 3, 6, 900, 60),)),
    Query(COUNTED, "spark"),
    Query(WHOLE, "spark", actual=(ActualScan("elsewhere", 1, 1),)),
    Query(BOTH, "spark", times=2),
    Query(ROTTEN, "spark"),
    Query("SELECT nope FROM sales", "spark", times=4, origins=("log.csv:9",)),
    Query("SELEC 1", "spark"),
    Query("SELECT 1 FROM nowhere", "spark"),
)


@pytest.fixture(scope="module")
def audited(spark, lake, tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken")
    write_iceberg(folder / "rotten", 2)
    for manifest in (folder / "rotten" / "metadata").glob("*-m0.avro"):
        manifest.write_bytes(b"Obj\x01 and nothing else")
    tables = {**lake, "gone": str(folder / "gone"), "rotten": str(folder / "rotten")}
    by_path = Query(BY_PATH.format(sales=lake["sales"]), "spark")
    workload = Workload((*QUERIES, by_path), (Unparsed("log.csv:1", "?", "cut off"),))
    pinned = pin_all(NamedTable(name, uri) for name, uri in tables.items())
    audited, _ = explain_workload(spark, workload, pinned)
    return audited


def line(audited, sql):
    (query,) = [one for one in audited.queries if one.sql == sql]
    return query


def size(folder, pattern="*.parquet"):
    return sum(file.stat().st_size for file in Path(folder).rglob(pattern))


def test_a_condition_that_engines_do_not_see_through_reads_all_and_the_rewrite_does_not(
    audited, lake
):
    shown = line(audited, FUNCTION)

    whole, needed = size(lake["sales"]), size(Path(lake["sales"]) / "country=FR")
    assert (shown.bytes_read, shown.bytes_needed) == (whole, needed)
    assert shown.wasted == 7 * (whole - needed)
    assert shown.ratio == needed / whole
    assert [table.write_instead for table in shown.tables] == ["country = 'FR'"]
    assert whyscan.open(lake["sales"]).explain("country = 'FR'").files_level.bytes_kept == needed


def test_the_same_where_manifests_stayed_closed(audited, lake):
    shown = line(audited, BY_MONTH)

    assert shown.tables[0].scan.report.files_level.bytes_total is None
    assert shown.bytes_read == size(lake["events"])
    assert shown.bytes_needed == shown.tables[0].bytes_kept < shown.bytes_read


def test_row_groups_that_cannot_match_are_read_in_vain(audited, lake):
    shown = line(audited, GROUPS)

    report = whyscan.explain_sql(GROUPS, lake).scans[0].report
    files, groups = (level for level in report.levels if level.level != "manifests")
    spared = shown.bytes_read - shown.bytes_needed
    assert shown.bytes_read == files.bytes_kept
    assert (spared > 0, shown.wasted) == (True, 3 * spared)
    assert shown.bytes_needed >= groups.bytes_kept


def test_what_metadata_answers_reads_nothing_and_a_plain_scan_needs_what_it_reads(audited, lake):
    answered, whole = line(audited, COUNTED), line(audited, WHOLE)

    assert (answered.bytes_read, answered.wasted, answered.ratio) == (0, 0, 0.0)
    assert (whole.bytes_read, whole.wasted) == (size(lake["sales"]), 0)


def test_what_wastes_the_most_comes_first_and_what_is_not_known_last(audited):
    wasted = [one.wasted for one in audited.queries]

    amounts = [amount for amount in wasted if amount is not None]
    assert amounts == sorted(amounts, reverse=True)
    assert wasted[len(amounts) :] == [None, None]


def test_a_table_that_is_not_there_is_listed_with_its_queries(audited):
    failed = {table.name: table.error for table in audited.tables if table.error is not None}
    assert set(failed) == {"gone", "rotten"}
    assert "there is no" in failed["gone"]
    assert "-m0.avro" in failed["rotten"]

    for sql, name in ((BOTH, "gone"), (ROTTEN, "rotten")):
        shown = line(audited, sql)
        assert [table.name for table in shown.unread if table.error] == [name]
        assert (shown.bytes_read, shown.wasted, shown.ratio) == (None, None, None)
        assert shown.error.startswith(f"{name}: ")


def test_what_cannot_be_bound_is_listed_with_its_place(audited):
    origins = {one.text: (one.origin, one.times) for one in audited.unparsed}

    assert origins == {
        "?": ("log.csv:1", 1),
        "SELECT nope FROM sales": ("log.csv:9", 4),
        "SELEC 1": ("query 9", 1),
        "SELECT 1 FROM nowhere": ("query 10", 1),
    }


def test_what_the_engine_read_stands_beside_what_is_predicted(audited):
    assert line(audited, GROUPS).tables[0].actual == Actual(3, 6, 900, 60, None)
    assert line(audited, WHOLE).tables[0].actual is None


def test_a_path_in_a_query_is_the_table_that_was_given_there(audited, lake):
    sales = next(table for table in audited.tables if table.name == "sales")

    by_path = line(audited, BY_PATH.format(sales=lake["sales"]))
    assert (by_path.tables[0].name, sales.queries) == ("sales", 3)
    assert [table.uri for table in audited.tables].count(sales.uri) == 1


def test_tables_and_columns_are_the_sums_of_their_scans(audited, lake):
    sales = next(table for table in audited.tables if table.name == "sales")

    own = [line(audited, sql) for sql in (FUNCTION, WHOLE, BY_PATH.format(sales=lake["sales"]))]
    assert sales.wasted == sum(one.wasted for one in own)
    assert sales.bytes_read == sum(one.bytes_read * one.times for one in own)
    assert sales.times == 9
    columns = {one.column: one.wasted for one in sales.columns}
    assert columns == {"country": own[0].wasted, "id": own[2].wasted}


def test_the_json_is_what_its_schema_says_and_its_parts_are_those_of_a_report(audited, lake):
    schema = json.loads(command("schema", "audit", cwd=".").out)
    written = to_json(audited)
    document = json.loads(written)

    complaints = [e.message for e in Draft202012Validator(schema).iter_errors(document)]
    assert (complaints, written.isascii()) == ([], True)
    assert document == json.loads(json.dumps(audited.to_dict()))
    one = next(query for query in document["queries"] if query["sql"] == FUNCTION)
    report = whyscan.explain_sql(FUNCTION, lake).to_dict()["scans"][0]
    assert all(
        one["tables"][0][part] == json.loads(json.dumps(report[part]))
        for part in ("levels", "conjuncts", "findings")
    )


def test_the_text_tells_the_worst_and_how_to_write_it(audited):
    printed = " ".join(text(audited).split())

    assert "10 queries" not in printed
    assert "this query reads" in printed
    assert "rewrite for sales: country = 'FR'" in printed
    assert "the engine read 2 files, 300 B, 20 rows a run; predicted" in printed
    assert "tables that could not be read: 2" in printed
    assert "entries of the workload that could not be explained: 4" in printed


def test_a_long_text_names_the_first_and_counts_the_others(audited):
    printed = text(replace(audited, queries=audited.queries * 5), shown=2)

    assert f"and {len(audited.queries) * 5 - 2} more: --format json has all of them" in printed


def test_what_is_shared_has_no_values(audited):
    hidden = audited.redacted()

    printed = json.dumps(hidden.to_dict()) + str(hidden)
    assert [
        word for word in ("FR'", "'IT'", "2024-02-01", "40 AND", "nope") if word in printed
    ] == []
    assert "upper(country) = ?" in printed
    assert [q.wasted for q in hidden.queries] == [q.wasted for q in audited.queries]


def test_summaries_are_one_row_a_scan(audited):
    rows = audited.summaries().to_pylist()

    assert len(rows) == sum(len(query.tables) for query in audited.queries)
    (mine,) = [row for row in rows if "upper" in row["shape"].lower()]
    shown = line(audited, FUNCTION)
    assert (mine["bytes_read"], mine["wasted"]) == (shown.bytes_read, shown.wasted)
    assert (mine["work"], mine["times"]) == ("country", 7)
    assert "FUNCTION_ON_PARTITION" in mine["findings"]
