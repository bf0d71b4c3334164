"""The pyramid in numbers: how many containers of each level stay, and what removed the others."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec reads the annotations of a record
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import asdict, replace

from whyscan.planning.plan import mechanisms
from whyscan.planning.plan.matching_rows import group_rows, perhaps_matching, surely_matching
from whyscan.planning.plan.planner import plus, total, total_of
from whyscan.planning.why.pushdown import Confidence
from whyscan.planning.why.reasons import unchecked_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.judgement import Flags, Judgement
    from whyscan.planning.plan.scan_plan import Evidence, ManifestEvidence, ScanPlan
    from whyscan.planning.why.reasons import Why
    from whyscan.tables.snapshot import RowGroups
    from whyscan.tree.nodes import Predicate

ORDER = ("manifests", "files", "row_groups")


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

    def __add__(self, other: Level) -> Level:
        """The same level of two parts of a table: what is not known of one is not of both."""
        mine, theirs = asdict(self), asdict(other)
        sums = {name: plus(mine[name], theirs[name]) for name in _COUNTS}
        removed = {
            m.word: self.pruned_by.get(m.word, 0) + other.pruned_by.get(m.word, 0)
            for m in mechanisms.REMOVING
            if m.word in self.pruned_by or m.word in other.pruned_by
        }
        return replace(
            self, pruned_by=removed, confidence=least(self.confidence, other.confidence), **sums
        )


_COUNTS = tuple(
    name for name in Level.__struct_fields__ if name not in {"level", "confidence", "pruned_by"}
)


def least(*found: Confidence) -> Confidence:
    """The least informative; the enumeration begins with the most."""
    return max(found, key=list(Confidence).index)


class RowsMatched(Struct, frozen=True):
    """How many rows make the predicate TRUE; None where the metadata gives no number."""

    at_least: int | None
    at_most: int | None

    def __add__(self, other: RowsMatched) -> RowsMatched:
        return RowsMatched(plus(self.at_least, other.at_least), plus(self.at_most, other.at_most))


def levels(
    plan: ScanPlan, interpreted: Sequence[bool], why: Why, gone: Sequence[Removed]
) -> tuple[Level, ...]:
    """Manifests where there are some, files, and row groups where a footer was opened."""
    evidence = plan.counted
    counted = []
    if evidence.manifests is not None:
        above = evidence.manifests
        blind = unchecked_parts(plan, interpreted, above.manifests.containers, above.judgement)
        counted.append(replace(_manifests(above), unchecked=blind))
    blind = int(why.files[why.unchecked].sum())
    counted.append(replace(_files(plan, gone), unchecked=blind))
    groups, found = evidence.groups, evidence.group_judgement
    if groups is not None and found is not None and len(groups.opened):
        level = _row_groups(evidence, groups, found)
        blind = unchecked_parts(plan, interpreted, groups.containers, found)
        asked, chosen = _selected(plan, groups, found)
        counted.append(replace(level, unchecked=blind, selected_total=asked, selected_kept=chosen))
    return tuple(counted)


def levels_together(some: tuple[Level, ...], others: tuple[Level, ...]) -> tuple[Level, ...]:
    """The levels of two parts of a table; only one of them may have opened a footer."""
    found = {level.level: level for level in some}
    for level in others:
        known = found.get(level.level)
        found[level.level] = level if known is None else known + level
    return tuple(found[name] for name in ORDER if name in found)


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
        pruned_by=mechanisms.counted(mechanisms.of_manifests(above)),
    )


def _files(plan: ScanPlan, gone: Sequence[Removed]) -> Level:
    """`exact` where partition values alone left every file `none` or `all`."""
    evidence, summary = plan.counted, plan.summary
    by = evidence.by_partition
    settled = bool((~by.kept | by.every).all())
    return Level(
        level="files",
        total=summary.files_total,
        kept=summary.files_kept,
        every=evidence.number(evidence.judgement.every),
        kept_without_nan=evidence.number(evidence.judgement.kept_without_nan),
        confidence=Confidence.EXACT if settled else Confidence.CONSERVATIVE,
        bytes_total=summary.bytes_total,
        bytes_kept=summary.bytes_kept,
        rows_total=summary.rows_total,
        rows_kept=summary.rows_kept,
        pruned_by=mechanisms.worded(
            {m: one.files for m, one in zip(mechanisms.REMOVING, gone, strict=True)}
        ),
    )


def _row_groups(evidence: Evidence, groups: RowGroups, found: Judgement) -> Level:
    files = groups.owners.to_numpy()
    by_partition = evidence.by_partition
    kept = pa.array(found.kept)
    rows = group_rows(groups)
    settled = bool((~by_partition.kept | by_partition.every)[files].all())
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
        pruned_by=mechanisms.counted(mechanisms.of_row_groups(evidence)),
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


def _emptied(evidence: Evidence, groups: RowGroups, found: Judgement) -> int:
    inhabited = np.zeros(evidence.count, np.bool_)
    inhabited[groups.owners.to_numpy()[found.kept]] = True
    opened = np.zeros(evidence.count, np.bool_)
    opened[groups.opened.to_numpy()] = True
    return evidence.number(evidence.judgement.kept & opened & ~inhabited)


def rows_matched(evidence: Evidence) -> RowsMatched:
    """Between the live rows of the containers that match whole and those of all that are kept."""
    asked = evidence.before_limit
    files, found = asked.files, asked.judgement
    closed = asked.groups is None or not len(asked.groups.opened)
    if closed and files.deleted is None and files.maybe_deleted is None:
        return RowsMatched(total_of(asked.rows, found.every), total_of(asked.rows, found.kept))
    return RowsMatched(total(surely_matching(asked)), total(perhaps_matching(asked)))


class Removal(Struct, frozen=True):
    """What a mechanism removed; `conjunct` removes all of it by itself, None where none does."""

    mechanism: str
    files: int
    conjunct: str | None


class Removed(Struct, frozen=True):
    """How many files a mechanism removed, and of each conjunct whether it keeps one of them."""

    files: int
    spared: tuple[bool, ...]

    def __add__(self, other: Removed) -> Removed:
        return Removed(self.files + other.files, tuple(map(or_, self.spared, other.spared)))


def removed(plan: ScanPlan) -> tuple[Removed, ...]:
    """What each mechanism removed, in their order."""
    by = mechanisms.of_files(plan.counted)
    unlisted = mechanisms.files_unlisted(plan.counted)
    found = []
    for which in mechanisms.REMOVING:
        gone = by == which
        files = plan.counted.number(gone)
        found.append(Removed(files + unlisted.get(which, 0), _spared(plan, gone, which)))
    return tuple(found)


def _spared(plan: ScanPlan, gone: Flags, which: mechanisms.Mechanism) -> tuple[bool, ...]:
    """Of each conjunct whether it keeps one of them, those of closed manifests too."""
    above = plan.counted.manifests
    # Nothing is looked up: of a million flags most are of files that go.
    some = gone.any()
    kept = [some and (by & gone).any() for by in plan.counted.judgement.conjunct_kept]
    if above is not None:
        unread = ~above.opened & (mechanisms.of_manifests(above) == which)
        kept = [
            k | by[unread].any() for k, by in zip(kept, above.judgement.conjunct_kept, strict=True)
        ]
    return tuple(map(bool, kept))


def removals(counted: Sequence[Removed], predicate: Predicate) -> tuple[Removal, ...]:
    """One for each mechanism that removed a file."""
    return tuple(
        Removal(which.word, found.files, _culprit(found, predicate))
        for which, found in zip(mechanisms.REMOVING, counted, strict=True)
        if found.files
    )


def _culprit(found: Removed, predicate: Predicate) -> str | None:
    """The conjunct that removes all of them."""
    told = zip(predicate.conjuncts, found.spared, strict=True)
    return next((conjunct.sql for conjunct, spared in told if not spared), None)


def selected_bytes(evidence: Evidence) -> int | None:
    """The bytes of the asked chunks in the row groups that stay; None where a footer is closed."""
    groups, found = evidence.groups, evidence.group_judgement
    if groups is None or found is None or groups.unchecked:
        return None
    return _chunks(groups.ranges.filter(pa.array(found.kept)))
