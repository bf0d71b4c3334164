"""The results of an audit as rows, for dashboards: one per query, and one per finding.

`history.summaries` has one row per scan. No row has the text of a query: its digest is the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.masking import mask_credentials
from whyscan.spark.stage_output import TableFormat, format_named, write_table
from whyscan.spark.stages.audit.history import digest, summaries
from whyscan.spark.versions import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.reports.findings import Finding
    from whyscan.spark.stages.audit.report import Audit, QueryLine

_KEYS = (
    ("run", pa.string()),
    ("at", pa.timestamp("us", "UTC")),
    ("shape", pa.string()),
    ("digest", pa.string()),
)
QUERIES = pa.schema(
    [
        *_KEYS,
        ("dialect", pa.string()),
        ("times", pa.int64()),
        ("first", pa.timestamp("us", "UTC")),
        ("last", pa.timestamp("us", "UTC")),
        ("days", pa.map_(pa.string(), pa.int64())),
        ("users", pa.map_(pa.string(), pa.int64())),
        ("tables", pa.list_(pa.string())),
        ("bytes_read", pa.int64()),
        ("bytes_needed", pa.int64()),
        ("bytes_logged", pa.int64()),
        ("wasted", pa.int64()),
        ("layout_bytes", pa.int64()),
        ("ratio", pa.float64()),
        ("error", pa.string()),
    ]
)
FINDINGS = pa.schema(
    [
        *_KEYS,
        ("scan", pa.int32()),
        ("table", pa.string()),
        ("code", pa.string()),
        ("severity", pa.string()),
        ("columns", pa.list_(pa.string())),
        ("times", pa.int64()),
        ("files_before", pa.int64()),
        ("files_after", pa.int64()),
        ("bytes_before", pa.int64()),
        ("bytes_after", pa.int64()),
    ]
)


def result_tables(audit: Audit) -> dict[str, pa.Table]:
    """The tables `queries`, `scans` and `findings` of an audit."""
    return {
        "queries": pa.Table.from_pylist([_query(audit, line) for line in audit.queries], QUERIES),
        "scans": summaries(audit),
        "findings": pa.Table.from_pylist(
            [row for line in audit.queries for row in _findings(audit, line)], FINDINGS
        ),
    }


def audit_frames(spark: SparkSession, audit: Audit) -> dict[str, DataFrame]:
    """The tables `queries`, `scans` and `findings` of an audit as DataFrames."""
    return {name: frame_of(spark, table) for name, table in result_tables(audit).items()}


def write_results(spark: SparkSession, audit: Audit, place: str, form: str) -> None:
    """Replace the three tables at a place, which is a folder, or for Iceberg a namespace."""
    joint = "." if format_named(form) is TableFormat.ICEBERG else "/"
    for name, frame in audit_frames(spark, audit).items():
        write_table(frame, f"{place.rstrip('/')}{joint}{name}", form, mode="replace")


def _keys(audit: Audit, line: QueryLine) -> dict[str, object]:
    return {
        "run": audit.run.id,
        "at": audit.run.at,
        "shape": mask_credentials(line.shape),
        "digest": digest(line.sql),
    }


def _query(audit: Audit, line: QueryLine) -> dict[str, object]:
    same = (
        *("dialect", "times", "first", "last", "bytes_read", "bytes_needed", "bytes_logged"),
        *("wasted", "layout_bytes", "ratio", "error"),
    )
    return {
        **_keys(audit, line),
        **{name: getattr(line, name) for name in same},
        "days": list(line.days.items()),
        "users": [(one.user, one.times) for one in line.users],
        "tables": list(dict.fromkeys(map(mask_credentials, line.table_names))),
    }


def _findings(audit: Audit, line: QueryLine) -> Iterator[dict[str, object]]:
    for at, table in enumerate(line.tables):
        about = {**_keys(audit, line), "scan": at, "table": mask_credentials(table.name)}
        yield from (about | _finding(one, line.times) for one in table.scan.report.findings)
    yield from (_keys(audit, line) | _finding(one, line.times) for one in line.findings)


def _finding(finding: Finding, times: int) -> dict[str, object]:
    effect = finding.effect
    counts: dict[str, int | None] = {}
    if effect is not None:
        counts = {"bytes_before": effect.bytes_before, "bytes_after": effect.bytes_after}
        if effect.unit == "files":
            counts |= {"files_before": effect.before, "files_after": effect.after}
    return {
        "code": finding.code.value,
        "severity": finding.severity.value,
        "columns": list(finding.columns),
        "times": times,
        **counts,
    }
