"""A domain: the set of values of one column that a predicate allows, with NULL and NaN."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.domains import ranges
from whyscan.pruning.domains.ranges import EVERYTHING, FEW, NOTHING, Key, Ranges, ValueRange, key_of
from whyscan.pruning.interval import less, less_equal
from whyscan.pruning.mask import Mask, Vector, any_of, both, either, materialise, may
from whyscan.pruning.membership import any_within
from whyscan.tree import arrow
from whyscan.tree.types import FloatType, Type

if TYPE_CHECKING:
    from whyscan.pruning.interval import Interval

Points: TypeAlias = pa.Array
"""Many single values, sorted and distinct."""


class Domain(Struct, frozen=True):
    """A set of values of a type, and whether NaN and NULL belong to it.

    A domain may contain more values than the predicate allows, never fewer.
    """

    type: Type
    values: Ranges | Points
    nan: bool = False
    null: bool = False

    @classmethod
    def none(cls, kind: Type) -> Domain:
        return cls(kind, NOTHING)

    @classmethod
    def not_null(cls, kind: Type) -> Domain:
        return cls(kind, EVERYTHING, nan=isinstance(kind, FloatType))

    @classmethod
    def only_null(cls, kind: Type) -> Domain:
        return cls(kind, NOTHING, null=True)

    @classmethod
    def only_nan(cls, kind: Type) -> Domain:
        return cls(kind, NOTHING, nan=True)

    @classmethod
    def listed(cls, kind: Type, values: pa.Array, *, nan: bool) -> Domain:
        """The values of an IN list; as ranges if they are few."""
        few = _ranges_of_few(values, kind)
        return cls(kind, values if few is None else few, nan=nan)

    @property
    def is_none(self) -> bool:
        return not (len(self.values) or self.nan or self.null)

    @property
    def is_one_range(self) -> bool:
        """The domain is one range of values, without NaN and NULL."""
        single = isinstance(self.values, tuple) and len(self.values) == 1
        return single and not self.nan and not self.null

    def intersection(self, other: Domain) -> Domain:
        """The values that are in both domains."""
        return Domain(
            self.type,
            _in_both(self, other),
            nan=self.nan and other.nan,
            null=self.null and other.null,
        )

    def union(self, other: Domain) -> Domain:
        """The values that are in at least one of the domains."""
        return Domain(
            self.type,
            _in_either(self, other),
            nan=self.nan or other.nan,
            null=self.null or other.null,
        )

    def overlaps(self, interval: Interval) -> Mask:
        """Some row of the container may be in the domain."""
        return either(
            both(self.nan, interval.nan),
            both(self.null, interval.null),
            both(
                interval.value,
                _any_within(self.values, self.type, interval.lower, interval.upper),
            ),
        )


def _ranges_of_few(values: pa.Array, kind: Type) -> Ranges | None:
    if len(values) > FEW:
        return None
    keys = [key_of(v, kind) for v in _plain(values)]
    if None in keys:
        return EVERYTHING
    return reduce(ranges.union, (ranges.exactly(key, kind) for key in keys), NOTHING)


def _plain(values: pa.Array) -> list[Key]:
    """Arrow values as literals hold them: dates and timestamps as integers."""
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    plain: list[Key] = values.to_pylist()
    return plain


def _in_both(a: Domain, b: Domain) -> Ranges | Points:
    if isinstance(a.values, tuple) and isinstance(b.values, tuple):
        return ranges.intersection(a.values, b.values)
    if isinstance(a.values, tuple):
        return _in_both(b, a)
    kept = _any_within(b.values, b.type, a.values, a.values)
    return a.values.filter(materialise(kept, len(a.values)))


def _in_either(a: Domain, b: Domain) -> Ranges | Points:
    if isinstance(a.values, tuple) or isinstance(b.values, tuple):
        return ranges.union(_from_end_to_end(a), _from_end_to_end(b))
    values = pc.unique(pa.concat_arrays([a.values, b.values]))
    return values.take(pc.sort_indices(values))


def _from_end_to_end(domain: Domain) -> Ranges:
    """Points as one range from the first to the last point, which is a superset."""
    if isinstance(domain.values, tuple):
        return domain.values
    if not len(domain.values):
        return NOTHING
    ends = _plain(domain.values.take(pa.array([0, len(domain.values) - 1])))
    low, high = (key_of(v, domain.type) for v in ends)
    return ranges.intersection(ranges.at_least(low), ranges.up_to(high, domain.type))


def _any_within(
    values: Ranges | Points, kind: Type, lower: Vector | None, upper: Vector | None
) -> Mask:
    """Some value lies between the bounds. An unknown bound excludes nothing."""
    if not isinstance(values, tuple):
        return any_within(lower, upper, values)
    return any_of(_crosses(item, kind, lower, upper) for item in values)


def _crosses(item: ValueRange, kind: Type, lower: Vector | None, upper: Vector | None) -> Mask:
    """The range begins at or below the upper bound and ends above the lower bound."""
    return both(
        may(less_equal, _scalar(item.low, kind), upper),
        may(less, lower, _scalar(item.high, kind)),
    )


def _scalar(key: Key | None, kind: Type) -> pa.Scalar | None:
    return None if key is None else arrow.scalar(ranges.value_of(key, kind), kind)
