"""Spark judges the reference: every case, in every zone, at edges and far from them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from pruning.functions.time import reference
from pruning.functions.time.cases import CASES, ZONES
from pruning.functions.time.reference import DAY, SECOND
from whyscan.tree.nodes import type_of
from whyscan.tree.types import DATE, TIMESTAMP, TIMESTAMP_NTZ
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pruning.functions.time.cases import Case

pytestmark = pytest.mark.spark

COLUMNS = {
    "instant": "timestamp_micros(v)",
    "wall": "timestamp_ntz'1970-01-01 00:00:00' + "
    f"make_dt_interval(cast(v div {DAY} as int), 0, 0, cast(v % {DAY} as decimal(18,6)) / 1000000)",
    "date": f"date_from_unix_date(cast(v div {DAY} as int))",
    "number": f"v div {SECOND}",
}
LAST_LISTED = 2_145_916_800  # 2038
"""Java and tzdata agree on rules; a later law may be in one of them and not yet in the other."""


def moments(name: str) -> list[int]:
    """Both sides of changes of the clock in every age, and moments that are nothing special."""
    draw = random.Random(name)
    changes = [t for t in zone(name).transitions if t < LAST_LISTED]
    chosen = draw.sample(changes, min(12, len(changes)))
    edges = [t * SECOND + d for t in chosen for d in (-1, 0, 1800 * SECOND, 86_399_999_999)]
    plain = [draw.randrange(-62_000_000_000 * SECOND, 4_000_000_000 * SECOND) for _ in range(16)]
    return [*edges, *plain, 0, -1, -1_500_000]


def argument(case: Case, value: int) -> int:
    kind = case.name.split()[0]
    if kind == "date":
        return int(value / DAY)
    return int(value / SECOND) if kind == "number" else value


def comparable(case: Case) -> str:
    """The case's SQL with a result that Python need not convert through a zone."""
    sql = case.sql.format(x=COLUMNS[case.name.split()[0]])
    kind = type_of(case.expression)
    if kind == DATE:
        return f"unix_date({sql})"
    if kind == TIMESTAMP:
        return f"unix_micros({sql})"
    if kind == TIMESTAMP_NTZ and "extract" not in sql:
        return f"cast({sql} as string)"
    return f"({sql})"


def expected(case: Case, answer: object) -> object:
    if type_of(case.expression) == TIMESTAMP_NTZ and "extract" not in case.sql:
        return reference.text_of(reference.wall_of(answer))
    return answer


@pytest.mark.parametrize("name", ZONES)
def test_the_reference_is_what_spark_says(spark: SparkSession, name: str) -> None:
    values = moments(name)
    columns = ", ".join(f"{comparable(case)} as c{i}" for i, case in enumerate(CASES))
    table = ", ".join(f"({value}L)" for value in values)
    spark.conf.set("spark.sql.session.timeZone", name)
    try:
        rows = spark.sql(f"select {columns} from values {table} as t(v)").collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    wrong = [
        f"{case.name} of {value}: {row[i]}, not {case.answer(argument(case, value), name)}"
        for value, row in zip(values, rows, strict=True)
        for i, case in enumerate(CASES)
        if row[i] != expected(case, case.answer(argument(case, value), name))
    ]

    assert wrong == []
