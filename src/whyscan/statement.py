"""The facade for whole SQL statements: what each table of a statement reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError, limited
from whyscan.table import Table, checked_engines
from whyscan.table import open as open_table
from whyscan.terms import SAMPLE_BYTES, PlanTerms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from whyscan.statements.planners import Planner
    from whyscan.statements.records import StatementReport
    from whyscan.statements.sql.time_travel import WrittenVersion
    from whyscan.table import Location
    from whyscan.tables.inventory.opening import Inventory
    from whyscan.tables.snapshot import Snapshot, Traffic

RESOLVE_LIMIT = 100_000


class Layouts(Struct, frozen=True):
    """The layouts of tables by their names, and how many bytes the sample of each may cost."""

    by_table: Mapping[str, str] = MappingProxyType({})
    sample: int = SAMPLE_BYTES


NO_LAYOUTS = Layouts()


def explain_sql(
    sql: str,
    tables: Mapping[str, Table | Location] = MappingProxyType({}),
    *,
    storage: Mapping[str, object] = MappingProxyType({}),
    partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    resolve_joins: bool = False,
    resolve_limit: int = RESOLVE_LIMIT,
    dialect: str = "spark",
    timezone: str = "UTC",
    depth: str = "auto",
    full: bool = False,
    assume_no_nan: bool = False,
    verbose: bool = False,
    assert_stats: bool = False,
    inventory: Location | None = None,
    engines: str | Sequence[str] = (),
    spark: SparkSession | None = None,
) -> StatementReport:
    """Report what every scan of a statement reads, and why.

    - `tables` has the tables by the names that the statement uses. A name that is missing there is
      looked up in the catalogs. A table may be one `with_layout`.
    - `storage` are the storage options of the tables that this call opens.
    - `partition_types` are the types of Hive partition columns, by table and column; the default
      is to infer them.
    - `resolve_joins` reads the join keys of scans with at most `resolve_limit` rows, and plans the
      scans on the other side of those joins with the keys.
    - `dialect` is the SQL dialect of the statement, and `timezone` its session time zone.
    - `depth` is the deepest level that is checked: `files`, `row-groups`, `pages`, `dictionary` or
      `auto`, which opens the footers of the kept files if they are at most 1,000.
    - `full` opens all metadata, so that every number is exact.
    - `assume_no_nan` assumes that no value is NaN.
    - `verbose` lists every live file of each scan; every manifest is opened for it.
    - `assert_stats` counts the files of each scan's snapshot without statistics for the columns
      that filter the scan.
    - `inventory` is the place of an inventory: tables that are missing in `tables` are planned by
      the containers that it has of them, and are not read.
    - `engines` names engines, as in `Table.explain`: each scan has what they read.
    - With `spark`, the executors of that session read the metadata and plan each scan. The report
      is the same.
    """
    terms = PlanTerms(dialect, timezone, depth, full, assume_no_nan, verbose, assert_stats)
    terms = replace(terms, engines=checked_engines(engines))
    lake = Lake(tables, storage, partition_types, inventory)
    return explain_lake(
        sql, lake, terms, resolve=resolve_limit if resolve_joins else None, spark=spark
    )


def explain_lake(
    sql: str,
    lake: Lake,
    terms: PlanTerms,
    *,
    resolve: int | None = None,
    spark: SparkSession | None = None,
) -> StatementReport:
    """Report on a statement whose tables `lake` opens; see `explain_sql` for the parameters.

    `resolve` is the most rows of a scan whose join keys are read; None reads no join keys.
    """
    from whyscan.planning.plan.request import options_of, session_of
    from whyscan.reports.masked_records import masked
    from whyscan.statements.explain import ExplainOptions, explain_statement
    from whyscan.statements.sql.table_names import Catalogue

    explain_options = ExplainOptions(
        resolve=resolve,
        verbose=terms.verbose,
        assert_stats=bool(terms.assert_stats),
        planner=_planner(lake, spark),
    )
    with limited():
        report = explain_statement(
            sql, Catalogue(lake, lake.opened), session_of(terms), options_of(terms), explain_options
        )
        lake.refuse_unused_layouts()
        return masked(report)


def _planner(lake: Lake, spark: SparkSession | None) -> Planner:
    if spark is not None:
        from whyscan.spark.planning import executors

        return executors(spark)
    if lake.has_layouts:
        from whyscan.layouts.planner import LAYOUT_PLANNER

        return LAYOUT_PLANNER
    from whyscan.statements.planners import IN_PROCESS_PLANNER

    return IN_PROCESS_PLANNER


class Lake(Mapping[str, "Snapshot"]):
    """Tables by name; each table is opened when a statement first uses it."""

    def __init__(
        self,
        tables: Mapping[str, Table | Location],
        storage: Mapping[str, object],
        partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        inventory: Location | None = None,
        layouts: Layouts = NO_LAYOUTS,
    ) -> None:
        self._tables = dict(tables)
        self._layouts = layouts
        self._laid_out: set[str] = set()
        self._storage = storage
        self._partition_types = partition_types
        self._inventory = None if inventory is None else _opened_inventory(inventory, storage)

    def __getitem__(self, name: str) -> Snapshot:
        if name not in self._tables and self._inventory is not None:
            self._tables[name] = Table(self._inventory.open(name))
        table = self._tables[name]
        if not isinstance(table, Table):
            types = self._partition_types.get(name, {})
            table = open_table(table, storage=self._storage, partition_types=types)
            self._tables[name] = table
        if name in self._layouts.by_table and name not in self._laid_out:
            layout = self._layouts.by_table[name]
            self._tables[name] = table = table.with_layout(layout, sample=self._layouts.sample)
            self._laid_out.add(name)
        return table.snapshot

    @property
    def has_layouts(self) -> bool:
        """Whether tables are planned in layouts that they do not have."""
        tables = [table for table in self._tables.values() if isinstance(table, Table)]
        return bool(self._layouts.by_table) or any(table.today is not None for table in tables)

    def refuse_unused_layouts(self) -> None:
        """Raise an error for a layout of a table that the statement did not use."""
        for name in self._layouts.by_table.keys() - self._laid_out:
            raise UsageError(
                f"there is no table {name!r} for a layout",
                hint="write the name as the statement does: --layout 'NAME: sort by a'",
            )

    def traffic(self) -> Traffic:
        """Count the objects and bytes that the open tables have read so far."""
        from whyscan.tables.snapshot import Traffic

        tables = list(self._tables.values())
        read = [table.snapshot.traffic() for table in tables if isinstance(table, Table)]
        return Traffic(
            sum(traffic.objects for traffic in read), sum(traffic.bytes for traffic in read)
        )

    def __iter__(self) -> Iterator[str]:
        written = () if self._inventory is None else self._inventory.tables
        return iter(dict.fromkeys((*self._tables, *written)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def opened(self, name: str, version: WrittenVersion | None) -> Snapshot:
        """Open a table by its catalog name or path, or open another version of a table."""
        if name not in self._tables and self._inventory is None:
            self._tables[name] = open_table(name, storage=self._storage)
        if version is None:
            return self[name]
        from whyscan.tables.inventory.snapshot import InventorySnapshot

        newest = self[name]
        if isinstance(newest, InventorySnapshot):
            newest.require_version(version.number)
            return newest
        is_delta = newest.format == "delta"
        return open_table(
            newest.uri,
            version=version.number if is_delta else None,
            snapshot=None if is_delta else version.number,
            ref=version.ref,
            as_of=version.time,
            storage=self._storage,
        ).snapshot


def _opened_inventory(place: Location, storage: Mapping[str, object]) -> Inventory:
    from whyscan.tables.inventory.opening import open_inventory

    return open_inventory(str(place), storage)
