"""A disk that is full: one clear line, nothing half written, and the next run goes on."""

import subprocess
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whyscan.errors import WhyscanError
from whyscan.spark import audit
from whyscan.spark.stages.inventory.run import write_inventory
from whyscan.spark.stages.workload.query import Query, Workload

pytestmark = pytest.mark.spark

SIZE = 1 << 20


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be made here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    for name in ("users", "orders"):
        (folder / name).mkdir()
        for part in range(3):
            rows = pa.table({"id": range(part * 10, part * 10 + 10)})
            pq.write_table(rows, folder / name / f"{part}.parquet")
    return {name: str(folder / name) for name in ("users", "orders")}


@pytest.mark.parametrize("form", ["parquet", "delta"])
def test_a_full_disk_ends_the_inventory_and_a_freed_one_lets_it_go_on(
    spark, small_disk, lake, form
):
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(SIZE - (8 << 10)))

    with pytest.raises(WhyscanError) as error:
        write_inventory(spark, lake, str(small_disk / "out"), form=form)
    ballast.unlink()
    again = write_inventory(spark, lake, str(small_disk / "out"), form=form)

    assert "\n" not in error.value.message
    assert "space" in error.value.message.lower()
    assert again.failed == ()
    written = spark.read.format(form).load(again.containers_at)
    assert written.where("level = 'file'").count() == 6
    assert written.select("path", "table").distinct().count() == written.count()


def test_a_full_disk_leaves_a_history_as_it_was(spark, small_disk, lake):
    place = str(small_disk / "history")
    workload = Workload((Query("SELECT * FROM users WHERE id = 3", "spark"),))
    first = audit(spark, workload, lake, history=place)
    ballast = small_disk / "ballast"
    with suppress(OSError):
        ballast.write_bytes(bytes(SIZE))

    with pytest.raises(WhyscanError) as error:
        audit(spark, workload, lake, history=place)
    ballast.unlink()

    assert "\n" not in error.value.message
    assert "space" in error.value.message.lower()
    rows = spark.read.parquet(place).select("run").collect()
    assert [row["run"] for row in rows] == [first.run.id]
