"""Recorded values as SQL of DuckDB: from text, or from a checkpoint's typed members.

What comes out stands in Arrow as tree/arrow.py wants it, and is NULL where the text cannot
be read. A float's text becomes a float first: the double of `0.1` lies below the float `0.1`.
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
_DATE = r"-?\d{4,6}-\d{2}-\d{2}"
_TIMESTAMP = _DATE + r"([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?)?"
ZONED = r".*:\d{2}(\.\d{1,9})?(Z| ?[+-]\d{2}(:?\d{2})?)"
"""A timestamp's text that says its zone: behind a time of day, as `-01` also ends a date."""


def sql_type(kind: Type) -> str | None:
    """DuckDB's type for values of `kind`; None where they have no order that we use."""
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
    """NULL of the type."""
    return f"CAST(NULL AS {sql_type(kind) or 'VARCHAR'})"


def from_text(kind: Type, text: str) -> str:
    """The SQL of a value of `kind` whose text is the SQL `text`."""
    match kind:
        case BooleanType():
            return f"CASE lower({text}) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
        case DateType():
            return (
                f"CASE WHEN regexp_full_match({text}, '{_DATE}') THEN TRY_CAST({text} AS DATE) END"
            )
        case TimestampType():
            return _timestamp(kind, text)
        case IntegerType():
            # DuckDB rounds 1.5: what has a fraction or an exponent is no integer's text.
            whole = " AND ".join(f"NOT contains({text}, '{sign}')" for sign in ".eE")
            return f"CASE WHEN {whole} THEN {from_member(kind, text)} END"
        case _:
            return from_member(kind, text)


def from_member(kind: Type, value: str) -> str:
    """The SQL of a value of `kind` that a checkpoint holds typed."""
    target = sql_type(kind)
    if target is None:
        return nothing(kind)
    if isinstance(kind, FloatType) and kind.bits == SINGLE:
        return rounded_to_float(value)
    return f"TRY_CAST({value} AS {target})"


def rounded_to_float(value: str) -> str:
    """The float nearest to a number, as a double."""
    return f"CAST(TRY_CAST({value} AS FLOAT) AS DOUBLE)"


def _timestamp(kind: TimestampType, text: str) -> str:
    """Of an instant without a zone UTC is assumed: whoever cannot rely on it asks `is_zoned`."""
    cast = f"CAST(TRY_CAST({text} AS TIMESTAMPTZ) AS TIMESTAMP)"
    if not kind.instant:
        cast = f"TRY_CAST({text} AS TIMESTAMP)"
    return where(text, _TIMESTAMP, cast)


def where(text: str, pattern: str, value: str) -> str:
    """The value where its whole text is of a pattern, else NULL."""
    return f"CASE WHEN regexp_full_match({text}, {query.text(pattern)}) THEN {value} END"


def is_zoned(text: str) -> str:
    """Whether a timestamp's text says in which zone it is."""
    return f"regexp_full_match({text}, {query.text(ZONED)})"
