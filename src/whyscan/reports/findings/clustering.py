"""WIDE_BOUNDS: what the query would read if the files were sorted by one of its columns.

The number is an estimate from bounds: the values of a file are taken to lie evenly between its
bounds, and the rows of a partition stay in it, in as many files as it has.
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
from whyscan.reports.findings.finding import Code, Effect, Facts, Finding, Severity
from whyscan.reports.listing import partitions_together
from whyscan.reports.words import counted
from whyscan.tree.nodes import And, columns_of
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
"""Fewer files than this that straddle a condition are not worth a rewrite of the table."""

LEAST_SAVING = 0.1
"""The share of the table's files that sorting must spare."""

RANGES_AT_MOST = 100


class FileBounds(Struct, frozen=True):
    """The bounds, rows (null where unknown) and partition of some files."""

    lower: pa.Array
    upper: pa.Array
    rows: pa.Array
    partition: pa.Table


class Ranges(Struct, frozen=True):
    """The values of a column that can match; `nan`: NaN can, too."""

    column: Column
    ranges: tuple[ValueRange, ...]
    nan: bool


class Sorted(Struct, frozen=True):
    """How many files a sorted layout would read, estimated."""

    column: Column
    at_least: int
    at_most: int


def wide_bounds(facts: Facts) -> Iterator[Finding]:
    """The one column by which sorting spares most; nothing where no column spares much."""
    read = facts.files.kept
    if read < max(FEWEST_FILES, LEAST_SAVING * facts.files.total):
        return
    if facts.stays.named(Reason.STRADDLES) < FEWEST_FILES:
        return
    estimates = [
        estimate for asked in _asked(facts) if (estimate := _estimate(facts, asked)) is not None
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
        effect=Effect("files, estimated at most", read, best.at_most),
    )


def _asked(facts: Facts) -> Iterator[Ranges]:
    """The columns without partition values of which not every value can match."""
    conjuncts = [conjunct.expression for conjunct in facts.plan.predicate.conjuncts]
    domains = domains_of(And(tuple(conjuncts)))
    partition = partition_columns(facts.plan)
    for column in facts.plan.predicate.columns():
        if column.path in partition:
            continue
        alone = tuple(c for c in conjuncts if columns_of(c) == (column,))
        ranges, nan = _proved(alone, facts.plan.zone), False
        domain = domains.get(column)
        if not ranges and domain is not None:
            ranges, nan = _ranges(domain), domain.nan and not facts.plan.options.assume_no_nan
        if ranges:
            yield Ranges(column, ranges, nan)


def _ranges(domain: Domain) -> tuple[ValueRange, ...]:
    """None where NULL may match or every value may: sorting spares nothing that can be counted."""
    if domain.null:
        return ()
    if isinstance(domain.values, tuple):
        return () if domain.values == EVERYTHING else domain.values
    if len(domain.values) > RANGES_AT_MOST:
        return ()
    keys = [key_of(value, domain.type) for value in _as_numbers(domain.values).to_pylist()]
    return tuple(ValueRange(key, successor(key, domain.type)) for key in keys)


def _proved(conditions: tuple[Expression, ...], zone: Zone) -> tuple[ValueRange, ...]:
    """The ranges of conditions like `year(ts) = 2024`, where the interpreter proves them."""
    spans = spans_of(And(conditions), zone) if conditions else None
    if spans is None or spans.found == (spans.domain,):
        return ()
    return tuple(ValueRange(span.low, span.high + 1) for span in spans.found)


def _estimate(facts: Facts, asked: Ranges) -> Sorted | None:
    """By the files of the partitions that are kept, or by a sample of them."""
    counts = facts.plan.each(partial(_count, asked=asked))
    total, wanted = sum(bounded for bounded, _ in counts), sum(files for _, files in counts)
    if total < FEWEST_FILES:
        return None
    until = np.cumsum([bounded for bounded, _ in counts])
    chosen = sampled(total)
    given = [
        chosen[(chosen >= end - bounded) & (chosen < end)] - (end - bounded)
        for end, (bounded, _) in zip(until.tolist(), counts, strict=True)
    ]
    parts = facts.plan.each_given(partial(_bounds_at, asked=asked), given)
    at_least, at_most = _files_when_sorted(_joined(parts), asked, total / len(chosen))
    # The other files have no bounds, or may hold NaN: they stay, sorted or not.
    others = wanted - total
    return Sorted(
        asked.column,
        min(at_least + others, wanted),
        min(at_most + others, wanted),
    )


def _bounds(plan: ScanPlan, asked: Ranges) -> FileBounds | None:
    """The files of the kept partitions that sorting can spare: those that have both bounds."""
    found = ends(asked.column, plan)
    evidence = plan.counted
    if found is None or (asked.nan and _may_be_nan(plan, asked.column)):
        return None
    lower, upper = found
    here = pa.array(evidence.each_file(evidence.by_partition.kept))
    here = pc.and_(here, pc.and_(lower.is_valid(), upper.is_valid()))
    files = evidence.files
    partition = files.partition.filter(here) if files.partition.num_columns else files.partition
    return FileBounds(lower.filter(here), upper.filter(here), files.rows.filter(here), partition)


def _may_be_nan(plan: ScanPlan, column: Column) -> bool:
    """Some container has no evidence against NaN, which matches."""
    groups = plan.counted.groups
    by_footer = plan.snapshot.footers_describe_files and groups is not None
    containers = groups.containers if by_footer and groups else plan.counted.files.containers
    return bool(flags(containers.interval(column).nan, containers.count).any())


def _count(plan: ScanPlan, asked: Ranges) -> tuple[int, int]:
    """The files of the kept partitions: those with bounds, and all."""
    found = _bounds(plan, asked)
    wanted = plan.counted.number(plan.counted.by_partition.kept)
    return 0 if found is None else len(found.lower), wanted


def _bounds_at(plan: ScanPlan, at: npt.NDArray[np.int64], asked: Ranges) -> FileBounds | None:
    found = _bounds(plan, asked)
    if found is None:
        return None
    chosen = pa.array(at)
    return FileBounds(
        found.lower.take(chosen),
        found.upper.take(chosen),
        found.rows.take(chosen),
        found.partition.take(chosen) if found.partition.num_columns else found.partition,
    )


def _joined(parts: Sequence[FileBounds | None]) -> FileBounds:
    whole = [part for part in parts if part is not None and len(part.lower)]
    stored = whole[0].lower.type
    return FileBounds(
        pa.concat_arrays([part.lower.cast(stored) for part in whole]),
        pa.concat_arrays([part.upper.cast(stored) for part in whole]),
        pa.concat_arrays([part.rows.cast(pa.int64()) for part in whole]),
        partitions_together([(part.partition, len(part.lower)) for part in whole]),
    )


def _files_when_sorted(bounds: FileBounds, asked: Ranges, scale: float) -> tuple[int, int]:
    """The least and the most files of the sorted partitions into which the rows fall.

    Rows that follow one another fill whole files, and reach into one more at the most. Each of the
    measured files stands for `scale` files.
    """
    lower, upper, places = _placed(bounds, asked)
    step = 0.0 if isinstance(asked.column.type, FloatType) else 1.0
    weights = np.ones(len(lower))
    if not bounds.rows.null_count:
        weights = bounds.rows.to_numpy().astype(np.float64)
    group = partition_numbers(bounds.partition, len(lower))
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
        # One part in a million is what adding floats may cost.
        whole: Numbers = np.maximum(np.ceil(rows / per_file - 1e-6), 1)
        return whole

    files = np.ceil(files * scale)
    reached = pieces > 0
    at_least = np.where(reached, np.minimum(full(least), files), 0)
    at_most = np.where(reached, np.minimum(full(most) + pieces, files), 0)
    return int(at_least.sum()), int(at_most.sum())


def _share(lower: Numbers, upper: Numbers, low: float, high: float, step: float) -> Numbers:
    """Of the values of each file, the part from `low` to below `high`."""
    inside = np.minimum(upper + step, high) - np.maximum(lower, low)
    width = upper + step - lower
    meets = (lower < high) & (upper >= low)
    share = np.where(width > 0, np.clip(inside, 0, None) / np.where(width > 0, width, 1), 1.0)
    return np.where(meets, share, 0.0)


class Place(Struct, frozen=True):
    """A range as numbers; not `measured` where it may hold far fewer values than it spans."""

    low: float
    high: float
    measured: bool = True


def _placed(bounds: FileBounds, asked: Ranges) -> tuple[Numbers, Numbers, list[Place]]:
    """Bounds and ranges as numbers; text by its rank among the bounds."""
    lower, upper, kind = _as_numbers(bounds.lower), _as_numbers(bounds.upper), asked.column.type
    if pa.types.is_binary(lower.type) or pa.types.is_fixed_size_binary(lower.type):
        return _ranked(lower.to_pylist(), upper.to_pylist(), asked.ranges)
    scale = 10.0**kind.scale if isinstance(kind, DecimalType) else 1.0

    def numbers(values: pa.Array) -> Numbers:
        found: Numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False) * scale
        return found

    def number(key: Key | None, otherwise: float) -> float:
        return otherwise if key is None else float(key)

    places = [Place(number(r.low, -np.inf), number(r.high, np.inf)) for r in asked.ranges]
    return numbers(lower), numbers(upper), places


def _as_numbers(values: pa.Array) -> pa.Array:
    """Times as whole numbers, truth values too."""
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
    """The distinct bounds are the values that are sure to be there: each is one step.

    Between two bounds there may be many more values: one of them has at most so many rows.
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


def partition_numbers(partition: pa.Table, count: int) -> npt.NDArray[np.int64]:
    """The number of each file's partition."""
    codes = np.zeros(count, np.int64)
    for column in partition.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        codes = codes * (len(encoded.dictionary) + 1) + encoded.indices.to_numpy()
        _, codes = np.unique(codes, return_inverse=True)
    return codes
