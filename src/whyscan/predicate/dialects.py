"""How the dialects differ in meaning where they agree in syntax. Comparisons follow Spark's rules.

A dialect that is not in the table shares what all of them share; the rest of it is opaque.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

_BACKSLASH = "\\"


class Division(Enum):
    """What `/` gives on two integers, and on zero."""

    FRACTIONAL = "a double; by zero it raises"
    TRUNCATED = "an integer; by zero it raises"
    NULLABLE = "a double; by zero it is NULL"
    DECIMAL = "a decimal of more digits; by zero it raises"
    UNKNOWN = "we do not know"


class Family(Enum):
    """Dialects whose functions have one meaning."""

    SPARK = "spark"
    TRINO = "trino"
    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    OTHER = "other"


class Dialect(Struct, frozen=True):
    """One family's meanings.

    `like_escape` is the escape of LIKE without ESCAPE; `lenient_escape`: it may stand before any
    character. `plain_timestamp_is_instant`: what TIMESTAMP without more says.
    `default_decimal`: DECIMAL without digits, None where it is unbounded. `bare_units`: a unit of
    time is a bare word in `dateadd(day, 1, d)`; elsewhere that word would be a column.
    """

    family: Family
    division: Division = Division.UNKNOWN
    like_escape: str | None = None
    lenient_escape: bool = False
    plain_timestamp_is_instant: bool = False
    default_decimal: tuple[int, int] | None = None
    extremes_skip_null: bool = False
    concat_skips_null: bool = False
    bare_units: bool = False

    @property
    def is_spark(self) -> bool:
        return self.family is Family.SPARK


_SPARK = Dialect(
    Family.SPARK,
    Division.FRACTIONAL,
    like_escape=_BACKSLASH,
    plain_timestamp_is_instant=True,
    default_decimal=(10, 0),
    extremes_skip_null=True,
    bare_units=True,
)
_TRINO = Dialect(Family.TRINO, Division.TRUNCATED, default_decimal=(38, 0))
_DUCKDB = Dialect(
    Family.DUCKDB,
    Division.NULLABLE,
    default_decimal=(18, 3),
    extremes_skip_null=True,
    concat_skips_null=True,
)
_POSTGRES = Dialect(
    Family.POSTGRES,
    Division.TRUNCATED,
    like_escape=_BACKSLASH,
    lenient_escape=True,
    extremes_skip_null=True,
    concat_skips_null=True,
)
_BIGQUERY = Dialect(
    Family.BIGQUERY,
    Division.FRACTIONAL,
    like_escape=_BACKSLASH,
    default_decimal=(38, 9),
    bare_units=True,
)
_SNOWFLAKE = Dialect(Family.SNOWFLAKE, Division.DECIMAL, default_decimal=(38, 0), bare_units=True)
_OTHER = Dialect(Family.OTHER)

_DIALECTS = {
    "spark": _SPARK,
    "databricks": _SPARK,
    "trino": _TRINO,
    "presto": _TRINO,
    "athena": _TRINO,
    "duckdb": _DUCKDB,
    "postgres": _POSTGRES,
    "bigquery": _BIGQUERY,
    "snowflake": _SNOWFLAKE,
}


def dialect_of(name: str) -> Dialect:
    """The meanings of a dialect by its name."""
    return _DIALECTS.get(name.lower(), _OTHER)
