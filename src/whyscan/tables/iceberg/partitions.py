"""What partition values say of their source columns, for files and for whole manifests.

Each manifest is read under its own spec. Bucket fields have no preimage: their numbers are
handed on, and literals are hashed forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.arrow import arrow_type
from whyscan.predicate.types import (
    BinaryType,
    DateType,
    DecimalType,
    FloatType,
    TimestampType,
    Type,
    UuidType,
)
from whyscan.pruning.containers import Buckets, Containers, Intervals
from whyscan.pruning.interval import Interval, greater, meet
from whyscan.pruning.mask import Mask, both, keep, opposite, surely, unknown_as
from whyscan.pruning.transforms import (
    Bucket,
    of_partition_values,
    partition_interval,
    result_type,
)
from whyscan.tables.iceberg.bounds import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.predicate.tree import Path
    from whyscan.tables.iceberg.metadata import PartitionField, Spec
    from whyscan.tables.iceberg.schemas import Leaf


@dataclass(frozen=True, slots=True)
class Told:
    """One partition field over a batch: the interval of its values and the column it is made of."""

    field: PartitionField
    source: Leaf
    values: Interval


def containers(told: Sequence[Told], count: int, rows: pa.Array | None) -> Containers:
    """The batch, with what its partition fields say of their sources."""
    return Containers(
        count, rows, partition=_sources(told), buckets=tuple(_buckets(told))
    )


def by_values(
    spec: Spec, columns: Mapping[int, Leaf], values: Mapping[int, pa.Array]
) -> Iterator[Told]:
    """Files: one value a field. `values` are by the id of the partition field."""
    for _, field, source, kind in _fields(spec, columns):
        if field.id in values:
            stored = as_type(values[field.id], kind)
            yield Told(field, source, of_partition_values(kind, stored))


def by_summaries(
    spec: Spec, columns: Mapping[int, Leaf], summaries: pa.Array
) -> Iterator[Told]:
    """Manifests: two ends a field, in the order of the spec's fields.

    A summary without bounds says nothing of the values, whatever its flags are.
    """
    for position, field, source, kind in _fields(spec, columns):
        summary = pc.list_element(_padded(summaries, position), position)
        yield Told(field, source, _summary(kind, summary))


def _fields(
    spec: Spec, columns: Mapping[int, Leaf]
) -> Iterator[tuple[int, PartitionField, Leaf, Type]]:
    """The fields whose source the schema still has and whose values have an order."""
    for position, field in enumerate(spec.fields):
        source = columns.get(field.source)
        if source is not None:
            kind = result_type(field.transform, source.type)
            if not pa.types.is_null(arrow_type(kind)):
                yield position, field, source, kind


def _padded(summaries: pa.Array, position: int) -> pa.Array:
    """Lists too short for the position become null: `list_element` refuses them."""
    enough = pc.greater(pc.list_value_length(summaries), position).fill_null(False)
    empty = pa.array([[None] * (position + 1)], summaries.type)[0]
    return pc.if_else(enough, summaries, empty)


def _summary(kind: Type, summary: pa.StructArray) -> Interval:
    lower = decode(summary.field("lower_bound"), kind)
    upper = decode(summary.field("upper_bound"), kind)
    known = pc.is_valid(summary)
    right = opposite(surely(greater, lower, upper))
    null = pc.if_else(known, summary.field("contains_null"), pa.scalar(None, pa.bool_()))
    nan: Mask = False
    if isinstance(kind, FloatType):
        nan = unknown_as(summary.field("contains_nan"), verdict=True)
        right = both(right, _is_number(lower), _is_number(upper))
    return Interval(
        kind,
        keep(right, lower),
        keep(right, upper),
        null=unknown_as(null, verdict=True),
        nan=nan,
    )


def _is_number(end: pa.Array) -> Mask:
    """A NaN end is no end."""
    return opposite(surely(pc.is_nan, end))


def _sources(told: Sequence[Told]) -> Intervals:
    found: dict[Path, Interval] = {}
    for one in told:
        interval = partition_interval(one.field.transform, one.source.type, one.values)
        path = one.source.path
        found[path] = meet(found[path], interval) if path in found else interval
    return found


def _buckets(told: Sequence[Told]) -> Iterator[Buckets]:
    for one in told:
        match one.field.transform:
            case Bucket(count=number):
                yield Buckets(one.source.path, number, one.values.lower, one.values.upper)
            case _:
                pass


def as_type(values: pa.Array, kind: Type) -> pa.Array:
    """Partition values in the Arrow representation of `kind`, whichever reader gave them."""
    target = arrow_type(kind)
    match kind:
        case DecimalType() if not pa.types.is_decimal(values.type):
            return decode(values.cast(pa.binary()), kind)
        case DateType() if pa.types.is_integer(values.type):
            return values.cast(pa.int32()).view(target)
        case TimestampType() if pa.types.is_integer(values.type):
            return values.cast(pa.int64()).view(target)
        case UuidType() if pa.types.is_string(values.type):
            return _uuids(values)
        case BinaryType():
            return values.cast(pa.binary())
        case _:
            return values.cast(target)


def _uuids(texts: pa.Array) -> pa.Array:
    import uuid

    return pa.array([None if t is None else uuid.UUID(t).bytes for t in texts.to_pylist()],
                    pa.binary())
