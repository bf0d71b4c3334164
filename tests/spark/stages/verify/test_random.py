"""Random rows under random predicates: no row is lost, no statistic lies, in all three formats."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from spark.stages.verify.proofs import proven

pytestmark = pytest.mark.spark

LETTERS = "aé\U0001f33c"
COLUMNS = ("i", "x", "m", "d", "t", "s", "b")


def rows(dice: random.Random, count: int = 40) -> pa.Table:
    """Of a few types around a place of their own, with NULL and NaN among them."""
    base = dice.randrange(100)

    def column(kind, make):
        return pa.array([None if dice.random() < 0.1 else make() for _ in range(count)], kind)

    def near():
        return base + dice.randrange(20)

    return pa.table(
        {
            "i": column(pa.int32(), near),
            "x": column(pa.float64(), lambda: dice.choice([near() / 4, near() / 4, float("nan")])),
            "m": column(pa.decimal128(9, 2), lambda: Decimal(near()) / 4),
            "d": column(pa.date32(), lambda: date(2024, 1, 1) + timedelta(days=near())),
            "t": column(
                pa.timestamp("us"),
                lambda: datetime(2024, 1, 1) + timedelta(hours=near(), microseconds=near()),  # noqa: DTZ001 - a wall clock
            ),
            "s": column(pa.string(), lambda: f"{dice.choice(LETTERS)}{near():03}"),
            "b": column(pa.bool_(), lambda: dice.random() < 0.5),
        }
    )


def literal(dice: random.Random, column: str) -> str:
    n = dice.randrange(130)
    return {
        "i": f"{n}",
        "x": dice.choice([f"{n / 4}D", "DOUBLE('NaN')"]),
        "m": f"{n / 4}",
        "d": f"DATE '{date(2024, 1, 1) + timedelta(days=n)}'",
        "t": f"TIMESTAMP_NTZ '{datetime(2024, 1, 1) + timedelta(hours=n)}'",  # noqa: DTZ001 - as above
        "s": f"'{dice.choice('aé')}{n:03}'",
        "b": dice.choice(["true", "false", "NULL"]),
    }[column]


def condition(dice: random.Random, depth: int = 2) -> str:
    if depth and dice.random() < 0.6:
        parts = [condition(dice, depth - 1) for _ in range(2)]
        return dice.choice(["({0} AND {1})", "({0} OR {1})", "NOT ({0})"]).format(*parts)
    column = dice.choice(COLUMNS)
    operator = dice.choice(["=", "<>", "<", "<=", ">", ">=", "<=>"])
    return dice.choice(
        [
            f"{column} {operator} {literal(dice, column)}",
            f"{column} {operator} {literal(dice, column)}",
            f"{column} IN ({literal(dice, column)}, {literal(dice, column)})",
            f"{column} IS NULL",
            f"i + 1 {operator} {literal(dice, 'i')}",
            f"date_trunc('MONTH', d) {operator} {literal(dice, 'd')}",
            f"s LIKE '{dice.choice(['a%', 'é0%', '%1', 'a0_1'])}'",
        ]
    )


@pytest.mark.parametrize("kind", ["parquet", "delta", "iceberg"])
def test_random_tables_hold(spark, tmp_path, kind):
    dice = random.Random(f"verify {kind}")
    tables = [rows(dice) for _ in range(4)]
    folder = tmp_path / "t"
    if kind == "parquet":
        folder.mkdir()
        for number, table in enumerate(tables):
            pq.write_table(table, folder / f"{number}.parquet", row_group_size=10)
    elif kind == "delta":
        for table in tables:
            write_deltalake(folder, table, mode="append")
    else:
        spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.verify")
        for number, table in enumerate(tables):
            frame = spark.createDataFrame(table).coalesce(1)
            writer = frame.writeTo("ice.verify.random")
            writer.using("iceberg").create() if not number else writer.append()
        warehouse = spark.conf.get("spark.sql.catalog.ice.warehouse")
        folder = Path(warehouse, "verify", "random")
    predicates = dict.fromkeys(condition(dice) for _ in range(25))

    verification = proven(spark, folder, *predicates, select=["*"])

    assert verification.live == verification.native.rows == 160
    pruned = [p for p in verification.predicates if p.planned.files_kept < verification.files_total]
    assert len(pruned) > 3, "the predicates skip too little to prove anything"
