"""SQL for DuckDB that reads recorded values: from text, or from a checkpoint's typed members.

A value has the Arrow type of tree/arrow.py, and is NULL if its text cannot be read. The text of a
float is read as a float first: the double `0.1` is less than the float `0.1`.
"""

from __future__ import annotations

from whyscan.tables.delta import query
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS
from whyscan.tree.types import (
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

SINGLE = 32
# DuckDB also reads words such as `infinity` and `epoch` as dates.
_DATE = r"[-+]?\d{4,6}-\d{2}-\d{2}"
_TIMESTAMP = _DATE + r"([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?)?"
ZONED = r".*:\d{2}(\.\d{1,9})?(Z| ?[+-]\d{2}(:?\d{2})?)"
"""The text of a timestamp with a zone. A time must precede it: `-01` may also end a date."""


def sql_type(kind: Type) -> str | None:
    """DuckDB's type for values of `kind`; None for a type whose order is not used."""
    match kind:
        case BooleanType():
            return "BOOLEAN"
        case IntegerType():
            return "BIGINT"
        case FloatType():
            return "DOUBLE"
        case DecimalType():
            return f"DECIMAL({MAX_DECIMAL_DIGITS}, {kind.scale})"
        case StringType():
            return "VARCHAR"
        case DateType():
            return "DATE"
        case TimestampType():
            return "TIMESTAMP"
        case _:
            return None


def nothing(kind: Type) -> str:
    """SQL of NULL in the type of `kind`."""
    return f"CAST(NULL AS {sql_type(kind) or 'VARCHAR'})"


def from_text(kind: Type, text: str) -> str:
    """The SQL of a value of `kind` whose text is the SQL `text`."""
    match kind:
        case BooleanType():
            return f"CASE lower({text}) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
        case DateType():
            return where(text, _DATE, f"TRY_CAST({_without_plus(text)} AS DATE)")
        case TimestampType():
            return _timestamp(kind, text)
        case IntegerType():
            # DuckDB rounds 1.5: text with a fraction or an exponent is not read as an integer.
            is_integer = " AND ".join(f"NOT contains({text}, '{sign}')" for sign in ".eE")
            return f"CASE WHEN {is_integer} THEN {from_member(kind, text)} END"
        case _:
            return from_member(kind, text)


def from_member(kind: Type, value: str) -> str:
    """The SQL of a value of `kind` from a typed member of a checkpoint."""
    target = sql_type(kind)
    if target is None:
        return nothing(kind)
    if isinstance(kind, FloatType) and kind.bits == SINGLE:
        return rounded_to_float(value)
    return f"TRY_CAST({value} AS {target})"


def rounded_to_float(value: str) -> str:
    """SQL of the float nearest to a number, as a double."""
    return f"CAST(TRY_CAST({value} AS FLOAT) AS DOUBLE)"


def _timestamp(kind: TimestampType, text: str) -> str:
    """SQL of a timestamp. An instant without a zone is read as UTC; see `is_zoned`."""
    plain = _without_plus(text)
    cast = f"CAST(TRY_CAST({plain} AS TIMESTAMPTZ) AS TIMESTAMP)"
    if not kind.instant:
        cast = f"TRY_CAST({plain} AS TIMESTAMP)"
    return where(text, _TIMESTAMP, cast)


def _without_plus(text: str) -> str:
    """SQL of a text without the plus that Java writes before a year beyond 9999."""
    return f"ltrim({text}, '+')"


def where(text: str, pattern: str, value: str) -> str:
    """SQL of `value` if all of `text` matches `pattern`, else NULL."""
    return f"CASE WHEN regexp_full_match({text}, {query.text(pattern)}) THEN {value} END"


def is_zoned(text: str) -> str:
    """SQL: whether the text of a timestamp names its zone."""
    return f"regexp_full_match({text}, {query.text(ZONED)})"
