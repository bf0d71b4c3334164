"""What partition values say of their source columns, for files and for whole manifests.

Each manifest is read under its own spec. Bucket fields have no preimage: their numbers are
handed on, and literals are hashed forward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.containers import Buckets, Containers, Intervals
from whyscan.pruning.interval import Interval, greater, meet
from whyscan.pruning.mask import Mask, either, keep, opposite, surely, tally, unknown_as
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
    """One partition field over a batch: the interval of its values and the column it is made of.

    `unreadable` counts the containers whose value could not be read: it may be anything there.
    """

    field: PartitionField
    source: IcebergColumn
    values: Interval
    unreadable: int = 0


def containers(
    told: Sequence[PartitionFieldValues], count: int, rows: pa.Array | None
) -> Containers:
    """The batch, with what its partition fields say of their sources."""
    return Containers(count, rows, partition=_sources(told), buckets=tuple(_buckets(told)))


def by_values(
    spec: Spec, columns: Mapping[int, IcebergColumn], values: Mapping[int, pa.Array]
) -> Iterator[PartitionFieldValues]:
    """Files: one value a field. `values` are by the id of the partition field."""
    for _, field, source, kind in _fields(spec, columns):
        if field.id in values:
            stored = values[field.id]
            read = as_type(stored, kind)
            yield PartitionFieldValues(field, source, *_points(kind, stored, read))


def _points(kind: Type, stored: pa.Array, read: pa.Array) -> tuple[Interval, int]:
    """One value a container. What could not be read is not NULL: it may be anything."""
    point = of_partition_values(kind, read)
    lost = unknown_as(unread(stored, read), verdict=False)
    if lost is False:
        return point, 0
    interval = Interval(
        kind,
        point.lower,
        point.upper,
        value=either(point.value, lost),
        null=point.null,
        nan=either(point.nan, lost) if isinstance(kind, FloatType) else False,
    )
    return interval, tally(lost, len(stored))


def by_summaries(
    spec: Spec, columns: Mapping[int, IcebergColumn], summaries: pa.Array
) -> Iterator[PartitionFieldValues]:
    """Manifests: two ends a field, in the order of the spec's fields.

    A summary without bounds says nothing of the values, whatever its flags are.
    """
    for position, field, source, kind in _fields(spec, columns):
        yield PartitionFieldValues(field, source, *_summary(kind, _element(summaries, position)))


def _fields(
    spec: Spec, columns: Mapping[int, IcebergColumn]
) -> Iterator[tuple[int, PartitionField, IcebergColumn, Type]]:
    """The fields whose source the schema still has and whose values have an order."""
    for position, field in enumerate(spec.fields):
        source = columns.get(field.source)
        if source is not None:
            kind = result_type(field.transform, source.type)
            if not pa.types.is_null(arrow_type(kind)):
                yield position, field, source, kind


def _element(lists: pa.Array, position: int) -> pa.Array:
    """The element at a position; null in lists that are too short, which `list_element` refuses."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    starts = np.cumsum(lengths) - lengths
    return pc.list_flatten(lists).take(pa.array(starts + position, mask=lengths <= position))


def _summary(kind: Type, summary: pa.StructArray) -> tuple[Interval, int]:
    def of(name: str) -> pa.Array:
        return pc.struct_field(summary, name)

    stored = of("lower_bound"), of("upper_bound")
    lower, upper, lost = decode_both(stored, kind)
    if isinstance(kind, UuidType):
        lower, upper = in_either_order(lower, upper)
    wrong = surely(greater, lower, upper)
    nan: Mask = False
    if isinstance(kind, FloatType):
        # A NaN end is no end, and it is a NaN.
        ends = either(surely(pc.is_nan, lower), surely(pc.is_nan, upper))
        wrong = either(wrong, ends)
        nan = either(unknown_as(of("contains_nan"), verdict=True), ends)
    right = opposite(wrong)
    null = unknown_as(of("contains_null"), verdict=True)
    return Interval(kind, keep(right, lower), keep(right, upper), null=null, nan=nan), lost


def _sources(told: Sequence[PartitionFieldValues]) -> Intervals:
    found: dict[Path, Interval] = {}
    for one in told:
        interval = partition_interval(one.field.transform, one.source.type, one.values)
        path = one.source.path
        found[path] = meet(found[path], interval) if path in found else interval
    return found


def _buckets(told: Sequence[PartitionFieldValues]) -> Iterator[Buckets]:
    for one in told:
        match one.field.transform:
            case Bucket(count=number):
                yield Buckets(one.source.path, number, one.values.lower, one.values.upper)
            case _:
                pass


def identities(spec: Spec) -> frozenset[int]:
    """The field ids of columns whose value a file's partition says, stored in the file or not."""
    return frozenset(f.source for f in spec.fields if isinstance(f.transform, IdentityTransform))


def names(spec: Spec, columns: Mapping[int, IcebergColumn]) -> frozenset[str]:
    """The fields of which `by_values` tells."""
    return frozenset(field.name for _, field, _, _ in _fields(spec, columns))


def by_source(
    spec: Spec, columns: Mapping[int, IcebergColumn]
) -> dict[Path, tuple[Transform, ...]]:
    """The transforms of a spec by the column that they are made of."""
    found: dict[Path, tuple[Transform, ...]] = {}
    for field in spec.fields:
        source = columns.get(field.source)
        if source is not None:
            found[source.path] = (*found.get(source.path, ()), field.transform)
    return found
