"""Write the conditions inside an Iceberg scan as Spark SQL.

Conditions that Iceberg's partitions decide are only in the scan: Spark removes them from its plan.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from whyscan.tree.types import DateType, TimestampType, TimeUnit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tree.types import Type

_COMPARISONS = {"EQ": "=", "NOT_EQ": "<>", "LT": "<", "LT_EQ": "<=", "GT": ">", "GT_EQ": ">="}
_JUNCTIONS = {"AND": "AND", "OR": "OR"}
_TESTS = {"IS_NULL": "IS NULL", "NOT_NULL": "IS NOT NULL"}
_LISTS = {"IN": "IN", "NOT_IN": "NOT IN"}


class Unspoken(Exception):
    """An Iceberg expression that `to_sql` cannot write."""


def to_sql(expression: Any, types: Mapping[str, Type]) -> str:
    """An unbound Iceberg expression as Spark SQL; raises Unspoken."""
    operation: str = expression.op().toString()
    if operation in _JUNCTIONS:
        left, right = (to_sql(side, types) for side in (expression.left(), expression.right()))
        return f"({left} {_JUNCTIONS[operation]} {right})"
    if operation == "NOT":
        return f"(NOT {to_sql(expression.child(), types)})"
    if operation in {"TRUE", "FALSE"}:
        return operation
    if expression.term().getClass().getSimpleName() != "NamedReference":
        raise Unspoken(expression.toString())
    name = expression.ref().name()
    column = ".".join(f"`{part.replace('`', '``')}`" for part in name.split("."))
    kind = types.get(name.lower())
    if kind is None:
        raise Unspoken(expression.toString())
    if operation in _TESTS:
        return f"{column} {_TESTS[operation]}"
    if operation in _COMPARISONS:
        return f"{column} {_COMPARISONS[operation]} {_literal(expression.literal(), kind)}"
    if operation in _LISTS:
        values = [_literal(literal, kind) for literal in expression.literals()]
        return f"{column} {_LISTS[operation]} ({', '.join(values)})"
    raise Unspoken(expression.toString())


def _literal(literal: Any, kind: Type) -> str:
    value = literal.value()
    try:
        match kind, value:
            case DateType(), int():
                return f"DATE '{date(1970, 1, 1) + timedelta(days=value)}'"
            case TimestampType(unit=TimeUnit.MICROSECOND), int():
                moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
                wall = moment.replace(tzinfo=None).isoformat(" ")
                return f"TIMESTAMP '{wall} UTC'" if kind.instant else f"TIMESTAMP_NTZ '{wall}'"
            case _, bool():
                return str(value).upper()
            case _, int() | Decimal():
                return str(value)
            case _, str():
                escaped = value.replace("\\", "\\\\").replace("'", "\\'")
                return f"'{escaped}'"
            case _:
                pass
    except OverflowError:
        pass
    raise Unspoken(str(value))
