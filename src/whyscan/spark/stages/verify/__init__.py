"""Proof: plans, verdicts and statistics against the rows, and against what engines read."""

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

    `columns` are those whose statistics are compared beside the predicates', `["*"]` being all.
    `at_most_files` reads only so many data files. `engines` are those of the matrix, None for all
    that fit and are installed; `duckdb_python` is a Python that has DuckDB with its extensions for
    Delta and Iceberg, `trino` the address of the table in a Trino server. The others are a plan's.
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
    """The plans of some predicates on a table, and its statistics, against its rows.

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
    """The predicates of a workload, each on its table; `sample` of them that ran most often."""
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
