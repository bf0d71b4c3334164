"""Compare the statistics of metadata and footers with counts of the rows.

Statistics are of all rows of a file, also of deleted ones. So are these counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.pruning.exact import NOTHING
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import as_array, either, has_value, opposite
from whyscan.reports.values import json_values
from whyscan.spark.stages.verify.result import Contradiction, Lie
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import Column
from whyscan.tree.types import BIGINT, FloatType, OtherType, TimestampType, UuidType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.pruning.containers import Buckets, Containers
    from whyscan.pruning.exact import Exact
    from whyscan.pruning.mask import Mask
    from whyscan.tables.snapshot import Files, RowGroups, Snapshot
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone

ORDERED = "min", "max"
MOST_NAMED = 20


class ContainerName(Struct, frozen=True):
    """The name of a container in a report."""

    path: str
    row_group: int | None


class Counted(Struct, frozen=True):
    """The counts of one column, one item per container: extremes, NULLs, NaNs and rows."""

    least: pa.Array
    greatest: pa.Array
    nulls: pa.Array
    nans: pa.Array
    rows: pa.Array

    @property
    def values(self) -> pa.Array:
        """The number of rows that are neither NULL nor NaN."""
        return pc.subtract(pc.subtract(self.rows, self.nulls), self.nans)


def counted(table: pa.Table, name: str, kind: Type) -> Counted:
    """The counts of a column from Spark's table, in the Arrow types of bounds."""
    rows, nulls = _whole(table["rows"]), _whole(table[f"nulls_{name}"])
    least = greatest = pa.nulls(len(rows))
    if not isinstance(kind, OtherType):
        least, greatest = (comparable(_whole(table[f"{end}_{name}"]), kind) for end in ORDERED)
    nans = (
        _whole(table[f"nans_{name}"])
        if isinstance(kind, FloatType)
        else pa.repeat(pa.scalar(0, pa.int64()), len(rows))
    )
    return Counted(least, greatest, nulls, nans, rows)


def comparable(values: pa.Array, kind: Type) -> pa.Array:
    """Values of Spark in the Arrow type that the evaluator uses."""
    target = arrow_type(kind)
    match kind:
        case UuidType():
            texts = (None if v is None else bytes.fromhex(v.replace("-", "")) for v in _py(values))
            return pa.array(texts, target)
        case TimestampType():
            plain = values if pa.types.is_integer(values.type) else values.view(pa.int64())
            return plain.view(target)
        case _:
            return values.cast(target)


def of_statistics(
    places: Sequence[ContainerName], column: Column, containers: Containers, counts: Counted
) -> Iterator[Lie]:
    """The lies in the bounds and counts of a column."""
    interval = containers.statistics.get(column.path)
    if interval is None:
        return
    finder = _LieFinder(places, column, "")
    yield from finder.outside(interval, counts)
    null_counts = _null_counts(containers.exact.get(column.path, NOTHING), interval, len(places))
    yield from finder.differing("nulls", null_counts, counts.nulls)
    agreed = pc.fill_null(pc.equal(null_counts, counts.nulls), True)  # noqa: FBT003 - a value of Arrow
    yield from finder.unexpected("values", interval.value, pc.if_else(agreed, counts.values, 0))
    yield from finder.unexpected("nan", interval.nan, counts.nans)


def of_partition(
    places: Sequence[ContainerName], column: Column, containers: Containers, counts: Counted
) -> Iterator[Lie]:
    """The lies in the partition values of a column."""
    interval = containers.partition.get(column.path)
    if interval is None:
        return
    finder = _LieFinder(places, column, "partition ")
    yield from finder.outside(interval, counts)
    yield from finder.unexpected("nulls", interval.null, counts.nulls)
    yield from finder.unexpected("values", interval.value, counts.values)


def of_buckets(
    places: Sequence[ContainerName],
    column: Column,
    buckets: Buckets,
    extremes: tuple[pa.Array, pa.Array],
) -> Iterator[Lie]:
    """The lies in the bucket numbers of files: the rows belong to other buckets."""
    least, greatest = extremes
    finder = _LieFinder(places, Column(column.path, BIGINT), "bucket ")
    none = pa.nulls(len(places), pa.int64())
    ends = Interval(BIGINT, buckets.lower, buckets.upper)
    yield from finder.outside(ends, Counted(least, greatest, none, none, none))


def of_counts(
    places: Sequence[ContainerName],
    quantity: str,
    recorded: pa.Array | None,
    actual: pa.Array,
) -> Iterator[Lie]:
    """The lies in recorded counts or sizes; an unrecorded one is null."""
    if recorded is None:
        return
    wrong = pc.fill_null(pc.not_equal(recorded, actual), False)  # noqa: FBT003 - a value of Arrow
    for at in np.flatnonzero(wrong.to_numpy(zero_copy_only=False)).tolist():
        place = places[at]
        yield Lie(
            place.path,
            place.row_group,
            None,
            quantity,
            recorded[at].as_py(),
            actual[at].as_py(),
        )


class _LieFinder(Struct, frozen=True):
    """Compares recorded and actual values of one column and yields lies."""

    places: Sequence[ContainerName]
    column: Column
    source: str

    def outside(self, interval: Interval, counts: Counted) -> Iterator[Lie]:
        """The lies of bounds: values below the lower or above the upper bound."""
        kind, count = arrow_type(self.column.type), len(self.places)
        if pa.types.is_null(kind):
            return
        for quantity, bound, extreme, beyond in (
            ("lower", interval.lower, counts.least, pc.less),
            ("upper", interval.upper, counts.greatest, pc.greater),
        ):
            recorded = as_array(bound, count, kind)
            wrong = beyond(extreme, recorded)
            yield from self._each(quantity, wrong, recorded, extreme, self.column.type)

    def differing(self, quantity: str, recorded: pa.Array, actual: pa.Array) -> Iterator[Lie]:
        yield from self._each(quantity, pc.not_equal(recorded, actual), recorded, actual, BIGINT)

    def unexpected(self, quantity: str, may: Mask, actual: pa.Array) -> Iterator[Lie]:
        """The lies of absence: rows of a kind that metadata excludes."""
        none = ~flags(may, len(self.places))
        wrong = pc.and_(pa.array(none), pc.greater(actual, 0))
        zeros = pa.repeat(pa.scalar(0, pa.int64()), len(self.places))
        yield from self._each(quantity, wrong, zeros, actual, BIGINT)

    def _each(
        self, quantity: str, wrong: pa.Array, recorded: pa.Array, actual: pa.Array, kind: Type
    ) -> Iterator[Lie]:
        at = pc.indices_nonzero(pc.fill_null(wrong, False))  # noqa: FBT003 - a value of Arrow
        if not len(at):
            return
        both = (json_values(ends.take(at), kind) for ends in (recorded, actual))
        name = ".".join(self.column.path)
        for number, was, there in zip(at.to_pylist(), *both, strict=True):
            place = self.places[number]
            yield Lie(place.path, place.row_group, name, f"{self.source}{quantity}", was, there)


def _null_counts(exact: Exact, interval: Interval, count: int) -> pa.Array:
    """The recorded number of NULLs, null if there is none."""
    if exact.nulls is not None:
        return exact.nulls
    none = ~flags(interval.null, count)
    return pa.array(np.zeros(count, np.int64), mask=~none)


def contradictions(
    snapshot: Snapshot,
    files: Files,
    groups: RowGroups | None,
    columns_and_zone: tuple[Sequence[Column], Zone],
) -> Iterator[Contradiction]:
    """The statistics that contradict themselves, per column; without any, nothing is read."""
    columns, zone = columns_and_zone
    if files.contradictions:
        for column in columns:
            column_files = snapshot.files((column,), zone)
            if column_files.contradictions:
                yield _contradiction("files", column, column_files, column_files.paths)
    if groups is not None and groups.contradictions:
        for column in columns:
            column_groups = snapshot.row_groups(files, groups.opened, (column,), ())
            if column_groups.contradictions:
                yield _contradiction(
                    "row_groups", column, column_groups, files.paths.take(column_groups.owners)
                )


def _contradiction(
    level: str, column: Column, level_containers: Files | RowGroups, paths: pa.Array
) -> Contradiction:
    """The contradiction of one column.

    Its paths are the containers without bounds, or without any statistics, if these are exactly the
    contradicting ones: crossed bounds are dropped alone, an impossible count drops everything.
    """
    count, containers = level_containers.contradictions, level_containers.containers
    interval = containers.statistics.get(column.path)
    name = ".".join(column.path)
    if interval is None:
        return Contradiction(level, name, count, ())
    bounded = either(has_value(interval.lower), has_value(interval.upper))
    only_null = opposite(interval.present)
    for speaks in (bounded, either(bounded, only_null), either(bounded, interval.counted)):
        silent = np.flatnonzero(~flags(speaks, containers.count))
        if len(silent) == count:
            named = paths.take(pa.array(silent[:MOST_NAMED])).to_pylist()
            return Contradiction(level, name, count, tuple(dict.fromkeys(named)))
    return Contradiction(level, name, count, ())


def rolled_up(table: pa.Table, key: str) -> pa.Table:
    """The counts of row groups aggregated per file."""
    how = {"min": "min", "max": "max", "has": "max"}
    summed = dict.fromkeys(("rows", "live", "nulls", "nans"), "sum")
    functions = {name: (how | summed).get(name.split("_")[0]) for name in table.column_names}
    aggregations = [
        (name, function) for name, function in functions.items() if function is not None
    ]
    plain = [pc.cast(c, pa.int64()) if pa.types.is_integer(c.type) else c for c in table.columns]
    file_counts = pa.table(plain, table.column_names).group_by(key).aggregate(aggregations)
    return file_counts.rename_columns([key, *(name for name, _ in aggregations)])


def _whole(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks)


def _py(array: pa.Array) -> list[str | None]:
    values: list[str | None] = array.to_pylist()
    return values
