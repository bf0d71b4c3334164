"""The facade for whole statements: what each table of a query reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

from whyscan.errors import limited
from whyscan.table import ExplainTerms, Table, checked
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
    """What every scan of a statement reads, and why.

    `tables` are the tables by the names that the statement uses; one that is not among them is
    looked for in the catalogs. `options` are for the stores of those that are opened here, unless
    a `Lake` says how.
    `resolve_joins` reads the keys of scans of at most `resolve_limit` rows, and plans the scans
    that they are joined with by those keys.
    With `spark`, its executors read the metadata and plan each scan: the answer is the same.
    """
    from whyscan.planning.plan.request import options_of, session_of
    from whyscan.reports.masked_records import masked
    from whyscan.statements.explain import ExplainOptions, explain_statement
    from whyscan.statements.planners import HERE
    from whyscan.statements.sql.table_names import Catalogue

    checked(ExplainTerms, question)
    lake = tables if isinstance(tables, Lake) else Lake(tables, options)
    catalogue = Catalogue(lake, lake.opened)
    manner = ExplainOptions(
        resolve=resolve_limit if resolve_joins else None,
        verbose=question.get("verbose", False),
        planner=HERE if spark is None else _executors(spark),
    )
    with limited():
        report = explain_statement(
            sql, catalogue, session_of(question), options_of(question), manner
        )
        return masked(report)


def _executors(spark: SparkSession) -> Planner:
    from whyscan.spark.planning import executors

    return executors(spark)


class Lake(Mapping[str, "Snapshot"]):
    """Tables by name, each opened when a statement first asks for it."""

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
        """What was read so far of those that are open."""
        from whyscan.tables.snapshot import Traffic

        tables = list(self._tables.values())
        read = [table.snapshot.traffic() for table in tables if isinstance(table, Table)]
        return Traffic(sum(one.objects for one in read), sum(one.bytes for one in read))

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def opened(self, name: str, version: WrittenVersion | None) -> Snapshot:
        """A table that nobody gave, by its catalog's name or its path, or another version."""
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
