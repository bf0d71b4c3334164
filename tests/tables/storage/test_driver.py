"""What the driver reads of a Delta table in a bucket: no more than says where its files stand."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import uuid
from pathlib import Path

import deltalake
import pytest

import whyscan
from spark.planning.plans_in_parts import comparable
from tables.delta.conftest import Lake
from tables.storage.seaweed import BUCKET, KEY, SECRET
from whyscan.spark.stages.inventory.run import inventory

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="Linux tells who asks"),
]

COUNTS = (20_000, 40_000)
NAMES = tuple(f"c{number}" for number in range(6))
QUESTION = "day = '2024-03-01' AND id < 300000"


@pytest.fixture(scope="module")
def checkpoints(server, tmp_path_factory):
    """Tables of so many files, whose checkpoint delta-rs wrote, and the bytes of that."""
    folder = tmp_path_factory.mktemp("wide")
    return {count: write(server, folder / str(count), count) for count in COUNTS}


def write(server, folder, count):
    """A checkpoint, and behind it commits that remove files, add new ones and old ones again."""
    lake = Lake(folder).create({"id": "long", "day": "date"} | dict.fromkeys(NAMES, "string"))
    about = json.loads((lake.log / f"{0:020}.json").read_text().splitlines()[1])
    about["metaData"]["partitionColumns"] = ["day"]
    lake.commit(about)
    chance = random.Random(count)
    adds = [add(lake, number, chance) for number in range(count)]
    lake.commit(*adds)
    deltalake.DeltaTable(folder).create_checkpoint()
    (checkpoint,) = lake.log.glob("*.checkpoint.parquet")
    for commit in lake.log.glob("*.json"):
        commit.unlink()
    lake.commit(*(lake.remove(one["add"]["path"]) for one in adds[:count:1000]))
    lake.commit(adds[1000], *(add(lake, count + more, chance) for more in range(10)))
    server.upload(lake.log, f"{folder.name}/_delta_log")
    return checkpoint.stat().st_size


def add(lake, number, chance):
    """Bounds that nothing shortens."""
    day = f"2024-{number % 12 + 1:02}-01"
    path = f"day={day}/part-{number:06}-{uuid.UUID(int=chance.getrandbits(128))}.parquet"
    text = {name: f"{chance.getrandbits(240):060x}" for name in NAMES}
    stats = {
        "numRecords": 100,
        "minValues": {"id": number * 100} | {k: v[:30] for k, v in text.items()},
        "maxValues": {"id": number * 100 + 99} | {k: f"g{v}" for k, v in text.items()},
        "nullCount": {"id": 0} | dict.fromkeys(NAMES, number % 7),
    }
    return lake.add(path, stats, partition={"day": day}, size=1000 + number)


@pytest.fixture
def options(proxy, cloud):
    """How the bucket is opened, through the proxy and without a cache."""
    del cloud
    proxy.watching = True
    keys = {"access_key_id": KEY, "secret_access_key": SECRET}
    return keys | {"endpoint": proxy.endpoint, "allow_http": "true", "cache": "off"}


def read(proxy, *, by_driver):
    return sum(a.bytes for a in proxy.answered if a.to_this_process == by_driver)


def requests(proxy):
    return sum(a.to_this_process for a in proxy.answered)


def test_explain_on_spark_has_the_checkpoint_read_by_executors_alone(
    spark, checkpoints, proxy, options
):
    driver, bytes_read = {}, {}
    for count, size in checkpoints.items():
        proxy.answered.clear()
        table = whyscan.open(f"s3://{BUCKET}/{count}", storage=options)
        report = table.explain(QUESTION, spark=spark, depth="files")
        driver[count], bytes_read[count] = read(proxy, by_driver=True), requests(proxy)
        assert read(proxy, by_driver=False) > size * 0.95
        assert driver[count] < size / 50, size
        whole = table.explain(QUESTION, depth="files")
        assert comparable(report.to_dict()) == comparable(whole.to_dict())
        assert 0 < report.levels[-1].kept < report.levels[-1].total == count - count // 1000 + 11
    assert driver[40_000] - driver[20_000] < 10_000
    assert bytes_read[40_000] == bytes_read[20_000] < 12


def test_an_inventory_has_the_checkpoint_read_by_executors_alone(
    spark, checkpoints, proxy, options
):
    driver = {}
    for count, size in checkpoints.items():
        proxy.answered.clear()
        uri = f"s3://{BUCKET}/{count}"
        rows = inventory(spark, {"t": uri}, storage=options).where("level = 'file'")
        files = sorted((row.path, row.bytes) for row in rows.select("path", "bytes").collect())
        driver[count] = read(proxy, by_driver=True)
        assert read(proxy, by_driver=False) > size * 0.95
        assert driver[count] < size / 50, size
        whole = whyscan.open(uri, storage=options).snapshot.files([])
        assert files == sorted(zip(whole.paths.to_pylist(), whole.bytes.to_pylist(), strict=True))
    assert driver[40_000] - driver[20_000] < 10_000


OPENED = """
import json, re, sys
from pathlib import Path
from whyscan.spark.stages.inventory.opening import Opener, sources_of
from whyscan.spark.stages.inventory.reading import InventoryDepth

def most():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

small, large, options = json.load(sys.stdin)
list(Opener(InventoryDepth.FILES).open_all(sources_of([small], options)))
before = most()
(opened,) = Opener(InventoryDepth.FILES).open_all(sources_of([large], options))
print(most() - before, len(opened.parts))
"""


@pytest.mark.usefixtures("uploaded")
def test_opening_and_dividing_takes_no_memory_for_files(checkpoints, server, options):
    small, large = f"s3://{BUCKET}/delta", f"s3://{BUCKET}/{COUNTS[-1]}"
    configuration = json.dumps([small, large, options | {"endpoint": server.endpoint}])
    run = [sys.executable, "-c", OPENED]
    done = subprocess.run(run, input=configuration, capture_output=True, text=True, check=True)
    grown, parts = map(int, done.stdout.split())
    assert parts > 1
    assert grown < checkpoints[COUNTS[-1]] / 4
