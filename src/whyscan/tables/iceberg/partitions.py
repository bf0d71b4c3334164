"""The intervals of source columns from partition values, for files and for manifests.

Each manifest is read with its own spec. Bucket fields have no preimage: containers keep the bucket
numbers, and the evaluator hashes literals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.containers import Buckets, Containers, Intervals
from whyscan.pruning.interval import Interval, greater, meet
from whyscan.pruning.mask import Mask, either, keep, opposite, surely, unknown_as
from whyscan.pruning.transforms import (
    Bucket,
    IdentityTransform,
    of_partition_values,
    partition_interval,
    result_type,
)
from whyscan.tables.iceberg.bounds import decode_both, in_either_order, unread
from whyscan.tables.iceberg.partition_values import as_type
from whyscan.tree.arrow import arrow_type
from whyscan.tree.types import FloatType, Type, UuidType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.pruning.transforms import Transform
    from whyscan.tables.iceberg.metadata import PartitionField, Spec
    from whyscan.tables.iceberg.schemas import IcebergColumn
    from whyscan.tree.nodes import Path


class PartitionFieldValues(Struct, frozen=True):
    """One partition field of a batch: the interval of its values, and its source column.

    `unreadable`: the container's value could not be read, and so may be any value.
    """

    field: PartitionField
    source: IcebergColumn
    values: Interval
    unreadable: Mask = False


def containers(
    field_values: Sequence[PartitionFieldValues], count: int, rows: pa.Array | None
) -> Containers:
    """The containers of a batch with the intervals of the partition fields' sources."""
    unreadable: dict[Path, Mask] = {}
    for field_value in field_values:
        path = field_value.source.path
        unreadable[path] = either(unreadable.get(path, False), field_value.unreadable)
    return Containers(
        count,
        rows,
        partition=_sources(field_values),
        buckets=tuple(_buckets(field_values)),
        unreadable=unreadable,
    )


def by_values(
    spec: Spec, columns: Mapping[int, IcebergColumn], values: Mapping[int, pa.Array]
) -> Iterator[PartitionFieldValues]:
    """The fields of files: one value per file. `values` are by the partition field's id."""
    for _, field, source, kind in _fields(spec, columns):
        if field.id in values:
            recorded = values[field.id]
            read = as_type(recorded, kind)
            yield PartitionFieldValues(field, source, *_points(kind, recorded, read))


def _points(kind: Type, recorded: pa.Array, read: pa.Array) -> tuple[Interval, Mask]:
    """The interval of one value per container. An unreadable value may be any value."""
    point = of_partition_values(kind, read)
    lost = unread(recorded, read)
    if lost is False:
        return point, False
    interval = Interval(
        kind,
        point.lower,
        point.upper,
        value=either(point.value, lost),
        null=point.null,
        nan=either(point.nan, lost) if isinstance(kind, FloatType) else False,
    )
    return interval, lost


def by_summaries(
    spec: Spec, columns: Mapping[int, IcebergColumn], summaries: pa.Array
) -> Iterator[PartitionFieldValues]:
    """The fields of manifests: two bounds per manifest, in the order of the spec's fields.

    A summary without bounds allows all values, whatever its flags are.
    """
    for position, field, source, kind in _fields(spec, columns):
        yield PartitionFieldValues(field, source, *_summary(kind, _element(summaries, position)))


def _fields(
    spec: Spec, columns: Mapping[int, IcebergColumn]
) -> Iterator[tuple[int, PartitionField, IcebergColumn, Type]]:
    """The fields whose source column is in the schema and whose values have an order."""
    for position, field in enumerate(spec.fields):
        source = columns.get(field.source)
        if source is not None:
            kind = result_type(field.transform, source.type)
            if not pa.types.is_null(arrow_type(kind)):
                yield position, field, source, kind


def _element(lists: pa.Array, position: int) -> pa.Array:
    """The element at a position of each list; null for a list that is too short."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    starts = np.cumsum(lengths) - lengths
    return pc.list_flatten(lists).take(pa.array(starts + position, mask=lengths <= position))


def _summary(kind: Type, summary: pa.StructArray) -> tuple[Interval, Mask]:
    def values(name: str) -> pa.Array:
        return pc.struct_field(summary, name)

    bounds = values("lower_bound"), values("upper_bound")
    lower, upper, lost = decode_both(bounds, kind)
    if isinstance(kind, UuidType):
        lower, upper = in_either_order(lower, upper)
    wrong = surely(greater, lower, upper)
    nan: Mask = False
    if isinstance(kind, FloatType):
        # A bound that is NaN is no bound, but it proves that the column has NaN.
        ends = either(surely(pc.is_nan, lower), surely(pc.is_nan, upper))
        wrong = either(wrong, ends)
        nan = either(unknown_as(values("contains_nan"), verdict=True), ends)
    right = opposite(wrong)
    null = unknown_as(values("contains_null"), verdict=True)
    return Interval(kind, keep(right, lower), keep(right, upper), null=null, nan=nan), lost


def _sources(field_values: Sequence[PartitionFieldValues]) -> Intervals:
    intervals: dict[Path, Interval] = {}
    for field_value in field_values:
        interval = partition_interval(
            field_value.field.transform, field_value.source.type, field_value.values
        )
        path = field_value.source.path
        intervals[path] = meet(intervals[path], interval) if path in intervals else interval
    return intervals


def _buckets(field_values: Sequence[PartitionFieldValues]) -> Iterator[Buckets]:
    for field_value in field_values:
        match field_value.field.transform:
            case Bucket() as bucket:
                yield Buckets(
                    field_value.source.path,
                    bucket,
                    field_value.values.lower,
                    field_value.values.upper,
                )
            case _:
                pass


def identities(spec: Spec) -> frozenset[int]:
    """The ids of columns with an identity transform: the partition has their value."""
    return frozenset(f.source for f in spec.fields if isinstance(f.transform, IdentityTransform))


def names(spec: Spec, columns: Mapping[int, IcebergColumn]) -> frozenset[str]:
    """Return the names of the partition fields whose source columns are in the schema."""
    return frozenset(field.name for _, field, _, _ in _fields(spec, columns))


def by_source(
    spec: Spec, columns: Mapping[int, IcebergColumn]
) -> dict[Path, tuple[Transform, ...]]:
    """The transforms of a spec by their source column."""
    transforms: dict[Path, tuple[Transform, ...]] = {}
    for field in spec.fields:
        source = columns.get(field.source)
        if source is not None:
            transforms[source.path] = (*transforms.get(source.path, ()), field.transform)
    return transforms
