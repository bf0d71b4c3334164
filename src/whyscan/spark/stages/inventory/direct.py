"""Parquet on this machine, written by the executors themselves.

They have the rows as Arrow: through Spark's rows and its own writer it takes three times as long.
Files of a table are gathered beside its partition, and become it in one step once all are there.
Only files that a task tells of in its result do: those of an attempt that failed, or that another
one overtook, stay where they were gathered, and go with it.
"""

from __future__ import annotations

import shutil
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from whyscan.errors import StorageError
from whyscan.spark.errors import carried
from whyscan.spark.stages.inventory.reading import parts_of_task, rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from whyscan.spark.stages.inventory.reading import InventoryDepth, Work

RECEIPT = pa.schema(
    [
        ("table", pa.string()),
        ("level", pa.string()),
        ("file", pa.string()),
        ("count", pa.int64()),
        ("first", pa.int64()),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
    ]
)
"""What a task tells of the containers that it wrote: in which file, how many, and their sums."""

_REPEATED = [
    "uri",
    "format",
    "level",
    "partition.key_value.key",
    "partition.key_value.value",
    "columns.list.element.name",
    "columns.list.element.type",
]
"""The columns of which Parquet gets a dictionary: of the others hardly a value comes twice."""
_GATHERED = "_gathered-"
"""Readers of Parquet pass over what begins with an underscore."""
_ABANDONED_AFTER = 86_400
# The characters that Spark writes as codes in the name of a partition's folder.
_ESCAPED = frozenset(map(chr, (*range(1, 32), 127))) | frozenset("\"#%'*/:=?\\{[]^")


def is_local(spark: SparkSession, place: str) -> bool:
    """Whether executors and driver have one disk, and a place is on it."""
    from pyspark.errors import PySparkException

    if not place.startswith("/"):
        return False
    try:
        context = spark.sparkContext
    except PySparkException:
        return False
    default_store = context._jsc.hadoopConfiguration().get("fs.defaultFS")  # noqa: SLF001 - no other way
    one_machine = (context.master or "").startswith("local")
    return one_machine and str(default_store or "file:").startswith("file:")


def writing(depth: InventoryDepth, folder: Path) -> Work:
    """Read parts and write their containers into a folder; a row a file says what is in it."""

    @carried
    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for about, part in parts_of_task(batches):
            for batch in rows(about, part, depth):
                if batch.num_rows:
                    table = pa.Table.from_batches([batch]).drop(["table", "snapshot", "error"])
                    name = f"part-{uuid.uuid4()}.parquet"
                    pq.write_table(table, folder / name, use_dictionary=_REPEATED)
                    yield _receipt(batch, name)

    return write


def _receipt(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    """The totals of a file, whose containers are of one table and one level."""
    receipt = {
        "table": batch.column("table")[0].as_py(),
        "level": batch.column("level")[0].as_py(),
        "file": name,
        "count": batch.num_rows,
        "first": pc.sum(pc.equal(batch.column("ordinal"), 0)).as_py() or 0,
        "bytes": pc.sum(batch.column("bytes")).as_py(),
        "rows": pc.sum(batch.column("rows")).as_py(),
    }
    return pa.RecordBatch.from_pylist([receipt], RECEIPT)


def partition(about: Mapping[str, str]) -> str:
    """The folder of a table's snapshot, by Spark's rules."""
    return "/".join(f"{name}={_escaped(about[name])}" for name in ("table", "snapshot"))


def _escaped(value: str) -> str:
    return "".join(f"%{ord(c):02X}" if c in _ESCAPED else c for c in value)


@contextmanager
def gathered(containers: Path) -> Iterator[Path]:
    """A folder for files that are no table yet; it is gone behind the block."""
    folder = containers / f"{_GATHERED}{uuid.uuid4()}"
    try:
        _remove_abandoned(containers)
        folder.mkdir(parents=True)
        yield folder
    except OSError as error:
        raise StorageError(
            f"cannot write {containers}: {error.strerror}", hint="is its folder there, and yours?"
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(containers: Path) -> None:
    """What runs that were killed have left, long ago: others may be under way."""
    for folder in containers.glob(f"{_GATHERED}*"):
        if folder.stat().st_mtime < time.time() - _ABANDONED_AFTER:
            shutil.rmtree(folder, ignore_errors=True)


def publish(folder: Path, containers: Path, about: Mapping[str, str], files: Iterable[str]) -> None:
    """A table's files become its partition, in place of what there is of the same snapshot."""
    whole = folder / "whole"
    whole.mkdir()
    for name in files:
        (folder / name).rename(whole / name)
    target = containers / partition(about)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.rename(folder / f"replaced-{uuid.uuid4()}")
    whole.rename(target)
