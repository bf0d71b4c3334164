"""The audit as the JSON document that `audit.schema.json` describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from whyscan.reports.document import Json, of_conjunct, of_finding, of_level, version
from whyscan.spark.stages.audit.report import SCHEMA_VERSION

if TYPE_CHECKING:
    from datetime import datetime

    from whyscan.planning.plan.scan_plan import ScanPlanSummary
    from whyscan.spark.stages.audit.report import (
        Actual,
        Audit,
        AuditedScan,
        AuditRun,
        ColumnTotal,
        Drift,
        QueryLine,
        TableTotal,
    )
    from whyscan.spark.stages.workload.query import Unparsed


def to_json(audit: Audit) -> str:
    """The document as text with one line per query; only ASCII, so that escape codes do nothing."""
    document_ = document(audit)
    queries = ",".join(
        f"\n    {json.dumps(query, allow_nan=False)}" for query in document_["queries"]
    )
    text = json.dumps({**document_, "queries": []}, indent=2, allow_nan=False)
    if not queries:
        return f"{text}\n"
    before, behind = text.split('\n  "queries": []')
    return f'{before}\n  "queries": [{queries}\n  ]{behind}\n'


def document(audit: Audit) -> Json:
    """Plain dictionaries and lists, in the order in which people read them."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "whyscan", "version": version()},
        "run": _run(audit.run),
        "queries": [_query(line) for line in audit.queries],
        "tables": [_total(line) for line in audit.tables],
        "unparsed": [_unparsed(line) for line in audit.unparsed],
        "drift": [_drift(line) for line in audit.drift],
    }


def _run(run: AuditRun) -> Json:
    return {
        "id": run.id,
        "at": _moment(run.at),
        "seconds": round(run.seconds, 3),
        "timezone": run.timezone,
        "depth": run.depth,
        "drift_threshold": run.threshold,
        "notes": list(run.notes),
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def _query(line: QueryLine) -> Json:
    return {
        "sql": line.sql,
        "shape": line.shape,
        "dialect": line.dialect,
        "operation": line.operation,
        "times": line.times,
        "first": _moment(line.first),
        "last": _moment(line.last),
        "days": dict(line.days),
        "origins": list(line.origins),
        "bytes_read": line.bytes_read,
        "bytes_needed": line.bytes_needed,
        "bytes_logged": line.bytes_logged,
        "wasted": line.wasted,
        "ratio": line.ratio,
        "tables": [_table(table) for table in line.tables],
        "findings": [of_finding(finding) for finding in line.findings],
        "notes": list(line.notes),
        "error": line.error,
    }


def _table(line: AuditedScan) -> Json:
    return {
        "name": line.name,
        "alias": line.alias,
        "uri": line.uri,
        "format": line.format or None,
        "version": line.version,
        "columns": list(line.columns),
        "predicate": line.predicate,
        "levels": [of_level(level) for level in line.levels],
        "conjuncts": [of_conjunct(conjunct) for conjunct in line.conjuncts],
        "findings": [of_finding(finding) for finding in line.findings],
        "summary": None if line.summary is None else _summary(line.summary),
        "unchecked": [{"level": level, "why": why} for level, why in line.unchecked],
        "work": None if line.work is None else line.work.sql,
        "answer": line.answer,
        "bytes_kept": line.bytes_kept,
        "bytes_read": line.bytes_read,
        "bytes_needed": line.bytes_needed,
        "rewrite": line.rewrite,
        "actual": None if line.actual is None else _actual(line.actual),
        "error": line.error,
    }


def _summary(summary: ScanPlanSummary) -> Json:
    return {name: getattr(summary, name) for name in summary.__struct_fields__}


def _actual(actual: Actual) -> Json:
    return {name: getattr(actual, name) for name in actual.__struct_fields__}


def _total(line: TableTotal) -> Json:
    return {
        "name": line.name,
        "uri": line.uri,
        "format": line.format or None,
        "version": line.version,
        "queries": line.queries,
        "times": line.times,
        "bytes_read": line.bytes_read,
        "wasted": line.wasted,
        "columns": [_column(column) for column in line.columns],
        "error": line.error,
    }


def _column(line: ColumnTotal) -> Json:
    return {
        "column": line.column,
        "times": line.times,
        "bytes_read": line.bytes_read,
        "wasted": line.wasted,
    }


def _unparsed(line: Unparsed) -> Json:
    return {"origin": line.origin, "text": line.text, "why": line.why, "times": line.times}


def _drift(line: Drift) -> Json:
    return {
        "shape": line.shape,
        "sql": line.sql,
        "table": line.table,
        "before": line.before,
        "after": line.after,
        "before_run": line.before_run,
        "before_at": _moment(line.before_at),
        "before_snapshot": line.before_snapshot,
        "after_snapshot": line.after_snapshot,
        "fell_at": line.fell_at,
        "last_good": line.last_good,
        "unknown": line.unknown,
    }
