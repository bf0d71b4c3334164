"""The inventory of a small lake: every container once, what is known of it, and nothing twice."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

from support.commands import whyscan
from tables.delta.conftest import Lake as DeltaTable
from tables.delta.conftest import bounds
from tables.iceberg import by_hand
from tables.iceberg.by_hand import Lake as IcebergTable
from whyscan.errors import UsageError, WhyscanError
from whyscan.spark.stages.inventory import direct
from whyscan.spark.stages.inventory.run import inventory, write_inventory
from whyscan.tables import open_snapshot
from whyscan.tables.inventory.opening import open_inventory

PRICE = Decimal("12345678901234567890.5")

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A Delta table with a deletion vector, an Iceberg table with NaNs, and a Hive table."""
    folder = tmp_path_factory.mktemp("lake")
    return {
        "orders": str(orders(folder / "orders")),
        "events": str(events(folder / "events")),
        "users": str(users(folder / "users")),
    }


def orders(folder):
    types = {"id": "long", "price": "double", "at": "timestamp", "country": "string"}
    table = DeltaTable(folder).create(types, ("country",))
    vector = {"storageType": "u", "pathOrInlineDv": "v", "sizeInBytes": 1, "cardinality": 1}
    stats = {
        "numRecords": 4,
        "minValues": {"id": 0, "price": 0.0, "at": "2024-01-01T00:00:00.123Z"},
        "maxValues": {"id": 3, "price": 4.5, "at": "2024-01-01T00:00:00.123Z"},
        "nullCount": {"id": 0, "price": 0, "at": 0},
    }
    table.commit(
        table.add("de", stats, partition={"country": "DE"}, deletionVector=vector),
        table.add("fr", stats, partition={"country": "FR"}),
        table.add("none", stats, partition={"country": None}),
    )
    return folder


def events(folder):
    by_day = {"source-id": 2, "field-id": 1000, "name": "day", "transform": "identity"}
    types = {"d": "decimal(30, 10)", "day": "date", "f": "float"}
    table = IcebergTable(folder, types, [by_day])
    days = (date(2024, 1, 1), date(2024, 1, 2))
    for day in days:
        number = (day - date(1970, 1, 1)).days
        price = int(PRICE.scaleb(10)).to_bytes(13, "big", signed=True)
        entry = table.file(
            f"{day}.parquet",
            {"f": (1.5, 1.5)},
            {"d": 1, "f": 0},
            2,
            {"day": number},
            nan_value_counts=by_hand.pairs({3: 1}),
        )
        for ends in ("lower_bounds", "upper_bounds"):
            entry["data_file"][ends] += by_hand.pairs({1: price})
        end = by_hand.encode_bound(number, "date")
        table.manifest([entry], summaries=[by_hand.summary(end, end)])
    table.commit()
    return folder


def users(folder):
    for at in range(3):
        file = folder / f"day=2024-01-0{at + 1}" / "f.parquet"
        file.parent.mkdir(parents=True)
        table = pa.table({"name": [f"n{at}", None], "tag": [b"\x00", b"\xff"]})
        pq.write_table(table, file, row_group_size=1)
    return folder


def rows_of(frame, level):
    rows = [row for row in frame.collect() if row["level"] == level]
    return sorted(
        (row.asDict(recursive=True) for row in rows), key=lambda r: (r["table"], r["path"])
    )


def column(row, name):
    (column,) = [c for c in row["columns"] if c["name"] == name]
    return column


def set_fields(bound):
    return None if bound is None else {k: v for k, v in bound.items() if v is not None}


@pytest.fixture(scope="module")
def deep(spark, lake):
    return inventory(spark, lake, depth="row-groups").cache()


def test_every_live_file_is_a_row_as_its_table_has_it(lake, deep):
    for name, uri in lake.items():
        files = open_snapshot([uri], {}, {}).files([], None)
        mine = [r for r in rows_of(deep, "file") if r["table"] == name]
        assert sorted(r["path"] for r in mine) == sorted(files.paths.to_pylist())
        assert sorted(r["bytes"] for r in mine) == sorted(files.bytes.to_pylist())
        assert all(r["uri"] == uri for r in mine)


def test_a_delta_file_has_its_partition_bounds_and_counts(deep):
    files = [r for r in rows_of(deep, "file") if r["table"] == "orders"]
    partitions = [r["partition"]["country"] for r in files]
    assert sorted(partitions, key=str) == ["DE", "FR", None]
    german = files[partitions.index("DE")]
    assert (german["rows"], german["deleted"], german["format"]) == (4, 1, "delta")
    assert set_fields(column(german, "id")["lower"]) == {"integer": 0}
    assert set_fields(column(german, "id")["upper"]) == {"integer": 3}
    assert set_fields(column(german, "price")["upper"]) == {"double": 4.5}
    assert set_fields(column(german, "country")["lower"]) == {"text": "DE"}
    moment = column(german, "at")
    assert moment["type"] == "timestamp"
    lower, upper = (moment[end]["timestamp"] for end in ("lower", "upper"))
    written = datetime(2024, 1, 1, 0, 0, 0, 123456, UTC)
    assert lower.astimezone(UTC) <= written <= upper.astimezone(UTC)
    assert column(german, "id")["nulls"] == 0
    assert column(german, "id")["nans"] is None


def test_an_iceberg_file_has_its_nan_count_and_a_decimal_that_is_exact(deep):
    files = [r for r in rows_of(deep, "file") if r["table"] == "events"]
    assert [r["partition"] for r in files] == [{"day": "2024-01-01"}, {"day": "2024-01-02"}]
    price = column(files[0], "d")
    assert set_fields(price["lower"]) == {"decimal": PRICE}
    assert (price["nulls"], price["type"]) == (1, "decimal(30,10)")
    assert (column(files[0], "f")["nulls"], column(files[0], "f")["nans"]) == (0, 1)
    assert set_fields(column(files[0], "day")["lower"]) == {"date": date(2024, 1, 1)}


def test_manifests_are_rows_with_the_bounds_of_their_partitions(deep):
    manifests = rows_of(deep, "manifest")
    assert {r["table"] for r in manifests} == {"events"}
    assert sum(r["files"] for r in manifests) == 2
    days = [set_fields(column(r, "day")["lower"])["date"] for r in manifests]
    assert sorted(days) == [date(2024, 1, 1), date(2024, 1, 2)]


def test_row_groups_are_rows_with_their_numbers_and_bounds(deep):
    groups = [r for r in rows_of(deep, "row_group") if r["table"] == "users"]
    assert [r["ordinal"] for r in groups] == [0, 1] * 3
    assert [r["rows"] for r in groups] == [1] * 6
    named = [set_fields(column(r, "name")["lower"]) for r in groups]
    assert named == [{"text": "n0"}, None, {"text": "n1"}, None, {"text": "n2"}, None]
    assert set_fields(column(groups[1], "tag")["lower"]) == {"bytes": b"\xff"}
    assert [r["partition"]["day"] for r in groups[:2]] == ["2024-01-01"] * 2


def test_files_alone_open_no_data_file(spark, lake):
    frame = inventory(spark, {"users": lake["users"]})
    assert [r["level"] for r in frame.collect()] == ["file"] * 3


def test_what_cannot_be_opened_is_a_row_with_an_error(spark, lake, tmp_path):
    frame = inventory(spark, {"users": lake["users"], "gone": str(tmp_path / "gone")})
    (error,) = [row["error"] for row in frame.collect() if row["error"] is not None]
    assert "there is no" in json.loads(error)["message"]
    assert frame.where("error IS NULL").count() == 3


def contents(spark, run):
    frame = spark.read.format(run.form).load(run.containers_at)
    rows = frame.selectExpr(
        "string(table)", "string(snapshot)", "level", "path", "ordinal", "bytes", "to_json(columns)"
    )
    return sorted(map(repr, rows.collect()))


def states(run):
    return {line.name: line.state for line in run.tables}


@pytest.mark.parametrize("form", ["parquet", "delta", "iceberg"])
def test_a_second_run_reads_nothing_and_gives_the_same_rows(spark, lake, tmp_path, form):
    out = "ice.inventory_out" if form == "iceberg" else str(tmp_path / "out")
    first = write_inventory(spark, lake, out, form=form)
    before = contents(spark, first)
    second = write_inventory(spark, lake, out, form=form)
    assert states(first) == dict.fromkeys(lake, "read")
    assert states(second) == dict.fromkeys(lake, "unchanged")
    assert contents(spark, second) == before
    assert [line.row.files for line in second.tables] == [3, 2, 3]
    assert [line.row.manifests for line in second.tables] == [0, 2, 0]
    assert [line.row.rows for line in second.tables] == [12, 4, None]


def test_spark_writes_the_rows_that_executors_write(spark, lake, tmp_path, monkeypatch):
    written = write_inventory(spark, lake, str(tmp_path / "here"))
    monkeypatch.setattr(direct, "is_local", lambda *_: False)
    there = write_inventory(spark, lake, str(tmp_path / "there"))
    assert contents(spark, there) == contents(spark, written)
    counted = [
        [(f.manifests, f.files, f.bytes, f.rows) for f in table_rows(r)] for r in (written, there)
    ]
    assert counted[0] == counted[1]
    assert not list(Path(written.containers_at).glob("_*"))


def table_rows(run):
    return [line.row for line in run.tables]


@pytest.fixture
def growing(tmp_path):
    """A Delta table of one file, and a way to add another."""
    table = DeltaTable(tmp_path / "growing").create({"id": "long"})
    table.commit(table.add("f-0", bounds("id", 0, 9)))
    return table


def test_a_new_version_is_read_beside_the_old_one(spark, growing, tmp_path):
    sources, out = {"t": str(growing.folder)}, str(tmp_path / "out")
    write_inventory(spark, sources, out)
    growing.commit(growing.add("f-1"))
    run = write_inventory(spark, sources, out)
    assert states(run) == {"t": "read"}
    snapshots = spark.read.parquet(run.containers_at).groupBy("snapshot").count().collect()
    assert sorted((row["snapshot"], row["count"]) for row in snapshots) == [(1, 1), (2, 2)]


def test_a_table_that_was_made_anew_is_read_again(spark, growing, tmp_path):
    sources, out = {"t": str(growing.folder)}, str(tmp_path / "out")
    write_inventory(spark, sources, out)
    log = growing.log / f"{1:020}.json"
    log.write_text(json.dumps(growing.add("other", {"numRecords": 7})) + "\n")
    run = write_inventory(spark, sources, out)
    assert states(run) == {"t": "read"}
    assert [r["path"] for r in spark.read.parquet(run.containers_at).collect()] == ["other"]


@pytest.mark.parametrize("form", ["parquet", "delta", "iceberg"])
def test_of_a_table_that_was_made_anew_without_files_nothing_stays(spark, growing, tmp_path, form):
    name = "it's \\ t"
    sources = {name: str(growing.folder)}
    out = "ice.inventory_anew" if form == "iceberg" else str(tmp_path / "out")
    write_inventory(spark, sources, out, form=form)
    (growing.log / f"{1:020}.json").write_text('{"commitInfo": {}}\n')
    run = write_inventory(spark, sources, out, form=form)
    assert (states(run), run.tables[0].row.files) == ({name: "read"}, 0)
    if form != "parquet":  # Of a folder without a file Spark knows no schema.
        assert contents(spark, run) == []
    assert states(write_inventory(spark, sources, out, form=form)) == {name: "unchanged"}


def test_a_run_that_was_ended_while_it_replaced_a_snapshot_is_made_good(spark, growing, tmp_path):
    sources, out = {"t": str(growing.folder)}, str(tmp_path / "out")
    run = write_inventory(spark, sources, out)
    shutil.rmtree(Path(run.containers_at, "table=t"))
    again = write_inventory(spark, sources, out)
    assert (states(again), again.tables[0].row.files) == ({"t": "read"}, 1)
    assert len(contents(spark, again)) == 1


def test_a_folder_of_files_is_read_again_once_a_file_changed(spark, lake, tmp_path):
    users = tmp_path / "users"
    shutil.copytree(lake["users"], users)
    sources, out = {"users": str(users)}, str(tmp_path / "out")
    write_inventory(spark, sources, out)
    pq.write_table(pa.table({"name": ["x"], "tag": [b""]}), users / "day=2024-01-01" / "g.parquet")
    run = write_inventory(spark, sources, out)
    assert (states(run), run.tables[0].row.files) == ({"users": "read"}, 4)


def test_a_snapshot_that_a_table_goes_back_to_is_its_last_one_and_not_read_again(
    spark, lake, tmp_path
):
    users, out = tmp_path / "users", str(tmp_path / "out")
    shutil.copytree(lake["users"], users)
    added = users / "day=2024-01-01" / "g.parquet"
    first = write_inventory(spark, {"users": str(users)}, out)
    pq.write_table(pa.table({"name": ["x"], "tag": [b""]}), added)
    write_inventory(spark, {"users": str(users)}, out)
    added.unlink()

    runs = [write_inventory(spark, {"users": str(users)}, out) for _ in range(2)]

    assert [states(run) for run in runs] == [{"users": "unchanged"}] * 2
    (table,) = open_inventory(out, {}).tables.values()
    assert table.snapshot == first.tables[0].row.snapshot
    query = "SELECT max_by(snapshot, read_at) FROM parquet.`{}` GROUP BY table"
    assert spark.sql(query.format(first.tables_at)).collect() == [(table.snapshot,)]
    assert spark.read.parquet(first.tables_at).count() == 3


def test_more_depth_is_read_and_less_is_there_already(spark, lake, tmp_path):
    sources, out = {"users": lake["users"]}, str(tmp_path / "out")
    depths = ("files", "row-groups", "files")
    runs = [write_inventory(spark, sources, out, depth=depth) for depth in depths]
    assert [states(run)["users"] for run in runs] == ["read", "read", "unchanged"]
    assert [run.tables[0].row.row_groups for run in runs] == [None, 6, 6]
    assert runs[1].tables[0].row.files_opened == 3
    assert spark.read.parquet(runs[2].containers_at).count() == 9


def test_bad_tables_are_named_and_the_others_are_whole(spark, lake, growing, tmp_path):
    corrupt = tmp_path / "corrupt"
    shutil.copytree(lake["events"], corrupt)
    manifest = next(p for p in (corrupt / "metadata").glob("*.avro") if "snap-" not in p.name)
    manifest.write_bytes(manifest.read_bytes()[:-40])
    sources = {"gone": str(tmp_path / "gone"), "corrupt": str(corrupt), "good": str(growing.folder)}
    run = write_inventory(spark, sources, str(tmp_path / "out"))
    assert states(run) == {"gone": "failed", "corrupt": "failed", "good": "read"}
    assert manifest.name in run.failed[1].error.message
    assert "there is no" in run.failed[0].error.message
    tables = {row["table"] for row in spark.read.parquet(run.containers_at).collect()}
    assert tables == {"good"}
    again = write_inventory(spark, sources, str(tmp_path / "out"))
    assert states(again) == {"gone": "failed", "corrupt": "failed", "good": "unchanged"}


def test_containers_of_a_run_that_was_ended_are_replaced(spark, growing, tmp_path, monkeypatch):
    from whyscan.spark.stages.inventory import writing

    sources, out = {"t": str(growing.folder)}, str(tmp_path / "out")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writing.InventoryStore, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            write_inventory(spark, sources, out)
    run = write_inventory(spark, sources, out)
    assert states(run) == {"t": "read"}
    assert spark.read.parquet(run.containers_at).count() == 1


def test_an_output_that_cannot_be_written_is_one_line(spark, growing, tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(WhyscanError) as caught:
        write_inventory(spark, {"t": str(growing.folder)}, str(tmp_path / "out"))
    assert "\n" not in caught.value.message


def test_a_table_without_files_is_whole(spark, tmp_path):
    empty = DeltaTable(tmp_path / "empty").create({"id": "long"})
    run = write_inventory(spark, {"t": str(empty.folder)}, str(tmp_path / "out"))
    again = write_inventory(spark, {"t": str(empty.folder)}, str(tmp_path / "out"))
    assert (states(run), states(again)) == ({"t": "read"}, {"t": "unchanged"})
    assert run.tables[0].row.files == 0


def test_names_with_any_character_come_back(spark, growing, tmp_path):
    name = "a/b=c %20 'ü'"
    run = write_inventory(spark, {name: str(growing.folder)}, str(tmp_path / "out"))
    assert [r["table"] for r in spark.read.parquet(run.containers_at).collect()] == [name]
    assert run.tables[0].row.files == 1


@pytest.mark.parametrize(
    ("settings", "why"), [({"depth": "pages"}, "no depth"), ({"form": "csv"}, "'csv'")]
)
def test_wrong_usage_is_named(spark, tmp_path, settings, why):
    with pytest.raises(UsageError, match=why):
        write_inventory(spark, {}, str(tmp_path), **settings)


def queries():
    page = Path(__file__).parents[4] / "docs" / "commands" / "inventory.md"
    return re.findall(r"^```sql\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_questions_of_the_documentation_are_answered(spark, lake, growing, tmp_path):
    growing.commit(growing.add("g", bounds("id", 5, 20)), growing.add("h"))
    out = str(tmp_path / "out")
    for deep in ("files", "row-groups"):
        sources = {"users": str(growing.folder)} if deep == "files" else {"hive": lake["users"]}
        run = write_inventory(spark, sources, out, depth=deep)
    spark.read.parquet(run.containers_at).createOrReplaceTempView("containers")
    spark.read.parquet(run.tables_at).createOrReplaceTempView("tables")
    newest, without_bounds, overlaps, partitions = queries()
    spark.sql(newest)
    files = {row["table"]: row["files"] for row in spark.sql(without_bounds).collect()}
    assert files == {"users": 1, "hive": 3}
    widest = spark.sql(overlaps.replace("'age'", "'id'")).collect()
    assert [(row["path"], row["overlaps"]) for row in widest] == [("f-0", 1), ("g", 1)]
    assert sum(row["files"] for row in spark.sql(partitions).collect()) == 6


def test_the_command_names_what_failed_and_ends_with_3(spark, growing, tmp_path):
    del spark
    sources = [f"t={growing.folder}", "gone=nowhere", "-o", "out"]
    done = whyscan("inventory", *sources, cwd=tmp_path)
    assert (done.code, done.err) == (3, "")
    assert "1 container of 2 tables: 1 read, 0 unchanged, 1 failed" in done.out
    assert "gone failed: there is no nowhere" in done.out.replace(f"{tmp_path}/", "")
    again = whyscan("inventory", *sources, "--format", "json", cwd=tmp_path)
    document = json.loads(again.out)
    schema = json.loads(whyscan("schema", "inventory", cwd=tmp_path).out)
    assert list(Draft202012Validator(schema).iter_errors(document)) == []
    line, gone = document["tables"]
    assert (again.code, document["result"], document["depth"]) == (3, "fail", "files")
    assert (line["state"], line["row"]["files"], line["row"]["rows"]) == ("unchanged", 1, 10)
    assert (gone["state"], gone["row"]) == ("failed", None)


DOCUMENT = {
    "schema_version": "1.0",
    "tool": {"name": "whyscan", "version": "0"},
    "output": {"format": "parquet", "containers": "c", "tables": "t"},
    "depth": "files",
    "seconds": 0.1,
    "result": "pass",
}
ROW = {
    "format": "delta",
    "snapshot": "1",
    "depth": "files",
    "manifests": 0,
    "files": 1,
    "row_groups": None,
    "files_opened": None,
    "bytes": 1,
    "rows": None,
    "read_at": "2024-01-01T00:00:00+00:00",
}
STATES = {
    "name": "t",
    "uri": "t",
    "state": "read",
    "row": ROW,
    "error": None,
}


@pytest.mark.parametrize(
    ("changed", "valid"),
    [
        ({}, True),
        ({"state": "failed"}, False),
        ({"error": {"message": "no", "hint": None}}, False),
        ({"row": ROW | {"rows": "10"}}, False),
        ({"row": ROW | {"more": 1}}, False),
        ({"row": None}, False),
        ({"more": 1}, False),
    ],
)
def test_the_schema_holds_a_table_to_its_state(changed, valid):
    schema = json.loads(whyscan("schema", "inventory", cwd=".").out)
    document = DOCUMENT | {"tables": [STATES | changed]}
    assert Draft202012Validator(schema).is_valid(document) is valid
