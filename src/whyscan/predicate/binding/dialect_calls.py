"""The names of the functions of `signatures.py` in each dialect, and the order of arguments.

A function that is not in these tables is opaque. So is a call whose meaning differs from Spark's
and has no equivalent in Spark: a guess could lose rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from whyscan.predicate.binding import (
    arithmetic,
    casts,
    conditionals,
    date_formats,
    number_calls,
    text_calls,
    time_calls,
)
from whyscan.predicate.binding.calls import call
from whyscan.predicate.binding.number_calls import Builder, plain
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.nodes import (
    Case,
    CastFailure,
    Comparator,
    Comparison,
    Literal,
    Not,
    Operation,
)
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
    DecimalType,
    Type,
)

if TYPE_CHECKING:
    from whyscan.predicate.binding.arguments import Arguments
    from whyscan.tree.nodes import Expression

_AGGREGATES = """
any_value approx_count_distinct approx_distinct array_agg avg bool_and bool_or collect_list
collect_set corr count count_if covar_pop covar_samp every first_value last_value listagg max
max_by median min min_by mode percentile percentile_approx stddev stddev_pop stddev_samp
string_agg sum var_pop var_samp variance
"""
AGGREGATES = frozenset(_AGGREGATES.split())
_VOLATILE = """
gen_random_uuid generate_uuid monotonically_increasing_id nextval rand randn random random_uuid
randstr seq4 seq8 shuffle spark_partition_id uniform uuid uuid_string
"""
VOLATILE = frozenset(_VOLATILE.split())


def builder_of(name: str, family: DialectFamily) -> Builder:
    """The builder of the expression for a call of the function in a family of dialects."""
    name = name.lower()
    builder = _OF_FAMILY[family].get(name) or _COMMON.get(name)
    if builder is not None:
        return builder
    if name in VOLATILE:
        raise Uninterpreted(f"{name} is not deterministic")
    raise Uninterpreted(f"the function {name} is not known")


def function_names() -> frozenset[str]:
    """The names of all functions that have a builder in some dialect."""
    return frozenset(_COMMON).union(*_OF_FAMILY.values())


def extract_part(field: str, operand: Operand, scope: Scope) -> Expression:
    """`EXTRACT(field FROM operand)` with the numbering of the dialect."""
    rule = _PARTS_OF_FAMILY[scope.dialect.family].get(field) or _PARTS.get(field)
    if rule is None:
        raise Uninterpreted(f"the part {field!r} of a time")
    if isinstance(rule, str):
        return call(rule, [operand], scope)
    return rule(operand, scope)


def _swapped(name: str) -> Builder:
    """A builder for the function of that name with its two arguments swapped."""

    def build(arguments: Arguments) -> Expression:
        return call(name, arguments.expect(2).reordered(1, 0).operands(), arguments.scope)

    return build


def _cast_to(target: Type) -> Builder:
    """A builder for Spark's `int(x)`, which is a CAST."""

    def build(arguments: Arguments) -> Expression:
        operand = arguments.expect(1).operand(0)
        return casts.explicit_cast(operand, target, CastFailure.RAISE, arguments.scope)

    return build


def _date_part(arguments: Arguments) -> Expression:
    """`date_part('year', ts)`."""
    return extract_part(arguments.expect(2).word(0), arguments.operand(1), arguments.scope)


def _trimmed(name: str) -> Builder:
    def build(arguments: Arguments) -> Expression:
        return text_calls.trimmed(name, arguments.expect(1).operand(0), arguments.scope)

    return build


def _now(arguments: Arguments) -> Expression:
    return time_calls.current_timestamp(arguments.expect(0).scope)


def _dow_from_zero(operand: Operand, scope: Scope) -> Expression:
    """The day of the week, where Sunday is 0."""
    return time_calls.shifted_part(Operation.SUBTRACT, "dayofweek", operand, scope)


def _dow_iso(operand: Operand, scope: Scope) -> Expression:
    """The day of the week, where Monday is 1."""
    return time_calls.shifted_part(Operation.ADD, "weekday", operand, scope)


def _year_without_zero(operand: Operand, scope: Scope) -> Expression:
    """The year of Postgres, which numbers the year before 1 as -1."""
    year = call("year", [operand], scope)
    before = time_calls.shifted_part(Operation.SUBTRACT, "year", operand, scope)
    is_before_christ = Comparison(Comparator.LESS, year, Literal(1, INT))
    return Case(((is_before_christ, before),), year, INT)


def _one_argument(make: Callable[[Operand, Scope], Expression]) -> Builder:
    return lambda arguments: make(arguments.expect(1).operand(0), arguments.scope)


_TO_CHAR = time_calls.formatted(date_formats.java_from_oracle, numbers=False)
"""`to_char(d, 'YYYY-MM')` of Postgres and Snowflake."""
_COMMON: dict[str, Builder] = {
    **{
        name: plain(name, 1)
        for name in ("lower", "upper", "year", "quarter", "month", "day", "hour", "minute")
    },
    "positive": number_calls.signed(arithmetic.positive),
    "floor": number_calls.floor_or_ceil("floor"),
    "ceil": number_calls.floor_or_ceil("ceil"),
    "ceiling": number_calls.floor_or_ceil("ceil"),
    "coalesce": conditionals.coalesce,
    "nullif": conditionals.nullif,
    "char_length": plain("length", 1),
    "character_length": plain("length", 1),
}
"""The functions that mean the same in all dialects, also in those of family OTHER."""
_SHARED: dict[str, Builder] = {
    "abs": number_calls.signed(arithmetic.absolute),
    "reverse": plain("reverse", 1),
    **{name: _trimmed(name) for name in ("ltrim", "rtrim")},
    "sqrt": number_calls.double_function("sqrt", 1),
    "exp": number_calls.double_function("exp", 1),
    "power": number_calls.double_function("power", 2),
    "pow": number_calls.double_function("power", 2),
    "ln": number_calls.logarithm("ln"),
    "replace": text_calls.replace_text,
    "length": plain("length", 1),
    "round": number_calls.rounded,
    "mod": number_calls.operated(Operation.REMAINDER),
    "concat": text_calls.concat,
    "least": conditionals.extreme("least"),
    "greatest": conditionals.extreme("greatest"),
    "ifnull": conditionals.coalesce,
    "nvl": conditionals.coalesce,
    "if": conditionals.if_else,
    "substr": text_calls.substring,
    "substring": text_calls.substring,
    "left": text_calls.side("left"),
    "right": text_calls.side("right"),
    "starts_with": plain("startswith", 2),
    "startswith": plain("startswith", 2),
    "ends_with": plain("endswith", 2),
    "endswith": plain("endswith", 2),
    "strpos": plain("instr", 2),
    "date": time_calls.read(DATE),
    "last_day": plain("last_day", 1),
    "date_part": _date_part,
    "second": plain("second", 1),
    "dayofmonth": plain("day", 1),
    "dayofyear": plain("dayofyear", 1),
    "day_of_year": plain("dayofyear", 1),
    "day_of_month": plain("day", 1),
    "log10": number_calls.logarithm("log10"),
    "log2": number_calls.logarithm("log2"),
    "cbrt": number_calls.double_function("cbrt", 1),
    "now": _now,
    "current_timestamp": _now,
    "current_date": lambda a: time_calls.current_date(a.expect(0).scope),
}
"""The functions that mean the same in the six families other than OTHER."""
_CASTS: dict[str, Type] = {
    "boolean": BOOLEAN,
    "tinyint": TINYINT,
    "smallint": SMALLINT,
    "int": INT,
    "bigint": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "string": STRING,
    "binary": BINARY,
    "decimal": DecimalType(10, 0),
}
_SPARK: dict[str, Builder] = {
    **_SHARED,
    **{
        name: plain(name)
        for name in (
            "ascii", "bround", "concat_ws", "contains", "crc32", "date_from_unix_date", "dayofweek",
            "get_json_object", "hash", "initcap", "instr", "isnan", "lpad", "months_between",
            "md5", "octet_length", "repeat", "rlike", "rpad", "sha2",
            "timestamp_micros", "timestamp_millis", "timestamp_seconds", "unix_date",
            "unix_micros", "unix_millis", "unix_seconds", "weekday", "weekofyear", "xxhash64",
            "add_months", "format_string", "next_day", "split_part", "substring_index", "translate",
        )
    },
    **dict.fromkeys(("regexp", "regexp_like"), plain("rlike")),
    "printf": plain("format_string"),
    **dict.fromkeys(("lcase",), plain("lower", 1)),
    **dict.fromkeys(("ucase",), plain("upper", 1)),
    "len": plain("length", 1),
    **dict.fromkeys(("sign", "signum"), plain("sign", 1)),
    "log": number_calls.log_natural,
    "locate": _swapped("instr"),
    "position": _swapped("instr"),
    "regexp_extract": text_calls.regexp_extract,
    "regexp_replace": plain("regexp_replace", 3),
    "pmod": number_calls.pmod,
    "negative": number_calls.signed(arithmetic.negative),
    "nanvl": conditionals.nanvl,
    "div": number_calls.operated(Operation.QUOTIENT),
    "nvl2": conditionals.nvl2,
    "decode": conditionals.decode,
    "isnull": conditionals.is_null,
    "isnotnull": lambda a: Not(conditionals.is_null(a)),
    "equal_null": conditionals.equal_null,
    "date_trunc": time_calls.date_trunc_spark,
    "trunc": time_calls.trunc_spark,
    "to_date": time_calls.read(DATE),
    "to_timestamp": time_calls.read(TIMESTAMP),
    "to_timestamp_ltz": time_calls.read(TIMESTAMP),
    "to_timestamp_ntz": time_calls.read(TIMESTAMP_NTZ),
    "timestamp": time_calls.read(TIMESTAMP),
    "make_date": time_calls.make_date,
    "try_to_date": time_calls.try_to_read(DATE),
    "try_to_timestamp": time_calls.try_to_read(TIMESTAMP),
    "make_timestamp": time_calls.make_timestamp(TIMESTAMP),
    "make_timestamp_ltz": time_calls.make_timestamp(TIMESTAMP),
    "make_timestamp_ntz": time_calls.make_timestamp(TIMESTAMP_NTZ),
    "from_utc_timestamp": time_calls.zone_shift("from_utc_timestamp"),
    "to_utc_timestamp": time_calls.zone_shift("to_utc_timestamp"),
    "unix_timestamp": time_calls.unix_timestamp,
    "to_unix_timestamp": time_calls.unix_timestamp,
    "from_unixtime": time_calls.from_unixtime_spark,
    "date_format": time_calls.formatted(),
    "date_add": time_calls.date_add_spark,
    "dateadd": time_calls.date_add_spark,
    "timestampadd": time_calls.timestampadd,
    "date_sub": plain("date_sub", 2),
    "datediff": time_calls.datediff_spark,
    "date_diff": time_calls.datediff_spark,
    "localtimestamp": lambda a: time_calls.local_timestamp(a.expect(0).scope),
    "curdate": lambda a: time_calls.current_date(a.expect(0).scope),
    "datepart": _date_part,
    **{name: _cast_to(kind) for name, kind in _CASTS.items()},
}  # fmt: skip
_TRINO: dict[str, Builder] = {
    **_SHARED,
    "bitwise_and": number_calls.bits("&"),
    "bitwise_or": number_calls.bits("|"),
    "bitwise_xor": number_calls.bits("^"),
    "bitwise_not": number_calls.bits("~", 1),
    "is_nan": conditionals.is_nan,
    "regexp_like": plain("rlike", 2),
    "date_trunc": time_calls.date_trunc,
    "date_add": time_calls.date_add_units,
    "date_diff": time_calls.datediff_full,
    "date_format": time_calls.formatted(date_formats.java_from_mysql),
    "from_unixtime": time_calls.from_unixtime_trino,
    "week": plain("weekofyear", 1),
    "week_of_year": plain("weekofyear", 1),
    "day_of_week": _one_argument(_dow_iso),
    "dow": _one_argument(_dow_iso),
    "doy": plain("dayofyear", 1),
    "last_day_of_month": plain("last_day", 1),
}
_DUCKDB: dict[str, Builder] = {
    # DuckDB's reverse() keeps the order within a letter and its accents.
    **{k: v for k, v in _SHARED.items() if k != "reverse"},
    "md5": plain("md5", 1),
    "make_date": time_calls.make_date,
    "contains": plain("contains", 2),
    "prefix": plain("startswith", 2),
    "suffix": plain("endswith", 2),
    "regexp_matches": plain("rlike", 2),
    "isnan": conditionals.is_nan,
    "date_trunc": time_calls.date_trunc,
    "datetrunc": time_calls.date_trunc,
    "date_add": time_calls.moved(Operation.ADD),
    "date_diff": time_calls.datediff_duckdb,
    "datediff": time_calls.datediff_duckdb,
    "strftime": time_calls.strftime,
    "week": plain("weekofyear", 1),
    "weekofyear": plain("weekofyear", 1),
    "dayofweek": _one_argument(_dow_from_zero),
    "weekday": _one_argument(_dow_from_zero),
    "isodow": _one_argument(_dow_iso),
    "len": plain("length", 1),
    "instr": plain("instr", 2),
    "today": lambda a: time_calls.current_date(a.expect(0).scope),
    "add_months": plain("add_months", 2),
}
_POSTGRES: dict[str, Builder] = {
    **{k: v for k, v in _SHARED.items() if k != "second"},
    "md5": plain("md5", 1),
    "round": number_calls.exact_round,
    "date_trunc": time_calls.date_trunc,
    "to_date": time_calls.read(DATE, 2),
    "to_timestamp": time_calls.read(TIMESTAMP, 2),
    "to_char": _TO_CHAR,
    "btrim": plain("trim", 1),
    "octet_length": plain("octet_length", 1),
    "regexp_like": plain("rlike", 2),
}
_BIGQUERY: dict[str, Builder] = {
    **_SHARED,
    "is_nan": conditionals.is_nan,
    "regexp_contains": plain("rlike", 2),
    "date_trunc": time_calls.date_trunc_bigquery,
    "datetime_trunc": time_calls.date_trunc_bigquery,
    "timestamp_trunc": time_calls.date_trunc_bigquery,
    "date_add": time_calls.moved(Operation.ADD),
    "datetime_add": time_calls.moved(Operation.ADD),
    "timestamp_add": time_calls.moved(Operation.ADD),
    "date_sub": time_calls.moved(Operation.SUBTRACT),
    "datetime_sub": time_calls.moved(Operation.SUBTRACT),
    "timestamp_sub": time_calls.moved(Operation.SUBTRACT),
    "date_diff": time_calls.datediff_bigquery,
    "format_date": time_calls.format_bigquery,
    "format_timestamp": time_calls.format_bigquery,
    "format_datetime": time_calls.format_bigquery,
    "timestamp_seconds": plain("timestamp_seconds", 1),
    "timestamp_millis": plain("timestamp_millis", 1),
    "timestamp_micros": plain("timestamp_micros", 1),
    "unix_seconds": plain("unix_seconds", 1),
    "unix_millis": plain("unix_millis", 1),
    "unix_micros": plain("unix_micros", 1),
    "unix_date": plain("unix_date", 1),
    "div": number_calls.operated(Operation.QUOTIENT),
    "timestamp": time_calls.read(TIMESTAMP),
    "datetime": time_calls.read(TIMESTAMP_NTZ),
}
_SNOWFLAKE: dict[str, Builder] = {
    **_SHARED,
    "contains": plain("contains", 2),
    "bitand": number_calls.bits("&"),
    "bitor": number_calls.bits("|"),
    "bitxor": number_calls.bits("^"),
    "bitnot": number_calls.bits("~", 1),
    "md5": plain("md5", 1),
    "iff": conditionals.if_else,
    "nvl2": conditionals.nvl2,
    "decode": conditionals.decode,
    "equal_null": conditionals.equal_null,
    "date_trunc": time_calls.date_trunc_without_weeks,
    "dateadd": time_calls.date_add_units,
    "timeadd": time_calls.date_add_units,
    "timestampadd": time_calls.date_add_units,
    "datediff": time_calls.datediff_borders,
    "to_date": time_calls.read(DATE, numbers=False),
    "to_char": _TO_CHAR,
    "to_varchar": _TO_CHAR,
    "to_timestamp": time_calls.read(TIMESTAMP_NTZ, numbers=False),
    "to_timestamp_ntz": time_calls.read(TIMESTAMP_NTZ, numbers=False),
    "weekiso": plain("weekofyear", 1),
    "dayofweekiso": _one_argument(_dow_iso),
}
_OF_FAMILY = {
    DialectFamily.SPARK: _SPARK,
    DialectFamily.TRINO: _TRINO,
    DialectFamily.DUCKDB: _DUCKDB,
    DialectFamily.POSTGRES: _POSTGRES,
    DialectFamily.BIGQUERY: _BIGQUERY,
    DialectFamily.SNOWFLAKE: _SNOWFLAKE,
    DialectFamily.OTHER: {},
}

Part = str | Callable[[Operand, Scope], "Expression"]
_PARTS: dict[str, Part] = {
    **dict.fromkeys(("year", "years", "yr", "y"), "year"),
    **dict.fromkeys(("quarter", "qtr"), "quarter"),
    **dict.fromkeys(("month", "months", "mon"), "month"),
    **dict.fromkeys(("day", "days", "d"), "day"),
    **dict.fromkeys(("doy", "dayofyear"), "dayofyear"),
    **dict.fromkeys(("hour", "hours"), "hour"),
    **dict.fromkeys(("minute", "minutes"), "minute"),
}
_ISO_WEEKS: dict[str, Part] = {"week": "weekofyear", "weeks": "weekofyear"}
_PARTS_OF_FAMILY: dict[DialectFamily, dict[str, Part]] = {
    DialectFamily.SPARK: {
        **_ISO_WEEKS,
        "dayofweek": "dayofweek",
        "dow": "dayofweek",
        "dayofweek_iso": _dow_iso,
        "dow_iso": _dow_iso,
    },
    DialectFamily.TRINO: {
        **_ISO_WEEKS,
        "second": "second",
        "dow": _dow_iso,
        "day_of_week": _dow_iso,
        "day_of_year": "dayofyear",
        "day_of_month": "day",
    },
    DialectFamily.DUCKDB: {
        **_ISO_WEEKS,
        "second": "second",
        "dow": _dow_from_zero,
        "dayofweek": _dow_from_zero,
        "isodow": _dow_iso,
    },
    DialectFamily.POSTGRES: {
        **_ISO_WEEKS,
        **dict.fromkeys(("year", "years", "yr", "y"), _year_without_zero),
        "dow": _dow_from_zero,
        "isodow": _dow_iso,
    },
    DialectFamily.BIGQUERY: {"isoweek": "weekofyear", "dayofweek": "dayofweek", "second": "second"},
    DialectFamily.SNOWFLAKE: {
        "second": "second",
        "weekiso": "weekofyear",
        "dayofweekiso": _dow_iso,
        "dayofweek_iso": _dow_iso,
    },
    DialectFamily.OTHER: {},
}
