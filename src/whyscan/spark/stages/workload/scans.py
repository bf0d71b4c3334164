"""List the scans of a workload's queries, each with its table, predicate and columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.planning.plan.scan_plan import Options
from whyscan.predicate.syntax.session import Session
from whyscan.spark.errors import uncarried
from whyscan.spark.jobs import TASKS_A_CORE, mapped, work_frame, work_of_task
from whyscan.spark.pinned_tables import Tables, pin, pin_all
from whyscan.spark.sessions import cores
from whyscan.spark.stages.workload.query_shapes import shape_of
from whyscan.spark.tables import NamedTable, canonical_uri
from whyscan.spark.versions import frame_of
from whyscan.statements.scans import bind_statement, placed_scans, predicate_of
from whyscan.statements.sql.table_names import Catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.jobs import Batches, Task
    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.workload.query import Query, Workload
    from whyscan.statements.sql.time_travel import WrittenVersion
    from whyscan.tables.snapshot import Snapshot

FEWEST_A_TASK = 50
# The format that Spark SQL has before a path.
_FORMAT = re.compile(r"^(?:delta|iceberg|parquet)\.(?=/|\w+:/)", re.IGNORECASE)

ROWS = pa.schema(
    [
        ("query", pa.string()),
        ("dialect", pa.string()),
        ("shape", pa.string()),
        ("table", pa.string()),
        ("alias", pa.string()),
        ("predicate", pa.string()),
        ("columns", pa.list_(pa.string())),
        ("times", pa.int64()),
        ("bytes_read", pa.int64()),
        ("first", pa.timestamp("us", "UTC")),
        ("last", pa.timestamp("us", "UTC")),
        ("origin", pa.string()),
        ("unparsed", pa.string()),
    ]
)
"""One row per scan. A query that cannot be bound has one row without a table, with the reason."""


def workload_scans(
    spark: SparkSession,
    workload: Workload,
    sources: Iterable[NamedTable],
    *,
    timezone: str = "UTC",
) -> DataFrame:
    """Every scan of every query, bound to the tables on executors, as rows of `ROWS`."""
    tables = pin_all(sources)
    tasks = max(1, min(cores(spark) * TASKS_A_CORE, len(workload.queries) // FEWEST_A_TASK))
    work = [workload.queries[start::tasks] for start in range(tasks)]
    listed = [
        {"query": entry.text, "times": entry.times, "origin": entry.origin, "unparsed": entry.why}
        for entry in workload.unparsed
    ]
    with uncarried():
        frame = work_frame(spark, work).repartitionByRange(tasks, "work")
        scans = mapped(frame, _binding(tables, timezone), ROWS)
        rest = frame_of(spark, pa.Table.from_pylist(listed, schema=ROWS))
        return scans.unionByName(rest) if listed else scans


def _binding(tables: Sequence[Pinned], timezone: str) -> Task:
    """The function for `mapInArrow` that turns bundles of queries into rows of scans."""

    def bound(batches: Batches) -> Iterator[pa.RecordBatch]:
        named_tables = NamedTables(tables)
        for queries in work_of_task(batches):
            rows = [row for query in queries for row in scans_of(query, named_tables, timezone)]
            yield pa.RecordBatch.from_pylist(rows, schema=ROWS)

    return bound


class NamedTables(Tables):
    """The tables of the run, and further tables that a query names by path or catalog name."""

    def __init__(self, pinned: Sequence[Pinned]) -> None:
        super().__init__(pinned)
        self._by_place = {canonical_uri(table.uri): table.name for table in pinned}
        self._options = pinned[0].options if pinned else {}

    def run_name(self, name: str) -> str:
        """The run's name of a table that a query names, maybe by its path."""
        return self._by_place.get(canonical_uri(_FORMAT.sub("", name)), name)

    def opened(self, name: str, version: WrittenVersion | None) -> Snapshot:
        run_name = self.run_name(name)
        if run_name not in self._pinned:
            self._pinned[run_name] = replace(
                pin(NamedTable(run_name, run_name, self._options)), declared=False
            )
        return super().opened(run_name, version)


def scans_of(query: Query, tables: NamedTables, timezone: str) -> Iterator[dict[str, Any]]:
    """One row per scan of a query."""
    row: dict[str, Any] = {
        "query": query.text,
        "dialect": query.dialect,
        "shape": shape_of(query.text, query.dialect),
        "times": query.times,
        "bytes_read": query.bytes_read,
        "first": query.first,
        "last": query.last,
        "origin": query.origins[0] if query.origins else None,
    }
    session = Session(query.dialect, timezone)
    try:
        statement = bind_statement(
            query.text, Catalogue(tables, tables.opened, within=query.within), session, Options()
        )
        leaves = placed_scans(statement)
    except WhyscanError as error:
        yield row | {"unparsed": error.message}
        return
    except Exception as error:  # noqa: BLE001 - one query that we fail at must not cost the others
        why = f"whyscan itself failed: {type(error).__name__}: {error}"
        yield row | {"unparsed": why}
        return
    if not leaves:
        yield row | {"unparsed": "it reads no table"}
    for leaf in leaves:
        yield row | {
            "table": tables.run_name(leaf.base.name),
            "alias": leaf.source.alias,
            "predicate": predicate_of(leaf.facts, statement).text,
            "columns": list(leaf.columns),
        }
