"""The facade: `open` opens a table, and `Table` explains, plans, scans and profiles it."""

from __future__ import annotations

from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar, overload

from msgspec.structs import replace

from whyscan.errors import UsageError, limited, shortened
from whyscan.terms import SAMPLE_BYTES, PlanTerms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import pyarrow as pa
    from daft import DataFrame
    from datafusion import SessionContext
    from duckdb import DuckDBPyConnection
    from polars import LazyFrame
    from pyspark.sql import SparkSession

    from whyscan.engines.dataset import TableDataset
    from whyscan.layouts.layout import Layout
    from whyscan.plans import Plan
    from whyscan.reports.description import Description
    from whyscan.reports.diff import Difference
    from whyscan.reports.pushdown_tree import PushdownNode
    from whyscan.reports.report import Report
    from whyscan.reports.stats import TableStats
    from whyscan.spark.planning import DistributedPlan
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.types import Schema

Location = str | PathLike[str]
T = TypeVar("T")


class Table:
    """One snapshot of a table. `whyscan.open` makes it."""

    __slots__ = ("snapshot", "today")

    def __init__(self, snapshot: Snapshot, *, today: Table | None = None) -> None:
        self.snapshot = snapshot
        self.today = today

    @property
    def uri(self) -> str:
        """The location of the table."""
        return self.snapshot.uri

    @property
    def format(self) -> str:
        """The format of the table: delta, iceberg, hive or parquet."""
        return self.snapshot.format

    @property
    def schema(self) -> Schema:
        """The columns of the table and their types."""
        return self.snapshot.schema()

    def with_layout(self, layout: str | Layout, *, sample: int = SAMPLE_BYTES) -> Table:
        """Return the table as it would be in another layout, which can be explained and compared.

        - `layout` is a text such as `sort by user_id file size 256MB`, or a `whyscan.Layout`. What
          it leaves open stays as it is: partitions, order, sizes.
        - `sample` is how many bytes of the columns may be read. Numbers are then estimates, with an
          interval. With 0 no row is read, and numbers are what the bounds of today's files prove.
        """
        from whyscan.layouts.snapshot import hypothetical

        today = self if self.today is None else self.today
        return Table(hypothetical(today.snapshot, layout, sample), today=today)

    def __repr__(self) -> str:
        number = self.snapshot.version
        word = "snapshot" if self.format == "iceberg" else "version"
        version = "" if number is None else f", {word} {number}"
        layout = "" if self.today is None else ", in another layout"
        return f"<Table {shortened(self.uri)!r}: {self.format}{version}{layout}>"

    @overload
    def plan(
        self,
        where: str = "true",
        *,
        select: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        dialect: str = "spark",
        timezone: str = "UTC",
        depth: str = "auto",
        full: bool = False,
        assume_no_nan: bool = False,
        limit: int | None = None,
        spark: None = None,
    ) -> Plan: ...
    @overload
    def plan(
        self,
        where: str = "true",
        *,
        select: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        dialect: str = "spark",
        timezone: str = "UTC",
        depth: str = "auto",
        full: bool = False,
        assume_no_nan: bool = False,
        limit: None = None,
        spark: SparkSession,
    ) -> DistributedPlan: ...
    def plan(
        self,
        where: str = "true",
        *,
        select: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        dialect: str = "spark",
        timezone: str = "UTC",
        depth: str = "auto",
        full: bool = False,
        assume_no_nan: bool = False,
        limit: int | None = None,
        spark: SparkSession | None = None,
    ) -> Plan | DistributedPlan:
        """Plan the scan: which files, row groups and bytes a predicate reads.

        - `where` is a WHERE condition; the default keeps every row.
        - `select` names the columns to read, None means all. `columns` is another name of it.
        - `dialect` is the SQL dialect of the condition, and `timezone` its session time zone.
        - `depth` is the deepest level that is checked: `files`, `row-groups`, `pages`, `dictionary`
          or `auto`, which opens the footers of the kept files if they are at most 1,000.
        - `full` opens all metadata, so that every number is exact.
        - `assume_no_nan` assumes that no value is NaN.
        - `limit` is how many matching rows suffice, any rows. The plan then has the fewest files
          that surely have them, if metadata proves enough rows, and reading stops after them.
        - With `spark`, the executors of that session read the metadata and plan. The files are the
          same. Such a plan takes no limit.
        """
        terms = PlanTerms(dialect, timezone, depth, full, assume_no_nan)
        return plan_table(self, where, _selected(select, columns), terms, spark, limit)

    def explain(
        self,
        where: str,
        *,
        select: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        dialect: str = "spark",
        timezone: str = "UTC",
        depth: str = "auto",
        full: bool = False,
        assume_no_nan: bool = False,
        verbose: bool = False,
        assert_stats: bool | Sequence[str] = False,
        engines: str | Sequence[str] = (),
        spark: SparkSession | None = None,
    ) -> Report:
        """Report what a predicate reads, and why each container is skipped or kept.

        - `where` is a WHERE condition.
        - `select` names the columns to read, None means all. The report has their bytes if footers
          were opened. `columns` is another name of it.
        - `dialect` is the SQL dialect of the condition, and `timezone` its session time zone.
        - `depth` is the deepest level that is checked: `files`, `row-groups`, `pages`, `dictionary`
          or `auto`, which opens the footers of the kept files if they are at most 1,000.
        - `full` opens all metadata, so that every number is exact.
        - `assume_no_nan` assumes that no value is NaN.
        - `verbose` lists every live file; every manifest is opened for it.
        - `assert_stats` names columns, and counts the files without statistics for them. True means
          the columns of the predicate, or all columns if the predicate names none.
        - `engines` names engines, as `duckdb` or `duckdb@1.5`, or `all`: the report says what each
          of them reads, and by which of its rules. Without names it says whether common engines
          read more than metadata proves.
        - With `spark`, the executors of that session read the metadata and plan. The report is the
          same.
        """
        terms = PlanTerms(dialect, timezone, depth, full, assume_no_nan, verbose, assert_stats)
        terms = replace(terms, engines=checked_engines(engines))
        return explain_table(self, where, _selected(select, columns), terms, spark)

    def scan(
        self,
        where: str = "true",
        *,
        select: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        dialect: str = "spark",
        timezone: str = "UTC",
        depth: str = "auto",
        full: bool = False,
        assume_no_nan: bool = False,
        limit: int | None = None,
    ) -> pa.RecordBatchReader:
        """Read the rows for which a predicate is TRUE, as a stream of Arrow batches.

        Only the files and row groups of the plan are read, and deleted rows are left out.
        `read_all()` of the result gives one Arrow table. The parameters are those of `plan`.
        """
        terms = PlanTerms(dialect, timezone, depth, full, assume_no_nan)
        plan = plan_table(self, where, _selected(select, columns), terms, limit=limit)
        return plan.to_reader()

    def to_dataset(self, *, explain: bool = False) -> TableDataset:
        """Return the table as a PyArrow dataset, which DuckDB, DataFusion and Polars scan.

        Each scan is planned with the filter of the engine, and reads only the plan. `last_plan` of
        the result is the newest plan. With `explain`, `scans` has every scan of an engine, and
        printing the result prints a line for each. The same holds for the other engines.
        """
        from whyscan.engines.dataset import TableDataset

        return TableDataset(self.snapshot, explain=explain)

    def to_duckdb(
        self, connection: DuckDBPyConnection, name: str, *, explain: bool = False
    ) -> TableDataset:
        """Register the table in a DuckDB connection under a name, and return the dataset."""
        from whyscan.engines.duckdb import register

        return register(self.snapshot, connection, name, explain=explain)

    def to_datafusion(
        self, context: SessionContext, name: str, *, explain: bool = False
    ) -> TableDataset:
        """Register the table in a context of DataFusion under a name, and return the dataset."""
        from whyscan.engines.datafusion import register

        return register(self.snapshot, context, name, explain=explain)

    def to_polars(self, *, explain: bool = False) -> LazyFrame:
        """Return the table as a LazyFrame of Polars, whose `provider` has the plans of its scans.

        Polars pushes its predicate, its columns and its number of rows into each scan.
        """
        from whyscan.engines.polars import lazy_frame

        return lazy_frame(self.snapshot, explain=explain)

    def to_daft(self, *, explain: bool = False) -> DataFrame:
        """Return the table as a DataFrame of Daft, whose filters and columns reach the plan."""
        from whyscan.engines.daft import data_frame

        return data_frame(self.snapshot, explain=explain)

    def pushdown(
        self,
        where: str,
        *,
        dialect: str = "spark",
        timezone: str = "UTC",
        depth: str = "auto",
    ) -> PushdownNode:
        """Return what metadata can do with each part of a predicate, as a tree.

        Each node has `sql`, `pushdown` (exact, inexact or unsupported), `reason` and `children`.
        All manifests are read, because a node says what its part can do without the others. The
        parameters are those of `plan`.
        """
        from whyscan.reports.masked_records import masked
        from whyscan.reports.pushdown_tree import pushdown_tree

        with limited():
            plan = plan_table(self, where, None, PlanTerms(dialect, timezone, depth, full=True))
            return masked(pushdown_tree(plan))

    def stats(
        self,
        *,
        select: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        full: bool = False,
    ) -> TableStats:
        """Profile the layout, column by column.

        `select` names the columns to measure, None means all; `columns` is another name of it.
        `full` opens the footers of any number of files.
        """
        from whyscan.reports.masked_records import masked
        from whyscan.reports.stats import profile

        return masked(profile(self.snapshot, _selected(select, columns), full=full))

    def describe(self, *, versions: int = 10, full: bool = False) -> Description:
        """Describe the table: schema, partitions, settings, versions, sizes, statistics.

        `versions` is how many of the newest versions are described. `full` opens the footers of any
        number of files.
        """
        from whyscan.reports.description import describe
        from whyscan.reports.masked_records import masked

        return masked(describe(self.snapshot, versions=versions, full=full))

    def diff(
        self,
        other: Table | Location,
        where: str,
        *,
        dialect: str = "spark",
        timezone: str = "UTC",
        depth: str = "auto",
        full: bool = False,
        assume_no_nan: bool = False,
        engines: str | Sequence[str] = (),
    ) -> Difference:
        """Compare what a predicate reads of this table and of another one, or of another version.

        This table is the state before, and `other` is the state after. `gated` of the result
        checks how much pruning was lost. The other parameters are those of `explain`.
        """
        terms = PlanTerms(dialect, timezone, depth, full, assume_no_nan)
        terms = replace(terms, engines=checked_engines(engines))
        return diff_tables(self, other if isinstance(other, Table) else open(other), where, terms)


@overload
def plan_table(
    table: Table,
    where: str,
    select: Sequence[str] | None,
    terms: PlanTerms,
    spark: None = None,
    limit: int | None = None,
) -> Plan: ...
@overload
def plan_table(
    table: Table,
    where: str,
    select: Sequence[str] | None,
    terms: PlanTerms,
    spark: SparkSession | None,
    limit: int | None = None,
) -> Plan | DistributedPlan: ...
def plan_table(
    table: Table,
    where: str,
    select: Sequence[str] | None,
    terms: PlanTerms,
    spark: SparkSession | None = None,
    limit: int | None = None,
) -> Plan | DistributedPlan:
    """Plan the scan of a table; see `Table.plan` for the parameters."""
    from whyscan.planning.plan.request import bind_request

    if limit is not None and (limit < 0 or spark is not None):
        problem = "a limit is a number of rows" if limit < 0 else "executors plan without a limit"
        raise UsageError(problem, hint="limit=10, without spark")
    with limited():
        if spark is not None:
            # Imported before binding, because it imports the parser: if binding imports the
            # parser, this process reads the Delta log, which the executors read in this case.
            from whyscan.spark.planning import plan_parts

            return plan_parts(
                spark, table.snapshot, *bind_request(table.snapshot, where, select, terms)
            )
        predicate, options = bind_request(table.snapshot, where, select, terms)
        from whyscan.planning.plan.planner import make_plan
        from whyscan.plans import Plan

        plan = make_plan(table.snapshot, predicate, replace(options, limit=limit))
        if limit is not None:
            from whyscan.planning.rows.limit import cut_to_limit

            plan = cut_to_limit(plan, limit)
        return Plan.of(plan)


def explain_table(
    table: Table,
    where: str,
    select: Sequence[str] | None,
    terms: PlanTerms,
    spark: SparkSession | None = None,
) -> Report:
    """Report what a predicate reads of a table; see `Table.explain` for the parameters."""
    plan = plan_table(table, where, select, terms, spark)
    # Imported after planning, because these modules import the parser: planning that imports
    # the parser itself reads the Delta log meanwhile.
    from whyscan.plans import Plan
    from whyscan.reports.masked_records import masked

    if not isinstance(plan, Plan):
        from whyscan.spark.planning import explain_parts

        return masked(explain_parts(plan, verbose=terms.verbose))
    from whyscan.reports.report import make_report

    with limited():
        report = make_report(plan, verbose=terms.verbose)
        if table.today is not None:
            from whyscan.layouts.uncertainty import with_interval

            today = make_report(plan_table(table.today, where, select, terms), verbose=False)
            report = with_interval(report, plan, today.rows_matched.at_least or 0)
        return masked(report)


def diff_tables(before: Table, after: Table, where: str, terms: PlanTerms) -> Difference:
    """Compare what a predicate reads of two tables; see `Table.diff`."""
    # Files are compared by their paths, so every manifest must be opened.
    terms = replace(terms, verbose=True)
    before_report, after_report = (
        explain_table(table, where, None, terms) for table in (before, after)
    )
    from whyscan.reports.diff import compare

    return compare(before_report, after_report)


def open(  # noqa: A001 - the public name, as in `whyscan.open`
    location: Location | Sequence[Location],
    *,
    version: int | None = None,
    snapshot: int | None = None,
    as_of: str | datetime | None = None,
    ref: str | None = None,
    storage: Mapping[str, object] | None = None,
    options: Mapping[str, object] | None = None,
    partition_types: Mapping[str, str] = MappingProxyType({}),
    as_files: bool = False,
    inventory: Location | None = None,
) -> Table:
    """Open a table: Delta or Iceberg by path, Iceberg by its name in a catalog, or Parquet files.

    - `version` is a Delta version, `snapshot` an Iceberg snapshot id, `ref` an Iceberg branch or
      tag, and `as_of` a point in time, in UTC by default. At most one of them may be given; without
      them the newest version is opened.
    - `storage` are options of the object store, beside those of the environment. `options` is
      another name of it.
    - `partition_types` are the types of Hive partition columns, such as `{"month": "int"}`; the
      default is to infer them.
    - `as_files` opens a folder inside a table as plain Parquet files. Without it such a folder is
      refused, because its files may hold deleted rows. The root of a table always opens as that
      table.
    - `inventory` is the place of an inventory. `location` is then the name or the address of a
      table in it, which is planned by the containers that the inventory has, and is not read.
    """
    from whyscan.tables import open_snapshot
    from whyscan.tables.time_travel import Travel, moment

    locations = [location] if isinstance(location, str | PathLike) else list(location)
    storage = _one_of(storage=storage, options=options) or {}
    if inventory is not None:
        from whyscan.tables.inventory.opening import open_inventory

        if len(locations) != 1 or partition_types:
            raise UsageError(
                "an inventory has each table with the types that were read",
                hint="name one table, without types of partition columns",
            )
        inventoried = open_inventory(str(inventory), storage).open(str(locations[0]))
        if any(term is not None for term in (version, snapshot, as_of, ref)):
            inventoried.require_version(version if snapshot is None else snapshot)
        return Table(inventoried)
    if as_files:
        storage = {**storage, "as_files": "on"}
    travel = Travel(version, snapshot, moment(as_of), ref)
    return Table(
        open_snapshot([str(place) for place in locations], partition_types, storage, travel)
    )


def checked_engines(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of engines as a tuple; a name or a version that is unknown is an error."""
    from whyscan.profiles.engine_names import named_profiles

    words = (names,) if isinstance(names, str) else tuple(names)
    named_profiles(words)
    return words


def _selected(select: Sequence[str] | None, columns: Sequence[str] | None) -> Sequence[str] | None:
    return _one_of(select=select, columns=columns)


def _one_of(**named: T | None) -> T | None:
    """Return the value of a parameter that has several names; only one of them may be given."""
    values = {name: value for name, value in named.items() if value is not None}
    if len(values) > 1:
        raise UsageError(f"{' and '.join(values)} are one parameter", hint="give one of them")
    return next(iter(values.values()), None)
