"""The differences in meaning between dialects for the same syntax.

Comparisons follow the rules of Spark, except comparisons of floats. For a dialect that is not in
the table, only what means the same in all dialects is interpreted; the rest is opaque.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from whyscan.tree.nodes import NanOrder

_BACKSLASH = "\\"


class Division(Enum):
    """The result of `/` for two integers, and the result of a division by zero."""

    FRACTIONAL = "a double; by zero it raises"
    TRUNCATED = "an integer; by zero it raises"
    NULLABLE = "a double; `//` and `%` by zero are NULL, `/` is NULL or infinite"
    DECIMAL = "a decimal of more digits; by zero it raises"
    UNKNOWN = "we do not know"


class DialectFamily(Enum):
    """A group of dialects whose functions have the same meaning."""

    SPARK = "spark"
    TRINO = "trino"
    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    OTHER = "other"


class Dialect(Struct, frozen=True):
    """The meanings of one family of dialects.

    - `like_escape`: the escape character of LIKE without ESCAPE; None if there is none.
    - `lenient_escape`: the escape character is allowed before any character.
    - `plain_timestamp_is_instant`: the type TIMESTAMP is an instant, with a time zone.
    - `default_decimal`: precision and scale of the type DECIMAL; None if it is unbounded.
    - `floats_divide_by_zero`: division by zero and log of zero give infinity or NaN, no error.
    - `wide_integers`: every integer type has 64 bits or more.
    - `narrow_floats`: a float and an exact number are compared as floats (Spark: as doubles).
    - `instants_in_utc`: the date of an instant is its date in UTC, not in the session's zone.
    - `extremes_skip_null`, `concat_skips_null`: LEAST and GREATEST, CONCAT ignore NULLs.
    - `bare_units`: in `dateadd(day, 1, d)` the word `day` is a unit of time and not a column.
    - `timestamp_digits`: the fraction digits of the type TIMESTAMP; a cast rounds to them.
    - `text_ignores_case`: 'a' may equal 'A', and LIKE may ignore case.
    - `empty_text_is_null`: '' is NULL, in a literal and in a column.
    - `nan_order`: how NaN compares. The documentation of Spark, DuckDB, Snowflake, Postgres,
      Redshift and Oracle says that it is the greatest value; in Trino (trinodb/trino#21922) and
      BigQuery it is unordered. Presto has a setting, and of other dialects we do not know.
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
    empty_text_is_null: bool = False
    nan_order: NanOrder = NanOrder.GREATEST

    @property
    def nan_is_greatest(self) -> bool:
        return self.nan_order is NanOrder.GREATEST

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
    nan_order=NanOrder.UNORDERED,
)
_PRESTO = replace(_TRINO, nan_order=NanOrder.EITHER)
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
    nan_order=NanOrder.UNORDERED,
)
_SNOWFLAKE = Dialect(
    DialectFamily.SNOWFLAKE,
    Division.DECIMAL,
    default_decimal=(38, 0),
    wide_integers=True,
    bare_units=True,
    timestamp_digits=9,
)
_OTHER = Dialect(DialectFamily.OTHER, nan_order=NanOrder.EITHER)
_NAN_IS_GREATEST = Dialect(DialectFamily.OTHER)
_ORACLE = Dialect(DialectFamily.OTHER, empty_text_is_null=True)
_CASELESS = Dialect(DialectFamily.OTHER, text_ignores_case=True, nan_order=NanOrder.EITHER)

_DIALECTS = {
    "spark": _SPARK,
    "databricks": _SPARK,
    "trino": _TRINO,
    "presto": _PRESTO,
    "athena": _TRINO,
    "duckdb": _DUCKDB,
    "postgres": _POSTGRES,
    "bigquery": _BIGQUERY,
    "snowflake": _SNOWFLAKE,
    "oracle": _ORACLE,
    **dict.fromkeys(("materialize", "redshift", "risingwave"), _NAN_IS_GREATEST),
    **dict.fromkeys(("mysql", "singlestore", "sqlite", "teradata", "tsql", "fabric"), _CASELESS),
}


def dialect_of(name: str) -> Dialect:
    """The meanings of the dialect of that name."""
    return _DIALECTS.get(name.lower(), _OTHER)
