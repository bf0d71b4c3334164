"""The target of a change: all its uses as one scan, and what happens to its files."""

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
from whyscan.statements.records import Amount, Rewrite, Stayed
from whyscan.statements.roles import Origin
from whyscan.statements.sql.relations import Select, Source
from whyscan.statements.stay_reasons import StayReason
from whyscan.tree.nodes import Column, Literal, Opaque, walk
from whyscan.tree.rewrite import substituted
from whyscan.tree.types import BOOLEAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.statements.changes.queries import Change, DynamicPartitions
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.sql.relations import Output, Query

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
QUERY_ROWS = "(given)"
"""The key of the rows that an overwriting query returns."""


def merged_target(leaves: Sequence[PlacedScan]) -> list[PlacedScan]:
    """The scans with all uses of the target merged into one: it reads what any use needs."""
    targets = [leaf for leaf in leaves if leaf.source.target]
    if len(targets) < 2:  # noqa: PLR2004
        return list(leaves)
    first, *others = targets
    for other in others:
        first = _either(first, other)
    rest = [leaf for leaf in leaves if not leaf.source.target]
    return [first, *rest]


def _either(first: PlacedScan, second: PlacedScan) -> PlacedScan:
    """Merge two scans of the target: the filters that both have, and (first OR second).

    If one scan has no further filter, the OR is dropped.
    """
    if any(fact.expression == FALSE for fact in first.facts):
        return replace(
            second,
            source=replace(second.source, key=first.source.key),
            facts=tuple(_on_key(fact, first.source.key) for fact in second.facts),
        )
    other_facts = [_on_key(fact, first.source.key) for fact in second.facts]
    others = {fact.expression for fact in other_facts}
    shared = [fact for fact in first.facts if fact.expression in others]
    common = {fact.expression for fact in shared}
    alternatives = [
        [fact for fact in facts if fact.expression not in common]
        for facts in (first.facts, other_facts)
    ]
    above = [*first.above, *second.above]
    if all(alternatives):
        shared += _alternatives(*alternatives)
    else:
        lost = [fact for facts in alternatives for fact in facts]
        above += [
            Stayed(fact.written, StayReason.ROWS_BY_SOURCE) for fact in lost if _was_written(fact)
        ]
    columns = dict.fromkeys((*first.columns, *second.columns))
    return replace(
        first, facts=tuple(shared), columns=tuple(columns), above=tuple(dict.fromkeys(above))
    )


def _was_written(fact: Fact) -> bool:
    return fact.origin is not Origin.JOIN


def _on_key(fact: Fact, key: str) -> Fact:
    """The fact as one about the scan with the key `key`: a use of the same table."""
    moved = substituted(fact.expression, lambda c: Column((key, *c.path[1:]), c.type))
    return fact if moved is None else replace(fact, expression=moved)


def _alternatives(first: Sequence[Fact], second: Sequence[Fact]) -> list[Fact]:
    """`(a AND b) OR c` as two facts, `a OR c` and `b OR c`, so that each keeps its origin."""
    last = all_of([fact.expression for fact in second])
    written = " AND ".join(dict.fromkeys(fact.written for fact in second))
    return [
        Fact(any_of([fact.expression, last]), fact.written, None, fact.origin, fact.via)
        if fact.origin is Origin.JOIN
        else Fact(
            any_of([fact.expression, last]), f"{fact.written} OR {written}", None, Origin.PART
        )
        for fact in first
    ]


def with_partition_facts(
    leaf: PlacedScan, query: Query, row_facts: Iterable[Fact], dynamic: DynamicPartitions
) -> PlacedScan:
    """The scan of a target whose partitions are replaced where the query returns rows of them.

    A fact about the rows of the query also holds for the partitions into which they are written, if
    it names only columns that have one value per partition.
    """
    columns = _partition_columns(leaf, query.outputs, dynamic)
    key = leaf.source.key

    def change(column: Column) -> Column | None:
        target_column = columns.get(column.path[1]) if len(column.path) == 2 else None  # noqa: PLR2004
        return (
            Column((key, *target_column.path), target_column.type)
            if target_column and target_column.type == column.type
            else None
        )

    partition_facts = []
    for fact in row_facts:
        moved = substituted(fact.expression, change)
        if moved is not None:
            partition_facts.append(Fact(moved, fact.written, None, Origin.SPREAD, fact.via))
    return replace(leaf, facts=(*leaf.facts, *partition_facts))


def _partition_columns(
    leaf: PlacedScan, outputs: Sequence[Output], dynamic: DynamicPartitions
) -> dict[str, Column]:
    """The identity partition columns of the target, by the outputs that are written to them."""
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
    """What happens to the files of the target; `query` selects the rows that are changed."""
    fates = plan.each(partial(_fates, target_files=change.target_files, decides=_decides(query)))
    removed, rewritten = (reduce(add, amounts) for amounts in zip(*fates, strict=True))
    return Rewrite(change.operation, removed, rewritten)


def _fates(plan: ScanPlan, target_files: TargetFiles, *, decides: bool) -> tuple[Amount, Amount]:
    """The amounts of one part that are removed and rewritten."""
    kept = plan.evidence.judgement.kept
    nothing = np.zeros(len(kept), np.bool_)
    match target_files:
        case TargetFiles.KEPT:
            removed, rewritten = nothing, nothing
        case TargetFiles.REWRITTEN:
            removed, rewritten = nothing, kept
        case TargetFiles.REPLACED:
            removed, rewritten = kept, nothing
        case TargetFiles.DROPPED:
            dropped = kept & plan.evidence.judgement.every if decides else nothing
            removed, rewritten = dropped, kept & ~dropped
        case _:
            assert_never(target_files)
    return _amount(plan, removed), _amount(plan, rewritten)


def notes(change: Change, rewrites: Iterable[Rewrite | None]) -> tuple[str, ...]:
    """Notes on what the numbers of a change leave out."""
    sentences = [*change.notes]
    for done in rewrites:
        if done is None:
            continue
        if done.rewritten.files:
            sentences.append(COPIED)
        if done.removed.files and change.operation == "delete":
            sentences.append(DROPPED)
        if change.dynamic is not None:
            sentences.append(AT_MOST)
        if change.operation == "merge" and change.target_query is not None:
            sentences.append(COPIES_ALL)
    return tuple(sentences)


def _decides(query: Query) -> bool:
    """Whether the filters of the target decide alone which of its rows are changed."""
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
