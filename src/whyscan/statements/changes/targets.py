"""The target of a change: its occurrences as one scan, and what becomes of its files."""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, assert_never

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from whyscan.planning.plan.planner import total
from whyscan.predicate.binding.comparisons import all_of, any_of
from whyscan.pruning.transforms import IdentityTransform
from whyscan.statements.changes.queries import TargetFiles
from whyscan.statements.placement.facts import Fact
from whyscan.statements.records import Amount, Origin, Rewrite, Stayed
from whyscan.statements.sql.relations import Select, Source
from whyscan.tree.nodes import Column, Literal, Opaque, walk
from whyscan.tree.rendering import to_sql
from whyscan.tree.rewrite import substituted
from whyscan.tree.types import BOOLEAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.statements.changes.queries import Change, DynamicPartitions
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.sql.relations import Output, Query

BY_SOURCE = "WHEN NOT MATCHED BY SOURCE acts on rows that fail it"
COPIED = (
    "a file that is rewritten is read with all its columns, as copy-on-write does; where deletion "
    "vectors or delete files mark rows instead, the columns that conditions name are enough"
)
DROPPED = (
    "a file whose rows all go need not be read: Iceberg drops it by its bounds, Delta where its "
    "partition alone decides"
)
COPIES_ALL = (
    "Delta on Spark copies every file of a target that WHEN NOT MATCHED BY SOURCE changes; those "
    "that are told are the ones with a row to change"
)
AT_MOST = (
    "a partition is replaced only if the query gives a row of it: the files that go are at most "
    "those that are told"
)
FALSE = Literal(value=False, type=BOOLEAN)
GIVEN = "(given)"
"""The key of the rows that an overwriting query gives."""


def one_target(leaves: Sequence[PlacedScan]) -> list[PlacedScan]:
    """The scans with those of the target as one: it is read for whoever needs a row of it."""
    targets = [leaf for leaf in leaves if leaf.source.target]
    if len(targets) < 2:  # noqa: PLR2004
        return list(leaves)
    first, *others = targets
    for other in others:
        first = _either(first, other)
    rest = [leaf for leaf in leaves if not leaf.source.target]
    return [first, *rest]


def _either(one: PlacedScan, other: PlacedScan) -> PlacedScan:
    """What both scans are filtered by, and what one or the other is, if each is by something."""
    if any(known.expression == FALSE for known in one.facts):
        return replace(
            other,
            source=replace(other.source, key=one.source.key),
            facts=tuple(_of(known, one.source.key) for known in other.facts),
        )
    theirs = [_of(known, one.source.key) for known in other.facts]
    texts = {to_sql(known.expression) for known in theirs}
    shared = [known for known in one.facts if to_sql(known.expression) in texts]
    common = {to_sql(known.expression) for known in shared}
    alternatives = [
        [known for known in facts if to_sql(known.expression) not in common]
        for facts in (one.facts, theirs)
    ]
    above = [*one.above, *other.above]
    if all(alternatives):
        shared += _alternatives(*alternatives)
    else:
        lost = [known for facts in alternatives for known in facts]
        above += [Stayed(known.written, BY_SOURCE) for known in lost if _was_written(known)]
    columns = dict.fromkeys((*one.columns, *other.columns))
    return replace(
        one, facts=tuple(shared), columns=tuple(columns), above=tuple(dict.fromkeys(above))
    )


def _was_written(known: Fact) -> bool:
    return known.origin is not Origin.JOIN


def _of(known: Fact, key: str) -> Fact:
    """The fact about another occurrence of the same table."""
    moved = substituted(known.expression, lambda c: Column((key, *c.path[1:]), c.type))
    return known if moved is None else replace(known, expression=moved)


def _alternatives(one: Sequence[Fact], other: Sequence[Fact]) -> list[Fact]:
    """(a AND b) OR c as a OR c, b OR c: each keeps where it came from."""
    last = all_of([known.expression for known in other])
    written = " AND ".join(dict.fromkeys(known.written for known in other))
    return [
        Fact(any_of([known.expression, last]), known.written, None, known.origin, known.via)
        if known.origin is Origin.JOIN
        else Fact(
            any_of([known.expression, last]), f"{known.written} OR {written}", None, Origin.PART
        )
        for known in one
    ]


def bounded(
    leaf: PlacedScan, query: Query, given: Iterable[Fact], dynamic: DynamicPartitions
) -> PlacedScan:
    """A target whose partitions are replaced where the query gives rows of them.

    What is TRUE of the rows that it gives is TRUE of the partitions that they are written to: for
    columns whose value is the partition's own.
    """
    columns = _partition_columns(leaf, query.outputs, dynamic)
    key = leaf.source.key

    def change(column: Column) -> Column | None:
        own = columns.get(column.path[1]) if len(column.path) == 2 else None  # noqa: PLR2004
        return Column((key, *own.path), own.type) if own and own.type == column.type else None

    found = []
    for known in given:
        moved = substituted(known.expression, change)
        if moved is not None:
            found.append(Fact(moved, known.written, None, Origin.SPREAD, known.via))
    return replace(leaf, facts=(*leaf.facts, *found))


def _partition_columns(
    leaf: PlacedScan, outputs: Sequence[Output], dynamic: DynamicPartitions
) -> dict[str, Column]:
    """The columns that each partition has one value of, by the outputs that are written to them."""
    snapshot = leaf.base.snapshot
    fields = snapshot.schema().fields
    names = [output.name for output in outputs]
    if len(set(names)) < len(names):
        return {}
    if dynamic.by_name:
        pairs = {name.lower(): name for name in names}
    elif dynamic.columns is not None:
        written = names[-len(dynamic.columns) :]
        pairs = {c.lower(): n for c, n in zip(dynamic.columns, written, strict=False)}
    else:
        same = len(fields) == len(names)
        pairs = {f.name.lower(): n for f, n in zip(fields, names, strict=False)} if same else {}
    return {
        pairs[f.name.lower()]: Column((f.name,), f.type)
        for f in fields
        if f.name.lower() in pairs
        and all(IdentityTransform() in spec.get((f.name,), ()) for spec in snapshot.specs)
    }


def rewrite(plan: PlannedSnapshot, change: Change, query: Query) -> Rewrite:
    """What becomes of the target's files; `query` is the one that chose its rows."""
    fates = plan.each(partial(_fates, fate=change.fate, decides=_decides(query)))
    removed, rewritten = (reduce(add, amounts) for amounts in zip(*fates, strict=True))
    return Rewrite(change.operation, removed, rewritten)


def _fates(plan: ScanPlan, fate: TargetFiles, *, decides: bool) -> tuple[Amount, Amount]:
    """What is removed of one part, and what is rewritten."""
    kept = plan.evidence.judgement.kept
    nothing = np.zeros(len(kept), np.bool_)
    match fate:
        case TargetFiles.KEPT:
            removed, rewritten = nothing, nothing
        case TargetFiles.REWRITTEN:
            removed, rewritten = nothing, kept
        case TargetFiles.REPLACED:
            removed, rewritten = kept, nothing
        case TargetFiles.DROPPED:
            whole = kept & plan.evidence.judgement.every if decides else nothing
            removed, rewritten = whole, kept & ~whole
        case _:
            assert_never(fate)
    return _amount(plan, removed), _amount(plan, rewritten)


def notes(change: Change, rewrites: Iterable[Rewrite | None]) -> tuple[str, ...]:
    """What the figures of a change leave out."""
    told = [*change.notes]
    for done in rewrites:
        if done is None:
            continue
        if done.rewritten.files:
            told.append(COPIED)
        if done.removed.files and change.operation == "delete":
            told.append(DROPPED)
        if change.dynamic is not None:
            told.append(AT_MOST)
        if change.operation == "merge" and change.besides is not None:
            told.append(COPIES_ALL)
    return tuple(told)


def _decides(query: Query) -> bool:
    """Whether the target's own filters say all about which of its rows are acted on."""
    if not isinstance(query, Select) or not isinstance(query.tree, Source):
        return False
    return not any(
        condition.fixed is not None
        or any(isinstance(node, Opaque) for node in walk(condition.expression))
        for condition in query.where
    )


def _amount(plan: ScanPlan, chosen: Flags) -> Amount:
    files, flags = plan.evidence.files, pa.array(chosen)
    sizes = (total(files.bytes.filter(flags)), total(files.rows.filter(flags)))
    return Amount(int(chosen.sum()), *sizes)
