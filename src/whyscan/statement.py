"""The facade for whole SQL statements: what each table of a statement reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

from whyscan.errors import limited
from whyscan.table import ExplainTerms, Table, check_keywords
from whyscan.table import open as open_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from whyscan.statements.planners import Planner
    from whyscan.statements.records import StatementReport
    from whyscan.statements.sql.time_travel import WrittenVersion
    from whyscan.table import Location, When
    from whyscan.tables.snapshot import Snapshot, Traffic

RESOLVE_LIMIT = 100_000


def explain_sql(
    sql: str,
    tables: Mapping[str, Table | Location] | Lake = MappingProxyType({}),
    *,
    options: Mapping[str, Any] = MappingProxyType({}),
    resolve_joins: bool = False,
    resolve_limit: int = RESOLVE_LIMIT,
    spark: SparkSession | None = None,
    **question: Unpack[ExplainTerms],
) -> StatementReport:
    """Report what every scan of a statement reads, and why.

    `tables` has the tables by the names that the statement uses. A name that is missing there is
    looked up in the catalogs. `options` are the storage options of the tables that this call opens;
    a `Lake` has its own options. `resolve_joins` reads the join keys of scans with at most
    `resolve_limit` rows, and plans the scans on the other side of those joins with the keys. With
    `spark`, the executors read the metadata and plan each scan; the report is the same.
    """
    from whyscan.planning.plan.request import options_of, session_of
    from whyscan.reports.masked_records import masked
    from whyscan.statements.explain import ExplainOptions, explain_statement
    from whyscan.statements.planners import IN_PROCESS_PLANNER
    from whyscan.statements.sql.table_names import Catalogue

    check_keywords(ExplainTerms, question)
    lake = tables if isinstance(tables, Lake) else Lake(tables, options)
    catalogue = Catalogue(lake, lake.opened)
    explain_options = ExplainOptions(
        resolve=resolve_limit if resolve_joins else None,
        verbose=question.get("verbose", False),
        planner=IN_PROCESS_PLANNER if spark is None else _spark_planner(spark),
    )
    with limited():
        report = explain_statement(
            sql, catalogue, session_of(question), options_of(question), explain_options
        )
        return masked(report)


def _spark_planner(spark: SparkSession) -> Planner:
    from whyscan.spark.planning import executors

    return executors(spark)


class Lake(Mapping[str, "Snapshot"]):
    """Tables by name; each table is opened when a statement first uses it."""

    def __init__(
        self,
        tables: Mapping[str, Table | Location],
        options: Mapping[str, Any],
        partition_types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        self._tables = dict(tables)
        self._options = options
        self._partition_types = partition_types

    def __getitem__(self, name: str) -> Snapshot:
        table = self._tables[name]
        if not isinstance(table, Table):
            types = self._partition_types.get(name, {})
            table = open_table(table, options=self._options, partition_types=types)
            self._tables[name] = table
        return table.snapshot

    def traffic(self) -> Traffic:
        """Count the objects and bytes that the open tables have read so far."""
        from whyscan.tables.snapshot import Traffic

        tables = list(self._tables.values())
        read = [table.snapshot.traffic() for table in tables if isinstance(table, Table)]
        return Traffic(
            sum(traffic.objects for traffic in read), sum(traffic.bytes for traffic in read)
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def opened(self, name: str, version: WrittenVersion | None) -> Snapshot:
        """Open a table by its catalog name or path, or open another version of a table."""
        if name not in self._tables:
            self._tables[name] = open_table(name, options=self._options)
        if version is None:
            return self[name]
        newest = self[name]
        when: When = {"ref": version.ref, "as_of": version.time}
        if version.number is not None and newest.format == "delta":
            when = {"version": version.number}
        elif version.number is not None:
            when = {"snapshot": version.number}
        return open_table(newest.uri, options=self._options, **when).snapshot
