"""An audit as OpenLineage run events, one JSON object a line.

The audit is a run of the job `audit`; each query is a run below it, of a job that is named by its
shape. Their inputs are the tables, named by where they lie:

| address | namespace | name |
|---|---|---|
| `s3://lake/db/events` | `s3://lake` | `db/events` |
| `abfss://c@a.dfs.core.windows.net/t` | `abfss://c@a.dfs.core.windows.net` | `t` |
| `hdfs://name:8020/db/t` | `hdfs://name:8020` | `/db/t` |
| `/lake/t`, `file:///lake/t` | `file` | `/lake/t` |

The statistics of an input are what the plan of one run reads: nothing was executed. What is not
known is left out. No literal of a query is in an event.
"""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whyscan.predicate.syntax.redact import HIDDEN, without_literals
from whyscan.reports.document import version
from whyscan.reports.redaction import Redactor, new_key
from whyscan.spark.stages.audit.by_shape import digest, files_read, shown
from whyscan.spark.stages.audit.totals import total

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

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
    """Every event, a line each."""
    return "".join(json.dumps(event, allow_nan=False) + "\n" for event in _events(audit))


def dataset(uri: str) -> tuple[str, str]:
    """Namespace and name, as OpenLineage's naming has them."""
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
    """A query has begun and is complete, or has failed where a table could not be looked at."""
    facets: Json = {"parent": _facet("parent", **_parent(run))}
    identity = str(uuid.uuid5(uuid.UUID(_id(run)), f"{number} {digest(line.shape)}"))
    told = {"runId": identity, "facets": facets}
    yield _event("START", run, told, _job(line))
    if line.error is not None:
        facets = facets | {"errorMessage": _error(line)}
    facets = facets | {"whyscan_query": _own("RunFacet", **_figures(line))}
    kind = "COMPLETE" if line.error is None else "FAIL"
    yield _event(kind, run, told | {"facets": facets}, _job(line), list(_inputs(line)))


def _event(kind: str, run: AuditRun, told: Json, job: Json, inputs: Sequence[Json] = ()) -> Json:
    at = run.at if kind == "START" else run.at + timedelta(seconds=run.seconds)
    return {
        "eventType": kind,
        "eventTime": _moment(at),
        "producer": _producer(),
        "schemaURL": EVENT,
        "run": told,
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
    """Why it failed, in words that may quote the query; nothing of what is no SQL is quoted."""
    if shown(line) == HIDDEN:
        message = "the query could not be audited"
    else:
        message = Redactor(line.sql, line.dialect, new_key()).text(line.error or "")
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
    return _known(figures)


def _inputs(line: QueryLine) -> Iterator[Json]:
    """One for each table: a table that is scanned twice is one input, with both scans' sums."""
    scans: dict[tuple[str, str], list[AuditedScan]] = {}
    for table in line.tables:
        if table.summary is not None:
            scans.setdefault(dataset(table.uri), []).append(table)
    for (namespace, name), found in scans.items():
        yield {
            "namespace": namespace,
            "name": name,
            "facets": _about(found[0]),
            "inputFacets": _reads(found),
        }


def _about(table: AuditedScan) -> Json:
    facets: Json = {}
    if table.version is not None:
        facets["version"] = _facet("version", datasetVersion=str(table.version))
    if table.format == "delta":
        facets["storage"] = _facet("storage", storageLayer="delta", fileFormat="parquet")
    if table.format == "iceberg":
        facets["storage"] = _facet("storage", storageLayer="iceberg")
    return facets


def _reads(scans: Sequence[AuditedScan]) -> Json:
    summaries = [table.summary for table in scans if table.summary is not None]
    statistics = {
        "rowCount": None if _answered(scans) else total(one.rows_kept for one in summaries),
        "size": total(table.bytes_kept for table in scans),
        "fileCount": sum(map(files_read, scans)),
    }
    facets = {"inputStatistics": _facet("inputStatistics", **_known(statistics))}
    facets["whyscan_scan"] = _own("InputDatasetFacet", **_known(_scan(scans)))
    if scans[0].format == "iceberg":
        facets["icebergScanReport"] = _facet("icebergScanReport", **_scan_report(scans))
    return facets


def _answered(scans: Sequence[AuditedScan]) -> bool:
    return any(table.answer is not None for table in scans)


def _scan(scans: Sequence[AuditedScan]) -> Json:
    return {
        "bytesRead": total(table.bytes_read for table in scans),
        "bytesNeeded": total(table.bytes_needed for table in scans),
        "engineRuns": _engine(scans, "runs"),
        "engineFiles": _engine(scans, "files"),
        "engineBytes": _engine(scans, "bytes"),
        "engineRows": _engine(scans, "rows"),
    }


def _engine(scans: Sequence[AuditedScan], name: str) -> int | None:
    """What the engine said of all its runs; None where it did not say it of every scan."""
    return total(None if t.actual is None else getattr(t.actual, name) for t in scans)


def _scan_report(scans: Sequence[AuditedScan]) -> Json:
    """Iceberg's own report on a scan; of several, the sums, and no filter."""
    first = scans[0]
    report: Json = {"scanMetrics": _known(_scan_metrics(scans))}
    if first.version is not None:
        report["snapshotId"] = first.version
    if len(scans) == 1:
        # What reaches a scan is in the words of Spark, whatever the query is written in.
        report["filter"] = without_literals(first.predicate, "spark") if first.predicate else "true"
    report["projectedFieldNames"] = list(dict.fromkeys(c for t in scans for c in t.columns))
    return report


def _scan_metrics(scans: Sequence[AuditedScan]) -> Json:
    summaries = [table.summary for table in scans if table.summary is not None]
    files = sum(map(files_read, scans))
    manifests = total(one.manifests_total for one in summaries)
    scanned = total(one.manifests_kept for one in summaries)
    skipped = None if manifests is None or scanned is None else manifests - scanned
    return {
        "resultDataFiles": files,
        "skippedDataFiles": sum(one.files_total for one in summaries) - files,
        "totalFileSizeInBytes": total(table.bytes_kept for table in scans),
        "totalDataManifests": manifests,
        "scannedDataManifests": scanned,
        "skippedDataManifests": skipped,
    }


def _facet(name: str, **fields: Any) -> Json:
    """A facet of the standard, at the version of its schema."""
    edition, kind = FACETS[name]
    schema = f"{SPEC}/facets/{edition}/{kind}.json#/$defs/{kind}"
    return {"_producer": _producer(), "_schemaURL": schema, **fields}


def _own(kind: str, **fields: Any) -> Json:
    """A facet of our own: the schema of its kind is all that it promises."""
    schema = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/{kind}"
    return {"_producer": _producer(), "_schemaURL": schema, **fields}


def _producer() -> str:
    """A package URL: which program, of which version, and no address that may move."""
    return f"pkg:pypi/whyscan@{version()}"


def _known(fields: Mapping[str, Any]) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
