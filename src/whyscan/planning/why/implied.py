"""Conditions on partition columns that hold of every file that can match."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.predicate.binding.names import SchemaColumns
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tree import arrow
from whyscan.tree.nodes import Between, Column, Comparator, Comparison, In, Literal
from whyscan.tree.types import DateType, IntegerType, StringType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import Evidence, PlannedSnapshot, PlanRequest, ScanPlan
    from whyscan.pruning.blocks import Blocks
    from whyscan.tree.nodes import Expression

LISTED_AT_MOST = 8


class Implied(Struct, frozen=True):
    """A condition on a partition column: `outside` files lie outside it, and none can match."""

    column: str
    expression: Expression
    values: int
    of_values: int
    outside: int


def implied(asked: PlannedSnapshot) -> Implied | None:
    """The condition that leaves the most files outside; None where no column has one.

    Every live file must be listed, and one must stay.
    """
    columns = tuple(_identities(asked))
    if not columns:
        return None
    tried = _together(asked.each(partial(_kept_values, columns=columns)))
    told = zip(columns, tried, strict=True)
    found = [f for column, values in told if (f := _of_column(column, values)) is not None]
    return max(found, key=lambda f: f.outside, default=None)


def listed(asked: PlannedSnapshot, column: Column, position: int) -> Expression | None:
    """`column IN (…)` for the partition values that a conjunct keeps; None where that is not all.

    The conjunct is at that position, and partition values settle it.
    """
    (values,) = _together(asked.each(partial(_asked_values, column=column, position=position)))
    if values is None or not (chosen := values.filter(pc.field("chosen") > 0)).num_rows:
        return None
    distinct = chosen["value"].combine_chunks()
    if distinct.null_count or len(distinct) > LISTED_AT_MOST:
        return None
    # The same value must not be on both sides.
    if pc.any(pc.less(chosen["chosen"], chosen["files"])).as_py():
        return None
    return _in(column, distinct)


def partition_values(asked: PlannedSnapshot, column: Column) -> pa.Array | None:
    """The distinct values of an identity partition column in the files that are listed, sorted.

    None where the column is no such one.
    """
    if column not in _identities(asked):
        return None
    parts = asked.each(partial(_values, column=column))
    if any(part is None for part in parts):
        return None
    whole = pa.chunked_array([part for part in parts if part is not None and len(part)] or [[]])
    distinct = pc.unique(whole).drop_null()
    return distinct.take(pc.sort_indices(distinct)).cast(arrow.arrow_type(column.type))


def partition_extent(asked: PlannedSnapshot, column: Column) -> pa.Array | None:
    """The least and the greatest value by the summaries of manifests; None where one has none."""
    parts = asked.each(partial(_extent, column=column))
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or column not in _identities(asked):
        return None
    ends = pc.min_max(pa.chunked_array(known))
    return pa.array([ends["min"].as_py(), ends["max"].as_py()], known[0].type)


def _extent(plan: ScanPlan, column: Column) -> pa.Array | None:
    above = plan.counted.manifests
    interval = None if above is None else above.manifests.containers.partition.get(column.path)
    if interval is None:
        return None
    ends = [end for end in (interval.lower, interval.upper) if isinstance(end, pa.Array)]
    if len(ends) < 2 or any(end.null_count for end in ends):  # noqa: PLR2004 - two ends
        return None
    whole = pa.concat_arrays(ends)
    return whole if _is_text(whole) or not isinstance(column.type, StringType) else None


def _is_text(values: pa.Array) -> bool:
    try:
        values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _kept_values(plan: ScanPlan, columns: Sequence[Column]) -> list[pa.Table | None]:
    return [_counted(plan, column, plan.counted.judgement.kept) for column in columns]


def _asked_values(plan: ScanPlan, column: Column, position: int) -> list[pa.Table | None]:
    return [_counted(plan, column, plan.counted.by_partition.conjunct_kept[position])]


def _counted(plan: ScanPlan, column: Column, chosen: Flags) -> pa.Table | None:
    """Of each partition value how many files have it, and how many of the chosen ones."""
    if not len(chosen):
        return _NO_FILES
    evidence = plan.counted
    if evidence.cells is not None:
        # Of a table that is asked many questions: which file has which value is known.
        blocks = evidence.cells.blocks
        valued = blocks.noted(("values", column), lambda: _Valued.of(plan, column, blocks))
        return None if valued is None else valued.counted(evidence, chosen)
    values = _values(plan, column)
    if values is None:
        return None
    ones = pa.repeat(pa.scalar(1, pa.int64()), len(values))
    return _summed(
        pa.table({"value": values, "files": ones, "chosen": pa.array(chosen).cast(pa.int64())})
    )


_NO_FILES = pa.table({"value": pa.nulls(0), "files": pa.nulls(0), "chosen": pa.nulls(0)})


class _Valued(Struct, frozen=True):
    """The distinct values of a column, how many files have each, and which one each file has.

    `alike`: no two files of a block differ in it.
    """

    values: pa.Array
    files: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    alike: bool

    @classmethod
    def of(cls, plan: ScanPlan, column: Column, blocks: Blocks) -> _Valued | None:
        values = _values(plan, column)
        if values is None:
            return None
        encoded = values.dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy()
        files = np.bincount(codes, minlength=len(encoded.dictionary))
        first = np.repeat(codes[blocks.order[blocks.begins[:-1]]], blocks.sizes)
        return cls(encoded.dictionary, files, codes, np.array_equal(codes[blocks.order], first))

    def counted(self, evidence: Evidence, chosen: Flags) -> pa.Table:
        """Those that are chosen by one file of each cell, or by each of their files."""
        found = np.zeros(len(self.values), np.int64)
        if self.alike and evidence.examples is not None:
            np.add.at(found, self.codes[evidence.examples[chosen]], evidence.sizes[chosen])
        else:
            np.add.at(found, self.codes[evidence.positions(chosen)], 1)
        return pa.table({"value": self.values, "files": self.files, "chosen": found})


def _summed(counts: pa.Table) -> pa.Table:
    found = counts.group_by("value", use_threads=False).aggregate(
        [("files", "sum"), ("chosen", "sum")]
    )
    return pa.table(
        {"value": found["value"], "files": found["files_sum"], "chosen": found["chosen_sum"]}
    )


def _together(parts: Sequence[Sequence[pa.Table | None]]) -> list[pa.Table | None]:
    """The counts of all parts, column by column; None where one of them does not know."""
    return [
        None
        if any(part is None for part in column)
        else _summed(pa.concat_tables([p for p in column if p.num_rows] or [_NO_FILES]))
        for column in zip(*parts, strict=True)
    ]


def _of_column(column: Column, counted: pa.Table | None) -> Implied | None:
    if counted is None:
        return None
    values, files = counted["value"].combine_chunks(), counted["files"].combine_chunks()
    distinct = values.filter(pc.greater(counted["chosen"].combine_chunks(), 0))
    every = len(values) - values.null_count
    if distinct.null_count or len(distinct) == every:
        return None
    if len(distinct) <= LISTED_AT_MOST:
        expression: Expression = _in(column, distinct)
        inside = pc.is_in(values, distinct)
    else:
        low, high = pc.min_max(distinct).values()
        expression = _between(column, low, high)
        inside = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
    outside = pc.sum(files.filter(pc.invert(inside.fill_null(False))), min_count=0).as_py()  # noqa: FBT003 - what Arrow fills in
    return (
        Implied(".".join(column.path), expression, len(distinct), every, outside)
        if outside
        else None
    )


def _identities(asked: PlanRequest) -> Iterator[Column]:
    """The partition columns whose values are their own, in every live spec."""
    known = SchemaColumns(asked.snapshot.schema())
    for path in asked.snapshot.partition_sources:
        plain = all(spec.get(path) == (IdentityTransform(),) for spec in asked.snapshot.specs)
        if plain and len(path) == 1 and len(found := known.named(path[0])) == 1:
            yield Column(path, found[0].type)


def _values(plan: ScanPlan, column: Column) -> pa.Array | None:
    """The partition value of each file, of a type that has one spelling."""
    table, name = plan.counted.files.partition, ".".join(column.path)
    if not isinstance(column.type, StringType | IntegerType | DateType):
        return None
    if name not in table.column_names:
        return None
    stored = table[name].combine_chunks()
    wanted = pa.string() if isinstance(column.type, StringType) else arrow.arrow_type(column.type)
    try:
        return stored.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _in(column: Column, distinct: pa.Array) -> Expression:
    ordered = distinct.take(pc.sort_indices(distinct)).cast(arrow.arrow_type(column.type))
    if len(ordered) == 1:
        point = Literal(arrow.value(ordered[0], column.type), column.type)
        return Comparison(Comparator.EQUAL, column, point)
    return In(column, ordered, null=False, nan=False)


def _between(column: Column, low: pa.Scalar, high: pa.Scalar) -> Expression:
    stored = arrow.arrow_type(column.type)
    ends = (Literal(arrow.value(e.cast(stored), column.type), column.type) for e in (low, high))
    return Between(column, *ends)
