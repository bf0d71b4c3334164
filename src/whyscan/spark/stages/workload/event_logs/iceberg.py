"""Turn the filters that an Iceberg scan prints, `p = 1, s = 'a', d > 20456`, into SQL.

Texts have quotes. Times are numbers of days or microseconds since 1970, so that a number is read
only if the type of its column is known.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from whyscan.spark.stages.workload.event_logs.catalyst import (
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
        match = _whole(_FILTER, text, at) or _whole(_OTHER, text, at)
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


def _whole(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
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
    if kind in {"date", "timestamp", "timestamp_ntz"}:
        return _time(value, kind)
    return literal(value, kind, None)


def _time(value: str, kind: str) -> str:
    """A number since 1970 as a literal; UnsureError if it does not fit the type."""
    if not _INTEGER.fullmatch(value):
        raise UnsureError(value)
    number = int(value)
    try:
        if kind == "date":
            return f"DATE '{date(1970, 1, 1) + timedelta(days=number)}'"
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=number)
    except OverflowError as error:
        raise UnsureError(value) from error
    if abs(number) < _MOST_OF_AN_INT:
        # The column may have been a date when the plan was made (Iceberg schema evolution).
        raise UnsureError(value)
    if kind == "timestamp":
        return f"TIMESTAMP '{moment.isoformat(' ')}'"
    return f"TIMESTAMP_NTZ '{moment.replace(tzinfo=None).isoformat(' ')}'"
