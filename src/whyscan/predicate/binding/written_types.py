"""The types that a CAST or a typed literal names, in each dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.predicate.binding.scope import Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UUID,
    DecimalType,
    IntegerType,
    TimestampType,
    TimeUnit,
    Type,
)

if TYPE_CHECKING:
    from whyscan.predicate.syntax.dialects import Dialect

_KIND = exp.DType
_COMMON_TYPES: dict[exp.DType, Type] = {
    _KIND.BOOLEAN: BOOLEAN,
    _KIND.TINYINT: TINYINT,
    _KIND.SMALLINT: SMALLINT,
    _KIND.INT: INT,
    _KIND.MEDIUMINT: INT,
    _KIND.BIGINT: BIGINT,
    _KIND.FLOAT: FLOAT,
    _KIND.DOUBLE: DOUBLE,
    _KIND.BINARY: BINARY,
    _KIND.VARBINARY: BINARY,
    _KIND.BLOB: BINARY,
    _KIND.DATE: DATE,
    _KIND.TIMESTAMPTZ: TIMESTAMP,
    _KIND.TIMESTAMPLTZ: TIMESTAMP,
    _KIND.TIMESTAMPNTZ: TIMESTAMP_NTZ,
    _KIND.DATETIME: TIMESTAMP_NTZ,
    _KIND.TIMESTAMP_NS: TimestampType(instant=False, unit=TimeUnit.NANOSECOND),
    _KIND.UUID: UUID,
}
_TEXT = {_KIND.TEXT, _KIND.VARCHAR, _KIND.NVARCHAR, _KIND.CHAR, _KIND.NCHAR}
_CHAR = {_KIND.CHAR, _KIND.NCHAR}
MAX_PRECISION = 38


def type_named(type_node: exp.DataType, dialect: Dialect) -> Type:
    """The type that a type name means in a dialect."""
    kind = type_node.this
    if kind in _TEXT:
        return _text(type_node, dialect)
    if kind is _KIND.DECIMAL:
        return _decimal(type_node, dialect)
    if kind is _KIND.TIMESTAMP:
        return TIMESTAMP if dialect.plain_timestamp_is_instant else TIMESTAMP_NTZ
    common = _COMMON_TYPES.get(kind)
    if common is None:
        raise Uninterpreted(f"the type {type_node.sql()}")
    if dialect.wide_integers and isinstance(common, IntegerType):
        return BIGINT
    return DOUBLE if common == FLOAT and dialect.family is DialectFamily.SNOWFLAKE else common


def fraction_digits(type_node: exp.DataType, dialect: Dialect) -> int:
    """The number of fraction digits of the seconds of a timestamp type."""
    digits = [int(parameter.name) for parameter in type_node.expressions]
    return digits[0] if digits else dialect.timestamp_digits


def _text(type_node: exp.DataType, dialect: Dialect) -> Type:
    # In Spark CAST to varchar(n) does not truncate. Other dialects do, and CHAR is one character.
    cuts = type_node.expressions or (
        type_node.this in _CHAR and dialect.family is not DialectFamily.DUCKDB
    )
    if cuts and not dialect.is_spark:
        raise Uninterpreted("a cast that cuts strings")
    return STRING


def _decimal(type_node: exp.DataType, dialect: Dialect) -> DecimalType:
    digits = [int(parameter.name) for parameter in type_node.expressions]
    if not digits:
        if dialect.default_decimal is None:
            raise Uninterpreted("a decimal without bounds")
        return DecimalType(*dialect.default_decimal)
    precision, scale = digits[0], digits[1] if len(digits) > 1 else 0
    if not 0 <= scale <= precision <= MAX_PRECISION:
        raise Uninterpreted(f"the type decimal({precision},{scale})")
    return DecimalType(precision, scale)
