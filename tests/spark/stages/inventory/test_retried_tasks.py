"""A task that fails and is run again, or is overtaken, leaves nothing of its own in the output."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whyscan.spark.stages.inventory import direct
from whyscan.spark.stages.inventory.opening import OpenedTable, Opener, sources_of
from whyscan.spark.stages.inventory.reading import PARTS, InventoryDepth

if TYPE_CHECKING:
    from pathlib import Path

FILES = 3


@pytest.fixture
def users(tmp_path):
    """A Hive table of three files with two row groups each."""
    for at in range(FILES):
        file = tmp_path / "users" / f"day=2024-01-0{at + 1}" / "f.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table({"name": [f"n{at}", None]}), file, row_group_size=1)
    return tmp_path / "users"


DYING = """
import os, sys
from whyscan.spark import session, write_inventory
from whyscan.spark.stages.inventory import opening

table, out, died = sys.argv[1:]

class DiesOnce:
    '''A part whose reader is killed at the row groups, when the files are written already.'''
    def __init__(self, part):
        self.part = part
    def __reduce__(self):
        return DiesOnce, (self.part,)
    def __getattr__(self, name):
        return getattr(self.part, name)
    def row_groups(self, *arguments):
        return DyingGroups(self.part.row_groups(*arguments))

class DyingGroups:
    def __init__(self, groups):
        self.groups = groups
    def __getattr__(self, name):
        if name == "ordinal" and not os.path.exists(died):
            open(died, "w").close()
            os._exit(1)
        return getattr(self.groups, name)

packed = opening.packed
opening.packed = lambda part: packed(DiesOnce(part))
# Four attempts a task, as on a cluster; a plain local master has one.
spark = session("local[1,4]")
run = write_inventory(spark, {"users": table}, out, depth="row-groups")
rows = spark.read.parquet(run.containers_at).groupBy("level").count().collect()
print(sorted((row["level"], row["count"]) for row in rows))
(line,) = run.tables
print(line.row.files, line.row.row_groups, os.path.exists(died))
spark.stop()
"""


@pytest.mark.spark
def test_a_task_whose_worker_was_killed_is_run_again_and_its_rows_are_there_once(users, tmp_path):
    clean = {k: v for k, v in os.environ.items() if "SPARK" not in k and k != "JAVA_HOME"}
    arguments = [str(users), str(tmp_path / "out"), str(tmp_path / "died")]
    done = subprocess.run(
        [sys.executable, "-c", DYING, *arguments],
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows, published = done.stdout.splitlines()
    assert rows == "[('file', 3), ('row_group', 6)]"
    assert published == "3 6 True"
    assert not list((tmp_path / "out" / "containers").glob("_*"))


@pytest.fixture
def task(users):
    """What the one task of a table is given."""
    (opened,) = Opener(InventoryDepth.ROW_GROUPS).open_all(sources_of({"users": str(users)}, None))
    assert isinstance(opened, OpenedTable)
    rows = [{**opened.about, "part": n, "contents": p} for n, p in enumerate(opened.parts)]
    return opened.about, [pa.RecordBatch.from_pylist(rows, PARTS)]


def test_only_the_attempt_that_reported_is_published_while_another_still_writes(task, tmp_path):
    about, batches = task
    containers = tmp_path / "containers"
    with direct.gathered(containers) as folder:
        write = direct.writing(InventoryDepth.ROW_GROUPS, folder)
        overtaken = write(batches)
        next(overtaken)
        batch = pa.Table.from_batches(list(write(batches)))
        direct.publish(folder, containers, about, batch["file"].to_pylist())
        next(overtaken)
    published = [pq.read_table(f) for f in _files(containers / direct.partition(about))]
    assert sorted(table.num_rows for table in published) == [FILES, 2 * FILES]
    assert _files(containers) == _files(containers / direct.partition(about))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
