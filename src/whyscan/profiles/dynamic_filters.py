"""What engines make of the values of joins at run time: the rules of dynamic filters, as data.

The first rule of an engine that holds for a scan says how far its filter reaches.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.profiles.rule import RuleEvidence

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPARK = (
    "https://spark.apache.org/docs/latest/sql-performance-tuning.html#dynamic-partition-pruning"
)
_TRINO = "https://trino.io/docs/current/admin/dynamic-filtering.html"
_DUCKDB = (
    "https://duckdb.org/2024/09/09/announcing-duckdb-110.html#dynamic-filter-pushdown-from-joins"
)
_DATAFUSION = "https://datafusion.apache.org/blog/2025/09/10/dynamic-filters/"


class DynamicReach(StrEnum):
    """How much of the values of a join a scan is filtered by."""

    STATIC = "static"
    """None of them."""
    BOUNDED = "bounded"
    """Their least and their greatest."""
    ACTUAL = "actual"
    """All of them."""


class DynamicFilterRule(Struct, frozen=True, kw_only=True):
    """How far a dynamic filter of an engine reaches, and in which cases the rule holds.

    `partition_column`: the filtered column must be one that partition values are made from.
    `filtered_source`: the other side must have a filter of its own. `most_values`: it must supply
    no more distinct values than this; 0 means any number.
    """

    reach: DynamicReach
    why: str
    source: str
    partition_column: bool = False
    filtered_source: bool = False
    most_values: int = 0
    evidence: RuleEvidence = RuleEvidence.DOCUMENTED

    def holds(
        self, *, partition_column: bool, filtered_source: bool, values: int | None = None
    ) -> bool:
        """Whether the rule holds for a column of a scan and the side that supplies its values.

        `values` counts the distinct values, None if they were not read.
        """
        few = not self.most_values or (values is not None and values <= self.most_values)
        return (
            few
            and (partition_column or not self.partition_column)
            and (filtered_source or not self.filtered_source)
        )


_SPARK_RULES = (
    DynamicFilterRule(
        evidence=RuleEvidence.MEASURED,
        reach=DynamicReach.ACTUAL,
        why="dynamic partition pruning, if the other side is small enough to be broadcast",
        source=_SPARK,
        partition_column=True,
        filtered_source=True,
    ),
    DynamicFilterRule(
        evidence=RuleEvidence.MEASURED,
        reach=DynamicReach.STATIC,
        why="dynamic partition pruning needs a filter on the other side",
        source=_SPARK,
        partition_column=True,
    ),
    DynamicFilterRule(
        evidence=RuleEvidence.MEASURED,
        reach=DynamicReach.STATIC,
        why="dynamic partition pruning is for partition columns alone",
        source=_SPARK,
    ),
)
_DATAFUSION_RULES = (
    DynamicFilterRule(
        evidence=RuleEvidence.MEASURED,
        reach=DynamicReach.ACTUAL,
        most_values=20,
        why="a hash join gives a list of at most 20 values of its build side to the scan",
        source=_DATAFUSION,
    ),
    DynamicFilterRule(
        evidence=RuleEvidence.MEASURED,
        reach=DynamicReach.BOUNDED,
        why="a hash join gives the least and the greatest value of its build side to the scan",
        source=_DATAFUSION,
    ),
)
_NO_JOINS = "it reads one table, and no join gives it values"

DYNAMIC_FILTERS: Mapping[str, tuple[DynamicFilterRule, ...]] = MappingProxyType(
    {
        "spark-delta": _SPARK_RULES,
        "spark-iceberg": _SPARK_RULES,
        "spark-parquet": _SPARK_RULES,
        "trino": (
            DynamicFilterRule(
                reach=DynamicReach.ACTUAL,
                why="splits wait up to a second for the values; too many of them become a range",
                source=_TRINO,
            ),
        ),
        "duckdb": (
            DynamicFilterRule(
                evidence=RuleEvidence.MEASURED,
                reach=DynamicReach.ACTUAL,
                most_values=50,
                why="a hash join gives a list of at most 50 values of its build side to the scan",
                source=_DUCKDB,
            ),
            DynamicFilterRule(
                evidence=RuleEvidence.MEASURED,
                reach=DynamicReach.BOUNDED,
                why="a hash join gives the least and the greatest value of its build side to the "
                "scan",
                source=_DUCKDB,
            ),
        ),
        "datafusion": _DATAFUSION_RULES,
        "delta-rs": _DATAFUSION_RULES,
        "polars": (
            DynamicFilterRule(
                evidence=RuleEvidence.MEASURED,
                reach=DynamicReach.STATIC,
                why="a join gives no values to a scan",
                source="https://docs.pola.rs/user-guide/lazy/optimizations/",
            ),
        ),
        "pyiceberg": (
            DynamicFilterRule(
                reach=DynamicReach.STATIC,
                why=_NO_JOINS,
                source="https://py.iceberg.apache.org/api/#query-the-data",
            ),
        ),
        "pyarrow": (
            DynamicFilterRule(
                reach=DynamicReach.STATIC,
                why=_NO_JOINS,
                source="https://arrow.apache.org/docs/python/dataset.html",
            ),
        ),
    }
)
"""By the name of the engine: the first rule that holds counts."""
