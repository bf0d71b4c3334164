"""The cheap half of a layout: what a condition selects saves what was told when it is written."""

from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import whyscan
from whyscan.spark import Workload
from whyscan.spark.stages.workload import Query

DAYS, ROWS, FILES_A_DAY = 10, 1_000, 5
RECENT = [f"SELECT * FROM events WHERE day >= 8 AND user_id = {user}" for user in range(5, 400, 40)]
QUERIES = {**dict.fromkeys(RECENT, 20), "SELECT * FROM events WHERE user_id = 77": 1}


@pytest.fixture(scope="module")
def days():
    random = Random(3)
    return [
        pa.table(
            {
                "day": pa.array([day] * ROWS, pa.int64()),
                "user_id": [random.randint(0, 500) for _ in range(ROWS)],
                "x": [random.random() for _ in range(ROWS)],
            }
        )
        for day in range(DAYS)
    ]


def lake(days, folder, sorted_days=()):
    """A folder a day; those of `sorted_days` in the order of users."""
    for day, rows in enumerate(days):
        path = folder / f"day={day}"
        path.mkdir(parents=True)
        ordered = rows.sort_by("user_id") if day in sorted_days else rows
        for number in range(FILES_A_DAY):
            part = ordered.slice(number * ROWS // FILES_A_DAY, ROWS // FILES_A_DAY)
            pq.write_table(
                part.drop_columns("day"),
                path / f"{number}.parquet",
                compression=None,
                use_dictionary=False,
            )
    return folder


def workload(queries):
    return Workload(tuple(Query(text, "spark", runs) for text, runs in queries.items()), ())


def bytes_of_all_runs(table):
    return sum(
        whyscan.explain_sql(sql, {"events": table}).scans[0].report.files_level.bytes_kept * runs
        for sql, runs in QUERIES.items()
    )


def test_the_chosen_files_save_as_much_as_estimated_when_they_are_rewritten(days, tmp_path):
    today = lake(days, tmp_path / "today")

    (table,) = whyscan.advise(workload(QUERIES), {"events": today}).tables

    best = table.advice[0]
    assert best.layout == "sort by user_id"
    assert (best.partial.where, best.partial.files) == ("day >= 8", 2 * FILES_A_DAY)
    sizes = [file.stat().st_size for day in (8, 9) for file in (today / f"day={day}").iterdir()]
    assert best.partial.bytes == sum(sizes)
    rewritten = lake(days, tmp_path / "rewritten", sorted_days={8, 9})
    saved = bytes_of_all_runs(today) - bytes_of_all_runs(rewritten)
    assert best.partial.saves == pytest.approx(saved, rel=0.1)
    assert best.partial.saves >= 0.8 * (best.bytes.before - best.bytes.after)


def test_a_delta_table_is_optimized_by_its_partitions(days, tmp_path):
    for rows in days:
        for number in range(FILES_A_DAY):
            part = rows.slice(number * ROWS // FILES_A_DAY, ROWS // FILES_A_DAY)
            write_deltalake(tmp_path, part, mode="append", partition_by=["day"])

    (table,) = whyscan.advise(workload(QUERIES), {"events": tmp_path}).tables

    size, optimize = table.advice[0].partial.statements.spark
    assert size.startswith("SET spark.databricks.delta.optimize.maxFileSize = ")
    assert optimize == "OPTIMIZE events WHERE day >= 8 ZORDER BY (user_id)"


def test_what_footers_prune_today_is_no_saving(days, tmp_path):
    sorted_but_the_last = lake(days, tmp_path, sorted_days=set(range(8)))

    (table,) = whyscan.advise(workload(QUERIES), {"events": sorted_but_the_last}).tables

    best = table.advice[0]
    assert best.partial.where == "day >= 8"
    assert best.partial.saves == pytest.approx(best.bytes.before - best.bytes.after, rel=0.1)


def test_waste_that_lies_everywhere_has_no_cheap_half(days, tmp_path):
    today = lake(days, tmp_path)
    queries = {"SELECT * FROM events WHERE user_id = 77": 5}

    (table,) = whyscan.advise(workload(queries), {"events": today}).tables

    assert table.advice[0].partial is None


def test_a_table_without_partitions_is_no_part_for_engines_that_need_one(days, tmp_path):
    write_deltalake(tmp_path, pa.concat_tables(days))
    for rows in days:
        write_deltalake(tmp_path, rows, mode="append")

    (table,) = whyscan.advise(workload(QUERIES), {"events": tmp_path}).tables

    assert all(one.partial is None for one in table.advice)


def test_the_saving_pays_for_reading_and_writing_the_table(days, tmp_path):
    today = lake(days, tmp_path)

    (table,) = whyscan.advise(workload(QUERIES), {"events": today}).tables

    best, runs = table.advice[0], table.today.runs
    saved_a_run = (best.bytes.before - best.bytes.after) / runs
    assert (best.pays_after_runs - 1) * saved_a_run < 2 * best.rewrite_bytes
    assert best.pays_after_runs * saved_a_run >= 2 * best.rewrite_bytes
    assert (best.writes.files, best.writes.partitions) == (DAYS * FILES_A_DAY, DAYS)
    assert table.today.regret == table.today.bytes / table.today.floor_bytes


def test_prices_make_money_of_bytes_and_requests(days, tmp_path):
    advice = whyscan.advise(workload(QUERIES), {"events": lake(days, tmp_path)})

    best = advice.priced("5/TB", "0.4/1000").tables[0].advice[0]

    assert best.cost.before == pytest.approx(best.bytes.before * 5e-12 + best.files.before * 4e-4)
    assert best.cost.after == pytest.approx(best.bytes.after * 5e-12 + best.files.after * 4e-4)
    assert advice.priced().tables[0].advice[0].cost is None
