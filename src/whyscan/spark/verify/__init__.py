"""Proof: plans, verdicts and statistics against the rows, and against what engines read."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from whyscan.spark.verify.result import Verification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

__all__ = ["Verification", "verify"]


def verify(
    spark: SparkSession,
    table: Any,
    predicates: str | Sequence[str],
    *,
    columns: Sequence[str] = (),
    at_most_files: int | None = None,
    **terms: Any,
) -> Verification:
    """The plans of some predicates on one table against its rows.

    `table` is an address, an opened table or its snapshot. Statistics are compared of the columns
    that the predicates name and of `columns`, `["*"]` being all. `terms` are those of a plan:
    dialect, timezone, depth, full, assume_no_nan.
    """
    from whyscan.spark.verify.run import Settings, prove
    from whyscan.tables import open_snapshot

    texts = [predicates] if isinstance(predicates, str) else list(predicates)
    if isinstance(table, str | PathLike):
        table = open_snapshot([str(table)], {}, {})
    snapshot = getattr(table, "snapshot", table)
    settings = Settings(terms, tuple(columns), at_most_files)
    return Verification((prove(spark, snapshot, texts, settings),))
