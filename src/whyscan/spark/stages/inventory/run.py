"""The inventory stage: executors read the containers of tables and write one row per container.

The driver opens tables and divides them into parts. Executors read manifests, checkpoints and
footers and write the rows to the output. A table that cannot be read is left out and reported; all
rows of the other tables are written.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.reports.masked_records import masked
from whyscan.reports.words import counted
from whyscan.spark.errors import from_text, to_text, uncarried
from whyscan.spark.jobs import described, mapped
from whyscan.spark.stage_output import TableFormat
from whyscan.spark.stages.inventory import direct
from whyscan.spark.stages.inventory.opening import OpenedTable, Opener, sources_of, spread
from whyscan.spark.stages.inventory.reading import (
    InventoryDepth,
    depth_named,
    reading,
    reading_what_can_be_read,
)
from whyscan.spark.stages.inventory.report import (
    FAILED,
    READ,
    UNCHANGED,
    InventoriedTable,
    InventoryRun,
    TableRow,
)
from whyscan.spark.stages.inventory.rows import SCHEMA, failed
from whyscan.spark.stages.inventory.writing import inventory_at, of_snapshots
from whyscan.spark.versions import frame_of
from whyscan.tables.inventory.container_schema import FILE, MANIFEST, ROW_GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.stages.inventory.opening import Named
    from whyscan.spark.stages.inventory.writing import InventoryStore
    from whyscan.spark.tables import NamedTable

    Totals = dict[str, dict[str, dict[str, int | None]]]
    """Sums over the containers that were written, by table and level."""

TABLES_AT_ONCE = 64
PARTS_AT_ONCE = 512
"""The size of one Spark job: a job costs a second, and its tables stay if a later job fails."""
ATTEMPTS = 2


def inventory(
    spark: SparkSession,
    tables: Named,
    *,
    depth: str = "files",
    storage: Mapping[str, object] | None = None,
) -> DataFrame:
    """One row per container of the tables; one row with an `error` per part that is unreadable.

    `tables` maps names to addresses, or lists `NAME=URI`, globs and namespaces of catalogs. `depth`
    is `files` or `row-groups`. `storage` are the storage options of the tables.
    """
    chosen = depth_named(depth)
    results = list(Opener(chosen).open_all(sources_of(tables, storage)))
    opened = [result for result in results if isinstance(result, OpenedTable)]
    frame = mapped(spread(spark, opened), reading_what_can_be_read(chosen), SCHEMA)
    lost = [
        failed(masked({"table": result.name, "uri": result.uri}), to_text(result.error))
        for result in results
        if isinstance(result, InventoriedTable) and result.error is not None
    ]
    if not lost:
        return frame
    return frame.unionByName(frame_of(spark, pa.Table.from_batches(lost)))


def write_inventory(
    spark: SparkSession,
    tables: Named,
    output: str,
    *,
    form: str = "parquet",
    depth: str = "files",
    storage: Mapping[str, object] | None = None,
    partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    progress: Callable[[str], None] | None = None,
) -> InventoryRun:
    """Bring the inventory at `output` up to date; snapshots that it has are not read again.

    A run that was ended at any moment can be started again: it continues with the tables that are
    missing. `form` is the format of the output: parquet, delta or iceberg. `partition_types` are
    the types of Hive partition columns, by table and column. `progress` is called with one line of
    text before each step. The other parameters are those of `inventory`.
    """
    started = perf_counter()
    place = inventory_at(output, form)
    chosen = depth_named(depth)
    sources = sources_of(tables, storage)
    run = _Run(spark, place, chosen, progress or (lambda _: None))
    earlier = place.complete_rows(spark)
    lines = run.read_tables(sources, Opener(chosen, earlier, partition_types))
    run.record_rollbacks(lines, {row.table: row for row in earlier.values()})
    report = InventoryRun(
        tuple(lines[source.name] for source in sources),
        place.containers,
        place.tables,
        place.form,
        chosen,
        perf_counter() - started,
    )
    return masked(report)


class _Run(Struct, frozen=True):
    spark: SparkSession
    kept: InventoryStore
    depth: InventoryDepth
    say: Callable[[str], None]

    def read_tables(
        self, sources: Sequence[NamedTable], opener: Opener
    ) -> dict[str, InventoriedTable]:
        """Read the tables, and return one result per table."""
        lines: dict[str, InventoriedTable] = {}
        for start in range(0, len(sources), TABLES_AT_ONCE):
            batch = sources[start : start + TABLES_AT_ONCE]
            self.say(f"opening {counted(len(batch), 'table')}")
            pending: list[OpenedTable] = []
            for result in opener.open_all(batch):
                if isinstance(result, InventoriedTable):
                    lines[result.name] = result
                    continue
                pending.append(result)
                if sum(len(table.parts) for table in pending) >= PARTS_AT_ONCE:
                    lines |= self._read(pending)
                    pending = []
            lines |= self._read(pending)
        return lines

    def record_rollbacks(
        self, lines: Mapping[str, InventoriedTable], last: Mapping[str, TableRow]
    ) -> None:
        """Write a new row for each table that was rolled back to a snapshot of the inventory.

        Readers of the inventory take the row that was written last as the current snapshot.
        """
        unchanged_rows = (line.row for line in lines.values() if line.state == UNCHANGED)
        now = datetime.now(UTC)
        rolled_back = [
            replace(row, read_at=now)
            for row in unchanged_rows
            if row is not None and last[row.table].snapshot != row.snapshot
        ]
        if rolled_back:
            self.kept.finish(self.spark, rolled_back)

    def _read(self, opened: Sequence[OpenedTable]) -> dict[str, InventoriedTable]:
        """Read some tables in one job, without those that cannot be read.

        If the job failed although every table can be read, a worker was killed: it runs once more.
        """
        lines: dict[str, InventoriedTable] = {}
        totals: Totals = {}
        left, attempts = list(opened), ATTEMPTS
        while left:
            try:
                totals = self._put(left)
                break
            except WhyscanError:
                bad = self._unreadable(left)
                attempts -= 1
                if not bad and not attempts:
                    raise
            lines |= bad
            left = [table for table in left if table.source.name not in bad]
        return lines | self._finish(left, totals)

    def _put(self, opened: Sequence[OpenedTable]) -> Totals:
        """Read the tables and write their containers; return the totals of the written rows."""
        parts = sum(len(table.parts) for table in opened)
        text = f"reading {counted(len(opened), 'table')} in {counted(parts, 'part')}"
        self.say(text)
        with described(self.spark, "inventory", text):
            return self._put_containers(opened)

    def _put_containers(self, opened: Sequence[OpenedTable]) -> Totals:
        frame = spread(self.spark, opened)
        if self.kept.form is TableFormat.PARQUET and direct.is_local(
            self.spark, self.kept.containers
        ):
            return self._put_directly(frame, opened)
        with uncarried():
            rows = mapped(frame, reading(self.depth), SCHEMA)
            self.kept.put(rows.drop("error"), _snapshots(opened))
        return self._totals(opened)

    def _put_directly(self, frame: DataFrame, opened: Sequence[OpenedTable]) -> Totals:
        containers = Path(self.kept.containers)
        with uncarried(), direct.gathered(containers) as folder:
            work = direct.writing(self.depth, folder)
            receipts = mapped(frame, work, direct.RECEIPT).collect()
            for table in opened:
                files = [row["file"] for row in receipts if row["table"] == table.source.name]
                direct.publish(folder, containers, table.about, files)
        totals: Totals = {}
        for row in receipts:
            level = totals.setdefault(row["table"], {}).setdefault(row["level"], {})
            for name in ("count", "first", "bytes", "rows"):
                level[name] = _sum(level.get(name), row[name])
        return totals

    def _unreadable(self, opened: Sequence[OpenedTable]) -> dict[str, InventoriedTable]:
        """The tables that cannot be read, with their errors. Nothing is written."""
        self.say("looking for what cannot be read")
        with uncarried():
            frame = spread(self.spark, opened)
            every_row = mapped(frame, reading_what_can_be_read(self.depth), SCHEMA)
            errors = every_row.where("error IS NOT NULL").select("table", "uri", "error")
            rows = errors.collect()
        return {
            row["table"]: InventoriedTable(
                row["table"], row["uri"], FAILED, error=from_text(row["error"])
            )
            for row in rows
        }

    def _finish(self, opened: Sequence[OpenedTable], totals: Totals) -> dict[str, InventoriedTable]:
        """Write one row per table, which says that all its containers are written."""
        if not opened:
            return {}
        now = datetime.now(UTC)
        rows = [_row(table, self.depth, totals.get(table.source.name, {}), now) for table in opened]
        self.kept.finish(self.spark, rows)
        return {row.table: InventoriedTable(row.table, row.uri, READ, row) for row in rows}

    def _totals(self, opened: Sequence[OpenedTable]) -> Totals:
        """The totals of the containers in the output, by table and level."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        first = (F.col("level") == ROW_GROUP) & (F.col("ordinal") == 0)
        with uncarried():
            counts = (
                self.kept.read(self.spark)
                .where(of_snapshots(_snapshots(opened)))
                .groupBy("table", "level")
                .agg(
                    F.count("*").alias("count"),
                    F.count_if(first).alias("first"),
                    F.sum("bytes").alias("bytes"),
                    F.sum("rows").alias("rows"),
                )
                .collect()
            )
        totals: Totals = {}
        for row in counts:
            totals.setdefault(row["table"], {})[row["level"]] = row.asDict()
        return totals


def _snapshots(opened: Sequence[OpenedTable]) -> list[tuple[str, str]]:
    return [(table.source.name, table.snapshot) for table in opened]


def _row(
    table: OpenedTable,
    depth: InventoryDepth,
    levels: Mapping[str, Mapping[str, int | None]],
    now: datetime,
) -> TableRow:
    def total(level: str, quantity: str) -> int:
        return levels.get(level, {}).get(quantity) or 0

    files = levels.get(FILE, {"bytes": 0, "rows": 0})
    deep = depth is InventoryDepth.ROW_GROUPS
    return TableRow(
        **table.about,
        mark=table.mark,
        depth=depth,
        parts=len(table.parts),
        manifests=total(MANIFEST, "count"),
        files=total(FILE, "count"),
        row_groups=total(ROW_GROUP, "count") if deep else None,
        files_opened=total(ROW_GROUP, "first") if deep else None,
        bytes=files["bytes"],
        rows=files["rows"],
        read_at=now,
        description=table.description,
    )


def _sum(so_far: int | None, more: int | None) -> int | None:
    """The sum without unknown numbers, as in SQL; None if both are unknown."""
    numbers = [number for number in (so_far, more) if number is not None]
    return sum(numbers) if numbers else None
