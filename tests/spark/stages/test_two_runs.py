"""Two runs that write to one place at once: each one ends in order or with one line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from spark.stages.audit.lake import write_delta, write_hive
from whyscan.errors import WhyscanError
from whyscan.spark import audit, write_inventory
from whyscan.spark.stages.workload.query import Query, Workload
from whyscan.spark.versions import table_of

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    write_delta(folder / "sales", 2)
    write_hive(folder / "visits", 1)
    return {name: str(folder / name) for name in ("sales", "visits")}


def at_once(*runs):
    """What each run gives, or its error; all begin at the same moment."""
    barrier = Barrier(len(runs))

    def outcome(run):
        barrier.wait()
        try:
            return run()
        except WhyscanError as error:
            return error

    with ThreadPoolExecutor(len(runs)) as pool:
        return list(pool.map(outcome, runs))


def containers(spark, run):
    """One pair of table and path for each file that the inventory has."""
    rows = spark.read.parquet(run.containers_at).where("level = 'file'")
    return sorted(table_of(rows.select("table", "path")).to_pylist(), key=str)


def test_two_inventories_at_once_leave_each_container_once(spark, lake, tmp_path):
    alone = write_inventory(spark, lake, str(tmp_path / "alone"))
    place = str(tmp_path / "shared")

    def run():
        return write_inventory(spark, lake, place)

    ends = at_once(run, run)
    last = write_inventory(spark, lake, place)

    errors = [end.message for end in ends if isinstance(end, WhyscanError)]
    assert not any("\n" in message for message in errors)
    assert last.failed == ()
    assert containers(spark, last) == containers(spark, alone)


def test_two_audits_at_once_keep_whole_runs_in_a_history(spark, lake, tmp_path):
    place = str(tmp_path / "history")
    workload = Workload(tuple(Query(f"SELECT id FROM {t} WHERE id = 3", "spark") for t in lake))

    def run():
        return audit(spark, workload, lake, history=place)

    ends = at_once(run, run)
    last = run()

    errors = [end.message for end in ends if isinstance(end, WhyscanError)]
    assert not any("\n" in message for message in errors)
    rows = table_of(spark.read.parquet(place))
    counts = rows.group_by("run").aggregate([("scan", "count")]).to_pylist()
    kept = {one["run"]: one["scan_count"] for one in counts}
    finished = {end.run.id for end in [*ends, last] if not isinstance(end, WhyscanError)}
    assert finished <= kept.keys()
    assert set(kept.values()) == {len(workload.queries)}
