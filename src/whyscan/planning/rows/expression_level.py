"""The metadata about one expression in the containers of a level, for all parts of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple

from whyscan.planning.plan.judgement import Flags, flags
from whyscan.planning.plan.matching_rows import UNCOUNTED, counts
from whyscan.pruning.mask import as_array, both, opposite
from whyscan.tree.arrow import arrow_type
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from whyscan.planning.plan.matching_rows import Counts, Population
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.mask import Mask, Vector
    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type


class ExpressionLevel(Struct, frozen=True):
    """The containers of a level that are kept, with what their metadata says of an expression.

    `at` are their positions among `all` containers of the level. `value`, `null`, `nan` and
    `raises` flag what is possible in each. If `lower_attained`, a live row that matches has the
    lower bound. `every`, `rows`, `sure` and `gone` are those of `Population`; `nulls` counts the
    rows that are NULL, `UNCOUNTED` where it is unknown.
    """

    name: str
    type: Type
    all: int
    at: Counts
    lower: pa.Array
    upper: pa.Array
    value: Flags
    null: Flags
    nan: Flags
    raises: Flags
    lower_attained: Flags
    upper_attained: Flags
    every: Flags
    rows: Counts
    sure: Counts
    gone: Counts
    nulls: Counts

    @classmethod
    def of(
        cls, level: Population, kept: Flags, expression: Expression, plan: ScanPlan
    ) -> ExpressionLevel:
        """The level of one part; `kept` flags the containers of interest."""
        interval, exact = level.interval(expression, plan), level.exact(expression)
        count, kind = level.containers.count, arrow_type(interval.type)

        def kept_flags(mask: Mask) -> Flags:
            return flags(mask, count)[kept]

        def ends(end: Vector | None) -> pa.Array:
            return as_array(end, count, kind).filter(pa.array(kept))

        one_value = both(interval.point(), opposite(interval.null), opposite(interval.nan))
        attained = kept_flags(one_value) & (level.every & (level.sure > 0))[kept]
        nulls = np.full(count, UNCOUNTED) if exact.nulls is None else counts(exact.nulls, UNCOUNTED)
        return cls(
            name=to_sql(expression),
            type=interval.type,
            all=count,
            at=np.flatnonzero(kept),
            lower=ends(interval.lower),
            upper=ends(interval.upper),
            value=kept_flags(interval.value),
            null=kept_flags(interval.null),
            nan=kept_flags(interval.nan),
            raises=kept_flags(interval.raises),
            lower_attained=(kept_flags(exact.lower) & level.whole[kept]) | attained,
            upper_attained=(kept_flags(exact.upper) & level.whole[kept]) | attained,
            every=level.every[kept],
            rows=level.rows[kept],
            sure=level.sure[kept],
            gone=level.gone[kept],
            nulls=nulls[kept],
        )

    def __add__(self, other: ExpressionLevel) -> ExpressionLevel:
        """The containers of two parts."""
        shifted = (other.at + self.all, *astuple(other)[4:])
        arrays = map(_concatenated, astuple(self)[3:], shifted)
        return ExpressionLevel(self.name, self.type, self.all + other.all, *arrays)

    @property
    def present(self) -> Flags:
        """One flag per container: some row may be not NULL."""
        present: Flags = self.value | self.nan
        return present

    @property
    def whole(self) -> Flags:
        """One flag per container: no row is deleted, and every row matches."""
        whole: Flags = self.every & (self.gone == 0) & (self.rows != UNCOUNTED)
        return whole

    def spread(self, flagged: Flags) -> Flags:
        """Flags of the kept containers as flags of all containers."""
        all_flags = np.zeros(self.all, np.bool_)
        all_flags[self.at[flagged]] = True
        return all_flags


def _concatenated(left: Any, right: Any) -> Any:
    if isinstance(left, pa.Array):
        return pa.concat_arrays([left, right])
    return np.concatenate([left, right])
