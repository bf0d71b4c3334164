"""One moment in several spellings and units: as a partition value, and as a bound."""

from __future__ import annotations

import datetime as dt
import json
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import whyscan

MOMENT = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
ZONED = (
    "2024-01-01T00:00:00Z",
    "2024-01-01T00:00:00.000000Z",
    "2024-01-01 00:00:00+00:00",
    "2024-01-01 00:00:00 +00:00",
    "2024-01-01 00:00:00 UTC",
    "2024-01-01 02:00:00+02:00",
    "2024-01-01 02:00:00+02",
    "2023-12-31T19:00:00.000-0500",
)
UNZONED = ("2024-01-01 00:00:00", "2024-01-01T00:00:00", "2024-01-01 00:00:00.000000", "2024-01-01")
# Within 18 hours of the moment, and further away from it than any clock shows it.
NEAR = ("2023-12-31 18:00:00", "2024-01-01 00:00:00", "2024-01-01 06:00:00")
FAR = ("2023-12-30 00:00:00", "2024-01-03 00:00:00")


def delta(folder, text: str) -> None:
    rows = pa.table({"p": pa.array([MOMENT], pa.timestamp("us", "UTC")), "v": [1]})
    write_deltalake(str(folder), rows, partition_by=["p"])
    (log,) = (folder / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["partitionValues"]["p"] = text
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))


def hive(folder, text: str) -> None:
    inside = folder / f"p={quote(text, safe=' +.-')}"
    inside.mkdir(parents=True)
    pq.write_table(pa.table({"v": [1]}), inside / "f.parquet")


def verdict(table, literal: str) -> tuple[int, int]:
    level = table.explain(f"p = TIMESTAMP '{literal}'").to_dict()["levels"][0]
    return level["kept"], level["all"]


@pytest.mark.parametrize("text", ZONED)
def test_a_zoned_partition_value_of_delta_is_one_point(tmp_path, text):
    delta(tmp_path / "t", text)
    table = whyscan.open(tmp_path / "t")
    assert [verdict(table, literal) for literal in NEAR] == [(0, 0), (1, 1), (0, 0)]


@pytest.mark.parametrize("text", UNZONED)
def test_an_unzoned_partition_value_of_delta_is_within_18_hours(tmp_path, text):
    delta(tmp_path / "t", text)
    table = whyscan.open(tmp_path / "t")
    assert [verdict(table, literal) for literal in NEAR] == [(1, 0)] * 3
    assert [verdict(table, literal) for literal in FAR] == [(0, 0)] * 2


@pytest.mark.parametrize("text", [*ZONED, *UNZONED])
def test_a_partition_value_of_hive_is_one_point(tmp_path, text):
    hive(tmp_path / "t", text)
    table = whyscan.open(tmp_path / "t", partition_types={"p": "timestamp"})
    assert [verdict(table, literal) for literal in NEAR] == [(0, 0), (1, 1), (0, 0)]


UNITS = ("ms", "us", "ns")


@pytest.mark.parametrize("first", UNITS)
def test_one_column_in_three_units_is_pruned_and_no_row_is_lost(tmp_path, first):
    """A file per unit, an hour each; the first file decides the unit of the table."""
    ordered = [first, *(unit for unit in UNITS if unit != first)]
    base = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - a clock's reading
    moments = [base + dt.timedelta(hours=at) for at in range(3)]
    for at, unit in enumerate(ordered):
        rows = [moments[at], moments[at] + dt.timedelta(milliseconds=1)]
        column = pa.array(rows, pa.timestamp(unit))
        pq.write_table(pa.table({"t": column, "v": [at, at]}), tmp_path / f"{at}.parquet")
    table = whyscan.open(tmp_path)
    for at, moment in enumerate(moments):
        for predicate, count in (
            (f"t = TIMESTAMP_NTZ '{moment}'", 1),
            (f"t > TIMESTAMP_NTZ '{moment}'", 2 * (2 - at) + 1),
            (f"t < TIMESTAMP_NTZ '{moment}'", 2 * at),
        ):
            plan = table.plan(predicate, depth="row-groups")
            assert plan.to_arrow().num_rows == count, predicate
