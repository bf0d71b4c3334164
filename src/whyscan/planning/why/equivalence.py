"""The values for which a condition on one column is TRUE, proved by the interpreter.

The whole domain of the column is cut into pieces, and each piece that is neither `none` nor `all`
into smaller ones, down to single values. What is left is not a guess: every value of the domain
lies in a piece for which the interpreter gave one answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.planning.plan.judgement import Flags, flags
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import between, only_null
from whyscan.pruning.truth import matches_all
from whyscan.tree import arrow
from whyscan.tree.nodes import And, Column, Comparator, Comparison, In, Literal, Or, columns_of
from whyscan.tree.types import DateType, IntegerType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone

PIECES = 64
"""How many pieces one is cut into."""

OPEN_AT_MOST = 8
"""A condition that leaves more pieces open than this has no short form."""

RANGES_AT_MOST = 3
LISTED_AT_MOST = 100
_YEARS = (-719_162, 2_932_896)
"""0001-01-01 to 9999-12-31: what people write and every function is defined on."""


class IntegerSpan(Struct, frozen=True):
    """The integers (days, microseconds or numbers) from `low` to `high`, both included."""

    low: int
    high: int


class Spans(Struct, frozen=True):
    """Where a condition on `column` is TRUE, in the whole of its `domain`."""

    column: Column
    domain: IntegerSpan
    found: tuple[IntegerSpan, ...]

    @property
    def count(self) -> int:
        return sum(span.high - span.low + 1 for span in self.found)

    @property
    def proof(self) -> str:
        """For which values it was proved."""
        if isinstance(self.column.type, IntegerType):
            return "proved for every value"
        return "proved for the years 1 to 9999"

    def as_ranges(self) -> Expression | None:
        """Comparisons of the bare column; None where it takes too many."""
        if not 0 < len(self.found) <= RANGES_AT_MOST:
            return None
        each = [self._range(span) for span in self.found]
        if any(not comparisons for comparisons in each):
            return None
        parts = tuple(c[0] if len(c) == 1 else And(tuple(c)) for c in each)
        return parts[0] if len(parts) == 1 else Or(parts)

    def as_list(self) -> Expression | None:
        """The values themselves; None where they are too many."""
        if not 0 < self.count <= LISTED_AT_MOST:
            return None
        numbers = [n for span in self.found for n in range(span.low, span.high + 1)]
        return In(self.column, arrow.array(numbers, self.column.type), null=False, nan=False)

    def _range(self, span: IntegerSpan) -> list[Expression]:
        """Half open, as people write ranges of time; an end of the domain is no bound."""
        if span.low == span.high:
            return [self._compared(Comparator.EQUAL, span.low)]
        ends: list[Expression] = []
        if span.low > self.domain.low:
            ends.append(self._compared(Comparator.GREATER_EQUAL, span.low))
        if span.high < self.domain.high:
            ends.append(self._compared(Comparator.LESS, span.high + 1))
        return ends

    def _compared(self, operator: Comparator, number: int) -> Expression:
        return Comparison(operator, self.column, Literal(number, self.column.type))


def where_true(expression: Expression, zone: Zone) -> Spans | None:
    """Where the condition is TRUE; None where the interpreter cannot say for every value."""
    columns = columns_of(expression)
    domain = _domain(columns[0].type) if len(columns) == 1 else None
    if domain is None:
        return None
    column = columns[0]
    if _may_be_true_of_null(expression, column, zone):
        return None
    found = _decided(expression, column, domain, zone)
    return None if found is None else Spans(column, domain, tuple(_joined(found)))


def _domain(kind: Type) -> IntegerSpan | None:
    match kind:
        case IntegerType():
            return IntegerSpan(kind.least, kind.greatest)
        case DateType():
            return IntegerSpan(*_YEARS)
        case TimestampType():
            day = 86_400 * kind.unit.per_second
            last = (_YEARS[1] + 1) * day - 1
            return None if last >= 1 << 63 else IntegerSpan(_YEARS[0] * day, last)
        case _:
            return None


def _may_be_true_of_null(expression: Expression, column: Column, zone: Zone) -> bool:
    """A range is never TRUE of NULL, and so must the condition be."""
    one = Containers(1, pa.array([1], pa.int64()), {column.path: only_null(column.type)})
    return bool(flags(evaluate(expression, one, zone).true, 1)[0])


def _decided(
    expression: Expression, column: Column, domain: IntegerSpan, zone: Zone
) -> list[IntegerSpan] | None:
    true: list[IntegerSpan] = []
    left = [domain]
    while left:
        pieces = [piece for span in left for piece in _cut(span)]
        may, all_of_it = _judged(expression, column, pieces, zone)
        true += [piece for piece, every in zip(pieces, all_of_it, strict=True) if every]
        left = [p for p, m, e in zip(pieces, may, all_of_it, strict=True) if m and not e]
        if len(left) > OPEN_AT_MOST or any(span.low == span.high for span in left):
            return None
    return true


def _cut(span: IntegerSpan) -> Iterator[IntegerSpan]:
    width = max(1, -(-(span.high - span.low + 1) // PIECES))
    for low in range(span.low, span.high + 1, width):
        yield IntegerSpan(low, min(low + width - 1, span.high))


def _judged(
    expression: Expression, column: Column, pieces: list[IntegerSpan], zone: Zone
) -> tuple[Flags, Flags]:
    lower = arrow.array([piece.low for piece in pieces], column.type)
    upper = arrow.array([piece.high for piece in pieces], column.type)
    containers = Containers(
        len(pieces),
        pa.repeat(pa.scalar(2, pa.int64()), len(pieces)),
        {column.path: between(column.type, lower, upper)},
    )
    found = evaluate(expression, containers, zone)
    return flags(found.true, len(pieces)), flags(matches_all(found), len(pieces))


def _joined(spans: list[IntegerSpan]) -> Iterator[IntegerSpan]:
    """Neighbours as one."""
    last: IntegerSpan | None = None
    for span in sorted(spans, key=lambda s: s.low):
        if last is not None and span.low == last.high + 1:
            last = IntegerSpan(last.low, span.high)
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last
