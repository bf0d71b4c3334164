"""Computes the bytes that the scans of a statement read, and those that they need."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.planner import plus, total
from whyscan.reports.findings import Code
from whyscan.reports.first_change import PROVEN
from whyscan.spark.stages.audit.report import AuditedScan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.reports.findings import Effect, Finding
    from whyscan.statements.records import ScanReport, StatementReport


def audited_scans(report: StatementReport) -> tuple[AuditedScan, ...]:
    """Return one `AuditedScan` for each scan, in the statement's order."""
    return tuple(_audited(scan, scan.plan) for scan in report.scans if scan.plan is not None)


class PlanBytes(Struct, frozen=True):
    """What the audit asks of each part of a plan; the bytes of all parts are the sum.

    `limited` is True if a LIMIT left files out. `pruned_groups` are the bytes of the pruned row
    groups in kept files; None if unknown.
    """

    limited: bool
    pruned_groups: int | None

    @classmethod
    def of(cls, plan: ScanPlan) -> PlanBytes:
        """Count one part."""
        evidence = plan.counted
        limited, level = evidence.limit is not None, evidence.row_group_level
        if level is None:
            return cls(limited, 0)
        is_pruned = evidence.judgement.kept[level.listed.owners.to_numpy()] & ~level.verdicts.kept
        return cls(limited, total(level.listed.bytes.filter(pa.array(is_pruned))))

    def __add__(self, other: PlanBytes) -> PlanBytes:
        return PlanBytes(
            self.limited or other.limited, plus(self.pruned_groups, other.pruned_groups)
        )


_ANSWERED = PlanBytes(limited=False, pruned_groups=None)
"""Nothing is asked of a scan that metadata answers."""


def _audited(scan: ScanReport, plan: PlannedSnapshot) -> AuditedScan:
    kept = scan.reading.bytes_kept
    counted = _ANSWERED if scan.answer is not None else reduce(add, plan.each(PlanBytes.of))
    read = needed = None
    if kept is not None:
        by_engine = scan.gated_reading.bytes_kept
        read = _maximum([by_engine, *_read_without_rewrite(scan, plan, counted)])
        needed = min([kept, *_sufficient_bytes(scan, counted, kept)])
    return AuditedScan(
        scan=replace(scan, plan=None),
        bytes_read=read,
        bytes_needed=needed,
        layout_bytes=None if needed is None else _layout_bytes(scan, counted, needed),
    )


def _maximum(amounts: list[int | None]) -> int | None:
    numbers = [amount for amount in amounts if amount is not None]
    return max(numbers) if len(numbers) == len(amounts) else None


def _read_without_rewrite(
    scan: ScanReport, plan: PlannedSnapshot, counted: PlanBytes
) -> Iterator[int | None]:
    """Yield the bytes that engines read which do not see through a condition, one per finding."""
    if scan.answer is not None or counted.limited:
        return
    removed = 0 if scan.rewrite is None else scan.rewrite.removed.bytes
    for effect in _effects(scan.report.findings):
        before = effect.bytes_before
        if before is None and effect.before == scan.report.files_level.total:
            # Closed manifests: the plan's numbers do not include the files that they list.
            before = reduce(plus, plan.each(_bytes_of_all_files))
        yield None if before is None or removed is None else before - removed


def _sufficient_bytes(scan: ScanReport, counted: PlanBytes, kept: int) -> Iterator[int]:
    """Yield the bytes that are proven to be enough: by row groups, by joins, by proven rewrites."""
    if scan.answer is not None:
        return
    if counted.pruned_groups is not None:
        yield kept - counted.pruned_groups
    if counted.limited or scan.rewrite is not None:
        return
    if scan.dynamic is not None and scan.dynamic.bounded is not None:
        bounded = scan.dynamic.bounded.bytes
        if bounded is not None:
            yield bounded
    for effect in _effects(scan.report.findings):
        if effect.bytes_after is not None:
            yield effect.bytes_after


def _layout_bytes(scan: ScanReport, counted: PlanBytes, needed: int) -> int:
    """Return an upper estimate of the needed bytes that a sorted table would not read.

    It assumes that values lie evenly between the bounds of a file, as WIDE_BOUNDS does.
    """
    if scan.answer is not None or counted.limited:
        return 0
    for finding in scan.report.findings:
        if finding.code is Code.WIDE_BOUNDS:
            files = int(finding.evidence["files"])
            return needed - needed * int(finding.evidence["estimated_files_at_least"]) // files
    return 0


def _bytes_of_all_files(plan: ScanPlan) -> int | None:
    """Sum the bytes of all live files of a part; None if unknown."""
    return total(plan.snapshot.files((), plan.zone).bytes)


def _effects(findings: Iterable[Finding]) -> Iterator[Effect]:
    """Yield the effects of rewrites of a condition that were planned again."""
    for finding in findings:
        if finding.code in PROVEN and finding.rewrite is not None and finding.effect is not None:
            yield finding.effect
