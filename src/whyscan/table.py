"""The facade: a table that was opened, and the two questions people ask it."""

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
    """How a predicate is read and how far down to look; the defaults are the command line's.

    `verbose` is for a report that lists every live file: no manifest may stay closed.
    `assert_stats` counts and names the files of the snapshot that lack statistics of these columns;
    True: of the predicate's columns, or of all where it names none.
    """

    dialect: str
    timezone: str
    depth: str
    full: bool
    assume_no_nan: bool
    verbose: bool
    assert_stats: bool | Sequence[str]


class When(TypedDict, total=False):
    """Which version: a Delta version, an Iceberg snapshot or ref, or the one at a time."""

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
        """Which files, row groups and bytes a predicate reads of the named columns.

        With `spark`, its executors read the metadata and plan; the files are the same.
        """
        checked(ExplainTerms, question)
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
            # First: it brings the parser, beside whose import this process would read a log.
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
        """The plan, and why: what removed each container and why the others stayed.

        `columns` are those that would be read; their bytes are told where footers were opened.
        With `spark`, its executors read the metadata and plan: the answer is the same.
        """
        verbose = question.get("verbose", False)
        if spark is not None:
            from whyscan.reports.masked_records import masked
            from whyscan.spark.planning import explain_parts

            parted = self.plan(predicate, columns, spark=spark, **question)
            return masked(explain_parts(parted, verbose=verbose))
        plan = self.plan(predicate, columns, **question)
        # Only now: its import brings the parser, beside whose own a log is read.
        from whyscan.reports.masked_records import masked
        from whyscan.reports.report import make_report

        with limited():
            return masked(make_report(plan, verbose=verbose))

    def stats(self, columns: Sequence[str] | None = None, *, full: bool = False) -> TableStats:
        """How the table lies, column by column; `full` opens footers of however many files."""
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
    """Open a table: Delta or Iceberg by path, Iceberg by a catalog's name, or Parquet files.

    A part of a table with metadata is refused: its files may hold rows that are deleted.
    `as_files` opens it as the plain files that are there. The root of a table stays that table.
    """
    from whyscan.tables import open_snapshot
    from whyscan.tables.time_travel import Travel, moment

    checked(When, when)
    places = [location] if isinstance(location, str | PathLike) else list(location)
    travel = Travel(
        when.get("version"), when.get("snapshot"), moment(when.get("as_of")), when.get("ref")
    )
    if as_files:
        options = {**options, "as_files": "on"}
    return Table(open_snapshot([str(place) for place in places], partition_types, options, travel))


def checked(known: type[ExplainTerms | When], given: Mapping[str, object]) -> None:
    """Refuse a keyword that nobody knows, as a plain parameter would."""
    for name in given:
        if name not in known.__annotations__:
            words = ", ".join(known.__annotations__)
            raise TypeError(f"unexpected keyword argument {name!r}; known are {words}")
