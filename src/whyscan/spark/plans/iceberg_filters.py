"""Turn the filters of an Iceberg scan into Spark SQL: Java objects, or the text of a printed plan.

Conditions that Iceberg's partitions decide are only in the scan: Spark removes them from its plan.
A printed scan has `p = 1, s = 'a', d > 20456`: texts have quotes. Times are numbers of days or
microseconds since 1970, so that a number is read only if the type of its column is known.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from whyscan.spark.plans.printed_filters import (
    ReadFilters,
    UnsureError,
    literal,
    quoted,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA_TABLES = (
    r"(?:all_)?(?:(?:data_|delete_)?files|entries|manifests)|history|metadata_log_entries"
    r"|snapshots|refs|partitions|position_deletes"
)
"""A pattern for the names of Iceberg's metadata tables."""
_FILTERS = re.compile(r"\bfilters=(?P<filters>.*?),? (?:runtimeFilters|groupedBy)=", re.DOTALL)
_VALUE = r"(?:'[^']*'|-?\d+(?:\.\d+)?(?:E-?\d+)?|true|false)"
_FILTER = re.compile(
    rf"""(?P<column>[^\s,'()]+)[ ](?:
        (?P<test>IS[ ](?:NOT[ ])?NULL)
        | (?P<operator><=|>=|<|>|=)[ ](?P<value>{_VALUE})
        | IN[ ]\((?P<values>{_VALUE}(?:,[ ]?{_VALUE})*)\)
    )""",
    re.VERBOSE,
)
# Filters that are left out, but whose end is certain: the filters after them are read.
_OTHER = re.compile(
    rf"""[^\s,'()]+[ ](?:!=[ ]{_VALUE} | NOT[ ]IN[ ]\([^()']*\) | (?:NOT[ ])?LIKE[ ]'[^']*')
    | (?:NOT[ ]|\w+)?\((?:[^()'] | '[^']*' | \((?:[^()']|'[^']*')*\))*\)""",
    re.VERBOSE,
)
_NEGATED = re.compile(r"NOT \((.*)\)", re.DOTALL)
_INTEGER = re.compile(r"-?\d+")
_MOST_OF_AN_INT = 2**31
_OPERATORS = {"EQ": "=", "NOT_EQ": "<>", "LT": "<", "LT_EQ": "<=", "GT": ">", "GT_EQ": ">="}
_TESTS = {"IS_NULL": "IS NULL", "NOT_NULL": "IS NOT NULL"}
_LISTS = {"IN": "IN", "NOT_IN": "NOT IN"}
_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})


def expression_sql(expression: Any, types: Mapping[str, str]) -> str:
    """An unbound Java expression of Iceberg as SQL; UnsureError if it cannot be written.

    `types` are the types of the columns by their names in lower case.
    """
    operation: str = expression.op().toString()
    if operation in {"AND", "OR"}:
        sides = (expression_sql(side, types) for side in (expression.left(), expression.right()))
        return f"({f' {operation} '.join(sides)})"
    if operation == "NOT":
        return f"(NOT {expression_sql(expression.child(), types)})"
    if operation in {"TRUE", "FALSE"}:
        return operation
    name = expression.ref().name()
    kind = types.get(name.lower())
    if kind is None or expression.term().getClass().getSimpleName() != "NamedReference":
        raise UnsureError(expression.toString())
    column = ".".join(map(quoted, name.split(".")))
    if operation in _TESTS:
        return f"{column} {_TESTS[operation]}"
    if operation in _OPERATORS:
        return f"{column} {_OPERATORS[operation]} {_value(expression.literal().value(), kind)}"
    if operation in _LISTS:
        values = [_value(each.value(), kind) for each in expression.literals()]
        return f"{column} {_LISTS[operation]} ({', '.join(values)})"
    raise UnsureError(expression.toString())


def _value(value: object, kind: str) -> str:
    match value:
        case bool():
            return str(value).upper()
        case int() if kind in _TIMES:
            return _time(value, kind)
        case int() | Decimal():
            return str(value)
        case str():
            return text_of(value)
        case _:
            raise UnsureError(str(value))


def filters_of(text: str) -> str:
    """The list of filters in the text of a scan."""
    match = _FILTERS.search(text)
    return "" if match is None else match["filters"]


def read_iceberg_filters(text: str, types: Mapping[str, str | None]) -> ReadFilters:
    """The filters that can be read, and the others. `types` are the types of the columns."""
    conjuncts: list[str] = []
    left_out: list[str] = []
    at = 0
    while at < len(text):
        match = _match_of_item(_FILTER, text, at) or _match_of_item(_OTHER, text, at)
        if match is None:
            # The end of an unknown filter is unknown too.
            left_out.append(text[at:])
            break
        try:
            conjuncts.append(_sql(match[0], types))
        except UnsureError:
            left_out.append(match[0])
        at = match.end() + 2
    return ReadFilters(tuple(conjuncts), tuple(left_out))


def _match_of_item(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    match = pattern.match(text, at)
    ends = match is not None and (match.end() == len(text) or text.startswith(", ", match.end()))
    return match if ends else None


def _sql(text: str, types: Mapping[str, str | None]) -> str:
    if (negated := _NEGATED.fullmatch(text)) is not None:
        return f"NOT ({_sql(negated[1], types)})"
    match = _FILTER.fullmatch(text)
    if match is None or match["column"] not in types:
        raise UnsureError
    name, kind = quoted(match["column"]), types[match["column"]]
    if match["test"]:
        return f"{name} {match['test']}"
    if match["operator"]:
        return f"{name} {match['operator']} {_literal(match['value'], kind)}"
    values = [_literal(value, kind) for value in re.findall(_VALUE, match["values"])]
    return f"{name} IN ({', '.join(values)})"


def _literal(value: str, kind: str | None) -> str:
    if value.startswith("'"):
        return text_of(value[1:-1])
    if value in {"true", "false"}:
        return value
    if kind is None:
        raise UnsureError(value)
    if kind not in _TIMES:
        return literal(value, kind, None)
    # The column may have been a date when the plan was made (Iceberg schema evolution).
    maybe_days = kind != "date" and abs(float(value)) < _MOST_OF_AN_INT
    if maybe_days or not _INTEGER.fullmatch(value):
        raise UnsureError(value)
    return _time(int(value), kind)


def _time(number: int, kind: str) -> str:
    """A number of days or microseconds since 1970 as a literal; UnsureError beyond year 9999."""
    try:
        if kind == "date":
            return f"DATE '{date(1970, 1, 1) + timedelta(days=number)}'"
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=number)
    except OverflowError as error:
        raise UnsureError(str(number)) from error
    if kind == "timestamp":
        return f"TIMESTAMP '{moment.isoformat(' ')}'"
    return f"TIMESTAMP_NTZ '{moment.replace(tzinfo=None).isoformat(' ')}'"
