"""The pipeline on Spark: a whole lake, a whole query log, and proof against the engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

# A stage's folder has the name of its function. Imported once, a folder is not bound again: below,
# the name is the function's.
import whyscan.spark.audit  # noqa: F401 - for that alone
from whyscan.spark.session import session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from whyscan.spark.audit.report import Audit
    from whyscan.spark.audit.run import Paths, Settings
    from whyscan.spark.source_tables import Source
    from whyscan.spark.workload.query import Workload

__all__ = ["audit", "session"]


def audit(
    spark: SparkSession,
    workload: Workload | Paths | Sequence[Paths],
    tables: Mapping[str, str] | Sequence[str | Source],
    **settings: Unpack[Settings],
) -> Audit:
    """What every query of a workload reads of the tables, and what of it in vain."""
    from whyscan.spark.audit.run import audit

    return audit(spark, workload, tables, **settings)
