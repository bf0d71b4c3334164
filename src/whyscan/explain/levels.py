"""The pyramid in numbers: how many containers of each level stay, and what removed the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan import Mechanism
from whyscan.planning.planner import total
from whyscan.planning.pushdown import Confidence, confidence
from whyscan.planning.reasons import unchecked_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from whyscan.planning.judgement import Flags, Judgement
    from whyscan.planning.plan import Evidence, ManifestEvidence, ScanPlan
    from whyscan.planning.pushdown import Class
    from whyscan.planning.reasons import Why
    from whyscan.tables.snapshot import RowGroups


REMOVING = (Mechanism.PARTITION, Mechanism.STATISTICS)


class Level(Struct, frozen=True):
    """One level of the pyramid; bytes and rows are None where they are not known.

    `every` counts the containers of which all rows match, `unchecked` those that stay because there
    was nothing to check with. For row groups alone, `in_kept_files` counts those of files that
    stay, `files_emptied` such files with none left, and `selected_total` and `selected_kept` are
    the bytes of the selected columns, None where none were selected.
    """

    level: str
    total: int
    kept: int
    every: int
    kept_without_nan: int
    confidence: Confidence
    bytes_total: int | None
    bytes_kept: int | None
    rows_total: int | None
    rows_kept: int | None
    pruned_by: Mapping[str, int]
    in_kept_files: int | None = None
    files_emptied: int | None = None
    unchecked: int = 0
    selected_total: int | None = None
    selected_kept: int | None = None


class RowsMatched(Struct, frozen=True):
    """How many rows make the predicate TRUE; None where the metadata gives no number."""

    at_least: int | None
    at_most: int | None


def levels(plan: ScanPlan, classes: tuple[Class, ...], why: Why) -> tuple[Level, ...]:
    """Manifests where there are some, files, and row groups where a footer was opened."""
    evidence = plan.evidence
    sure = confidence(plan, classes)
    counted = []
    if evidence.manifests is not None:
        above = evidence.manifests
        blind = unchecked_parts(plan, classes, above.manifests.containers, above.judgement)
        counted.append(replace(_manifests(above), unchecked=blind))
    counted.append(replace(_files(plan, sure), unchecked=int(why.unchecked.sum())))
    groups, found = evidence.groups, evidence.group_judgement
    if groups is not None and found is not None and len(groups.opened):
        level = _row_groups(evidence, groups, found)
        blind = unchecked_parts(plan, classes, groups.containers, found)
        asked, chosen = _selected(plan, groups, found)
        counted.append(replace(level, unchecked=blind, selected_total=asked, selected_kept=chosen))
    if sure is Confidence.INCOMPLETE:
        return tuple(replace(level, confidence=sure) for level in counted)
    return tuple(counted)


def _manifests(above: ManifestEvidence) -> Level:
    """The manifest list's own figures: it counts files and rows, and knows no bytes."""
    found, rows = above.judgement, above.manifests.rows
    settled = bool((~found.kept | found.every).all())
    return Level(
        level="manifests",
        total=above.manifests.count,
        kept=int(found.kept.sum()),
        every=int(found.every.sum()),
        kept_without_nan=int(found.kept_without_nan.sum()),
        confidence=Confidence.EXACT if settled else Confidence.CONSERVATIVE,
        bytes_total=None,
        bytes_kept=None,
        rows_total=total(rows),
        rows_kept=total(rows.filter(pa.array(found.kept))),
        pruned_by={"partition": int((~found.kept).sum()), "statistics": 0},
    )


def _files(plan: ScanPlan, sure: Confidence) -> Level:
    evidence, summary = plan.evidence, plan.summary
    credited = _credited(evidence.pruned_by())
    credited["partition"] += evidence.closed_files
    return Level(
        level="files",
        total=summary.files_total,
        kept=summary.files_kept,
        every=int(evidence.judgement.every.sum()),
        kept_without_nan=int(evidence.judgement.kept_without_nan.sum()),
        confidence=sure,
        bytes_total=summary.bytes_total,
        bytes_kept=summary.bytes_kept,
        rows_total=summary.rows_total,
        rows_kept=summary.rows_kept,
        pruned_by=credited,
    )


def _row_groups(evidence: Evidence, groups: RowGroups, found: Judgement) -> Level:
    files = groups.owners.to_numpy()
    by_partition = evidence.by_partition
    kept = pa.array(found.kept)
    rows = group_rows(groups)
    settled = bool((~by_partition.kept | by_partition.every)[files].all())
    statistics = np.where(found.kept, Mechanism.NOTHING, Mechanism.STATISTICS)
    return Level(
        level="row_groups",
        total=groups.count,
        kept=kept.true_count,
        every=int(found.every.sum()),
        kept_without_nan=int(found.kept_without_nan.sum()),
        confidence=Confidence.EXACT if settled else Confidence.CONSERVATIVE,
        bytes_total=total(groups.bytes),
        bytes_kept=total(groups.bytes.filter(kept)),
        rows_total=total(rows),
        rows_kept=total(rows.filter(kept)),
        pruned_by=_credited(np.where(by_partition.kept[files], statistics, Mechanism.PARTITION)),
        in_kept_files=int(evidence.judgement.kept[files].sum()),
        files_emptied=_emptied(evidence, groups, found),
    )


def _selected(plan: ScanPlan, groups: RowGroups, found: Judgement) -> tuple[int | None, int | None]:
    """The bytes of the selected columns' chunks, in all row groups and in those that stay."""
    if plan.options.projection is None:
        return None, None
    return _chunks(groups.ranges), _chunks(groups.ranges.filter(pa.array(found.kept)))


def _chunks(ranges: pa.ListArray) -> int | None:
    spans = ranges.flatten()
    return total(pc.subtract(pc.list_element(spans, 1), pc.list_element(spans, 0)))


def _credited(mechanism: npt.NDArray[np.integer]) -> dict[str, int]:
    return {m.name.lower(): int((mechanism == m).sum()) for m in REMOVING}


def _emptied(evidence: Evidence, groups: RowGroups, found: Judgement) -> int:
    inhabited = np.zeros(evidence.files.count, np.bool_)
    inhabited[groups.owners.to_numpy()[found.kept]] = True
    opened = np.zeros(evidence.files.count, np.bool_)
    opened[groups.opened.to_numpy()] = True
    return int((evidence.judgement.kept & opened & ~inhabited).sum())


def group_rows(groups: RowGroups) -> pa.Array:
    """The rows of each row group; null where they are not known."""
    rows = groups.containers.rows
    return pa.nulls(groups.count, pa.int64()) if rows is None else rows


def rows_matched(evidence: Evidence) -> RowsMatched:
    """Between the live rows of the containers that match whole and those of all that are kept.

    Row groups count where a footer was opened, files elsewhere. Nobody knows in which row group
    a deleted row was: all of a file's may have matched, or none.
    """
    files, found, inside = evidence.files, evidence.judgement, evidence.group_judgement
    every = _rows_by_file(evidence, found.every, None if inside is None else inside.every)
    kept = _rows_by_file(evidence, found.kept, None if inside is None else inside.kept)
    live = files.rows if files.deleted is None else pc.subtract(files.rows, files.deleted)
    if files.maybe_deleted is None:
        surely = live
    else:
        surely = pc.fill_null(pc.subtract(live, files.maybe_deleted), 0)
    gone = pc.subtract(files.rows, surely)
    return RowsMatched(
        at_least=total(pc.max_element_wise(_less(every, gone), 0, skip_nulls=False)),
        at_most=total(pc.if_else(pc.equal(kept, 0), kept, pc.min_element_wise(kept, live))),
    )


def _less(rows: pa.Array, gone: pa.Array) -> pa.Array:
    """Rows without the deleted ones; of none at all, none are."""
    return pc.if_else(pc.equal(rows, 0), rows, pc.subtract(rows, gone))


def _rows_by_file(evidence: Evidence, files: Flags, groups: Flags | None) -> pa.Array:
    """The rows of flagged containers, file by file: row groups where a footer was opened."""
    rows = pc.if_else(pa.array(files), evidence.files.rows, pa.scalar(0, pa.int64()))
    opened = evidence.groups
    if opened is None or groups is None:
        return rows
    counted = group_rows(opened).to_numpy(zero_copy_only=False)[groups]
    at = opened.opened.to_numpy()
    inside = np.bincount(opened.file.to_numpy()[groups], weights=counted, minlength=len(at))
    whole = np.zeros(evidence.files.count)
    whole[at] = inside
    is_open = np.zeros(evidence.files.count, np.bool_)
    is_open[at] = True
    known = pa.array(np.nan_to_num(whole).astype(np.int64), mask=np.isnan(whole))
    return pc.if_else(pa.array(is_open), known, rows)


class Removal(Struct, frozen=True):
    """What a mechanism removed; `conjunct` removes all of it by itself, None where none does."""

    mechanism: str
    files: int
    conjunct: str | None


def removals(plan: ScanPlan) -> tuple[Removal, ...]:
    """One for each mechanism that removed a file."""
    mechanism = plan.evidence.pruned_by()
    found = []
    for which in REMOVING:
        removed = mechanism == which
        closed = plan.evidence.closed_files if which is Mechanism.PARTITION else 0
        if removed.any() or closed:
            culprit = _culprit(plan, removed, in_manifests=bool(closed))
            found.append(Removal(which.name.lower(), int(removed.sum()) + closed, culprit))
    return tuple(found)


def _culprit(plan: ScanPlan, removed: Flags, *, in_manifests: bool) -> str | None:
    """The conjunct that removes all of them, those of closed manifests too."""
    above = plan.evidence.manifests
    for position, conjunct in enumerate(plan.predicate.conjuncts):
        stays = plan.evidence.judgement.conjunct_kept[position][removed].any()
        if in_manifests and above is not None:
            stays |= above.judgement.conjunct_kept[position][~above.opened].any()
        if not stays:
            return conjunct.sql
    return None


def selected_bytes(evidence: Evidence) -> int | None:
    """The bytes of the asked chunks in the row groups that stay; None where a footer is closed."""
    groups, found = evidence.groups, evidence.group_judgement
    if groups is None or found is None or groups.unchecked:
        return None
    return _chunks(groups.ranges.filter(pa.array(found.kept)))
