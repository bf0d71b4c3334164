"""What each dialect calls the functions of `functions.py`, and how it orders their arguments.

A name that is not here is opaque. So is a call whose meaning differs from Spark's and cannot be
said in Spark's terms: guessing would lose rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from whyscan.predicate import casts, conditionals, moments, number_calls, strings
from whyscan.predicate.dialects import Family
from whyscan.predicate.functions import call
from whyscan.predicate.number_calls import Builder, plain
from whyscan.predicate.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.tree import Failure
from whyscan.predicate.types import (
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
    from whyscan.predicate.arguments import Arguments
    from whyscan.predicate.tree import Expression

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


def builder_of(name: str, family: Family) -> Builder:
    """What makes of a call its expression."""
    name = name.lower()
    found = _OF_FAMILY[family].get(name) or _COMMON.get(name)
    if found is not None:
        return found
    if name in VOLATILE:
        raise Uninterpreted(f"{name} is not deterministic")
    raise Uninterpreted(f"the function {name} is not known")


def names() -> frozenset[str]:
    """Every function that some dialect's builder is known for."""
    return frozenset(_COMMON).union(*_OF_FAMILY.values())


def part(field: str, operand: Operand, scope: Scope) -> Expression:
    """`EXTRACT(field FROM operand)` as the dialect counts."""
    found = _PARTS_OF_FAMILY[scope.dialect.family].get(field) or _PARTS.get(field)
    if found is None:
        raise Uninterpreted(f"the part {field!r} of a time")
    if isinstance(found, str):
        return call(found, [operand], scope)
    return found(operand, scope)


def _swapped(name: str) -> Builder:
    """The function of that name, its two arguments the other way round."""

    def build(arguments: Arguments) -> Expression:
        return call(name, arguments.expect(2).reordered(1, 0).operands(), arguments.scope)

    return build


def _to(target: Type) -> Builder:
    """Spark's `int(x)`: CAST."""

    def build(arguments: Arguments) -> Expression:
        operand = arguments.expect(1).operand(0)
        return casts.explicit(operand, target, Failure.RAISE, arguments.scope)

    return build


def _date_part(arguments: Arguments) -> Expression:
    """`date_part('year', ts)`."""
    return part(arguments.expect(2).word(0), arguments.operand(1), arguments.scope)


def _trimmed(name: str) -> Builder:
    def build(arguments: Arguments) -> Expression:
        return strings.trimmed(name, arguments.expect(1).operand(0), arguments.scope)

    return build


def _now(arguments: Arguments) -> Expression:
    return moments.current_timestamp(arguments.expect(0).scope)


def _dow_from_zero(operand: Operand, scope: Scope) -> Expression:
    """Sunday is 0."""
    return moments.minus_one("dayofweek", operand, scope)


def _dow_iso(operand: Operand, scope: Scope) -> Expression:
    """Monday is 1."""
    return moments.plus_one("weekday", operand, scope)


def _one(make: Callable[[Operand, Scope], Expression]) -> Builder:
    return lambda arguments: make(arguments.expect(1).operand(0), arguments.scope)


_COMMON: dict[str, Builder] = {
    **{
        name: plain(name, 1)
        for name in ("lower", "upper", "year", "quarter", "month", "day", "hour", "minute")
    },
    "positive": number_calls.positive,
    "floor": number_calls.whole("floor"),
    "ceil": number_calls.whole("ceil"),
    "ceiling": number_calls.whole("ceil"),
    "coalesce": conditionals.coalesce,
    "nullif": conditionals.nullif,
    "char_length": strings.length,
    "character_length": strings.length,
}
"""What no dialect means anything else by."""
_SHARED_BY_THE_SIX: dict[str, Builder] = {
    "abs": number_calls.absolute,
    "reverse": plain("reverse", 1),
    **{name: _trimmed(name) for name in ("ltrim", "rtrim")},
    "sqrt": number_calls.of_doubles("sqrt", 1),
    "exp": number_calls.of_doubles("exp", 1),
    "power": number_calls.of_doubles("power", 2),
    "pow": number_calls.of_doubles("power", 2),
    "ln": number_calls.logarithm("ln"),
    "replace": strings.replaced,
    "length": strings.length,
    "round": number_calls.rounded,
    "mod": number_calls.remainder,
    "concat": strings.concat,
    "least": conditionals.least,
    "greatest": conditionals.greatest,
    "ifnull": conditionals.coalesce,
    "nvl": conditionals.coalesce,
    "if": conditionals.choose,
    "substr": strings.substring,
    "substring": strings.substring,
    "left": strings.left,
    "right": strings.right,
    "starts_with": plain("startswith", 2),
    "startswith": plain("startswith", 2),
    "ends_with": plain("endswith", 2),
    "endswith": plain("endswith", 2),
    "strpos": plain("instr", 2),
    "date": moments.to_date,
    "last_day": plain("last_day", 1),
    "date_part": _date_part,
    "second": plain("second", 1),
    "dayofmonth": plain("day", 1),
    "dayofyear": plain("dayofyear", 1),
    "day_of_year": plain("dayofyear", 1),
    "day_of_month": plain("day", 1),
    "log10": number_calls.logarithm("log10"),
    "log2": number_calls.logarithm("log2"),
    "cbrt": number_calls.of_doubles("cbrt", 1),
    "now": _now,
    "current_timestamp": _now,
    "current_date": lambda a: moments.current_date(a.expect(0).scope),
}
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
    **_SHARED_BY_THE_SIX,
    **{
        name: plain(name)
        for name in (
            "ascii", "bround", "concat_ws", "contains", "crc32", "date_from_unix_date", "dayofweek",
            "get_json_object", "hash", "initcap", "instr", "isnan", "lpad", "months_between",
            "md5", "octet_length", "regexp_replace", "repeat", "rlike", "rpad", "sha2",
            "timestamp_micros", "timestamp_millis", "timestamp_seconds", "unix_date",
            "unix_micros", "unix_millis", "unix_seconds", "weekday", "weekofyear", "xxhash64",
            "add_months", "format_string", "next_day", "split_part", "substring_index", "translate",
        )
    },
    **dict.fromkeys(("regexp", "regexp_like"), plain("rlike")),
    "printf": plain("format_string"),
    **dict.fromkeys(("lcase",), plain("lower", 1)),
    **dict.fromkeys(("ucase",), plain("upper", 1)),
    "len": strings.length,
    **dict.fromkeys(("sign", "signum"), plain("sign", 1)),
    "log": strings.log_natural,
    "locate": _swapped("instr"),
    "position": _swapped("instr"),
    "regexp_extract": strings.regexp_extract,
    "pmod": strings.pmod,
    "negative": number_calls.negative,
    "nanvl": conditionals.nanvl,
    "div": number_calls.quotient,
    "nvl2": conditionals.nvl2,
    "decode": conditionals.decode,
    "isnull": conditionals.is_null,
    "isnotnull": conditionals.is_not_null,
    "equal_null": conditionals.equal_null,
    "date_trunc": moments.date_trunc_spark,
    "trunc": moments.trunc_spark,
    "to_date": moments.to_date,
    "to_timestamp": moments.to_timestamp,
    "to_timestamp_ltz": moments.to_timestamp,
    "to_timestamp_ntz": moments.to_timestamp_ntz,
    "timestamp": moments.to_timestamp,
    "make_date": moments.make_date,
    "try_to_date": moments.try_to_date,
    "try_to_timestamp": moments.try_to_timestamp,
    "make_timestamp": moments.make_timestamp(TIMESTAMP),
    "make_timestamp_ltz": moments.make_timestamp(TIMESTAMP),
    "make_timestamp_ntz": moments.make_timestamp(TIMESTAMP_NTZ),
    "from_utc_timestamp": moments.shifted("from_utc_timestamp"),
    "to_utc_timestamp": moments.shifted("to_utc_timestamp"),
    "unix_timestamp": moments.unix_timestamp,
    "to_unix_timestamp": moments.unix_timestamp,
    "from_unixtime": moments.from_unixtime_spark,
    "date_format": moments.date_format_spark,
    "date_add": moments.date_add_spark,
    "dateadd": moments.date_add_spark,
    "timestampadd": moments.timestampadd,
    "date_sub": moments.date_sub_spark,
    "datediff": moments.datediff_spark,
    "date_diff": moments.datediff_spark,
    "localtimestamp": lambda a: moments.local_timestamp(a.expect(0).scope),
    "curdate": lambda a: moments.current_date(a.expect(0).scope),
    "datepart": _date_part,
    **{name: _to(kind) for name, kind in _CASTS.items()},
}  # fmt: skip
_TRINO: dict[str, Builder] = {
    **_SHARED_BY_THE_SIX,
    "bitwise_and": number_calls.bits("&"),
    "bitwise_or": number_calls.bits("|"),
    "bitwise_xor": number_calls.bits("^"),
    "bitwise_not": number_calls.bits("~", 1),
    "is_nan": conditionals.is_nan,
    "regexp_like": plain("rlike", 2),
    "date_trunc": moments.date_trunc,
    "date_add": moments.date_add_units,
    "date_diff": moments.datediff_full,
    "date_format": moments.date_format_mysql,
    "from_unixtime": moments.from_unixtime_trino,
    "week": plain("weekofyear", 1),
    "week_of_year": plain("weekofyear", 1),
    "day_of_week": _one(_dow_iso),
    "dow": _one(_dow_iso),
    "doy": plain("dayofyear", 1),
    "last_day_of_month": plain("last_day", 1),
}
_DUCKDB: dict[str, Builder] = {
    **_SHARED_BY_THE_SIX,
    "md5": plain("md5", 1),
    "make_date": moments.make_date,
    "contains": plain("contains", 2),
    "prefix": plain("startswith", 2),
    "suffix": plain("endswith", 2),
    "regexp_matches": plain("rlike", 2),
    "isnan": conditionals.is_nan,
    "date_trunc": moments.date_trunc,
    "datetrunc": moments.date_trunc,
    "date_add": moments.date_add_interval,
    "date_diff": moments.datediff_borders,
    "datediff": moments.datediff_borders,
    "strftime": moments.strftime,
    "week": plain("weekofyear", 1),
    "weekofyear": plain("weekofyear", 1),
    "dayofweek": _one(_dow_from_zero),
    "weekday": _one(_dow_from_zero),
    "isodow": _one(_dow_iso),
    "len": strings.length,
    "instr": plain("instr", 2),
    "today": lambda a: moments.current_date(a.expect(0).scope),
    "add_months": plain("add_months", 2),
}
_POSTGRES: dict[str, Builder] = {
    **{k: v for k, v in _SHARED_BY_THE_SIX.items() if k != "second"},
    "md5": plain("md5", 1),
    "round": number_calls.exact_round,
    "date_trunc": moments.date_trunc,
    "to_date": moments.read_by_format(DATE),
    "to_timestamp": moments.read_by_format(TIMESTAMP),
    "to_char": moments.to_char,
    "btrim": plain("trim", 1),
    "octet_length": plain("octet_length", 1),
    "regexp_like": plain("rlike", 2),
}
_BIGQUERY: dict[str, Builder] = {
    **_SHARED_BY_THE_SIX,
    "is_nan": conditionals.is_nan,
    "regexp_contains": plain("rlike", 2),
    "date_trunc": moments.date_trunc_bigquery,
    "datetime_trunc": moments.date_trunc_bigquery,
    "timestamp_trunc": moments.date_trunc_bigquery,
    "date_add": moments.date_add_interval,
    "datetime_add": moments.date_add_interval,
    "timestamp_add": moments.date_add_interval,
    "date_sub": moments.date_sub_interval,
    "datetime_sub": moments.date_sub_interval,
    "timestamp_sub": moments.date_sub_interval,
    "date_diff": moments.datediff_bigquery,
    "format_date": moments.format_bigquery,
    "format_timestamp": moments.format_bigquery,
    "format_datetime": moments.format_bigquery,
    "timestamp_seconds": plain("timestamp_seconds", 1),
    "timestamp_millis": plain("timestamp_millis", 1),
    "timestamp_micros": plain("timestamp_micros", 1),
    "unix_seconds": plain("unix_seconds", 1),
    "unix_millis": plain("unix_millis", 1),
    "unix_micros": plain("unix_micros", 1),
    "unix_date": plain("unix_date", 1),
    "div": number_calls.quotient,
    "timestamp": moments.to_timestamp,
    "datetime": moments.to_timestamp_ntz,
}
_SNOWFLAKE: dict[str, Builder] = {
    **_SHARED_BY_THE_SIX,
    "contains": plain("contains", 2),
    "bitand": number_calls.bits("&"),
    "bitor": number_calls.bits("|"),
    "bitxor": number_calls.bits("^"),
    "bitnot": number_calls.bits("~", 1),
    "md5": plain("md5", 1),
    "iff": conditionals.choose,
    "nvl2": conditionals.nvl2,
    "decode": conditionals.decode,
    "equal_null": conditionals.equal_null,
    "date_trunc": moments.date_trunc_without_weeks,
    "dateadd": moments.date_add_units,
    "timeadd": moments.date_add_units,
    "timestampadd": moments.date_add_units,
    "datediff": moments.datediff_borders,
    "to_date": moments.text_to_date,
    "to_char": moments.to_char,
    "to_varchar": moments.to_char,
    "to_timestamp": moments.text_to_timestamp_ntz,
    "to_timestamp_ntz": moments.text_to_timestamp_ntz,
    "weekiso": plain("weekofyear", 1),
    "dayofweekiso": _one(_dow_iso),
}
_OF_FAMILY = {
    Family.SPARK: _SPARK,
    Family.TRINO: _TRINO,
    Family.DUCKDB: _DUCKDB,
    Family.POSTGRES: _POSTGRES,
    Family.BIGQUERY: _BIGQUERY,
    Family.SNOWFLAKE: _SNOWFLAKE,
    Family.OTHER: {},
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
_PARTS_OF_FAMILY: dict[Family, dict[str, Part]] = {
    Family.SPARK: {
        **_ISO_WEEKS,
        "dayofweek": "dayofweek",
        "dow": "dayofweek",
        "dayofweek_iso": _dow_iso,
        "dow_iso": _dow_iso,
    },
    Family.TRINO: {
        **_ISO_WEEKS,
        "second": "second",
        "dow": _dow_iso,
        "day_of_week": _dow_iso,
        "day_of_year": "dayofyear",
        "day_of_month": "day",
    },
    Family.DUCKDB: {
        **_ISO_WEEKS,
        "second": "second",
        "dow": _dow_from_zero,
        "dayofweek": _dow_from_zero,
        "isodow": _dow_iso,
    },
    Family.POSTGRES: {**_ISO_WEEKS, "dow": _dow_from_zero, "isodow": _dow_iso},
    Family.BIGQUERY: {"isoweek": "weekofyear", "dayofweek": "dayofweek", "second": "second"},
    Family.SNOWFLAKE: {
        "second": "second",
        "weekiso": "weekofyear",
        "dayofweekiso": _dow_iso,
        "dayofweek_iso": _dow_iso,
    },
    Family.OTHER: {},
}
