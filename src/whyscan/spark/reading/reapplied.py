"""Decide whether Spark may filter the rows of a plan by the predicate again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.scan.plan_portions import PSEUDO
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    TimeUnit,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.tree.nodes import Column
    from whyscan.tree.types import Type

_PLAIN = (BinaryType, BooleanType, DateType, DecimalType, FloatType, IntegerType, StringType)
_UTC = frozenset({"utc", "etc/utc", "gmt", "etc/gmt", "z", "zulu", "+00:00"})


def why_not_reapplied(plan: ScanPlan, spark: SparkSession) -> str | None:
    """Why Spark must not filter by the predicate again; None if it may.

    Spark must never remove a row for which the plan's predicate is TRUE.
    """
    predicate = plan.predicate
    if predicate.dialect != "spark":
        return f"the predicate is {predicate.dialect}'s SQL"
    if predicate.now is not None:
        return "the predicate asks for the time, which goes on"
    if not _same_zone(predicate.zone, spark.conf.get("spark.sql.session.timeZone") or ""):
        return (
            f"the predicate is read in the time zone {predicate.zone}, which is not the session's"
        )
    if spark.conf.get("spark.sql.ansi.enabled") != "true":
        return "spark.sql.ansi.enabled is off, and errors are NULL"
    if any(len(path) > 1 for path in plan.options.projection or ()):
        return "a member of a struct is read as a column of its own"
    return next((why for column in predicate.columns() if (why := _difference(column))), None)


def _same_zone(left: str, right: str) -> bool:
    names = {left.lower(), right.lower()}
    return len(names) == 1 or names <= _UTC


def _difference(column: Column) -> str | None:
    name = ".".join(column.path)
    if column.path[0] == PSEUDO:
        return f"the predicate names {name}, which is no column of the rows"
    if not _is_plain(column.type):
        return f"Spark would compare {name} as something else than {column.type}"
    return None


def _is_plain(kind: Type) -> bool:
    if isinstance(kind, TimestampType):
        return kind.unit is TimeUnit.MICROSECOND
    return isinstance(kind, _PLAIN)
