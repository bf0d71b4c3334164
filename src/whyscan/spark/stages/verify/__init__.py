"""Verify plans, verdicts and statistics: compare them with the rows, and with what engines read."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Protocol

from whyscan.reports.masked_records import masked
from whyscan.spark.stages.verify.result import Verification
from whyscan.terms import PlanTerms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from whyscan.spark.stages.workload.query import Workload
    from whyscan.spark.tables import NamedTable
    from whyscan.tables.snapshot import Snapshot

__all__ = ["Verification", "engines", "verify", "verify_workload"]


class TableWithSnapshot(Protocol):
    """An opened table: what `whyscan.open` returns."""

    @property
    def snapshot(self) -> Snapshot: ...


def verify(
    spark: SparkSession,
    table: str | PathLike[str] | TableWithSnapshot,
    where: str | Sequence[str],
    *,
    select: Sequence[str] = (),
    dialect: str = "spark",
    timezone: str = "UTC",
    depth: str = "auto",
    full: bool = False,
    assume_no_nan: bool = False,
    files: int | None = None,
    engines: Sequence[str] | None = None,
    duckdb_python: str | None = None,
    trino: str | None = None,
) -> Verification:
    """Verify the plans of some predicates, and the statistics of a table, with its rows.

    - `table` is an address or an opened table.
    - `where` is one condition or several.
    - `select` names further columns whose statistics are compared, beside those of the predicates;
      `["*"]` means all.
    - `dialect`, `timezone`, `depth`, `full` and `assume_no_nan` are those of `Table.explain`.
    - `files` limits the number of data files that are read.
    - `engines` are the engines to compare with, None for all that read the format and are
      installed. `duckdb_python` is a Python that has DuckDB with its extensions for Delta and
      Iceberg. `trino` is the address of the table in a Trino server.
    """
    from whyscan.spark.stages.verify.conditions import PredicateText
    from whyscan.spark.stages.verify.run import VerifySettings, prove
    from whyscan.tables import open_snapshot

    if isinstance(table, str | PathLike):
        snapshot = open_snapshot([str(table)], {}, {})
    else:
        snapshot = table.snapshot
    settings = VerifySettings(
        terms=PlanTerms(timezone=timezone, depth=depth, full=full, assume_no_nan=assume_no_nan),
        columns=tuple(select),
        at_most_files=files,
        engines=_engines(engines),
        duckdb_python=duckdb_python,
        trino=trino,
    )
    conditions = [
        PredicateText(text, dialect) for text in ([where] if isinstance(where, str) else where)
    ]
    return masked(Verification((prove(spark, snapshot, conditions, settings),)))


def verify_workload(
    spark: SparkSession,
    workload: Workload,
    tables: Sequence[NamedTable],
    *,
    sample: int | None = None,
    select: Sequence[str] = (),
    timezone: str = "UTC",
    depth: str = "auto",
    full: bool = False,
    assume_no_nan: bool = False,
    files: int | None = None,
    engines: Sequence[str] | None = None,
    duckdb_python: str | None = None,
) -> Verification:
    """Verify the predicates of a workload on their tables.

    `sample` limits them to the predicates that ran most often. The other parameters are those of
    `verify`.
    """
    from whyscan.spark.stages.verify.run import VerifySettings
    from whyscan.spark.stages.verify.workload import verify_workload

    settings = VerifySettings(
        terms=PlanTerms(timezone=timezone, depth=depth, full=full, assume_no_nan=assume_no_nan),
        columns=tuple(select),
        at_most_files=files,
        engines=_engines(engines),
        duckdb_python=duckdb_python,
    )
    return masked(verify_workload(spark, workload, tables, settings, sample))


def _engines(names: Sequence[str] | None) -> tuple[str, ...] | None:
    from whyscan.spark.stages.verify.engines.matrix import named

    return None if names is None else named(names) if names else ()
