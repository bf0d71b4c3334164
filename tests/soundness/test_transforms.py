"""The cases of soundness-cases.md about partition transforms: one row, the partition value that
its writer must have given it, and predicates that must find it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from oracle.clock import DAY, MICROS, days_of
from oracle.values import NANOS
from soundness.files import ALL, NONE, SOME, File
from support.verdicts import Verdict, verdicts
from whyscan.pruning.containers import Buckets, Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.transforms import (
    Bucket,
    Day,
    Hour,
    IdentityTransform,
    Month,
    Transform,
    Truncate,
    Void,
    Year,
    forward,
    of_partition_values,
    partition_interval,
)
from whyscan.tree import arrow
from whyscan.tree.types import BIGINT, DATE, INT, STRING, TIMESTAMP, DecimalType, Type
from whyscan.tree.zones import zone


@dataclass(frozen=True)
class Partition:
    """A partition value of a transform, and what predicates on its source make of it."""

    name: str
    transform: Transform
    source: Type
    value: Any
    partition_type: Type
    verdicts: dict[str, Verdict]


def instant(year: int, month: int, day: int, seconds: int = 0) -> int:
    return (days_of(year, month, day) * DAY + seconds) * MICROS


PARTITIONS = [
    Partition(
        "g2_a_negative_day", Day(), TIMESTAMP, -7, INT,
        {"x = '1969-12-25 12:00:00'": SOME, "x >= '1970-01-01'": NONE,
         "x < '1969-12-26 00:00:01'": ALL},
    ),
    Partition(
        "the_end_of_a_units_first_second_is_in_the_unit_before", Day(), TIMESTAMP, -7, INT,
        {"x = '1969-12-26 00:00:00.999999'": SOME, "x > '1969-12-26 00:00:00.999999'": NONE,
         "x < '1969-12-26'": SOME},
    ),
    Partition(
        "g4_a_month_before_1970", Month(), TIMESTAMP, -2, INT,
        {"x = '1969-11-15'": SOME, "x >= '1969-12-01 00:00:01'": NONE, "x < '1969-09-01'": NONE},
    ),
    Partition(
        "g4_a_year_before_1970", Year(), DATE, -1, INT,
        {"x = '1969-11-15'": SOME, "x >= '1970-01-01'": NONE},
    ),
    Partition(
        "g6_months_are_of_the_calendar", Month(), DATE, 671, INT,
        {"x = '2025-12-12'": SOME, "x = '2026-01-01'": NONE, "month(x) = 12": ALL},
    ),
    Partition(
        "g8_a_literal_within_the_day", Day(), TIMESTAMP, days_of(2024, 3, 1), INT,
        {"x < '2024-03-01 13:44:00'": SOME, "x >= '2024-03-01'": ALL, "x < '2024-03-01'": NONE},
    ),
    Partition(
        "g10_identity_of_an_instant", IdentityTransform(), TIMESTAMP,
        instant(2024, 3, 1, 5), TIMESTAMP,
        {"x = '2024-03-01 00:00:05'": ALL, "x > '2024-03-01 00:00:05'": NONE},
    ),
    Partition(
        "g12_an_hour_that_overflowed", Hour(), TIMESTAMP, -2_120_780_968, INT,
        {"x > '2020-01-01'": SOME},
    ),
    Partition(
        "g14_truncate_floors", Truncate(10), INT, -10, INT,
        {"x = -1": SOME, "x = -10": SOME, "x = 0": NONE, "x = -11": NONE, "x < 0": ALL},
    ),
    Partition(
        "e14_truncate_at_the_end_of_a_decimal", Truncate(10), DecimalType(7, 3),
        Decimal("-10000.000"), DecimalType(8, 3),
        {"x = -9999.999": SOME, "x >= 0": NONE},
    ),
    Partition(
        "truncate_of_text_is_a_prefix", Truncate(2), STRING, "ab", STRING,
        {"x = 'ab'": SOME, "x = 'abz'": SOME, "x = 'ac'": NONE, "x LIKE 'ab%'": ALL},
    ),
    Partition(
        "truncate_of_shorter_text_is_the_text", Truncate(2), STRING, "a", STRING,
        {"x = 'a'": ALL, "x = 'aa'": NONE, "x <> 'a'": NONE},
    ),
    Partition(
        "values_before_1970_were_rounded_towards_zero_by_old_writers", Day(), TIMESTAMP, 0, INT,
        {"x = '1969-12-31 12:00:00'": SOME, "x = '1970-01-01 12:00:00'": SOME,
         "x = '1969-12-30 12:00:00'": NONE, "x < '1970-01-02'": ALL},
    ),
    Partition(
        "k26_a_day_is_not_the_instant", Day(), TIMESTAMP, days_of(2024, 3, 1), INT,
        {"x = '2024-03-01 09:00:00'": SOME, "x = '1970-01-01 00:00:00'": NONE},
    ),
    Partition("k28_void_says_nothing", Void(), INT, None, INT, {"x = 5": SOME, "x IS NULL": SOME}),
    Partition(
        "i22_a_null_partition_is_a_null_source", Day(), TIMESTAMP, None, INT,
        {"x < '2024-01-01'": NONE, "x IS NULL": ALL, "x <> '2024-01-01'": NONE},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "sql"),
    [
        pytest.param(case, sql, id=f"{case.name}-{sql}")
        for case in PARTITIONS
        for sql in case.verdicts
    ],
)
def test_case(case, sql):
    values = of_partition_values(
        case.partition_type, arrow.array([case.value], case.partition_type)
    )
    interval = partition_interval(case.transform, case.source, values)
    containers = Containers(1, pa.array([1]), partition={("x",): interval})
    assert verdict(sql, case.source, containers) is case.verdicts[sql]


def verdict(sql: str, source: Type, containers: Containers) -> Verdict:
    bound = File({"x": source}, {"x": []}).bound(sql)
    return verdicts(evaluate(bound, containers, zone("UTC")), 1)[0]


def test_g16_a_bucket_of_nanoseconds_is_that_of_its_microseconds():
    micros = instant(2024, 3, 1)
    expected = forward(Bucket(16), TIMESTAMP, arrow.array([micros, -1], TIMESTAMP))
    numbers = forward(Bucket(16), NANOS, arrow.array([micros * 1000 + 999, -1], NANOS))
    assert numbers.to_pylist() == expected.to_pylist()


def test_g22_equality_on_a_bucketed_column_keeps_one_bucket():
    (number,) = forward(Bucket(512), BIGINT, arrow.array([42], BIGINT)).to_pylist()
    numbers = pa.array(range(512), pa.int32())
    buckets = Buckets(("x",), Bucket(512), numbers, numbers)
    containers = Containers(512, pa.array([1] * 512), buckets=(buckets,))
    bound = File({"x": BIGINT}, {"x": []}).bound("x = 42")
    kept = verdicts(evaluate(bound, containers, zone("UTC")), 512)
    assert [index for index, is_kept in enumerate(kept) if is_kept] == [number]
