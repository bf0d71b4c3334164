"""The counts of each level: how many containers are kept, and what removed the others."""

from __future__ import annotations

from collections.abc import Mapping
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from whyscan.fields import Count, LevelName, Record, Sql, Word, object_of
from whyscan.planning.plan import mechanisms
from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS
from whyscan.planning.plan.matching_rows import perhaps_matching, surely_matching
from whyscan.planning.plan.planner import plus, total, total_of
from whyscan.planning.why.pushdown import Confidence
from whyscan.planning.why.reasons import unchecked_parts
from whyscan.tables.snapshot import ContainersBelow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from whyscan.planning.plan.evidence import Evidence, LevelEvidence
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.planning.why.reasons import Why
    from whyscan.tables.snapshot import RowGroups
    from whyscan.tree.nodes import Predicate


class Level(
    Record,
    frozen=True,
    rename={
        "every": "all",
        "unchecked": "kept_unchecked",
        "selected_total": "selected_bytes_total",
        "selected_kept": "selected_bytes_kept",
    },
):
    """The counts of one level: manifests, files or row groups. Unknown bytes and rows are null.

    Only row groups have the fields after `unchecked`.
    """

    OPTIONAL: ClassVar = ("in_kept_files", "files_emptied", "selected_total", "selected_kept")

    level: LevelName
    total: Annotated[
        Count, Meta(description="All containers; of row groups those of opened files.")
    ]
    kept: Count
    every: Annotated[Count, Meta(description="Kept containers of which every row matches.")]
    kept_without_nan: Annotated[Count, Meta(description="What would be kept if no value were NaN.")]
    confidence: Confidence
    bytes_total: Count | None
    bytes_kept: Count | None
    rows_total: Count | None
    rows_kept: Count | None
    pruned_by: Annotated[
        Mapping[Word, Count],
        Meta(description="Removed containers, each counted once, for the first mechanism."),
        object_of(
            ("partition", "statistics"),
            partition={"type": "integer", "minimum": 0},
            statistics={"type": "integer", "minimum": 0},
            bloom={"type": "integer", "minimum": 1},
            dictionary={"type": "integer", "minimum": 1},
            join={"type": "integer", "minimum": 1},
            limit={"type": "integer", "minimum": 1},
        ),
    ]
    unchecked: Annotated[
        Count, Meta(description="Kept containers without statistics or without a condition.")
    ] = 0
    in_kept_files: Annotated[Count | None, Meta(description="The row groups of kept files.")] = None
    files_emptied: Annotated[
        Count | None, Meta(description="The kept files of which no row group is kept.")
    ] = None
    selected_total: Annotated[
        Count | None, Meta(description="With --select: the bytes of the columns' chunks.")
    ] = None
    selected_kept: Annotated[
        Count | None, Meta(description="With --select: the same in kept row groups.")
    ] = None

    def __add__(self, other: Level) -> Level:
        """Add the counts of two parts of a table; a count that one part does not know is None."""
        counts, other_counts = asdict(self), asdict(other)
        sums = {name: plus(counts[name], other_counts[name]) for name in _COUNTS}
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


def least(*confidences: Confidence) -> Confidence:
    """Return the least informative confidence; the enumeration starts with the most informative."""
    return max(confidences, key=list(Confidence).index)


class RowsMatched(Record, frozen=True):
    """Bounds on the number of rows for which the predicate is TRUE; None if metadata gives none."""

    at_least: Count | None
    at_most: Count | None

    def __add__(self, other: RowsMatched) -> RowsMatched:
        return RowsMatched(plus(self.at_least, other.at_least), plus(self.at_most, other.at_most))


def levels(
    plan: ScanPlan, interpreted: Sequence[bool], why: Why, gone: Sequence[RemovedFiles]
) -> tuple[Level, ...]:
    """Count every level that was looked at, top down."""
    evidence = plan.counted
    counted = []
    for level in evidence.levels:
        if level.name == FILES:
            counted.append(_of_files(_count(level), plan, why, gone))
            continue
        blind = unchecked_parts(plan, interpreted, level)
        if level.name != ROW_GROUPS:
            counted.append(replace(_count(level), unchecked=blind))
        elif len(level.listed.opened):
            counted.append(replace(_of_row_groups(_count(level), plan, level), unchecked=blind))
    return tuple(counted)


def _count(level: LevelEvidence[Any]) -> Level:
    """Count one level. It is exact if partition values give each container `none` or `all`."""
    verdicts, by = level.verdicts, level.by_partition
    settled = bool((~by.kept | by.every).all())
    return Level(
        level=level.name,
        total=level.listed.count,
        kept=level.container_count(verdicts.kept),
        every=level.container_count(verdicts.every),
        kept_without_nan=level.container_count(verdicts.kept_without_nan),
        confidence=Confidence.EXACT if settled else Confidence.CONSERVATIVE,
        bytes_total=_bytes(level, np.ones(level.count, np.bool_)),
        bytes_kept=_bytes(level, verdicts.kept),
        rows_total=total(level.rows),
        rows_kept=total_of(level.rows, verdicts.kept),
        pruned_by=mechanisms.worded(mechanisms.counted(level)),
    )


def _bytes(level: LevelEvidence[Any], flagged: Flags) -> int | None:
    """The bytes of the flagged containers; those that several of them share are counted once."""
    pieces = level.listed.pieces if isinstance(level.listed, ContainersBelow) else None
    if pieces is not None:
        return pieces.size(flagged)
    return None if level.bytes is None else total_of(level.bytes, flagged)


def add_levels(first: tuple[Level, ...], second: tuple[Level, ...]) -> tuple[Level, ...]:
    """Add the levels of two parts of a table; only one part may have opened a footer."""
    by_name = {level.level: level for level in first}
    for level in second:
        sum_so_far = by_name.get(level.level)
        by_name[level.level] = level if sum_so_far is None else sum_so_far + level
    return tuple(by_name[name] for name in in_order(by_name))


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Sort the names of levels from top to bottom, each once; levels below row groups are last."""
    once = dict.fromkeys(names)
    first = [name for name in (MANIFESTS, FILES, ROW_GROUPS) if name in once]
    return tuple(dict.fromkeys((*first, *once)))


def _of_files(level: Level, plan: ScanPlan, why: Why, gone: Sequence[RemovedFiles]) -> Level:
    """Add the files of closed manifests to the counts of the files."""
    files = {m: r.files for m, r in zip(mechanisms.REMOVING, gone, strict=True)}
    return replace(
        level,
        total=plan.summary.files_total,
        bytes_total=plan.summary.bytes_total,
        rows_total=plan.summary.rows_total,
        pruned_by=mechanisms.worded(files),
        unchecked=int(why.files[why.unchecked].sum()),
    )


def _of_row_groups(level: Level, plan: ScanPlan, inside: LevelEvidence[RowGroups]) -> Level:
    """Add what files have to do with it, and the bytes of the selected columns' chunks."""
    evidence, kept = plan.counted, inside.verdicts.kept
    emptied = evidence.file_level.opened & ~evidence.with_row_group(evidence.read(inside))
    ranges = None if plan.options.projection is None else inside.listed.ranges
    return replace(
        level,
        in_kept_files=int(evidence.judgement.kept[inside.listed.owners.to_numpy()].sum()),
        files_emptied=evidence.file_count(evidence.judgement.kept & emptied),
        selected_total=None if ranges is None else _chunk_bytes(ranges),
        selected_kept=None if ranges is None else _chunk_bytes(ranges.filter(pa.array(kept))),
    )


def _chunk_bytes(ranges: pa.ListArray) -> int | None:
    spans = ranges.flatten()
    return total(pc.subtract(pc.list_element(spans, 1), pc.list_element(spans, 0)))


def rows_matched(evidence: Evidence) -> RowsMatched:
    """Bound the matching rows from below by verdict `all`, and from above by kept containers."""
    unlimited = evidence.before_limit
    files, verdicts = unlimited.files, unlimited.judgement
    if (
        not unlimited.file_level.opened.any()
        and files.deleted is None
        and files.maybe_deleted is None
    ):
        return RowsMatched(
            total_of(unlimited.rows, verdicts.every), total_of(unlimited.rows, verdicts.kept)
        )
    return RowsMatched(total(surely_matching(unlimited)), total(perhaps_matching(unlimited)))


class Removal(Record, frozen=True):
    """The files that one mechanism removed.

    `conjunct` is a conjunct that alone removes all of them, None if no conjunct does.
    """

    mechanism: Word
    files: Count
    conjunct: Sql | None


class RemovedFiles(Struct, frozen=True):
    """The number of files that one mechanism removed.

    `spared` has one boolean per conjunct: whether the conjunct alone would keep one of them.
    """

    files: int
    spared: tuple[bool, ...]

    def __add__(self, other: RemovedFiles) -> RemovedFiles:
        return RemovedFiles(self.files + other.files, tuple(map(or_, self.spared, other.spared)))


def removed(plan: ScanPlan) -> tuple[RemovedFiles, ...]:
    """Count the removed files, one record per mechanism in the order of `mechanisms.REMOVING`."""
    by = mechanisms.credit(plan.counted.file_level)
    unlisted = mechanisms.files_unlisted(plan.counted)
    counts = []
    for which in mechanisms.REMOVING:
        gone = by == which
        files = plan.counted.file_count(gone)
        counts.append(
            RemovedFiles(files + unlisted.get(which, 0), _kept_by_conjunct(plan, gone, which))
        )
    return tuple(counts)


def _kept_by_conjunct(plan: ScanPlan, gone: Flags, which: mechanisms.Mechanism) -> tuple[bool, ...]:
    """Return one boolean per conjunct: whether it keeps a removed file or a closed manifest."""
    above = plan.counted.manifest_level
    # One `&` over all flags is faster than an index of the removed files: most files are removed.
    any_removed = gone.any()
    kept = [any_removed and (by & gone).any() for by in plan.counted.judgement.conjunct_kept]
    if above is not None:
        unread = ~above.opened & (mechanisms.credit(above) == which)
        kept = [
            k | by[unread].any() for k, by in zip(kept, above.verdicts.conjunct_kept, strict=True)
        ]
    return tuple(map(bool, kept))


def removals(counted: Sequence[RemovedFiles], predicate: Predicate) -> tuple[Removal, ...]:
    """Make one record per mechanism that removed a file."""
    return tuple(
        Removal(which.word, count.files, _sole_remover(count, predicate))
        for which, count in zip(mechanisms.REMOVING, counted, strict=True)
        if count.files
    )


def _sole_remover(removed_files: RemovedFiles, predicate: Predicate) -> str | None:
    """Return the SQL of a conjunct that alone removes all of these files."""
    pairs = zip(predicate.conjuncts, removed_files.spared, strict=True)
    return next((conjunct.sql for conjunct, spared in pairs if not spared), None)


def selected_bytes(evidence: Evidence) -> int | None:
    """Sum the bytes of the selected columns in kept row groups; None if a footer is missing."""
    level = evidence.row_group_level
    if level is None or level.listed.unchecked:
        return None
    return _chunk_bytes(level.listed.ranges.filter(pa.array(evidence.read(level))))
