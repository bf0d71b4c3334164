"""Write the inventory's Parquet files directly from executors, on one machine.

Executors have the rows as Arrow; Spark's writer takes three times as long. They write the files of
a table into a temporary folder. When all files are written, the driver moves them into the
partition of the table in one step. It moves only files that a task reports in its result: files of
a failed or overtaken attempt stay in the temporary folder and are removed with it.
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
"""One row per written file: its table, level and name, the number of containers and their sums."""

_REPEATED = [
    "uri",
    "format",
    "level",
    "part",
    "manifest",
    "spec",
    "file_format",
    "footer",
    "wrong_counts",
    "maybe_deleted",
    *(
        f"{name}.key_value.{side}"
        for name in ("partition", "partition_types")
        for side in ("key", "value")
    ),
    "chunks.list.element.column",
    *(f"columns.list.element.{name}" for name in ("name", "type", "source")),
]
"""The columns that Parquet encodes with a dictionary: values of the others rarely repeat."""
_GATHERED = "_gathered-"
"""Parquet readers skip folders that begin with an underscore."""
_ABANDONED_AFTER = 86_400
# The characters that Spark writes as codes in the name of a partition's folder.
_ESCAPED = frozenset(map(chr, (*range(1, 32), 127))) | frozenset("\"#%'*/:=?\\{[]^")


def is_local(spark: SparkSession, place: str) -> bool:
    """Whether driver and executors share one disk, and `place` is on it."""
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
    """The function for `mapInArrow`: write the containers of parts to files, one receipt each."""

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
    """The receipt of one file, whose containers have one table and one level."""
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
    """The partition folder of a table's snapshot, written as Spark writes it."""
    return "/".join(f"{name}={_escaped(about[name])}" for name in ("table", "snapshot"))


def _escaped(value: str) -> str:
    return "".join(f"%{ord(c):02X}" if c in _ESCAPED else c for c in value)


@contextmanager
def gathered(containers: Path) -> Iterator[Path]:
    """A temporary folder below `containers`; it is removed after the block."""
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
    """Remove temporary folders that are older than a day: newer ones may be in use."""
    for folder in containers.glob(f"{_GATHERED}*"):
        if folder.stat().st_mtime < time.time() - _ABANDONED_AFTER:
            shutil.rmtree(folder, ignore_errors=True)


def publish(folder: Path, containers: Path, about: Mapping[str, str], files: Iterable[str]) -> None:
    """Move the files of a table into its partition, and replace the files that are there."""
    complete = folder / "whole"
    complete.mkdir()
    for name in files:
        (folder / name).rename(complete / name)
    target = containers / partition(about)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.rename(folder / f"replaced-{uuid.uuid4()}")
    complete.rename(target)
