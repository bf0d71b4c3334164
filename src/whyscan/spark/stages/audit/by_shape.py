"""What all runs of one shape of query read of one table: the sums that other systems are told.

A shape is named by a digest, which lasts as long as the shape does: the same in every run.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.predicate.syntax.redact import HIDDEN, without_literals
from whyscan.spark.stages.audit.totals import total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from whyscan.planning.plan.scan_plan import ScanPlanSummary
    from whyscan.spark.stages.audit.report import AuditedScan, QueryLine

    Scans = Sequence[tuple[QueryLine, AuditedScan]]

DIGITS = 12


class ShapeScan(Struct, frozen=True):
    """Sums over all runs; None where a part is not known, manifests where there are none.

    `files_skipped` are those of manifests that were skipped, too. `kept` is the share of the
    table's bytes that the plans keep. What the engines said is None where they did not say it of
    every scan.
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
    kept: float | None
    actual_files: int | None
    actual_bytes: int | None


def digest(shape: str) -> str:
    """A name of the shape."""
    return hashlib.sha256(shape.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def shown(line: QueryLine) -> str:
    """The shape as text; `?` alone for what is no SQL, since nobody knows its literals."""
    hidden = without_literals(line.sql, line.dialect)
    return HIDDEN if hidden == HIDDEN else line.shape


def shape_scans(queries: Iterable[QueryLine]) -> tuple[ShapeScan, ...]:
    """One for each shape and table that could be planned, in the order of the ranking."""
    found: dict[tuple[str, str], list[tuple[QueryLine, AuditedScan]]] = {}
    for query in queries:
        for table in query.tables:
            if table.summary is not None:
                found.setdefault((table.name, query.shape), []).append((query, table))
    return tuple(_summed(name, shape, scans) for (name, shape), scans in found.items())


def files_read(table: AuditedScan) -> int:
    """The files of the plan, none where metadata answers."""
    if table.summary is None or table.answer is not None:
        return 0
    return table.summary.files_kept


def _summed(name: str, shape: str, scans: Scans) -> ShapeScan:
    def runs(amount: Callable[[AuditedScan, ScanPlanSummary], int | None]) -> int | None:
        return total(
            None if (one := amount(table, table.summary)) is None else one * query.times
            for query, table in scans
            if table.summary is not None
        )

    files = sum(files_read(table) * query.times for query, table in scans)
    whole = runs(lambda _, summary: summary.files_total) or 0
    kept, size = runs(lambda table, _: table.bytes_kept), runs(lambda _, s: s.bytes_total)
    return ShapeScan(
        table=name,
        shape=digest(shape),
        scans=sum(query.times for query, _ in scans),
        files=files,
        files_skipped=whole - files,
        bytes=kept,
        manifests=runs(lambda _, summary: summary.manifests_total),
        manifests_scanned=runs(lambda _, summary: summary.manifests_kept),
        read=runs(lambda table, _: table.bytes_read),
        needed=runs(lambda table, _: table.bytes_needed),
        kept=kept / size if kept is not None and size else None,
        actual_files=total(t.actual.files if t.actual else None for _, t in scans),
        actual_bytes=total(t.actual.bytes if t.actual else None for _, t in scans),
    )
