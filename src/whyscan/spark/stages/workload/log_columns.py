"""The columns of query logs: what each name means, and which engine has it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COLUMNS = {
    "text": (
        "query_text",
        "statement_text",
        "sql_text",
        "query_sql_text",
        "query_txt",
        "sql_full_text",
        "sql_text_info",
        "query_string",
        "raw_query",
        "sql",
        "statement",
        "query",
    ),
    "times": (
        "times",
        "executions",
        "execution_count",
        "count_executions",
        "num_executions",
        "calls",
        "runs",
        "count",
    ),
    "bytes": (
        "bytes_scanned",
        "scanned_bytes",
        "bytes_read",
        "read_bytes",
        "physical_input_bytes",
        "data_scanned_in_bytes",
        "s3_scanned_bytes",
        "total_bytes_processed",
        "bytes_processed",
        "bytes",
    ),
    "when": (
        "start_time",
        "query_start_time",
        "query_start_time_ms",
        "started",
        "started_at",
        "submission_date_time",
        "creation_time",
        "create_time",
        "created",
        "created_at",
        "event_time",
        "timestamp",
        "time",
        "when",
    ),
    "dialect": ("dialect",),
    "parameters": ("parameters", "params", "bind_params", "bind_parameters", "bind_variables"),
    "arguments": ("execution_parameters",),
    "user": (
        "user_name",
        "user_email",
        "executed_by",
        "executed_as_user_name",
        "username",
        "usename",
        "user",
        "principal",
        "user_id",
        "team",
        "role_name",
        "warehouse_name",
        "work_group",
    ),
    "files": ("read_files", "read_files_count", "scanned_files", "partitions_scanned"),
    "partitions": ("qualified_partitions",),
    "files_total": ("total_files", "partitions_total"),
    "files_pruned": ("pruned_files", "pruned_files_count"),
    "catalog": ("catalog_name", "database_name"),
    "schema": ("schema_name", "current_schema"),
}
"""The column names of each meaning, without regard to case and punctuation.

If a log has several, the first name in the list wins: beside `query_text`, `query` is a number.
"""

_ENGINES = {
    "snowflake": ("partitions_total", "credits_used_cloud_services", "warehouse_size"),
    "redshift": ("redshift_version", "result_cache_hit", "lock_wait_time", "qualified_partitions"),
    "postgres": ("shared_blks_hit", "shared_blks_read", "total_exec_time"),
    "bigquery": ("total_slot_ms", "total_bytes_billed"),
    "databricks": ("executed_by_user_id", "total_task_duration_ms"),
    "clickhouse": ("initial_query_id",),
}
"""Columns that only the log of one engine has: they name the dialect of its texts."""
_NO_TEXTS = {"externalquerytext": "it has no texts: join SYS_QUERY_HISTORY to it by query_id"}
"""A column of a log that has no texts, and what to do."""
_NAMES = {
    re.sub(r"[^a-z0-9]", "", name): (meaning, rank)
    for meaning, names in COLUMNS.items()
    for rank, name in enumerate(names)
}


def meanings(columns: Sequence[str]) -> dict[str, str]:
    """The column of each meaning; if several columns fit, the one with the first name."""
    best: dict[str, tuple[int, str]] = {}
    for column in columns:
        meaning_and_rank = _NAMES.get(_plain_name(column))
        if meaning_and_rank is not None:
            meaning, rank = meaning_and_rank
            if meaning not in best or rank < best[meaning][0]:
                best[meaning] = (rank, column)
    return {meaning: column for meaning, (_, column) in best.items()}


@lru_cache(10_000)
def _plain_name(column: str) -> str:
    return re.sub(r"[^a-z0-9]", "", column.lower())


def engine_of(columns: Iterable[str]) -> dict[str, str]:
    """The dialect of a log, as a value of its rows, if its columns show the engine."""
    names = set(map(_plain_name, columns))
    for dialect, marks in _ENGINES.items():
        if names.intersection(map(_plain_name, marks)):
            return {"dialect": dialect}
    return {}


def without_texts(names: Sequence[str]) -> str:
    """Why a log with these columns has no queries."""
    advice = next((_NO_TEXTS[n] for n in map(_plain_name, names) if n in _NO_TEXTS), None)
    if advice is not None:
        return advice
    shown = ", ".join(names[:10])
    return (
        f"no column of it is a query's text, which may be called {', '.join(COLUMNS['text'])}"
        + (f"; its columns are {shown}" if shown else "")
    )
