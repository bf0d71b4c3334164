"""Read Iceberg's `ScanReport` in JSON, as engines send it to a REST catalog.

A report has no SQL: a query is written from its table, its columns and its filter. Clients hide the
values of a filter, `(2-digit-int)`; a condition with a hidden value is left out, with a note.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DIALECT = "spark"
_HIDDEN = re.compile(r"\(.*\)", re.DOTALL)
_COMPARISONS = {"lt": "<", "lt-eq": "<=", "gt": ">", "gt-eq": ">=", "eq": "=", "not-eq": "<>"}
_TESTS = {
    "is-null": "{} IS NULL",
    "not-null": "{} IS NOT NULL",
    "is-nan": "isnan({})",
    "not-nan": "NOT isnan({})",
}
_PREFIXES = {"starts-with": "startswith({}, {})", "not-starts-with": "NOT startswith({}, {})"}
_LISTS = {"in": "IN", "not-in": "NOT IN"}


def is_metrics_report(entry: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a report of Iceberg, of a scan or of a commit."""
    return "report-type" in entry and "table-name" in entry


def read_report(report: Mapping[str, Any], origin: str) -> Query | Unparsed:
    """The query of a scan report, with what was planned of the table."""
    table = str(report["table-name"])
    if report["report-type"] != "scan-report":
        return Unparsed(origin, "", f"it is a {report['report-type']} of {table}")
    conditions, notes = [], []
    for part in _conjuncts(report.get("filter", True)):
        condition = _condition(part)
        if condition is None:
            notes.append(f"a condition was left out, its values are hidden: {_described(part)}")
        elif condition != "TRUE":
            conditions.append(condition)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return Query(
        f"SELECT {_columns(report)} FROM {_table(table)}{where}",  # noqa: S608 - it is only read
        DIALECT,
        origins=(origin,),
        actual=(_scan(table, report.get("metrics") or {}),),
        notes=tuple(notes),
    )


def _scan(table: str, metrics: Mapping[str, Any]) -> ActualScan:
    """What was planned. The files of skipped manifests are in no count of the report."""

    def count(name: str) -> int | None:
        value = (metrics.get(name) or {}).get("value")
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    files, skipped = count("result-data-files"), count("skipped-data-files")
    is_whole = count("skipped-data-manifests") == 0 and files is not None and skipped is not None
    return ActualScan(
        table,
        files=files,
        bytes=count("total-file-size-in-bytes"),
        files_total=files + skipped if is_whole and files is not None and skipped else None,
        manifests=count("scanned-data-manifests"),
        manifests_total=count("total-data-manifests"),
    )


def _columns(report: Mapping[str, Any]) -> str:
    """The columns that the scan projects; a member of a struct is read with its column."""
    names = report.get("projected-field-names")
    if names is None:
        return "*"
    columns = dict.fromkeys(str(name).split(".", 1)[0] for name in names)
    return ", ".join(map(_quoted, columns)) or "count(*)"


def _table(name: str) -> str:
    return f"iceberg.{_quoted(name)}" if "/" in name else ".".join(map(_quoted, name.split(".")))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _conjuncts(node: Any) -> Iterator[Any]:
    if isinstance(node, dict) and node.get("type") == "and":
        yield from _conjuncts(node["left"])
        yield from _conjuncts(node["right"])
    else:
        yield node


def _condition(node: Any) -> str | None:
    """The SQL of a condition; None where a value is hidden or the form is new."""
    if isinstance(node, bool):
        return "TRUE" if node else "FALSE"
    kind = node.get("type")
    if kind in {"true", "false"}:
        return str(kind).upper()
    if kind in {"and", "or"}:
        sides = [_condition(node["left"]), _condition(node["right"])]
        if None in sides:
            return None
        return "(" + f" {kind.upper()} ".join(f"({side})" for side in sides) + ")"
    if kind == "not":
        child = _condition(node["child"])
        return None if child is None else f"NOT ({child})"
    term = node.get("term")
    if not isinstance(term, str):
        return None  # the result of a transform
    column = ".".join(map(_quoted, term.split(".")))
    if kind in _TESTS:
        return _TESTS[kind].format(column)
    values = [_literal(value) for value in node.get("values") or [node.get("value")]]
    shown = [value for value in values if value is not None]
    if len(shown) < len(values):
        return None
    if kind in _COMPARISONS:
        return f"{column} {_COMPARISONS[kind]} {shown[0]}"
    if kind in _PREFIXES:
        return _PREFIXES[kind].format(column, shown[0])
    return f"{column} {_LISTS[kind]} ({', '.join(shown)})" if kind in _LISTS else None


def _literal(value: Any) -> str | None:
    """A value as SQL; None if it is hidden. Dates, times and decimals are texts in the report."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str) or _HIDDEN.fullmatch(value):
        return None
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _described(node: Any) -> str:
    """The kind and the column of a condition."""
    term = node.get("term", "several columns")
    return f"{node.get('type')} of {term if isinstance(term, str) else 'a transform'}"
