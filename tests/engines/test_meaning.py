"""NaN of both signs, both zeros, NULL in and beside lists: each engine means something else.

Every row has a file of its own, so that a file too many skipped is a row lost.
"""

from __future__ import annotations

import math

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan

NAN, INF = math.nan, math.inf
X = pa.array([0.0, -0.0, None, NAN, 1.0, 2.0, -1.0, INF, -INF, math.copysign(NAN, -1)])
ROWS = pa.table(
    {
        "id": range(10),
        "x": X,
        "f": pa.array([i / 10 for i in range(10)], pa.float32()),
        "i": pa.array([0, 1, None, 3, 4, 5, 6, 7, 8, 9], pa.int32()),
        "s": ["a", "b", None, "B", "é", "E", "z", "", "aa", "ab"],
        "st": pa.StructArray.from_arrays([X], names=["x"]),
    }
)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    place = tmp_path_factory.mktemp("meaning") / "rows"
    place.mkdir()
    for at in range(ROWS.num_rows):
        pq.write_table(ROWS.slice(at, 1), place / f"{at}.parquet")
    return whyscan.open(place)


STATEMENTS = [
    *(f"x {op} {value}" for op in ("=", "<>", "<", "<=", ">", ">=") for value in ("0.0", "-0.0")),
    *(f"x {op} 'nan'::double" for op in ("=", "<>", "<", "<=", ">", ">=")),
    *(f"NOT (x {op} 1)" for op in ("=", "<>", "<", "<=", ">", ">=")),
    *(f"x {op} st['x']" for op in ("=", "<>", "<", "<=", ">", ">=")),
    "x < -('nan'::double)",
    "x > -('nan'::double)",
    "x = -('nan'::double)",
    "x > 'inf'::double",
    "x < '-inf'::double",
    "st['x'] < 0",
    "f >= 0.3::real",
    "f < 0.3",
    "x IN (0.0, 5, 6, 7, 8)",
    "x IN (-0.0, 5, 6, 7, 8)",
    "x NOT IN (0.0, 5, 6, 7, 8)",
    "x IN (1.0, 'nan'::double, 3, 4, 5)",
    "x NOT IN (1.0, 'nan'::double, 3, 4, 5)",
    "i IN (3, NULL, 4, 5, 6)",
    "i NOT IN (3, NULL, 4, 5, 6)",
    "i NOT IN (3, 4, 5, 6, 7)",
    "(i IN (1, 2, 3, 4, 5, 6)) IS NULL",
    "(i > 3) IS NULL",
    "(i > 3) IS NOT TRUE",
    "x IS DISTINCT FROM 1.0",
    "x IS NOT DISTINCT FROM 'nan'::double",
    "x BETWEEN 0 AND 'nan'::double",
    "x = i",
    "i = 3.5",
    "s IN ('a', 'é', 'x', 'y', 'z')",
    "s < 'é'",
    "starts_with(s, 'a')",
    "CASE WHEN i > 3 THEN x > 0 ELSE x < 0 END",
]


@pytest.mark.parametrize("where", STATEMENTS)
def test_duckdb_means_what_it_means_in_memory(table, where):
    connection = duckdb.connect()
    table.to_duckdb(connection, "ours")
    connection.register("own", ROWS)

    ours, own = (
        connection.sql(f"SELECT id FROM {name} WHERE {where} ORDER BY id").fetchall()
        for name in ("ours", "own")
    )

    assert ours == own


@pytest.mark.parametrize("where", STATEMENTS)
def test_datafusion_means_what_it_means_in_memory(table, where):
    context = datafusion.SessionContext()
    table.to_datafusion(context, "ours")
    context.register_record_batches("own", [ROWS.to_batches()])

    ours, own = (
        context.sql(f"SELECT id FROM {name} WHERE {where} ORDER BY id").to_pydict()
        for name in ("ours", "own")
    )

    assert ours == own


C = pl.col
COMPARED = [pl.Expr.__eq__, pl.Expr.__ne__, pl.Expr.__lt__, pl.Expr.__ge__]
EXPRESSIONS = [
    *(compare(C.x, value) for compare in COMPARED for value in (0.0, -0.0, 1.0, NAN, INF)),
    *(~compare(C.x, 1.0) for compare in COMPARED),
    *(compare(C.f, pl.lit(value, pl.Float32)) for compare in COMPARED for value in (0.3, 0.7)),
    *(compare(C.x, C.st.struct.field("x")) for compare in COMPARED),
    *(C.x.is_in(values) for values in ([0.0, 5.0], [-0.0], [NAN])),
    *(~C.x.is_in(values) for values in ([0.0, 5.0], [-0.0], [NAN, 1.0])),
    C.i.is_in([3, None]),
    ~C.i.is_in([3, None]),
    ~C.i.is_in([3, 4]),
    C.i.is_in([3, None], nulls_equal=True),
    ~C.i.is_in([3, None], nulls_equal=True),
    ~C.x.is_nan(),
    C.x.is_not_nan(),
    C.x.is_finite(),
    C.x.eq_missing(None),
    C.x.ne_missing(1.0),
    C.x == C.i,
    C.i == 3.5,
    C.i.cast(pl.Int8) == 3,
    (C.i > 3).is_null(),
    (C.i > 3) ^ (C.x > 0),
    C.x.is_between(0, NAN),
    C.x.fill_nan(0.0) == 0.0,
    C.i.fill_null(0) == 0,
    C.i == C.i.max(),
    C.i.shift(1) == 3,
    C.s.str.contains("a"),
]


@pytest.mark.parametrize("where", EXPRESSIONS, ids=lambda each: str(each)[:50])
def test_polars_means_what_it_means_in_memory(table, where):
    own = pl.DataFrame(ROWS).lazy().filter(where).select("id").collect()

    for frame in (table.to_polars(), pl.scan_pyarrow_dataset(table.to_dataset())):
        ours = frame.filter(where).select("id").collect()
        assert sorted(ours["id"]) == sorted(own["id"])
