"""The known ways in which rows were lost or added between an engine and a table."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import write_deltalake

import whyscan

NAN = math.nan
FILES = 5
ROWS = 10
ZONED = dt.UTC


def rows_of(file: int) -> pa.Table:
    """Ten rows, clustered by `id`; each tenth value is NULL and each third number is NaN."""
    ids = range(file * ROWS, (file + 1) * ROWS)
    days = [dt.datetime(2024, 1, 1) + dt.timedelta(days=i) for i in ids]  # noqa: DTZ001
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "x": pa.array([None if i % 10 == 9 else NAN if i % 3 == 0 else i / 2 for i in ids]),
            "f": pa.array([i / 10 for i in ids], pa.float32()),
            "s": pa.array([None if i % 10 == 9 else f"s{i:03}" for i in ids]),
            "day": pa.array([d.date() for d in days]),
            "t": pa.array(days, pa.timestamp("us")),
            "z": pa.array(days, pa.timestamp("us", "UTC")),
            "n": pa.array([Decimal(i) / 4 for i in ids], pa.decimal128(10, 2)),
            "st": pa.array([{"u": i, "w": {"v": i}} for i in ids]),
            "b": pa.array([i % 2 == 0 for i in ids]),
        }
    )


@pytest.fixture(scope="module")
def whole() -> pa.Table:
    return pa.concat_tables([rows_of(file) for file in range(FILES)])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    place = tmp_path_factory.mktemp("traps") / "events"
    for file in range(FILES):
        write_deltalake(place, rows_of(file), mode="append")
    return whyscan.open(place)


# In the words of DuckDB and of DataFusion; with the files that DuckDB reads, None where it hands
# nothing over.
STATEMENTS = {
    "x <= 'nan'::double": None,
    "x = 'nan'::double": None,
    "x > 20": None,
    "x < 2": 1,
    "NOT (x > 2)": 1,
    "x IS NULL": 5,
    "x <> 3": None,
    "x BETWEEN 1 AND 3": None,
    "id IN (3, 44)": 2,
    "id NOT IN (1, 2)": None,
    "id IN (3, NULL)": None,
    "s IN ('s003', 's044')": 2,
    "s LIKE 's01%'": None,
    "id > 39 AND upper(s) = 'S041'": 1,
    "id = 3 OR upper(s) = 'S041'": None,
    "cast(id AS varchar) = '7'": None,
    "cast(id AS double) > 44.5": None,
    "id > 44.5": None,
    "n >= 11.25": 1,
    "n = 3": 1,
    "day = DATE '2024-01-12'": 1,
    "t >= TIMESTAMP '2024-02-18 00:00:00'": 1,
    "cast(t AS date) = DATE '2024-01-12'": 1,
    "b": None,
    "NOT b AND id < 4": 1,
    "s IS NOT DISTINCT FROM 's003'": None,
    "day IS NOT NULL AND id >= 49": 1,
}


@pytest.mark.parametrize("where", STATEMENTS)
def test_duckdb_gives_the_rows_that_it_gives_of_the_rows_in_memory(table, whole, where):
    connection = duckdb.connect()
    provider = table.to_duckdb(connection, "events")
    connection.register("own", whole)

    ours, own = (
        connection.sql(f"SELECT id FROM {name} WHERE {where} ORDER BY id").fetchall()
        for name in ("events", "own")
    )

    assert ours == own
    if STATEMENTS[where] is not None:
        assert provider.last_plan.summary.files_kept == STATEMENTS[where]


@pytest.mark.parametrize("where", STATEMENTS)
def test_datafusion_gives_the_rows_that_it_gives_of_the_rows_in_memory(table, whole, where):
    context = datafusion.SessionContext()
    table.to_datafusion(context, "events")
    context.register_record_batches("own", [whole.to_batches()])

    ours, own = (
        context.sql(f"SELECT id FROM {name} WHERE {where} ORDER BY id").to_pydict()
        for name in ("events", "own")
    )

    assert ours == own


C = pl.col
EXPRESSIONS = [
    (C("x") <= NAN, None),
    (C("x") > 20, None),
    (C("x") == NAN, None),
    (C("x") < 2, 1),
    (C("x").is_nan() & (C("id") > 40), 1),
    (C("x").is_null(), 5),
    (~(C("x") > 2), None),
    (C("x").is_in([1.0, NAN]), None),
    (C("id").is_in([3, 44]), 2),
    (C("id").is_in([3, None]), None),
    (~C("id").is_in([3, 44]), None),
    (C("id").is_between(10, 20, closed="left"), 1),
    (C("id") > 44.5, 1),
    (C("id").cast(pl.Float64) > 44.5, 1),
    (C("id").cast(pl.String) == "7", None),
    (C("f") == 0.5, None),
    (C("s").str.starts_with("s01"), 1),
    (C("s").str.to_uppercase() == "S041", None),
    ((C("s").str.to_uppercase() == "S041") & (C("id") > 39), 1),
    (C("day") == dt.date(2024, 1, 12), 1),
    (C("t") >= dt.datetime(2024, 2, 18), 1),  # noqa: DTZ001 - a wall clock
    (C("t").dt.date() == dt.date(2024, 1, 12), None),
    (C("t").cast(pl.Date) == dt.date(2024, 1, 12), 1),
    (C("z") >= dt.datetime(2024, 2, 18, tzinfo=ZONED), 1),
    (C("n") >= Decimal("11.25"), 1),
    (C("st").struct.field("u") == 12, 1),
    (C("st").struct.field("w").struct.field("v") == 12, 1),
    (C("b") & (C("id") < 4), 1),
    (C("s").eq_missing(None), None),
    (C("id") == C("st").struct.field("u"), 5),
    (C("id") > C("id").mean(), None),
]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(("where", "files"), EXPRESSIONS, ids=lambda each: str(each)[:50])
def test_polars_gives_the_rows_that_it_gives_of_the_rows_in_memory(
    table, whole, where, files, engine
):
    frame = table.to_polars()

    ours = frame.filter(where).select("id").collect(engine=engine)["id"].sort()
    own = pl.DataFrame(whole).lazy().filter(where).select("id").collect()["id"].sort()

    assert ours.to_list() == own.to_list()
    if files is not None:
        assert frame.provider.last_plan.summary.files_kept == files


@pytest.mark.parametrize(("where", "files"), EXPRESSIONS, ids=lambda each: str(each)[:50])
def test_polars_gives_them_of_the_dataset_too(table, whole, where, files):
    ours = pl.scan_pyarrow_dataset(table.to_dataset()).filter(where).select("id").collect()
    own = pl.DataFrame(whole).lazy().filter(where).select("id").collect()

    assert sorted(ours["id"]) == sorted(own["id"])


X, ID = pc.field("x"), pc.field("id")
ARROW = [
    X > 20,
    X <= NAN,
    X == NAN,
    X != 3.0,
    ~(X > 2),
    pc.is_nan(X) & (ID > 35),
    X.is_null(nan_is_null=True),
    X.isin([1.0, NAN]),
    X.isin([-0.0]),
    ID.isin([3, None]),
    ~ID.isin([3, None]),
    pc.starts_with(pc.field("s"), "s01"),
    pc.utf8_upper(pc.field("s")) == "S041",
    (pc.utf8_upper(pc.field("s")) == "S041") & (ID > 39),
    pc.field("st", "u") == 12,
    pc.field("t").cast(pa.date32(), safe=False) == dt.date(2024, 1, 12),
    pc.field("s") == pa.scalar("s003", pa.large_string()),
    pc.field("s") == pa.scalar("s003").cast(pa.dictionary(pa.int32(), pa.string())),
    pc.field("n") > pa.scalar(Decimal("11.125"), pa.decimal128(12, 3)),
    pc.field("f") == 0.1,
    pc.field("f") == pa.scalar(0.1, pa.float32()),
    pc.field("z") > pa.scalar(dt.datetime(2024, 2, 18, tzinfo=ZONED), pa.timestamp("ns", "UTC")),
    ID > 44.5,
    pc.if_else(X > 3, ID > 40, ID < 3),
    pc.scalar(value=True),
    pa.compute.scalar(pa.scalar(None, pa.bool_())),
]


@pytest.mark.parametrize("where", ARROW, ids=lambda each: " ".join(str(each).split())[:60])
def test_pyarrow_gives_the_rows_that_it_gives_of_the_rows_in_memory(table, whole, where):
    ours = table.to_dataset().to_table(columns=["id"], filter=where)

    assert ours["id"].to_pylist() == whole.filter(where)["id"].to_pylist()


def test_columns_of_the_filter_need_not_be_among_the_columns(table):
    dataset = table.to_dataset()

    assert dataset.to_table(columns=["s"], filter=ID == 12).to_pydict() == {"s": ["s012"]}
    assert dataset.last_plan.options.projection == (("s",), ("id",))


def test_polars_takes_rows_before_it_filters(table):
    frame = table.to_polars(explain=True)

    assert frame.head(3).filter(C("id") >= 1).select("id").collect()["id"].to_list() == [1, 2]
    assert frame.head(12).collect().height == 12
    assert frame.provider.last_plan.summary.files_kept == 2
    assert frame.filter(C("id") > 2).head(1).collect().height == 1
    assert frame.slice(3, 2).collect().height == 2
    assert frame.head(0).collect().height == 0


def test_a_predicate_that_changes_while_it_runs_prunes_nothing_and_loses_nothing(table):
    frame = table.to_polars()

    for engine in ("in-memory", "streaming"):
        top = frame.filter(C("id") < 45).sort("id", descending=True).head(3).select("id")
        assert top.collect(engine=engine)["id"].to_list() == [44, 43, 42]


def test_no_columns_still_have_rows(table):
    context = datafusion.SessionContext()
    table.to_datafusion(context, "events")

    assert context.sql("SELECT count(*) AS n FROM events").to_pydict() == {"n": [50]}
    assert table.to_polars().select(pl.len()).collect().item() == 50
    assert table.to_dataset().count_rows() == 50
    assert duckdb.sql("SELECT count(*) FROM dataset", connection=registered(table)).fetchall() == [
        (50,)
    ]


def registered(table: whyscan.Table) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    table.to_duckdb(connection, "dataset")
    return connection
