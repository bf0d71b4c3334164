"""How the dialects differ in meaning where they agree in syntax.

Comparisons follow Spark's rules, but for those of floats.

A dialect that is not in the table shares what all of them share; the rest of it is opaque.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

_BACKSLASH = "\\"


class Division(Enum):
    """What `/` gives on two integers, and what division of integers by zero gives."""

    FRACTIONAL = "a double; by zero it raises"
    TRUNCATED = "an integer; by zero it raises"
    NULLABLE = "a double; `//` and `%` by zero are NULL, `/` is NULL or infinite"
    DECIMAL = "a decimal of more digits; by zero it raises"
    UNKNOWN = "we do not know"


class DialectFamily(Enum):
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
    `floats_divide_by_zero`: to infinity or NaN, where Spark raises; so do logarithms of zero.
    `narrow_floats`: a float beside an exact number is compared as a float, in Spark as a double.
    `instants_in_utc`: what day an instant is on is asked in UTC, whatever the session's zone.
    `wide_integers`: none has fewer than 64 bits, so that nothing overflows before that.
    `timestamp_digits`: a second's places in TIMESTAMP without more; a cast rounds to them.
    `text_ignores_case`: 'a' equals 'A', or is like it, unless a collation says otherwise.
    """

    family: DialectFamily
    division: Division = Division.UNKNOWN
    like_escape: str | None = None
    lenient_escape: bool = False
    plain_timestamp_is_instant: bool = False
    default_decimal: tuple[int, int] | None = None
    floats_divide_by_zero: bool = False
    wide_integers: bool = False
    narrow_floats: bool = False
    instants_in_utc: bool = False
    extremes_skip_null: bool = False
    concat_skips_null: bool = False
    bare_units: bool = False
    timestamp_digits: int = 0
    text_ignores_case: bool = False

    @property
    def is_spark(self) -> bool:
        return self.family is DialectFamily.SPARK


_SPARK = Dialect(
    DialectFamily.SPARK,
    Division.FRACTIONAL,
    like_escape=_BACKSLASH,
    plain_timestamp_is_instant=True,
    default_decimal=(10, 0),
    extremes_skip_null=True,
    bare_units=True,
    timestamp_digits=6,
)
_TRINO = Dialect(
    DialectFamily.TRINO,
    Division.TRUNCATED,
    default_decimal=(38, 0),
    floats_divide_by_zero=True,
    narrow_floats=True,
    instants_in_utc=True,
    timestamp_digits=3,
)
_DUCKDB = Dialect(
    DialectFamily.DUCKDB,
    Division.NULLABLE,
    default_decimal=(18, 3),
    floats_divide_by_zero=True,
    narrow_floats=True,
    extremes_skip_null=True,
    concat_skips_null=True,
    timestamp_digits=6,
)
_POSTGRES = Dialect(
    DialectFamily.POSTGRES,
    Division.TRUNCATED,
    like_escape=_BACKSLASH,
    lenient_escape=True,
    extremes_skip_null=True,
    concat_skips_null=True,
    timestamp_digits=6,
)
_BIGQUERY = Dialect(
    DialectFamily.BIGQUERY,
    Division.FRACTIONAL,
    like_escape=_BACKSLASH,
    default_decimal=(38, 9),
    wide_integers=True,
    instants_in_utc=True,
    bare_units=True,
    timestamp_digits=6,
)
_SNOWFLAKE = Dialect(
    DialectFamily.SNOWFLAKE,
    Division.DECIMAL,
    default_decimal=(38, 0),
    wide_integers=True,
    bare_units=True,
    timestamp_digits=9,
)
_OTHER = Dialect(DialectFamily.OTHER)
_CASELESS = Dialect(DialectFamily.OTHER, text_ignores_case=True)

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
    **dict.fromkeys(("mysql", "singlestore", "sqlite", "teradata", "tsql", "fabric"), _CASELESS),
}


def dialect_of(name: str) -> Dialect:
    """The meanings of a dialect by its name."""
    return _DIALECTS.get(name.lower(), _OTHER)
