"""Read JSON in which engines nest their queries: lists of queries, statistics beside a text.

| engine | document | its queries |
|---|---|---|
| Databricks | the query history API | `res`, with `metrics` |
| Athena | `GetQueryExecution`, `BatchGetQueryExecution` | `QueryExecution`, `QueryExecutions` |
| BigQuery | `jobs.get`, `jobs.list`, `bq show`, `bq ls` | `configuration.query`, `statistics` |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from whyscan.spark.stages.workload.query import Unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LISTS = ("QueryExecutions", "res", "jobs")
_NOT_RETURNED = "UnprocessedQueryExecutionIds"
_PARTS = {"metrics", "statistics", "status", "configuration", "query", "queryexecutioncontext"}
"""The objects of an entry whose members are columns of it."""


def listed_entries(
    document: Mapping[str, Any], origin: str
) -> Iterator[tuple[str, Mapping[str, Any] | Unparsed]]:
    """The entries of a document with their places; the document itself if it lists none."""
    if isinstance(document.get("QueryExecution"), dict):
        yield origin, document["QueryExecution"]
        return
    name = next((name for name in _LISTS if isinstance(document.get(name), list)), None)
    if name is None:
        yield origin, document
        return
    for at, entry in enumerate(document[name], start=1):
        where = f"{origin} {name}[{at}]"
        is_object = isinstance(entry, dict)
        yield where, entry if is_object else Unparsed(where, "", "it is no object of JSON")
    for missing in document.get(_NOT_RETURNED) or ():
        why = f"the engine did not return it: {missing.get('ErrorMessage')}"
        yield origin, Unparsed(f"{origin} ({missing.get('QueryExecutionId')})", "", why)


def columns_of_entry(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The columns of an entry: its members, and those of its parts. An outer member counts first.

    The dialect is the engine's if the entry has the form of one engine.
    """
    columns = dict(entry)
    pending = [entry]
    for part in pending:
        for name, value in part.items():
            if not isinstance(value, dict):
                columns.setdefault(name, value)
            elif re.sub(r"[^a-z]", "", name.lower()) in _PARTS:
                pending.append(value)
    columns = {name: value for name, value in columns.items() if not isinstance(value, dict)}
    return {**columns, **_of_engine(entry)}


def _of_engine(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The dialect of an entry, and the catalog and schema of its session, where it has a form."""
    if "QueryExecutionId" in entry:
        context = entry.get("QueryExecutionContext") or {}
        names = {"catalog_name": context.get("Catalog"), "schema_name": context.get("Database")}
        return {"dialect": "athena", **names}
    if str(entry.get("kind")).startswith("bigquery#") or "jobReference" in entry:
        return {"dialect": "bigquery"}
    if "lookup_key" in entry or "spark_ui_url" in entry:
        return {"dialect": "databricks"}
    return {}
