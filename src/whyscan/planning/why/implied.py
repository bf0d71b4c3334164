"""Conditions on partition columns that are TRUE for every file that can match."""

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

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import PlannedSnapshot, PlanRequest, ScanPlan
    from whyscan.pruning.blocks import Blocks
    from whyscan.tree.nodes import Expression

LISTED_AT_MOST = 8


class Implied(Struct, frozen=True):
    """A condition on a partition column; `outside` files do not fulfil it and cannot match.

    It lists or spans `values` of the column's `of_values` partition values.
    """

    column: str
    expression: Expression
    values: int
    of_values: int
    outside: int


def implied(plan: PlannedSnapshot) -> Implied | None:
    """The condition that leaves the most files outside; None where no column has one.

    Every live file must be listed, and at least one must be kept.
    """
    columns = tuple(_identities(plan))
    if not columns:
        return None
    counts_by_column = _summed_counts(plan.each(partial(_kept_values, columns=columns)))
    pairs = zip(columns, counts_by_column, strict=True)
    conditions = [f for column, values in pairs if (f := _of_column(column, values)) is not None]
    return max(conditions, key=lambda f: f.outside, default=None)


def listed(plan: PlannedSnapshot, column: Column, position: int) -> Expression | None:
    """`column IN (…)` with the partition values that a conjunct keeps; None where it is not exact.

    `position` is the conjunct's position. Partition values must settle the conjunct.
    """
    counts = plan.each(partial(_conjunct_values, column=column, position=position))
    (values,) = _summed_counts(counts)
    if values is None or not (chosen := values.filter(pc.field("chosen") > 0)).num_rows:
        return None
    distinct = chosen["value"].combine_chunks()
    if distinct.null_count or len(distinct) > LISTED_AT_MOST:
        return None
    # A value must not be in both kept and pruned files.
    if pc.any(pc.less(chosen["chosen"], chosen["files"])).as_py():
        return None
    return _in_list(column, distinct)


def partition_values(plan: PlannedSnapshot, column: Column) -> pa.Array | None:
    """The distinct values of an identity partition column in the listed files, sorted.

    None where the column is no identity partition column.
    """
    if column not in _identities(plan):
        return None
    parts = plan.each(partial(_values, column=column))
    if any(part is None for part in parts):
        return None
    chunks = pa.chunked_array([part for part in parts if part is not None and len(part)] or [[]])
    distinct = pc.unique(chunks).drop_null()
    return distinct.take(pc.sort_indices(distinct)).cast(arrow.arrow_type(column.type))


def partition_extent(plan: PlannedSnapshot, column: Column) -> pa.Array | None:
    """The least and the greatest value in the summaries of manifests; None where one has none."""
    parts = plan.each(partial(_extent, column=column))
    extents = [part for part in parts if part is not None]
    if len(extents) < len(parts) or column not in _identities(plan):
        return None
    ends = pc.min_max(pa.chunked_array(extents))
    return pa.array([ends["min"].as_py(), ends["max"].as_py()], extents[0].type)


def _extent(plan: ScanPlan, column: Column) -> pa.Array | None:
    level = plan.counted.manifest_level
    interval = None if level is None else level.listed.containers.partition.get(column.path)
    if interval is None:
        return None
    ends = [end for end in (interval.lower, interval.upper) if isinstance(end, pa.Array)]
    if len(ends) < 2 or any(end.null_count for end in ends):  # noqa: PLR2004 - two ends
        return None
    both_ends = pa.concat_arrays(ends)
    return both_ends if _is_text(both_ends) or not isinstance(column.type, StringType) else None


def _is_text(values: pa.Array) -> bool:
    try:
        values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _kept_values(plan: ScanPlan, columns: Sequence[Column]) -> list[pa.Table | None]:
    return [_counted(plan, column, plan.counted.judgement.kept) for column in columns]


def _conjunct_values(plan: ScanPlan, column: Column, position: int) -> list[pa.Table | None]:
    return [_counted(plan, column, plan.counted.by_partition.conjunct_kept[position])]


def _counted(plan: ScanPlan, column: Column, chosen: Flags) -> pa.Table | None:
    """One row per partition value: how many files have it, and how many of these are chosen."""
    if not len(chosen):
        return _NO_FILES
    evidence = plan.counted
    blocks = evidence.files.containers.blocks
    if blocks is not None:
        # A cached table keeps which file has which value.
        valued = blocks.cached(("values", column), lambda: _Valued.of(plan, column, blocks))
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
    """The distinct values of a column, how many files have each, and the value of each file.

    `one_value_per_block`: no two files of a block have different values.
    """

    values: pa.Array
    files: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    one_value_per_block: bool

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
        """The counts of chosen files by value, from one file of each group or from every file."""
        chosen_files = np.zeros(len(self.values), np.int64)
        if self.one_value_per_block:
            np.add.at(chosen_files, self.codes[evidence.examples[chosen]], evidence.sizes[chosen])
        else:
            np.add.at(chosen_files, self.codes[evidence.positions(chosen)], 1)
        return pa.table({"value": self.values, "files": self.files, "chosen": chosen_files})


def _summed(counts: pa.Table) -> pa.Table:
    sums = counts.group_by("value", use_threads=False).aggregate(
        [("files", "sum"), ("chosen", "sum")]
    )
    return pa.table(
        {"value": sums["value"], "files": sums["files_sum"], "chosen": sums["chosen_sum"]}
    )


def _summed_counts(parts: Sequence[Sequence[pa.Table | None]]) -> list[pa.Table | None]:
    """The counts of all parts, column by column; None where a part does not know them."""
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
        expression: Expression = _in_list(column, distinct)
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


def _identities(request: PlanRequest) -> Iterator[Column]:
    """The columns with an identity transform in every live spec."""
    schema_columns = SchemaColumns(request.snapshot.schema())
    for path in request.snapshot.partition_sources:
        plain = all(spec.get(path) == (IdentityTransform(),) for spec in request.snapshot.specs)
        if plain and len(path) == 1 and len(fields := schema_columns.fields_named(path[0])) == 1:
            yield Column(path, fields[0].type)


def _values(plan: ScanPlan, column: Column) -> pa.Array | None:
    """The partition value of each file; None for a type with several spellings."""
    table, name = plan.counted.files.partition, ".".join(column.path)
    if not isinstance(column.type, StringType | IntegerType | DateType):
        return None
    if name not in table.column_names:
        return None
    values = table[name].combine_chunks()
    wanted = pa.string() if isinstance(column.type, StringType) else arrow.arrow_type(column.type)
    try:
        return values.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _in_list(column: Column, distinct: pa.Array) -> Expression:
    ordered = distinct.take(pc.sort_indices(distinct)).cast(arrow.arrow_type(column.type))
    if len(ordered) == 1:
        point = Literal(arrow.value(ordered[0], column.type), column.type)
        return Comparison(Comparator.EQUAL, column, point)
    return In(column, ordered, null=False, nan=False)


def _between(column: Column, low: pa.Scalar, high: pa.Scalar) -> Expression:
    kind = arrow.arrow_type(column.type)
    ends = (Literal(arrow.value(e.cast(kind), column.type), column.type) for e in (low, high))
    return Between(column, *ends)
