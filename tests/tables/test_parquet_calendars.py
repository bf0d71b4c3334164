"""Footers of Spark's other calendar: an old day in them is not the day that Spark reads."""

from __future__ import annotations

from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan

LEGACY = {"org.apache.spark.version": "3.5.0", "org.apache.spark.legacyDateTime": ""}
OLD_SPARK = {"org.apache.spark.version": "2.4.8"}
NEW_SPARK = {"org.apache.spark.version": "4.1.0"}


def kept(folder, keys, column, predicate):
    """How many files stay of one that holds the column, with the keys of a writer."""
    table = pa.table({"c": column}).replace_schema_metadata(keys)
    pq.write_table(table, folder / "a.parquet")
    return whyscan.open(folder).plan(predicate).summary.files_kept


@pytest.mark.parametrize(
    ("keys", "files"), [(LEGACY, 1), (OLD_SPARK, 1), (NEW_SPARK, 0), (None, 0)]
)
def test_an_old_day_prunes_only_in_the_calendar_of_everybody(tmp_path, keys, files):
    julian = pa.array([date(1582, 10, 13), date(1582, 10, 14)])

    assert kept(tmp_path, keys, julian, "c = DATE '1582-10-04'") == files


def test_days_of_today_prune_in_either(tmp_path):
    days = pa.array([date(1582, 10, 15), date(2024, 1, 1)])

    assert kept(tmp_path, LEGACY, days, "c > DATE '2024-01-01'") == 0
    assert kept(tmp_path, LEGACY, days, "c < DATE '1582-10-15'") == 0


def test_a_lower_end_of_old_leaves_the_upper_one_standing(tmp_path):
    days = pa.array([date(1, 1, 1), date(2024, 1, 1)])

    assert kept(tmp_path, LEGACY, days, "c > DATE '2024-01-01'") == 0
    assert kept(tmp_path, LEGACY, days, "c < DATE '0001-01-01'") == 1


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_moments_before_1900_say_nothing(tmp_path, unit):
    def moment(year):
        return pa.array([datetime(year, 1, 1)], pa.timestamp(unit))  # noqa: DTZ001 - a wall clock

    before = "c < TIMESTAMP_NTZ '1700-01-01'"
    assert kept(tmp_path, LEGACY, moment(1899), before) == 1
    assert kept(tmp_path, LEGACY, moment(1900), before) == 0
    assert kept(tmp_path, NEW_SPARK, moment(1899), before) == 0


def test_other_columns_of_such_a_file_prune_as_ever(tmp_path):
    assert kept(tmp_path, LEGACY, pa.array([-200_000, 5]), "c > 5") == 0
