"""The casts that mean the same in another dialect as in Spark: a closed list.

Dialects differ in the texts that they read as numbers and times, in the texts of values and in
rounding. A cast that is not in this list is opaque.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.predicate.binding.scope import Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.coercion import is_numeric
from whyscan.tree.nodes import CastFailure, Literal, type_of
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
    StringType,
    TimestampType,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from whyscan.tree.nodes import Expression

_PLAIN = (IntegerType, BooleanType, DecimalType, DateType)
_SAME_TEXT_TYPES: dict[DialectFamily, tuple[type, ...]] = {
    DialectFamily.TRINO: _PLAIN,
    DialectFamily.DUCKDB: _PLAIN,
    DialectFamily.POSTGRES: _PLAIN,
    # BigQuery writes 1.50 as 1.5.
    DialectFamily.BIGQUERY: (IntegerType, BooleanType, DateType),
    # In Snowflake the text of a date is a setting.
    DialectFamily.SNOWFLAKE: (IntegerType, BooleanType, DecimalType),
    DialectFamily.OTHER: (IntegerType,),
}
"""The types whose values a dialect casts to the same text as Spark."""

_READS_DATES = {
    DialectFamily.TRINO,
    DialectFamily.DUCKDB,
    DialectFamily.POSTGRES,
    DialectFamily.BIGQUERY,
}
"""The dialects that read the text of a date as Spark does, or raise an error.

Snowflake reads '2024' as seconds."""

_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = r"[ T][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_ZONE = r" ?(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?|[A-Za-z]+/[A-Za-z_/]+)"
# Compiled when they are first used: Spark's dialect does not need them.
_WALL = rf"{_DATE}(?:{_CLOCK})?"
_INSTANT = rf"{_DATE}(?:{_CLOCK}(?:{_ZONE})?)?"


def require_shared(
    expression: Expression, target: Type, failure: CastFailure, family: DialectFamily
) -> None:
    """Raise Uninterpreted for a cast whose result may differ between the dialect and Spark."""
    if not _is_shared(expression, target, failure, family):
        raise Uninterpreted("a cast that dialects do in different ways")


def _is_shared(
    expression: Expression, target: Type, failure: CastFailure, family: DialectFamily
) -> bool:
    source = type_of(expression)
    match (source, target):
        case (NullType(), _):
            return True
        case (StringType(), _):
            return _reads_text_as_spark(expression, target, failure, family)
        case (_, StringType()):
            return isinstance(source, _SAME_TEXT_TYPES[family])
        case (BooleanType() | IntegerType(), IntegerType() | FloatType() | DecimalType()):
            return True
        case (FloatType(), FloatType()):
            # A double that is too large for a float is infinite in Spark, and an error in others.
            return failure is CastFailure.RAISE or source == target
        case (FloatType() | IntegerType(), BooleanType()):
            return True
        case (DecimalType(), DecimalType() | FloatType() | BooleanType()):
            return True
        case (DateType() | TimestampType(), DateType() | TimestampType()):
            return True
        case _:
            return source == target


def _reads_text_as_spark(
    expression: Expression, target: Type, failure: CastFailure, family: DialectFamily
) -> bool:
    """Whether the dialect casts a string to the same value as Spark, or raises an error.

    An error loses no row. TRY_CAST gives NULL instead of an error.
    """
    match (expression, target):
        case (_, StringType()):
            return True
        case (_, BinaryType()):
            return False
        case (Literal(str() as text, _), DateType() | TimestampType()):
            return is_plain_time(text, target)
        case (Literal(), _):
            return True
        case (_, _) if failure is CastFailure.NULL or family is DialectFamily.OTHER:
            return False
        case (_, DateType()):
            return family in _READS_DATES
        case (_, UuidType()):
            return True
        case _:
            return is_numeric(target)


def is_plain_time(text: str, target: Type) -> bool:
    """Whether all dialects that can read the text read the same date or timestamp."""
    match target:
        case DateType():
            pattern = _DATE
        case TimestampType(instant=True):
            pattern = _INSTANT
        case _:
            pattern = _WALL
    return re.fullmatch(pattern, text) is not None
