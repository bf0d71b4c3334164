"""The facade: `open` opens a table, and `Table` explains, plans and profiles it."""

from __future__ import annotations

from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from msgspec import Struct

from whyscan.errors import limited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from pyspark.sql import SparkSession

    from whyscan.plans import Plan
    from whyscan.reports.report import Report
    from whyscan.reports.stats import TableStats
    from whyscan.spark.planning import Parted
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.types import Schema

Location = str | PathLike[str]


class ExplainTerms(TypedDict, total=False):
    """How a predicate is read, and how deep the metadata is read.

    The defaults are those of the command line. `depth` is `files`, `row-groups` or `auto`.
    `verbose` is for a report that lists every live file: every manifest is opened. `assert_stats`
    names columns and counts the files of the snapshot that have no statistics for them; True means
    the columns of the predicate, or all columns if the predicate names none.
    """

    dialect: str
    timezone: str
    depth: str
    full: bool
    assume_no_nan: bool
    verbose: bool
    assert_stats: bool | Sequence[str]


class When(TypedDict, total=False):
    """The version of a table: a Delta version, an Iceberg snapshot or ref, or a point in time."""

    version: int | None
    snapshot: int | None
    as_of: str | datetime | None
    ref: str | None


class Table(Struct, frozen=True):
    """One snapshot of a table."""

    snapshot: Snapshot

    @property
    def uri(self) -> str:
        return self.snapshot.uri

    @property
    def format(self) -> str:
        return self.snapshot.format

    @property
    def schema(self) -> Schema:
        return self.snapshot.schema()

    @overload
    def plan(
        self,
        predicate: str,
        columns: Sequence[str] | None = None,
        *,
        spark: None = None,
        **question: Unpack[ExplainTerms],
    ) -> Plan: ...
    @overload
    def plan(
        self,
        predicate: str,
        columns: Sequence[str] | None = None,
        *,
        spark: SparkSession,
        **question: Unpack[ExplainTerms],
    ) -> Parted: ...
    def plan(
        self,
        predicate: str,
        columns: Sequence[str] | None = None,
        *,
        spark: SparkSession | None = None,
        **question: Unpack[ExplainTerms],
    ) -> Plan | Parted:
        """Plan the scan: which files, row groups and bytes of the named columns a predicate reads.

        With `spark`, the executors read the metadata and plan; the resulting files are the same.
        """
        check_keywords(ExplainTerms, question)
        with limited():
            return self._plan(predicate, columns, spark, question)

    def _plan(
        self,
        predicate: str,
        columns: Sequence[str] | None,
        spark: SparkSession | None,
        question: ExplainTerms,
    ) -> Plan | Parted:
        from whyscan.planning.plan.request import bind_request

        if spark is not None:
            # Imported before binding, because it imports the parser: if binding imports the parser,
            # this process reads the Delta log meanwhile, and here the executors read it.
            from whyscan.spark.planning import plan_parts

            bound, options = bind_request(self.snapshot, predicate, columns, question)
            return plan_parts(spark, self.snapshot, bound, options)
        bound, options = bind_request(self.snapshot, predicate, columns, question)
        from whyscan.planning.plan.planner import make_plan
        from whyscan.plans import Plan

        return Plan.of(make_plan(self.snapshot, bound, options))

    def explain(
        self,
        predicate: str,
        columns: Sequence[str] | None = None,
        *,
        spark: SparkSession | None = None,
        **question: Unpack[ExplainTerms],
    ) -> Report:
        """Report what a predicate reads, and why each container is skipped or kept.

        `columns` are the columns to read; the report has their bytes if footers were opened. With
        `spark`, the executors read the metadata and plan; the report is the same.
        """
        verbose = question.get("verbose", False)
        if spark is not None:
            from whyscan.reports.masked_records import masked
            from whyscan.spark.planning import explain_parts

            parted = self.plan(predicate, columns, spark=spark, **question)
            return masked(explain_parts(parted, verbose=verbose))
        plan = self.plan(predicate, columns, **question)
        # Imported after planning, because these modules import the parser: planning that imports
        # the parser itself reads the Delta log meanwhile.
        from whyscan.reports.masked_records import masked
        from whyscan.reports.report import make_report

        with limited():
            return masked(make_report(plan, verbose=verbose))

    def stats(self, columns: Sequence[str] | None = None, *, full: bool = False) -> TableStats:
        """Profile the layout column by column; `full` opens the footers of any number of files."""
        from whyscan.reports.masked_records import masked
        from whyscan.reports.stats import profile

        return masked(profile(self.snapshot, columns, full=full))


def open(  # noqa: A001 - the public name, as in `whyscan.open`
    location: Location | Sequence[Location],
    *,
    partition_types: Mapping[str, str] = MappingProxyType({}),
    options: Mapping[str, Any] = MappingProxyType({}),
    as_files: bool = False,
    **when: Unpack[When],
) -> Table:
    """Open a table: Delta or Iceberg by path, Iceberg by its name in a catalog, or Parquet files.

    A folder inside a table that has metadata is refused, because its files may hold deleted rows.
    `as_files` opens such a folder as plain files. The root of a table always opens as that table.
    """
    from whyscan.tables import open_snapshot
    from whyscan.tables.time_travel import Travel, moment

    check_keywords(When, when)
    places = [location] if isinstance(location, str | PathLike) else list(location)
    travel = Travel(
        when.get("version"), when.get("snapshot"), moment(when.get("as_of")), when.get("ref")
    )
    if as_files:
        options = {**options, "as_files": "on"}
    return Table(open_snapshot([str(place) for place in places], partition_types, options, travel))


def check_keywords(terms: type[ExplainTerms | When], arguments: Mapping[str, object]) -> None:
    """Raise TypeError for a keyword that the TypedDict `terms` does not have."""
    for name in arguments:
        if name not in terms.__annotations__:
            words = ", ".join(terms.__annotations__)
            raise TypeError(f"unexpected keyword argument {name!r}; known are {words}")
