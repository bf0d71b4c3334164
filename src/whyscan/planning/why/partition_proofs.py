"""Proofs that every partition value of a spec decides a condition.

A proof covers the whole domain of the transform, not only the partitions that a table has:

| transform of the source | proof |
|---|---|
| identity, `day` of a date | a partition is one value: each probe leaves one answer |
| other units of time, and numbers | ranges of partition values are cut until one answer is left |
| truncate of text or bytes | the partitions that hold an edge of the condition leave one answer |
| bucket | every bucket leaves one answer |

An edge is a literal, or the next value after it: between two edges the answer does not change. AND
and OR of decided conditions are decided. A condition without a proof is not decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from whyscan.planning.plan.judgement import kept_and_every
from whyscan.planning.why.equivalence import DAYS_OF_YEARS, IntegerSpan
from whyscan.planning.why.probes import leaves_one_answer
from whyscan.pruning.containers import Buckets, Containers
from whyscan.pruning.functions.time.kernels import SECONDS_A_DAY
from whyscan.pruning.interval import anything, between, only_null
from whyscan.pruning.transforms import (
    Bucket,
    Day,
    Hour,
    IdentityTransform,
    Month,
    Truncate,
    Year,
    forward,
    of_partition_values,
    partition_interval,
    result_type,
    supports,
)
from whyscan.pruning.unscaled import scaled_to
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    And,
    Between,
    Call,
    Column,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    columns_of,
    type_of,
)
from whyscan.tree.types import (
    BIGINT,
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    StringType,
    TimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.judgement import Flags
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.transforms import Transform
    from whyscan.tables.snapshot import Spec
    from whyscan.tree.nodes import Expression, Value
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone

PIECES_AT_MOST = 1 << 17
"""How many pieces one proof looks at; every month of ten thousand years fits."""

EDGES_AT_MOST = 4_096
BUCKETS_AT_MOST = 4_096


def decided_by_partitions(expression: Expression, spec: Spec, zone: Zone) -> bool:
    """Every partition value of the spec leaves TRUE impossible or the only answer."""
    columns = columns_of(expression)
    if all(_is_identity(column, spec) for column in columns):
        return leaves_one_answer(expression, [c.path for c in columns], zone)
    if len(columns) == 1 and _is_proved_by_one(expression, columns[0], spec, zone):
        return True
    match expression:
        case And() | Or():
            return all(decided_by_partitions(o, spec, zone) for o in expression.operands)
        case Not(operand=Not(operand=inner)):
            # TRUE where the inner one is TRUE.
            return decided_by_partitions(inner, spec, zone)
        case Not(operand=And() | Or() as inner):
            return all(decided_by_partitions(Not(o), spec, zone) for o in inner.operands)
        case _:
            return False


def _is_proved_by_one(expression: Expression, column: Column, spec: Spec, zone: Zone) -> bool:
    """Return whether one transform of the column proves the expression.

    One is enough: if a column has several transforms, a partition lies inside the partition that
    each of them makes alone.
    """
    return any(_is_proved(expression, column, t, zone) for t in spec.get(column.path, ()))


def _is_identity(column: Column, spec: Spec) -> bool:
    """True if each partition has one value of the column."""
    return any(
        isinstance(t, IdentityTransform)
        or (isinstance(t, Day) and isinstance(column.type, DateType))
        for t in spec.get(column.path, ())
    )


def _is_proved(expression: Expression, column: Column, transform: Transform, zone: Zone) -> bool:
    kind = column.type
    if not supports(transform, kind):
        return False
    if not _settled_on(expression, column, only_null(kind), 1, zone).all():
        return False
    match transform, kind:
        case ((Year() | Month() | Day() | Hour()), _):
            return _ranges_settle(expression, column, transform, zone)
        case Truncate(), IntegerType() | DecimalType():
            return _ranges_settle(expression, column, transform, zone)
        case Truncate(), StringType() | BinaryType():
            return _edges_settle(expression, column, transform, zone)
        case Bucket(), _:
            return _buckets_settle(expression, column, transform, zone)
        case _:
            return bool(_settled_on(expression, column, anything(kind), 1, zone).all())


def _ranges_settle(
    expression: Expression, column: Column, transform: Transform, zone: Zone
) -> bool:
    """Ranges of partition values, cut until each has one answer or a single value has none."""
    domain = _domain(transform, column.type)
    open_ranges = [] if domain is None else [domain]
    piece_count = 0
    while open_ranges:
        pieces = [piece for span in open_ranges for piece in span.cut()]
        piece_count += len(pieces)
        if piece_count > PIECES_AT_MOST:
            return False
        lower = _partition_values(transform, column.type, [p.low for p in pieces])
        upper = _partition_values(transform, column.type, [p.high for p in pieces])
        values = between(result_type(transform, column.type), lower, upper)
        interval = partition_interval(transform, column.type, values)
        settled = _settled_on(expression, column, interval, len(pieces), zone)
        open_ranges = [pieces[at] for at in np.flatnonzero(~settled)]
        if any(span.low == span.high for span in open_ranges):
            return False
    return domain is not None


def _domain(transform: Transform, kind: Type) -> IntegerSpan | None:
    """The partition values as integers: units of time since 1970, or multiples of a width."""
    match transform, kind:
        case Truncate(width=width), IntegerType():
            return IntegerSpan(-(-kind.least // width), kind.greatest // width)
        case Truncate(width=width), DecimalType():
            greatest = 10**kind.precision - 1
            return IntegerSpan(-(greatest // width), greatest // width)
        case _, DateType() | TimestampType():
            first, last = _days(kind)
        case _:
            return None
    match transform:
        case Hour():
            return IntegerSpan(first * 24, last * 24 + 23)
        case Day():
            return IntegerSpan(first, last)
        case _:
            pass
    ends = arrow.array([first * _steps(kind), last * _steps(kind)], kind)
    units = forward(transform, kind, ends)
    return None if units is None else IntegerSpan(*units.to_pylist())


def _days(kind: Type) -> tuple[int, int]:
    """The first and last day of the years 1 to 9999 that the type can represent."""
    steps, (first, last) = _steps(kind), DAYS_OF_YEARS
    return max(first, -(-BIGINT.least // steps) + 1), min(last, BIGINT.greatest // steps - 1)


def _steps(kind: Type) -> int:
    return SECONDS_A_DAY * kind.unit.per_second if isinstance(kind, TimestampType) else 1


def _partition_values(transform: Transform, kind: Type, numbers: Sequence[int]) -> pa.Array:
    match transform, kind:
        case Truncate(width=width), IntegerType():
            return arrow.array([n * width for n in numbers], kind)
        case Truncate(width=width), DecimalType():
            return arrow.array([scaled_to(n * width, kind.scale) for n in numbers], kind)
        case _:
            return arrow.array(numbers, result_type(transform, kind))


def _edges_settle(expression: Expression, column: Column, transform: Truncate, zone: Zone) -> bool:
    """The condition changes only at edges, and each partition that holds an edge has one answer."""
    edges = _edges(expression)
    if edges is None or len(edges) > EDGES_AT_MOST:
        return False
    nul: dict[type, str | bytes] = {str: "\0", bytes: b"\0"}
    around = [value for edge in edges for value in (edge, edge + nul[type(edge)])]  # type: ignore[operator]
    empty: Value = b"" if isinstance(column.type, BinaryType) else ""
    sources = arrow.array(list(dict.fromkeys([empty, *around])), column.type)
    values = forward(transform, column.type, sources)
    if values is None:
        return False
    points = of_partition_values(result_type(transform, column.type), values)
    interval = partition_interval(transform, column.type, points)
    return bool(_settled_on(expression, column, interval, len(sources), zone).all())


def _edges(expression: Expression) -> list[str | bytes] | None:
    """The values at which the condition may change; None where its form does not say."""
    match expression:
        case Not(operand=inner):
            return _edges(inner)
        case And(operands=operands) | Or(operands=operands):
            parts = [_edges(operand) for operand in operands]
            return None if None in parts else [e for part in parts for e in part or ()]
        case IsNull(operand=Column()):
            return []
        case (
            Comparison(left=Column(), right=Literal(value=value))
            | Comparison(left=Literal(value=value), right=Column())
        ):
            return _texts([value])
        case Between(operand=Column(), low=Literal(value=low), high=Literal(value=high)):
            return _texts([low, high])
        case In(operand=Column() as column) if len(expression.values) <= EDGES_AT_MOST:
            return _texts([arrow.value(v, type_of(column)) for v in expression.values])
        case Like(operand=Column(), ignore_case=False):
            prefix = _plain_prefix(expression)
            return None if prefix is None else [prefix]
        case Call(function="startswith", arguments=(Column(), Literal(value=str() as prefix))):
            return [prefix]
        case _:
            return None


def _texts(values: Sequence[Value]) -> list[str | bytes] | None:
    texts = [value for value in values if value is not None]
    text_values = [value for value in texts if isinstance(value, str | bytes)]
    return text_values if len(text_values) == len(texts) else None


def _plain_prefix(like: Like) -> str | None:
    """The text before a `%` at the end, or the whole pattern where it has no wildcard."""
    text = like.pattern.removesuffix("%")
    special = {"%", "_", *([] if like.escape is None else [like.escape])}
    return None if special & set(text) else text


def _buckets_settle(expression: Expression, column: Column, transform: Bucket, zone: Zone) -> bool:
    if transform.count > BUCKETS_AT_MOST:
        return False
    numbers = pa.array(range(transform.count), pa.int32())
    containers = replace(
        _containers(column, replace(anything(column.type), null=False), transform.count),
        buckets=(Buckets(column.path, transform, numbers, numbers),),
    )
    return bool(_settled(expression, containers, zone).all())


def _settled_on(
    expression: Expression, column: Column, interval: Interval, count: int, zone: Zone
) -> Flags:
    return _settled(expression, _containers(column, interval, count), zone)


def _containers(column: Column, interval: Interval, count: int) -> Containers:
    rows = pa.repeat(pa.scalar(2, pa.int64()), count)
    return Containers(count, rows, {column.path: interval})


def _settled(expression: Expression, containers: Containers, zone: Zone) -> Flags:
    """One boolean per container: TRUE is impossible, or the only value."""
    may, every = kept_and_every(expression, containers, zone)
    return ~may | every
