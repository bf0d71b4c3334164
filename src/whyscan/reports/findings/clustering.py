"""WIDE_BOUNDS: the number of files that a query would read from a sorted table.

The number is an estimate from bounds. It assumes that the values of a file are spread evenly
between its bounds, and that the rows of a partition stay in it, in the same number of files.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.equivalence import where_true as spans_of
from whyscan.planning.why.overlap_depth import sampled
from whyscan.planning.why.pushdown import partition_columns
from whyscan.planning.why.reason_codes import Reason
from whyscan.pruning.domains import ValueRange
from whyscan.pruning.domains import where_true as domains_of
from whyscan.pruning.domains.ranges import EVERYTHING, Key, key_of, successor
from whyscan.reports.file_bounds import ends
from whyscan.reports.findings.finding import (
    Code,
    Effect,
    Facts,
    Finding,
    Severity,
    table_sql,
)
from whyscan.reports.listing import join_partitions
from whyscan.reports.words import counted
from whyscan.tree import arrow
from whyscan.tree.nodes import And, columns_of
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import DecimalType, FloatType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.domains import Domain
    from whyscan.tree.nodes import Column, Expression
    from whyscan.tree.zones import Zone

    Numbers = npt.NDArray[np.float64]

FEWEST_FILES = 4
"""If fewer files than this straddle a condition, a rewrite of the table is not proposed."""

LEAST_SAVING = 0.1
"""The share of the table's files that sorting must save."""

RANGES_AT_MOST = 100


class FileBounds(Struct, frozen=True):
    """The bounds, rows (null if unknown) and partition of some files, one slot per file."""

    lower: pa.Array
    upper: pa.Array
    rows: pa.Array
    partition: pa.Table


class Ranges(Struct, frozen=True):
    """The values of a column that can match the predicate; `nan` is True if NaN can match."""

    column: Column
    ranges: tuple[ValueRange, ...]
    nan: bool


class Sorted(Struct, frozen=True):
    """The estimated number of files that are read from a table sorted by this column."""

    column: Column
    at_least: int
    at_most: int


def wide_bounds(facts: Facts) -> Iterator[Finding]:
    """Yield one finding for the column whose sorting saves most, if it saves enough."""
    read = facts.files.kept
    if read < max(FEWEST_FILES, LEAST_SAVING * facts.files.total):
        return
    if facts.stays.named(Reason.STRADDLES) < FEWEST_FILES:
        return
    estimates = [
        estimate
        for ranges in _wanted_ranges(facts)
        if (estimate := _estimate(facts, ranges)) is not None
    ]
    best = min(estimates, key=lambda e: (e.at_most, e.at_least), default=None)
    if best is None or best.at_most * 2 > read:
        return
    if read - best.at_most < LEAST_SAVING * facts.files.total:
        return
    yield _finding(facts, best)


def _finding(facts: Facts, best: Sorted) -> Finding:
    name = ".".join(best.column.path)
    read = facts.files.kept
    each = "" if not facts.plan.snapshot.partition_sources else " within its partitions"
    reads = f"{best.at_least:,}"
    if best.at_most > best.at_least:
        reads += f" to {best.at_most:,}"
    return Finding(
        Code.WIDE_BOUNDS,
        Severity.WARNING,
        f"bounds of {name} overlap: {read:,} of {counted(facts.files.total, 'file')} are read",
        f"cluster the table by {name}{each}: sorted by it, an estimated {reads} of "
        f"{counted(facts.files.total, 'file')} would be read instead of {read:,} (its values are "
        "taken to lie evenly between the bounds)",
        {
            "files": read,
            "estimated_files_at_least": best.at_least,
            "estimated_files_at_most": best.at_most,
        },
        _clustering_sql(facts, best.column),
        Effect("files, estimated at most", read, best.at_most),
        columns=(name,),
    )


def _clustering_sql(facts: Facts, column: Column) -> str | None:
    """The statement that clusters a Delta table; along one column a Z-order is its order."""
    snapshot = facts.plan.snapshot
    if snapshot.format != "delta":
        return None
    name = to_sql(column)
    # A table with liquid clustering refuses ZORDER BY.
    if any(note.startswith("clustered by") for note in snapshot.notes):
        return f"ALTER TABLE {table_sql(facts.plan)} CLUSTER BY ({name})"
    return f"OPTIMIZE {table_sql(facts.plan)} ZORDER BY ({name})"


def _wanted_ranges(facts: Facts) -> Iterator[Ranges]:
    """Yield the columns without partition values for which the predicate restricts the values."""
    conjuncts = [conjunct.expression for conjunct in facts.plan.predicate.conjuncts]
    domains = domains_of(And(tuple(conjuncts)))
    partition = partition_columns(facts.plan)
    for column in facts.plan.predicate.columns():
        if column.path in partition:
            continue
        alone = tuple(c for c in conjuncts if columns_of(c) == (column,))
        ranges, nan = _proved_ranges(alone, facts.plan.zone), False
        domain = domains.get(column)
        if not ranges and domain is not None:
            ranges, nan = _ranges(domain), domain.nan and not facts.plan.options.assume_no_nan
        if ranges:
            yield Ranges(column, ranges, nan)


def _ranges(domain: Domain) -> tuple[ValueRange, ...]:
    """Return the ranges of a domain; empty if NULL or every value can match."""
    if domain.null:
        return ()
    if isinstance(domain.values, tuple):
        return () if domain.values == EVERYTHING else domain.values
    if len(domain.values) > RANGES_AT_MOST:
        return ()
    keys = [key_of(value, domain.type) for value in _as_numbers(domain.values).to_pylist()]
    return tuple(ValueRange(key, successor(key, domain.type)) for key in keys)


def _proved_ranges(conditions: tuple[Expression, ...], zone: Zone) -> tuple[ValueRange, ...]:
    """Return the ranges of conditions like `year(ts) = 2024`, if the interpreter proves them."""
    spans = spans_of(And(conditions), zone) if conditions else None
    if spans is None or spans.true_spans == (spans.domain,):
        return ()
    return tuple(ValueRange(span.low, span.high + 1) for span in spans.true_spans)


def _estimate(facts: Facts, wanted: Ranges) -> Sorted | None:
    """Estimate the files read after sorting, from the files of kept partitions or a sample."""
    counts = facts.plan.each(partial(_count, wanted=wanted))
    total, in_partitions = sum(bounded for bounded, _ in counts), sum(files for _, files in counts)
    if total < FEWEST_FILES:
        return None
    until = np.cumsum([bounded for bounded, _ in counts])
    chosen = sampled(total)
    positions = [
        chosen[(chosen >= end - bounded) & (chosen < end)] - (end - bounded)
        for end, (bounded, _) in zip(until.tolist(), counts, strict=True)
    ]
    parts = facts.plan.each_with(partial(_bounds_at, wanted=wanted), positions)
    at_least, at_most = _files_when_sorted(_join_bounds(parts), wanted, total / len(chosen))
    # Files without bounds or with possible NaN are read, sorted or not.
    unbounded = in_partitions - total
    return Sorted(
        wanted.column,
        min(at_least + unbounded, in_partitions),
        min(at_most + unbounded, in_partitions),
    )


def _bounds(plan: ScanPlan, wanted: Ranges) -> FileBounds | None:
    """Return the files of kept partitions that have both bounds: those that sorting can save."""
    bounds = ends(wanted.column, plan)
    evidence = plan.counted
    if bounds is None or (wanted.nan and _may_be_nan(plan, wanted.column)):
        return None
    lower, upper = bounds
    chosen = pa.array(evidence.each_file(evidence.by_partition.kept))
    chosen = pc.and_(chosen, pc.and_(lower.is_valid(), upper.is_valid()))
    files = evidence.files
    partition = files.partition.filter(chosen) if files.partition.num_columns else files.partition
    return FileBounds(
        lower.filter(chosen), upper.filter(chosen), files.rows.filter(chosen), partition
    )


def _may_be_nan(plan: ScanPlan, column: Column) -> bool:
    """Return whether some container may hold NaN."""
    groups = plan.counted.describing_groups
    containers = plan.counted.files.containers if groups is None else groups.containers
    return bool(flags(containers.interval(column).nan, containers.count).any())


def _count(plan: ScanPlan, wanted: Ranges) -> tuple[int, int]:
    """Count the files of kept partitions: those with both bounds, and all."""
    bounds = _bounds(plan, wanted)
    files = plan.counted.file_count(plan.counted.by_partition.kept)
    return 0 if bounds is None else len(bounds.lower), files


def _bounds_at(plan: ScanPlan, at: npt.NDArray[np.int64], wanted: Ranges) -> FileBounds | None:
    bounds = _bounds(plan, wanted)
    if bounds is None:
        return None
    chosen = pa.array(at)
    return FileBounds(
        bounds.lower.take(chosen),
        bounds.upper.take(chosen),
        bounds.rows.take(chosen),
        bounds.partition.take(chosen) if bounds.partition.num_columns else bounds.partition,
    )


def _join_bounds(parts: Sequence[FileBounds | None]) -> FileBounds:
    filled = [part for part in parts if part is not None and len(part.lower)]
    first_type = filled[0].lower.type
    return FileBounds(
        pa.concat_arrays([part.lower.cast(first_type) for part in filled]),
        pa.concat_arrays([part.upper.cast(first_type) for part in filled]),
        pa.concat_arrays([part.rows.cast(pa.int64()) for part in filled]),
        join_partitions([(part.partition, len(part.lower)) for part in filled]),
    )


def _files_when_sorted(bounds: FileBounds, wanted: Ranges, scale: float) -> tuple[int, int]:
    """Return the least and the most files that the matching rows fill in sorted partitions.

    Consecutive rows fill whole files, and reach into at most one more. Each measured file stands
    for `scale` files.
    """
    lower, upper, places = _as_positions(bounds, wanted)
    step = 0.0 if isinstance(wanted.column.type, FloatType) else 1.0
    weights = np.ones(len(lower))
    if not bounds.rows.null_count:
        weights = bounds.rows.to_numpy().astype(np.float64)
    group = arrow.tuple_numbers(bounds.partition.columns, len(lower))
    files = np.bincount(group)
    per_file = np.maximum(np.bincount(group, weights) / files, 1e-9)
    least, most, pieces = (np.zeros(len(files)) for _ in range(3))
    for place in places:
        share = _share(lower, upper, place.low, place.high, step)
        rows = np.bincount(group, share * weights, len(files)) * scale
        most += rows
        least += rows if place.measured else 0
        pieces += np.bincount(group, (lower < place.high) & (upper >= place.low), len(files)) > 0

    def full(rows: Numbers) -> Numbers:
        # The subtraction allows for the rounding errors of the sums.
        full_files: Numbers = np.maximum(np.ceil(rows / per_file - 1e-6), 1)
        return full_files

    files = np.ceil(files * scale)
    reached = pieces > 0
    at_least = np.where(reached, np.minimum(full(least), files), 0)
    at_most = np.where(reached, np.minimum(full(most) + pieces, files), 0)
    return int(at_least.sum()), int(at_most.sum())


def _share(lower: Numbers, upper: Numbers, low: float, high: float, step: float) -> Numbers:
    """Return for each file the share of its values from `low` up to but not including `high`."""
    inside = np.minimum(upper + step, high) - np.maximum(lower, low)
    width = upper + step - lower
    meets = (lower < high) & (upper >= low)
    share = np.where(width > 0, np.clip(inside, 0, None) / np.where(width > 0, width, 1), 1.0)
    return np.where(meets, share, 0.0)


_GREATEST_PLACE = 1e300


class Place(Struct, frozen=True):
    """A range as numbers. `measured` is False if it may hold far fewer values than it spans."""

    low: float
    high: float
    measured: bool = True


def _as_positions(bounds: FileBounds, wanted: Ranges) -> tuple[Numbers, Numbers, list[Place]]:
    """Convert bounds and ranges to numbers; text is converted to its rank among the bounds."""
    lower, upper, kind = _as_numbers(bounds.lower), _as_numbers(bounds.upper), wanted.column.type
    if pa.types.is_binary(lower.type) or pa.types.is_fixed_size_binary(lower.type):
        return _ranked(lower.to_pylist(), upper.to_pylist(), wanted.ranges)
    scale = 10.0**kind.scale if isinstance(kind, DecimalType) else 1.0

    def numbers(values: pa.Array) -> Numbers:
        # A long may have more digits than a double, and the width of infinity is no number.
        doubles = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        scaled: Numbers = np.clip(doubles * scale, -_GREATEST_PLACE, _GREATEST_PLACE)
        return scaled

    def number(key: Key | None, otherwise: float) -> float:
        return otherwise if key is None else float(key)

    places = [Place(number(r.low, -np.inf), number(r.high, np.inf)) for r in wanted.ranges]
    return numbers(lower), numbers(upper), places


def _as_numbers(values: pa.Array) -> pa.Array:
    """Convert times and booleans to integers, and text to bytes."""
    if pa.types.is_temporal(values.type):
        values = values.view(pa.int64() if values.type.bit_width == 64 else pa.int32())  # noqa: PLR2004 - bits
    elif pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    elif pa.types.is_string(values.type):
        values = values.cast(pa.binary())
    return values


def _ranked(
    lower: list[bytes], upper: list[bytes], ranges: Sequence[ValueRange]
) -> tuple[Numbers, Numbers, list[Place]]:
    """Convert text to ranks: each distinct bound is one step.

    There may be many more values between two bounds, so a range of one value is not measured.
    """
    order = sorted({*lower, *upper})
    rank = {value: float(place) for place, value in enumerate(order)}
    places = []
    for item in ranges:
        low = -np.inf if item.low is None else float(bisect_left(order, item.low))
        high = np.inf if item.high is None else float(bisect_left(order, item.high))
        one_value = item.low is not None and item.high == item.low + b"\0"
        places.append(Place(low - 1 if high == low else low, high, measured=not one_value))
    return np.array([rank[v] for v in lower]), np.array([rank[v] for v in upper]), places
