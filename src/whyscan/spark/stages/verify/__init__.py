"""Verify plans, verdicts and statistics: compare them with the rows, and with what engines read."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from whyscan.reports.masked_records import masked
from whyscan.spark.stages.verify.result import Verification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from whyscan.spark.stages.verify.run import VerifySettings
    from whyscan.spark.stages.workload.query import Workload
    from whyscan.spark.tables import NamedTable

__all__ = ["Verification", "VerifyOptions", "verify", "verify_workload"]


class VerifyOptions(TypedDict, total=False):
    """How a table is verified.

    `columns` are further columns whose statistics are compared, beside those of the predicates;
    `["*"]` means all. `at_most_files` limits the number of data files that are read. `engines` are
    the engines to compare with, None for all that read the format and are installed.
    `duckdb_python` is a Python that has DuckDB with its extensions for Delta and Iceberg. `trino`
    is the address of the table in a Trino server. The other options are those of a plan.
    """

    columns: Sequence[str]
    at_most_files: int | None
    engines: Sequence[str] | None
    duckdb_python: str | None
    trino: str | None
    timezone: str
    depth: str
    full: bool
    assume_no_nan: bool


_TERMS = ("timezone", "depth", "full", "assume_no_nan")


def verify(
    spark: SparkSession,
    table: Any,
    predicates: str | Sequence[str],
    *,
    dialect: str = "spark",
    **asking: Unpack[VerifyOptions],
) -> Verification:
    """Verify the plans of some predicates, and the statistics of a table, with its rows.

    `table` is an address, an opened table or its snapshot.
    """
    from whyscan.spark.stages.verify.conditions import PredicateText
    from whyscan.spark.stages.verify.run import prove
    from whyscan.tables import open_snapshot

    settings = _settings(asking)
    texts = [predicates] if isinstance(predicates, str) else list(predicates)
    if isinstance(table, str | PathLike):
        table = open_snapshot([str(table)], {}, {})
    snapshot = getattr(table, "snapshot", table)
    conditions = [PredicateText(text, dialect) for text in texts]
    return masked(Verification((prove(spark, snapshot, conditions, settings),)))


def verify_workload(
    spark: SparkSession,
    workload: Workload,
    tables: Sequence[NamedTable],
    *,
    sample: int | None = None,
    **asking: Unpack[VerifyOptions],
) -> Verification:
    """Verify the predicates of a workload on their tables; `sample` limits them to the most run."""
    from whyscan.spark.stages.verify.workload import verify_workload

    return masked(verify_workload(spark, workload, tables, _settings(asking), sample))


def _settings(asking: VerifyOptions) -> VerifySettings:
    from whyscan.spark.stages.verify.engines.matrix import named
    from whyscan.spark.stages.verify.run import VerifySettings

    for name in asking:
        if name not in VerifyOptions.__annotations__:
            names = ", ".join(VerifyOptions.__annotations__)
            raise TypeError(f"unexpected keyword argument {name!r}; known are {names}")
    engines = asking.get("engines")
    return VerifySettings(
        terms={name: value for name, value in asking.items() if name in _TERMS},
        columns=tuple(asking.get("columns", ())),
        at_most_files=asking.get("at_most_files"),
        engines=None if engines is None else named(engines) if engines else (),
        duckdb_python=asking.get("duckdb_python"),
        trino=asking.get("trino"),
    )
