"""The audit as OpenMetrics text, for Prometheus and compatible systems.

Scans have the names that Iceberg's own reports have in OpenTelemetry, as Prometheus spells them: a
dot becomes an underscore, a unit is at the end, and the sample of a counter ends in `_total`, once.

| Iceberg | OpenMetrics |
|---|---|
| `iceberg.scan.result.data_files` | `iceberg_scan_result_data_files_total` |
| `iceberg.scan.data_files.skipped` | `iceberg_scan_data_files_skipped_total` |
| `iceberg.scan.data_manifests.total` | `iceberg_scan_data_manifests_total` |
| `iceberg.scan.data_manifests.scanned` | `iceberg_scan_data_manifests_scanned_total` |
| `iceberg.scan.data_manifests.skipped` | `iceberg_scan_data_manifests_skipped_total` |
| `iceberg.scan.file_size.bytes` | `iceberg_scan_file_size_bytes_total` |

They count every run of the workload, as Iceberg would have counted it. An unknown number has no
sample. No literal of a query is in the metrics: a query is named by its shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.reports.document import version
from whyscan.reports.words import inert
from whyscan.spark.stages.audit.by_shape import digest, shape_scans, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from whyscan.spark.stages.audit.by_shape import ShapeScan
    from whyscan.spark.stages.audit.report import Audit

    Labels = Mapping[str, str]
    Sample = tuple[Labels, int | float | None]

LONGEST_LABEL = 200
SUFFIXES = {"counter": "_total", "gauge": "", "info": "_info"}


class MetricFamily(Struct, frozen=True):
    """A family of metrics; if it has a unit, its name ends in the unit."""

    name: str
    kind: str
    help: str
    unit: str | None = None


def _counter(name: str, help_text: str, unit: str | None = None) -> MetricFamily:
    return MetricFamily(name, "counter", help_text, unit)


SCANS: tuple[tuple[MetricFamily, Callable[[ShapeScan], int | float | None]], ...] = (
    (
        _counter("iceberg_scan_result_data_files", "Data files that scans read."),
        lambda scan: scan.files,
    ),
    (
        _counter(
            "iceberg_scan_data_files_skipped",
            "Data files that scans skipped, those of skipped manifests among them.",
        ),
        lambda scan: scan.files_skipped,
    ),
    (
        _counter("iceberg_scan_data_manifests", "Data manifests of the tables at their scans."),
        lambda scan: scan.manifests,
    ),
    (
        _counter("iceberg_scan_data_manifests_scanned", "Data manifests that scans read."),
        lambda scan: scan.manifests_scanned,
    ),
    (
        _counter("iceberg_scan_data_manifests_skipped", "Data manifests that scans skipped."),
        lambda scan: (
            None
            if scan.manifests is None or scan.manifests_scanned is None
            else scan.manifests - scan.manifests_scanned
        ),
    ),
    (
        _counter("iceberg_scan_file_size_bytes", "Size of the files that scans read.", "bytes"),
        lambda scan: scan.bytes,
    ),
    (
        _counter("whyscan_scans", "Scans of a table, one for each time that a query ran."),
        lambda scan: scan.scans,
    ),
    (
        _counter("whyscan_scan_read_bytes", "What queries read as they are written.", "bytes"),
        lambda scan: scan.read,
    ),
    (
        _counter("whyscan_scan_needed_bytes", "What of it is known to be enough.", "bytes"),
        lambda scan: scan.needed,
    ),
    (
        _counter("whyscan_scan_wasted_bytes", "What of it is wasted.", "bytes"),
        lambda scan: None if scan.read is None or scan.needed is None else scan.read - scan.needed,
    ),
    (
        _counter("whyscan_scan_layout_bytes", "What another layout would spare at most.", "bytes"),
        lambda scan: scan.layout,
    ),
    (
        _counter("whyscan_scan_actual_bytes", "What engines said that they read.", "bytes"),
        lambda scan: scan.actual_bytes,
    ),
    (
        _counter("whyscan_scan_actual_data_files", "Data files that engines said they read."),
        lambda scan: scan.actual_files,
    ),
    (
        MetricFamily(
            "whyscan_scan_kept_ratio",
            "gauge",
            "Share of the table's bytes that metadata cannot rule out.",
            "ratio",
        ),
        lambda scan: scan.kept,
    ),
)


def openmetrics(audit: Audit) -> str:
    """All metrics of the audit, with the end marker."""
    lines = [*_run(audit), *_shapes(audit), *_scans(audit), "# EOF"]
    return "\n".join(lines) + "\n"


def _run(audit: Audit) -> Iterator[str]:
    run = audit.run
    yield from _family(
        MetricFamily("whyscan_audit", "info", "The audit that these metrics are of."),
        [({"run": run.id, "version": version()}, 1)],
    )
    yield from _family(
        MetricFamily(
            "whyscan_audit_timestamp_seconds", "gauge", "When the audit began.", "seconds"
        ),
        [({}, run.at.timestamp())],
    )
    yield from _family(
        MetricFamily("whyscan_audit_duration_seconds", "gauge", "How long it took.", "seconds"),
        [({}, run.seconds)],
    )
    failed_queries = sum(line.error is not None for line in audit.queries)
    states = {
        "audited": len(audit.queries) - failed_queries,
        "failed": failed_queries,
        "unparsed": len(audit.unparsed),
    }
    yield from _family(
        MetricFamily("whyscan_audit_queries", "gauge", "Distinct texts of the workload."),
        [({"state": state}, number) for state, number in states.items()],
    )
    failed_tables = sum(line.error is not None for line in audit.tables)
    yield from _family(
        MetricFamily("whyscan_audit_tables", "gauge", "Tables of the audit."),
        [
            ({"state": "read"}, len(audit.tables) - failed_tables),
            ({"state": "failed"}, failed_tables),
        ],
    )
    yield from _family(
        MetricFamily(
            "whyscan_audit_drifts", "gauge", "Shapes that keep more of a table than before."
        ),
        [({}, len(audit.drift))],
    )


def _shapes(audit: Audit) -> Iterator[str]:
    texts: dict[str, str] = {}
    runs: dict[str, int] = {}
    for line in audit.queries:
        name = digest(line.shape)
        texts.setdefault(name, shown(line))
        runs[name] = runs.get(name, 0) + line.times
    yield from _family(
        MetricFamily("whyscan_shape", "info", "The text of a shape: a query without its literals."),
        [({"shape": name, "sql": _short(text)}, 1) for name, text in texts.items()],
    )
    yield from _family(
        _counter("whyscan_query_runs", "How often the queries of a shape ran."),
        [({"shape": name}, times) for name, times in runs.items()],
    )


def _scans(audit: Audit) -> Iterator[str]:
    scans = shape_scans(audit.queries)
    for family, amount in SCANS:
        yield from _family(
            family,
            [({"table": scan.table, "shape": scan.shape}, amount(scan)) for scan in scans],
        )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def _family(family: MetricFamily, samples: Iterable[Sample]) -> Iterator[str]:
    """The lines of a family; none where every sample is unknown."""
    present = [(labels, value) for labels, value in samples if value is not None]
    if not present:
        return
    yield f"# TYPE {family.name} {family.kind}"
    if family.unit is not None:
        yield f"# UNIT {family.name} {family.unit}"
    yield f"# HELP {family.name} {_escaped(family.help)}"
    for labels, value in present:
        yield f"{family.name}{SUFFIXES[family.kind]}{_braced(labels)} {value!r}"


def _braced(labels: Labels) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{_escaped(inert(value))}"' for name, value in labels.items())
    return f"{{{','.join(pairs)}}}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
