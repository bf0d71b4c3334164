"""`whyscan.spark.advise`: executors search the layouts of each table, and sample its rows.

One task has one table with the queries that name it. A table that fails is listed, and does not
stop the others.
"""

from __future__ import annotations

import pickle
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.errors import UsageError
from whyscan.layouts.workload_advice import advise_on_tables, joined
from whyscan.profiles.engine_names import named_profiles
from whyscan.reports.masked_records import masked
from whyscan.reports.words import counted
from whyscan.spark.errors import carried
from whyscan.spark.jobs import described, mapped, ran, work_frame, work_of_task
from whyscan.spark.pinned_tables import Tables, column_types
from whyscan.spark.stages.inputs import names_in, pinned_tables, workload_of
from whyscan.terms import SAMPLE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.layouts.advice import Advice
    from whyscan.spark.jobs import Batches, Task
    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.workload.query import Query, Workload
    from whyscan.spark.tables import NamedTable

    Paths = str | PathLike[str]
    Work = tuple[tuple[str, ...], tuple[Pinned, ...], tuple[Query, ...]]

__all__ = ["advise", "verify_layout"]

SCHEMA = pa.schema([("part", pa.binary())])


def advise(
    spark: SparkSession,
    workload: Workload | DataFrame | Paths | Sequence[Paths],
    tables: Mapping[str, str] | Sequence[str | NamedTable],
    *,
    sample: int = SAMPLE_BYTES,
    inventory: str | None = None,
    inventory_format: str = "parquet",
    engines: Sequence[str] = (),
    dialect: str = "spark",
    timezone: str = "UTC",
    storage: Mapping[str, object] = MappingProxyType({}),
    partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    progress: Callable[[str], None] | None = None,
) -> Advice:
    """Say what layout each table of a workload should have, and what it would bring.

    - `workload` is paths of logs, a `Workload`, or a frame of `workload_frame`.
    - `tables` maps the names that queries use to addresses, or lists `NAME=URI`, globs and
      namespaces of catalogs.
    - `sample` is how many bytes of each table executors may read for its sample; with 0 bounds
      alone are used, as in `whyscan.advise`.
    - `inventory` is the place of an inventory, whose tables are planned by its containers.
    - `engines` names engines: bytes are those that the one of them reads that reads most.
    - `dialect` is for texts whose log names no dialect, and `timezone` is their session time zone.
    - `storage` are the storage options of the tables and of the logs.
    - `partition_types` are the types of Hive partition columns, by table and column.
    - `progress` is called with a text before each step.

    The advice is that of `whyscan.advise`. A table that cannot be read is listed.
    """
    if sample < 0:
        raise UsageError(f"a sample of {sample} bytes", hint="sample=200_000_000")
    named_profiles(engines)
    place = None if inventory is None else (inventory, inventory_format)
    pinned = pinned_tables(spark, tables, partition_types, storage, place, progress)
    if not pinned:
        raise UsageError("there is no table to advise on", hint="name one: NAME=URI")
    read = workload_of(spark, workload, dialect, storage, column_types(pinned))
    work = list(_work(pinned, read.queries))
    text = f"searching layouts of {counted(len(pinned), 'table')}"
    if progress is not None:
        progress(text)
    frame = mapped(
        work_frame(spark, work), _advising(timezone, sample, tuple(engines), dict(storage)), SCHEMA
    )
    with described(spark, "advise", text):
        rows = ran(frame.collect)
    parts = [pickle.loads(row["part"]) for row in rows]  # noqa: S301 - by our executors
    return masked(joined(parts, read.unparsed, engines))


def _work(tables: Sequence[Pinned], queries: Sequence[Query]) -> Iterator[Work]:
    """Yield each table with its queries and their tables, and the queries that name no table."""
    by_name = {table.name: table for table in tables}
    named = names_in([query.text for query in queries], by_name)
    for name in by_name:
        chosen = [at for at, names in enumerate(named) if name in names]
        others = sorted({name}.union(*(named[at] for at in chosen)))
        yield (name,), tuple(by_name[n] for n in others), tuple(queries[at] for at in chosen)
    left = tuple(query for query, names in zip(queries, named, strict=True) if not names)
    if left:
        yield (), tuple(tables), left


def _advising(
    timezone: str, sample_bytes: int, engines: Sequence[str], storage: Mapping[str, object]
) -> Task:
    """A function for `mapInArrow`: a table and its queries to the part of the advice on it."""

    @carried
    def advised(batches: Batches) -> Iterator[pa.RecordBatch]:
        for names, tables, queries in work_of_task(batches):
            opened = Tables(tables, [query.text for query in queries])
            part = advise_on_tables(
                names, queries, opened, timezone, sample_bytes, engines=engines, storage=storage
            )
            yield pa.RecordBatch.from_arrays(
                [pa.array([pickle.dumps(part)], pa.binary())], schema=SCHEMA
            )

    return advised
