"""The filters of an Iceberg scan, as its plan prints them: `p = 1, s = 'a', d > 20456`.

Texts have quotes there, and times are numbers: a number is read only where the column is known to
be a bigint.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.spark.workload.event_logs.catalyst import Read, quoted, text_of

if TYPE_CHECKING:
    from collections.abc import Collection

_FILTERS = re.compile(r"\bfilters=(?P<filters>.*?),? (?:runtimeFilters|groupedBy)=", re.DOTALL)
_VALUE = r"'[^']*'|-?\d+(?:\.\d+)?"
_FILTER = re.compile(
    rf"""(?P<column>[^\s,'()]+)[ ](?:
        (?P<test>IS[ ](?:NOT[ ])?NULL)
        | (?P<operator><=|>=|<|>|=)[ ](?P<value>{_VALUE})
        | IN[ ]\((?P<values>(?:{_VALUE})(?:,[ ]?(?:{_VALUE}))*)\)
    )""",
    re.VERBOSE,
)


def filters_of(text: str) -> str:
    """The part of a scan's text that lists its filters."""
    found = _FILTERS.search(text)
    return "" if found is None else found["filters"]


def read_iceberg_filters(text: str, attributes: Collection[str]) -> Read:
    """The filters that are sure, and the others. `attributes` are the scan's columns."""
    longs = {name.rpartition("#")[0] for name in attributes if name.endswith("L")}
    names = {name.rpartition("#")[0] for name in attributes}
    conjuncts: list[str] = []
    left_out: list[str] = []
    at = 0
    while at < len(text):
        found = _FILTER.match(text, at)
        if found is None or not (found.end() == len(text) or text.startswith(", ", found.end())):
            # Where a filter that is not known ends, is not known either.
            left_out.append(text[at:])
            break
        sql = _sql(found, names, longs)
        (left_out if sql is None else conjuncts).append(found[0] if sql is None else sql)
        at = found.end() + 2
    return Read(tuple(conjuncts), tuple(left_out))


def _sql(found: re.Match[str], names: Collection[str], longs: Collection[str]) -> str | None:
    column = found["column"]
    name = quoted(column)
    if column not in names:
        return None
    if found["test"]:
        return f"{name} {found['test']}"
    if found["operator"]:
        value = _literal(found["value"], column, longs)
        return None if value is None else f"{name} {found['operator']} {value}"
    values = [_literal(one, column, longs) for one in re.findall(_VALUE, found["values"])]
    known = [value for value in values if value is not None]
    return f"{name} IN ({', '.join(known)})" if len(known) == len(values) else None


def _literal(value: str, column: str, longs: Collection[str]) -> str | None:
    if value.startswith("'"):
        return text_of(value[1:-1])
    return value if column in longs and "." not in value else None
