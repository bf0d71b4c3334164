"""The cheap half of a layout: a range of one column whose files are most of what is wasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.layouts.applied import median_size
from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import leaf_columns
from whyscan.planning.plan.scan_plan import Depth
from whyscan.pruning.evaluate import conjoin, evaluate
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tree import arrow, zones
from whyscan.tree.nodes import And, Comparator, Comparison, Literal
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from whyscan.layouts.replay import Replayed, TableReplay
    from whyscan.tables.snapshot import Files
    from whyscan.tree.nodes import Column, Expression

    Flags = npt.NDArray[np.bool_]
    Amounts = npt.NDArray[np.float64]

MOST_OF_THE_SAVING = 0.8
"""The files of a partial rewrite are at least this share of what the whole layout saves."""
LARGEST_SHARE = 0.5
"""A rewrite of more than this share of the table's bytes is no cheap half."""
SCANS = 100
"""The costliest scans, which say where bytes are wasted."""


class PartOfTable(Struct, frozen=True, eq=False):
    """Some files of a table, the condition that selects them, and the bytes that all runs save."""

    files: int
    bytes: int
    saves: int
    where: str


def cheap_half(replay: TableReplay, layout: Replayed) -> PartOfTable | None:
    """Find the range of a column whose files are worth rewriting alone; None if there is none.

    Without a sample of the files of today there is none, because nothing says what rewriting some
    of them saves. It is for formats and layouts that can be written for a part of the table:
    Iceberg by any column, others by a partition column, if the partitions stay.
    """
    if not replay.sample_bytes or replay.sampled is not None:
        return None
    columns = _range_columns(replay, layout)
    chosen = replay.costliest(SCANS)
    named = (c for at in chosen for c in replay.scans[at].predicate.columns())
    files = replay.snapshot.files(tuple(dict.fromkeys((*named, *columns))), zones.zone("UTC"))
    sizes = files.bytes.fill_null(0).to_numpy().astype(np.float64)
    if not columns or not sizes.any():
        return None
    kept = np.stack([_may_match(replay, at, files) for at in chosen])
    before = kept @ sizes
    spared = np.maximum(0.0, 1 - layout.amounts.bytes[chosen] / np.maximum(before, 1))
    wasted = (replay.runs[chosen] * spared) @ kept * sizes
    best: tuple[float, Expression, Flags] | None = None
    for column in columns:
        for condition in _ranges(column, files, sizes, wasted):
            inside = _selected(condition, files)
            size = float(sizes[inside].sum())
            if wasted[inside].sum() >= MOST_OF_THE_SAVING * wasted.sum() and (
                best is None or size < best[0]
            ):
                best = size, condition, inside
    if best is None or best[0] > LARGEST_SHARE * sizes.sum():
        return None
    size, condition, inside = best
    saves = _saved(replay, layout, chosen, kept, sizes, inside)
    if saves is None or saves <= 0:
        return None
    return PartOfTable(int(inside.sum()), round(size), saves, to_sql(condition))


def _range_columns(replay: TableReplay, layout: Replayed) -> list[Column]:
    """The columns by which engines rewrite a part of the table in the layout."""
    snapshot = replay.snapshot
    columns = {column.path: column for column in leaf_columns(snapshot)}
    if snapshot.format == "iceberg":
        usable = [*replay.columns, *(columns[p] for p in snapshot.partition_sources)]
    elif layout.layout.partitions is not None:
        return []
    else:
        identities = (
            path
            for spec in snapshot.specs[-1:]
            for path, transforms in spec.items()
            if all(isinstance(transform, IdentityTransform) for transform in transforms)
        )
        usable = [columns[path] for path in identities if path in columns]
    return [c for c in dict.fromkeys(usable) if not isinstance(c.type, FloatType)]


def _may_match(replay: TableReplay, at: int, files: Files) -> Flags:
    """One flag per file: the scan reads it."""
    predicate = replay.scans[at].predicate
    if replay.snapshot.footers_describe_files:
        options = replace(replay.options, depth=Depth.FILES)
        return make_plan(replay.snapshot, predicate, options).evidence.judgement.kept
    expressions = [conjunct.expression for conjunct in predicate.conjuncts]
    zone = zones.zone(predicate.zone)
    truths = [evaluate(expression, files.containers, zone) for expression in expressions]
    return flags(conjoin(expressions, truths, files.containers).true, files.count)


def _selected(condition: Expression, files: Files) -> Flags:
    """One flag per file: an engine that rewrites the rows of the condition rewrites it."""
    truth = evaluate(condition, files.containers, zones.zone("UTC"))
    return flags(truth.true, files.count)


def _ranges(column: Column, files: Files, sizes: Amounts, wasted: Amounts) -> Iterator[Expression]:
    """Yield the range of the column with the fewest bytes that has most of what is wasted."""
    interval = files.containers.interval(column)
    if not isinstance(interval.lower, pa.Array) or not isinstance(interval.upper, pa.Array):
        return
    is_bounded = pc.and_(interval.lower.is_valid(), interval.upper.is_valid())
    places = np.flatnonzero(is_bounded.to_numpy(zero_copy_only=False))
    order = places[pc.sort_indices(interval.lower.take(pa.array(places))).to_numpy()]
    if not len(order):
        return
    behind = np.concatenate(([0.0], np.cumsum(wasted[order])))
    weight = np.concatenate(([0.0], np.cumsum(sizes[order])))
    target = MOST_OF_THE_SAVING * wasted.sum()
    # For each first file the last one that is needed; rounding must not ask for one more.
    last = np.searchsorted(behind, behind[:-1] + target * (1 - 1e-9))
    first = np.flatnonzero(last <= len(order))
    if not target or not len(first):
        return
    start = int(first[np.argmin(weight[last[first]] - weight[first])])
    window = order[start : last[start]]
    low = interval.lower[int(window[0])]
    high = pc.max(interval.upper.take(pa.array(window)))
    bounds = []
    if pc.greater(low, pc.min(interval.lower)).as_py():
        bounds.append((Comparator.GREATER_EQUAL, low))
    if pc.less(high, pc.max(interval.upper)).as_py():
        bounds.append((Comparator.LESS_EQUAL, high))
    sides = [
        Comparison(comparator, column, Literal(arrow.value(bound, column.type), column.type))
        for comparator, bound in bounds
    ]
    if sides:
        yield sides[0] if len(sides) == 1 else And(tuple(sides))


def _saved(
    replay: TableReplay,
    layout: Replayed,
    chosen: Sequence[int],
    kept: Flags,
    sizes: Amounts,
    inside: Flags,
) -> int | None:
    """The bytes that all runs of the costliest scans save, if the files inside are rewritten.

    None if the sample has too few rows of these files.
    """
    some = replace(replay, scans=tuple(replay.scans[at] for at in chosen))
    try:
        after = some.amounts(layout.snapshot.of_files(inside, median_size(replay.files))).bytes
    except UsageError:
        return None
    saved = (kept & inside) @ sizes - after
    return round(float(saved @ replay.runs[chosen]))
