"""Predicates that differ in literals alone keep the same files together as one by one."""

from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from whyscan.layouts.replay import TableReplay
from whyscan.layouts.snapshot import hypothetical
from whyscan.layouts.table_scans import scans_by_table
from whyscan.planning.plan.request import options_of
from whyscan.spark.stages.workload import Query
from whyscan.terms import PlanTerms

FORMS = (
    "id = {a}",
    "{a} < id",
    "id BETWEEN {a} AND {b}",
    "id IN ({a}, {b}, {c})",
    "id <> {a} OR x > {b}.5",
    "NOT (x <= {a}) AND name >= '{b}'",
    "name = '{a}' AND id IS NOT NULL",
    "name IS NULL OR id <=> {c}",
    "day >= DATE '2024-01-{d:02}'",
    "id IN ({a}, NULL)",
    "x <> {a} AND name LIKE '{b}%'",
    "id > {a} AND id < {b}",
    "id + 1 = {a}",
)
LAYOUTS = ("sort by id", "sort by x", "partition by name", "zorder by id, day")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("lake"), Random(5)
    none = lambda value: None if random.random() < 0.1 else value  # noqa: E731
    for number in range(8):
        rows = range(150)
        table = pa.table(
            {
                "id": pa.array([none(random.randint(0, 60)) for _ in rows], pa.int64()),
                "x": pa.array(
                    [none(random.choice([1.5, 7.0, float("nan"), 40.0])) for _ in rows],
                    pa.float64(),
                ),
                "name": [none(str(random.randint(0, 9))) for _ in rows],
                "day": pa.array([random.randint(19720, 19750) for _ in rows], pa.date32()),
            }
        )
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scans_that_are_planned_together_read_what_the_planner_says_one_by_one(lake, layout):
    random = Random(11)
    queries = [
        Query(
            "SELECT * FROM t WHERE "
            + form.format(
                a=random.randint(0, 60),
                b=random.randint(0, 60),
                c=random.randint(0, 60),
                d=random.randint(1, 30),
            ),
            "spark",
            1,
        )
        for form in FORMS
        for _ in range(6)
    ]
    snapshot, options = whyscan.open(lake).snapshot, options_of(PlanTerms())
    scans = scans_by_table(queries, {"t": snapshot}, "UTC", options)
    assert not scans.unread
    replay = TableReplay(snapshot, scans.by_table["t"], options, 10_000_000)
    written = hypothetical(snapshot, layout, 10_000_000, replay.sample)

    together = replay.amounts(written)

    one_by_one = replay.planned(written, range(len(replay.scans)))
    different = np.flatnonzero(together.files != one_by_one.files)
    assert [
        (replay.scans[at].query, together.files[at], one_by_one.files[at]) for at in different
    ] == []
    assert (together.bytes == one_by_one.bytes).all()
    assert 0 < together.files.sum() < len(queries) * len(written.files(()).rows)
