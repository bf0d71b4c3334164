"""In DuckDB's dialect the verdict of each file agrees with the result of DuckDB for its row."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan

# One row per file.
ROWS = pa.table(
    {
        "i": pa.array([-7, 0, 2_000_000_000, None, 1], pa.int32()),
        "d": pa.array([1.5, 0.0, 1.7e308, None, 1.0], pa.float64()),
        "f": pa.array([0.1, 2.5, 16_777_216.0, None, 1.0], pa.float32()),
        "price": pa.array([Decimal("2.50"), Decimal("0.00"), Decimal("-1.50"), None, Decimal(1)]),
        "s": ["2024", "\tx", "1.5", None, "z\u0301"],
        "raw": pa.array([b"a", b"\xff\x00", b"", None, b"z"], pa.binary()),
    }
)

PREDICATES = r"""
CAST(d AS INT) = 2
CAST(price AS INT) = 3
CAST(price AS INT) = -2
CAST(1.5 AS INT) = i + 9
CAST(d AS DECIMAL(5,0)) = 2
TRY_CAST(s AS DATE) IS NULL
TRY_CAST(s AS BOOLEAN) IS NULL
raw = '\x61'::BLOB
raw < '\xFF'::BLOB
raw >= '\xFF\x00'::BLOB
raw = 'a'::BLOB
CAST(raw AS VARCHAR) = '\xFF\x00'
d / d > 1
1 / i > 1
d % d IS NULL
mod(d, i) > 5
i // i IS NULL
i % i = 0
ln(i) IS NULL
log10(d) IS NULL
isnan(d) IS NULL
isnan(d) IS NOT FALSE
NOT isnan(d)
f = 0.1
f <> 0.1
f IN (0.1, 2.5)
f BETWEEN 0.1 AND 0.2
f > 0.1
f = 16777217
f = '0.1'
f + 0.1 > 0.2
floor(d) > 9223372036854775807
ceil(d) / 2 = 1
sign(d) IS NULL
length(s) = 2
ltrim(s) = 'x'
""".strip().splitlines()
# A letter and its accent are two characters, which reverse() of DuckDB keeps in their order.
PREDICATES += ["ends_with(reverse(s), 'z\u0301')", "reverse(s) <> '\u0301z'"]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for number in range(ROWS.num_rows):
        pq.write_table(ROWS.slice(number, 1), folder / f"{number}.parquet")
    return folder


RAISED = "raised"


def answer(connection, predicate, number):
    """TRUE, FALSE or NULL for one row; RAISED if the query fails, because then no row is lost."""
    connection.register("rows", ROWS.slice(number, 1))
    try:
        return connection.execute(f"SELECT ({predicate}) FROM rows").fetchall()[0][0]
    except (duckdb.ConversionException, duckdb.InvalidInputException):
        return RAISED


@pytest.mark.parametrize("predicate", PREDICATES)
def test_no_row_of_duckdbs_is_lost_and_no_all_is_false(lake, predicate):
    with duckdb.connect() as connection:
        answers = [answer(connection, predicate, number) for number in range(ROWS.num_rows)]
    report = whyscan.open(str(lake)).explain(predicate, dialect="duckdb", verbose=True).to_dict()
    verdicts = [file["verdict"] for file in sorted(report["files"], key=lambda f: f["path"])]
    for row_value, verdict in zip(answers, verdicts, strict=True):
        assert verdict != "none" or row_value is not True, (answers, verdicts)
        assert verdict != "all" or row_value in (True, RAISED), (answers, verdicts)


def test_hours_are_hours_where_the_clock_is_put_forward(tmp_path):
    # Nine in the evening before: 25 hours later it is eleven in New York, in Spark ten.
    moment = pa.array([1_710_036_000_000_000], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": moment}), tmp_path / "0.parquet")
    predicate = "ts + INTERVAL 25 HOURS = '2024-03-10 23:00:00'"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        connection.register("rows", pa.table({"ts": moment}))
        assert connection.execute(f"SELECT {predicate} FROM rows").fetchall() == [(True,)]
    kept = {
        dialect: whyscan.open(str(tmp_path))
        .explain(predicate, dialect=dialect, timezone="America/New_York")
        .to_dict()["levels"][0]["kept"]
        for dialect in ("duckdb", "spark")
    }
    assert kept == {"duckdb": 1, "spark": 0}


@pytest.mark.parametrize(
    ("zone", "second"), [("America/Havana", 484_117_200), ("Pacific/Apia", 1_285_498_800)]
)
def test_days_between_instants_are_duckdbs_where_a_day_begins_at_one(tmp_path, zone, second):
    moment = pa.array([second * 1_000_000], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": moment}), tmp_path / "0.parquet")
    days = "date_diff('day', ts, TIMESTAMPTZ '2010-11-07 03:00:00+00')"
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'")
        connection.register("rows", pa.table({"ts": moment}))
        ((number,),) = connection.execute(f"SELECT {days} FROM rows").fetchall()

    report = whyscan.open(str(tmp_path)).explain(
        f"{days} = {number}", dialect="duckdb", timezone=zone
    )

    assert report.to_dict()["levels"][0]["kept"] == 1


def test_a_day_that_begins_twice_is_kept_for_the_day_before_as_duckdb_compares_it(tmp_path):
    # The second after midnight, when clocks in St. John's went back to 23:01.
    moment = pa.array([972_786_659_000_000], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": moment}), tmp_path / "0.parquet")
    predicate = "date_trunc('day', ts) = TIMESTAMPTZ '2000-10-28 02:30:00+00'"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/St_Johns'")
        connection.register("rows", pa.table({"ts": moment}))
        assert connection.execute(f"SELECT {predicate} FROM rows").fetchall() == [(True,)]

    report = whyscan.open(str(tmp_path)).explain(
        predicate, dialect="duckdb", timezone="America/St_Johns"
    )

    assert report.to_dict()["levels"][0]["kept"] == 1


TWICE = [1_730_610_000 + 600 * step for step in range(14)]
"""Seconds from 05:00 to 07:10 of 2024-11-03: in New York the clock shows 01:00 to 02:00 twice."""
SHOWN_TWICE = (
    "ts < '2024-11-03 01:30:00'",
    "ts <= TIMESTAMP '2024-11-03 01:10:00'",
    "ts = '2024-11-03 01:30:00'",
    "ts >= '2024-11-03 01:30:00'",
    "ts BETWEEN '2024-11-03 01:10:00' AND '2024-11-03 01:30:00'",
    "ts <> '2024-11-03 01:30:00'",
    "ts < '2024-11-03 02:30:00'",
    "CAST(n AS TIMESTAMPTZ) >= TIMESTAMPTZ '2024-11-03 06:00:00+00'",
    "CAST(n AS TIMESTAMPTZ) < ts",
    "date_trunc('hour', ts) = TIMESTAMPTZ '2024-11-03 06:00:00+00'",
    "date_trunc('hour', ts) > TIMESTAMPTZ '2024-11-03 05:00:00+00'",
    # DuckDB compares the hour that is shown twice as if it were the hour before.
    "date_trunc('hour', ts) = TIMESTAMPTZ '2024-11-03 04:00:00+00'",
    "date_trunc('hour', ts) < TIMESTAMPTZ '2024-11-03 05:00:00+00'",
    "date_trunc('hour', ts) >= TIMESTAMPTZ '2024-11-03 05:00:00+00'",
    "ts - INTERVAL 1 DAY + INTERVAL 1 DAY > TIMESTAMPTZ '2024-11-03 06:00:00+00'",
)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize("predicate", SHOWN_TWICE)
def test_no_row_is_lost_where_a_clock_shows_a_time_twice(tmp_path, predicate, dialect):
    instants = pa.array([second * 1_000_000 for second in TWICE], pa.timestamp("us", "UTC"))
    hours = pa.array([(second - 14_400) * 1_000_000 for second in TWICE], pa.timestamp("us"))
    rows = pa.table({"ts": instants, "n": hours})
    for at in range(len(TWICE)):
        pq.write_table(rows.slice(at, 1), tmp_path / f"{at:02}.parquet")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        connection.register("rows", rows)
        answers = [row[0] for row in connection.execute(f"SELECT {predicate} FROM rows").fetchall()]

    report = whyscan.open(str(tmp_path)).explain(
        predicate, dialect=dialect, timezone="America/New_York", verbose=True
    )

    files = sorted(report.to_dict()["files"], key=lambda file: file["path"])
    for is_true, file in zip(answers, files, strict=True):
        assert file["verdict"] != ("none" if is_true else "all"), (file["path"], answers)
