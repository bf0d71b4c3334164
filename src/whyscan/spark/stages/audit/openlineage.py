"""The audit as OpenLineage run events, one JSON object per line.

The audit is a run of the job `audit`; each query is a run below it, of a job that is named by its
shape. The inputs are the tables, named by their addresses:

| address | namespace | name |
|---|---|---|
| `s3://lake/db/events` | `s3://lake` | `db/events` |
| `abfss://c@a.dfs.core.windows.net/t` | `abfss://c@a.dfs.core.windows.net` | `t` |
| `hdfs://name:8020/db/t` | `hdfs://name:8020` | `/db/t` |
| `/lake/t`, `file:///lake/t` | `file` | `/lake/t` |

The statistics of an input are what the plan of one run reads: nothing was executed. Unknown numbers
are left out. No event has a literal of a query.
"""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whyscan.planning.plan.planner import plus_all
from whyscan.predicate.syntax.redact import HIDDEN, without_literals
from whyscan.reports.document import version
from whyscan.reports.redaction import redacted
from whyscan.spark.stages.audit.by_shape import digest, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from whyscan.reports.report import Subject
    from whyscan.spark.stages.audit.report import Audit, AuditedScan, AuditRun, QueryLine

    Json = dict[str, Any]

SPEC = "https://openlineage.io/spec"
EVENT = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACETS = {
    "icebergScanReport": ("1-0-1", "IcebergScanReportInputDatasetFacet"),
    "inputStatistics": ("1-0-0", "InputStatisticsInputDatasetFacet"),
    "errorMessage": ("1-0-1", "ErrorMessageRunFacet"),
    "jobType": ("2-0-3", "JobTypeJobFacet"),
    "parent": ("1-0-1", "ParentRunFacet"),
    "sql": ("1-1-0", "SQLJobFacet"),
    "storage": ("1-0-1", "StorageDatasetFacet"),
    "version": ("1-0-1", "DatasetVersionDatasetFacet"),
}
NAMESPACE = "whyscan"
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://([^/]*)/*(.*)", re.IGNORECASE | re.DOTALL)
_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss"}


def openlineage(audit: Audit) -> str:
    """Every event, one per line."""
    return "".join(json.dumps(event, allow_nan=False) + "\n" for event in _events(audit))


def dataset(uri: str) -> tuple[str, str]:
    """Namespace and name of a table, by OpenLineage's naming rules."""
    local = re.sub(r"^file:(//)?(?=/)", "", uri)
    address = _ADDRESS.fullmatch(local)
    if address is None:
        return "file", str(Path(local).absolute())
    scheme, authority, path = address.groups()
    scheme = _SCHEMES.get(scheme.lower(), scheme.lower())
    return f"{scheme}://{authority}", f"/{path}" if scheme == "hdfs" else path.rstrip("/")


def _events(audit: Audit) -> Iterator[Json]:
    run, job = _id(audit.run), {"namespace": NAMESPACE, "name": "audit"}
    yield _event("START", audit.run, {"runId": run}, job)
    for number, line in enumerate(audit.queries):
        yield from _query(audit.run, line, number)
    yield _event("COMPLETE", audit.run, {"runId": run}, job)


def _query(run: AuditRun, line: QueryLine, number: int) -> Iterator[Json]:
    """The events of a query: START, then COMPLETE, or FAIL where a table could not be audited."""
    facets: Json = {"parent": _facet("parent", **_parent(run))}
    identity = str(uuid.uuid5(uuid.UUID(_id(run)), f"{number} {digest(line.shape)}"))
    run_facets = {"runId": identity, "facets": facets}
    yield _event("START", run, run_facets, _job(line))
    if line.error is not None:
        facets = facets | {"errorMessage": _error(line)}
    facets = facets | {"whyscan_query": _whyscan_facet("RunFacet", **_figures(line))}
    kind = "COMPLETE" if line.error is None else "FAIL"
    yield _event(kind, run, run_facets | {"facets": facets}, _job(line), list(_inputs(line)))


def _event(
    kind: str, run: AuditRun, run_fields: Json, job: Json, inputs: Sequence[Json] = ()
) -> Json:
    at = run.at if kind == "START" else run.at + timedelta(seconds=run.seconds)
    return {
        "eventType": kind,
        "eventTime": _moment(at),
        "producer": _producer(),
        "schemaURL": EVENT,
        "run": run_fields,
        "job": job,
        "inputs": list(inputs),
        "outputs": [],
    }


def _id(run: AuditRun) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"whyscan:audit:{run.id}"))


def _parent(run: AuditRun) -> Json:
    return {"run": {"runId": _id(run)}, "job": {"namespace": NAMESPACE, "name": "audit"}}


def _job(line: QueryLine) -> Json:
    sql = _facet("sql", query=shown(line), dialect=line.dialect)
    kind = _facet("jobType", processingType="BATCH", integration="WHYSCAN", jobType="QUERY")
    return {
        "namespace": NAMESPACE,
        "name": f"audit.{digest(line.shape)}",
        "facets": {"sql": sql, "jobType": kind},
    }


def _error(line: QueryLine) -> Json:
    """The error message without literals; a fixed text where the query is no SQL."""
    if shown(line) == HIDDEN:
        message = "the query could not be audited"
    else:
        message = redacted(line).error or ""
    return _facet("errorMessage", message=message, programmingLanguage="SQL")


def _figures(line: QueryLine) -> Json:
    figures = {
        "shape": digest(line.shape),
        "times": line.times,
        "bytesRead": line.bytes_read,
        "bytesNeeded": line.bytes_needed,
        "bytesWasted": line.wasted,
        "keptRatio": line.ratio,
    }
    return _without_unknown(figures)


def _inputs(line: QueryLine) -> Iterator[Json]:
    """One input for each table; the scans of a table are summed."""
    scans: dict[tuple[str, str], list[AuditedScan]] = {}
    for table in line.tables:
        scans.setdefault(dataset(table.uri), []).append(table)
    for (namespace, name), table_scans in scans.items():
        yield {
            "namespace": namespace,
            "name": name,
            "facets": _about(table_scans[0].scan.report.table),
            "inputFacets": _reads(table_scans),
        }


def _about(table: Subject) -> Json:
    facets: Json = {}
    if table.version is not None:
        facets["version"] = _facet("version", datasetVersion=str(table.version))
    if table.format == "delta":
        facets["storage"] = _facet("storage", storageLayer="delta", fileFormat="parquet")
    if table.format == "iceberg":
        facets["storage"] = _facet("storage", storageLayer="iceberg")
    return facets


def _reads(scans: Sequence[AuditedScan]) -> Json:
    summaries = [table.scan.report.summary for table in scans]
    statistics = {
        "rowCount": None
        if _answered(scans)
        else plus_all(summary.rows_kept for summary in summaries),
        "size": plus_all(table.bytes_kept for table in scans),
        "fileCount": sum(table.scan.gated_reading.kept for table in scans),
    }
    facets = {"inputStatistics": _facet("inputStatistics", **_without_unknown(statistics))}
    facets["whyscan_scan"] = _whyscan_facet("InputDatasetFacet", **_without_unknown(_scan(scans)))
    if scans[0].scan.report.table.format == "iceberg":
        facets["icebergScanReport"] = _facet("icebergScanReport", **_scan_report(scans))
    return facets


def _answered(scans: Sequence[AuditedScan]) -> bool:
    return any(table.scan.answer is not None for table in scans)


def _scan(scans: Sequence[AuditedScan]) -> Json:
    return {
        "bytesRead": plus_all(table.bytes_read for table in scans),
        "bytesNeeded": plus_all(table.bytes_needed for table in scans),
        "engineRuns": _engine(scans, "runs"),
        "engineFiles": _engine(scans, "files"),
        "engineBytes": _engine(scans, "bytes"),
        "engineRows": _engine(scans, "rows"),
    }


def _engine(scans: Sequence[AuditedScan], name: str) -> int | None:
    """What the engine reported for all its runs; None unless it reported every scan."""
    return plus_all(None if t.actual is None else getattr(t.actual, name) for t in scans)


def _scan_report(scans: Sequence[AuditedScan]) -> Json:
    """Iceberg's own report on a scan; for several scans the sums, without a filter."""
    first = scans[0].scan.report
    report: Json = {"scanMetrics": _without_unknown(_scan_metrics(scans))}
    if first.table.version is not None:
        report["snapshotId"] = first.table.version
    if len(scans) == 1:
        # The predicate of a scan is Spark SQL, whatever the dialect of the query.
        report["filter"] = without_literals(first.question.predicate, "spark")
    report["projectedFieldNames"] = list(dict.fromkeys(c for t in scans for c in t.scan.columns))
    return report


def _scan_metrics(scans: Sequence[AuditedScan]) -> Json:
    summaries = [table.scan.report.summary for table in scans]
    files = sum(table.scan.gated_reading.kept for table in scans)
    manifests = plus_all(summary.manifests_total for summary in summaries)
    scanned = plus_all(summary.manifests_kept for summary in summaries)
    skipped = None if manifests is None or scanned is None else manifests - scanned
    return {
        "resultDataFiles": files,
        "skippedDataFiles": sum(summary.files_total for summary in summaries) - files,
        "totalFileSizeInBytes": plus_all(table.bytes_kept for table in scans),
        "totalDataManifests": manifests,
        "scannedDataManifests": scanned,
        "skippedDataManifests": skipped,
    }


def _facet(name: str, **fields: Any) -> Json:
    """A facet of the OpenLineage standard, at the version of its schema."""
    edition, kind = FACETS[name]
    schema = f"{SPEC}/facets/{edition}/{kind}.json#/$defs/{kind}"
    return {"_producer": _producer(), "_schemaURL": schema, **fields}


def _whyscan_facet(kind: str, **fields: Any) -> Json:
    """A facet of whyscan's own; its schema is that of its kind."""
    schema = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/{kind}"
    return {"_producer": _producer(), "_schemaURL": schema, **fields}


def _producer() -> str:
    """A package URL: program and version, and no web address, which could move."""
    return f"pkg:pypi/whyscan@{version()}"


def _without_unknown(fields: Mapping[str, Any]) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
