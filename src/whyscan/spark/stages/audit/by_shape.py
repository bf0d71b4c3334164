"""What all runs of one shape of query read of one table, as sums for other systems.

A shape is a query text without literals. Its name is a digest, which is the same in every run.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.plan.planner import plus_all
from whyscan.predicate.syntax.redact import HIDDEN, without_literals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from whyscan.planning.plan.scan_plan import ScanPlanSummary
    from whyscan.spark.stages.audit.report import AuditedScan, QueryLine

    Scans = Sequence[tuple[QueryLine, AuditedScan]]

DIGITS = 12


class ShapeScan(Struct, frozen=True):
    """Sums over all runs of a shape on a table; None where a part is unknown.

    `files_skipped` includes the files of skipped manifests. `kept` is the share of the table's
    bytes that the plans keep. `actual_files` and `actual_bytes` are None unless engines reported
    them for every scan. `manifests` is None for a table without manifests.
    """

    table: str
    shape: str
    scans: int
    files: int
    files_skipped: int
    bytes: int | None
    manifests: int | None
    manifests_scanned: int | None
    read: int | None
    needed: int | None
    layout: int | None
    kept: float | None
    actual_files: int | None
    actual_bytes: int | None


def digest(shape: str) -> str:
    """The name of a shape."""
    return hashlib.sha256(shape.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def shown(line: QueryLine) -> str:
    """The shape as text; only `?` for text that is no SQL, since its literals are unknown."""
    hidden = without_literals(line.sql, line.dialect)
    return HIDDEN if hidden == HIDDEN else line.shape


def shape_scans(queries: Iterable[QueryLine]) -> tuple[ShapeScan, ...]:
    """Sum up each query shape and table that could be planned, in ranking order."""
    scans_by_shape: dict[tuple[str, str], list[tuple[QueryLine, AuditedScan]]] = {}
    for query in queries:
        for table in query.tables:
            scans_by_shape.setdefault((table.name, query.shape), []).append((query, table))
    return tuple(_summed(name, shape, scans) for (name, shape), scans in scans_by_shape.items())


def _summed(name: str, shape: str, scans: Scans) -> ShapeScan:
    def runs(amount: Callable[[AuditedScan, ScanPlanSummary], int | None]) -> int | None:
        amounts = (
            (query.times, amount(table, table.scan.report.summary)) for query, table in scans
        )
        return plus_all(None if one is None else one * times for times, one in amounts)

    files = sum(table.scan.gated_reading.kept * query.times for query, table in scans)
    files_total = runs(lambda _, summary: summary.files_total) or 0
    kept, size = runs(lambda table, _: table.bytes_kept), runs(lambda _, s: s.bytes_total)
    return ShapeScan(
        table=name,
        shape=digest(shape),
        scans=sum(query.times for query, _ in scans),
        files=files,
        files_skipped=files_total - files,
        bytes=kept,
        manifests=runs(lambda _, summary: summary.manifests_total),
        manifests_scanned=runs(lambda _, summary: summary.manifests_kept),
        read=runs(lambda table, _: table.bytes_read),
        needed=runs(lambda table, _: table.bytes_needed),
        layout=runs(lambda table, _: table.layout_bytes),
        kept=kept / size if kept is not None and size else None,
        actual_files=plus_all(t.actual.files if t.actual else None for _, t in scans),
        actual_bytes=plus_all(t.actual.bytes if t.actual else None for _, t in scans),
    )
