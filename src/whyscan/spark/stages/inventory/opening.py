"""Open tables on the driver, skip unchanged ones, and divide the others into parts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, field

from whyscan.errors import WhyscanError
from whyscan.spark.jobs import packed
from whyscan.spark.sessions import cores
from whyscan.spark.stages.inventory.reading import PARTS, InventoryDepth
from whyscan.spark.stages.inventory.report import FAILED, UNCHANGED, InventoriedTable, TableRow
from whyscan.spark.tables import NamedTable, sources
from whyscan.spark.versions import frame_of
from whyscan.tables import open_snapshot
from whyscan.tables.identity import identity
from whyscan.tables.inventory.description import description_of
from whyscan.tables.parts import parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    Named = Mapping[str, str] | Iterable[str | NamedTable]
    EarlierRows = Mapping[tuple[str, str], TableRow]

AT_ONCE = 16
TASKS_A_CORE = 8


class OpenedTable(Struct, frozen=True):
    """A table at a snapshot, divided into pickled parts."""

    source: NamedTable
    uri: str
    format: str
    snapshot: str
    mark: str
    parts: tuple[bytes, ...]
    description: str

    @property
    def about(self) -> dict[str, str]:
        named = {"table": self.source.name, "uri": self.uri}
        return named | {"format": self.format, "snapshot": self.snapshot}


def sources_of(tables: Named, options: Mapping[str, Any] | None) -> tuple[NamedTable, ...]:
    """The tables that a user names: a mapping of names to addresses, or a list."""
    named: Iterable[Any] = tables.items() if hasattr(tables, "items") else tables
    return sources(named, options)


class Opener(Struct, frozen=True):
    """Opens tables for a depth.

    `earlier` has the rows of the inventory, `partition_types` the types of Hive partition columns.
    """

    depth: InventoryDepth
    earlier: EarlierRows = field(default_factory=dict)
    partition_types: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def open_all(self, sources: Sequence[NamedTable]) -> Iterator[OpenedTable | InventoriedTable]:
        """Open tables, several at once; the result is final for an unchanged or failed table."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from pool.map(self._open, sources)

    def _open(self, source: NamedTable) -> OpenedTable | InventoriedTable:
        types = self.partition_types.get(source.name, {})
        try:
            snapshot = open_snapshot([source.uri], types, source.options, fetched_whole=0)
            snapshot_identity = identity(snapshot)
            mark = f"{snapshot_identity.mark} {dict(types)}" if types else snapshot_identity.mark
            before = self.earlier.get((source.name, snapshot_identity.name))
            if before is not None and self._is_enough(before, snapshot.uri, mark):
                return InventoriedTable(source.name, source.uri, UNCHANGED, before)
            divided = tuple(map(packed, parts(snapshot, self.depth.files_each)))
            return OpenedTable(
                source,
                snapshot.uri,
                snapshot.format,
                snapshot_identity.name,
                mark,
                divided,
                description_of(snapshot).to_json(),
            )
        except WhyscanError as error:
            return InventoriedTable(source.name, source.uri, FAILED, error=error)

    def _is_enough(self, before: TableRow, uri: str, mark: str) -> bool:
        deep = before.depth == self.depth or self.depth is InventoryDepth.FILES
        return deep and (before.uri, before.mark) == (uri, mark)


def spread(spark: SparkSession, opened: Sequence[OpenedTable]) -> DataFrame:
    """One row per part, distributed over a few tasks per core."""
    rows = [
        {**table.about, "part": number, "contents": part}
        for table in opened
        for number, part in enumerate(table.parts)
    ]
    tasks = max(1, min(len(rows), TASKS_A_CORE * cores(spark)))
    return frame_of(spark, pa.Table.from_pylist(rows, PARTS)).repartition(tasks)
