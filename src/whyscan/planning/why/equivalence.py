"""The values for which a condition on one column is TRUE, proved by the interpreter.

The domain of the column is cut into pieces; each piece that is neither `none` nor `all` is cut into
smaller ones, down to single values. The result is a proof: every value of the domain is in a piece
for which the interpreter gave one answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.planning.plan.judgement import Flags, kept_and_every
from whyscan.pruning.containers import Containers
from whyscan.pruning.interval import between, only_null
from whyscan.tree import arrow
from whyscan.tree.nodes import And, Column, Comparator, Comparison, In, Literal, Or, columns_of
from whyscan.tree.types import DateType, IntegerType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone

PIECES = 64
"""How many pieces a piece is cut into."""

OPEN_AT_MOST = 8
"""A condition that leaves more pieces open than this has no short form."""

RANGES_AT_MOST = 3
LISTED_AT_MOST = 100
DAYS_OF_YEARS = (-719_162, 2_932_896)
"""Days of 0001-01-01 and 9999-12-31: every function of dates is defined between them."""


class IntegerSpan(Struct, frozen=True):
    """The integers (days, microseconds or numbers) from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def count(self) -> int:
        return self.high - self.low + 1

    def cut(self) -> Iterator[IntegerSpan]:
        """At most `PIECES` spans of equal width."""
        width = max(1, -(-self.count // PIECES))
        for low in range(self.low, self.high + 1, width):
            yield IntegerSpan(low, min(low + width - 1, self.high))


class Spans(Struct, frozen=True):
    """The spans of `domain` in which a condition on `column` is TRUE."""

    column: Column
    domain: IntegerSpan
    true_spans: tuple[IntegerSpan, ...]

    @property
    def count(self) -> int:
        return sum(span.count for span in self.true_spans)

    @property
    def proof(self) -> str:
        """The values for which the spans were proved, in words."""
        if isinstance(self.column.type, IntegerType):
            return "proved for every value"
        return "proved for the years 1 to 9999"

    def as_ranges(self) -> Expression | None:
        """Comparisons of the bare column; None where there are too many ranges."""
        if not 0 < len(self.true_spans) <= RANGES_AT_MOST:
            return None
        each = [self._range(span) for span in self.true_spans]
        if any(not comparisons for comparisons in each):
            return None
        parts = tuple(c[0] if len(c) == 1 else And(tuple(c)) for c in each)
        return parts[0] if len(parts) == 1 else Or(parts)

    def as_list(self) -> Expression | None:
        """An IN list of the values; None where there are too many."""
        if not 0 < self.count <= LISTED_AT_MOST:
            return None
        numbers = [n for span in self.true_spans for n in range(span.low, span.high + 1)]
        return In(self.column, arrow.array(numbers, self.column.type), null=False, nan=False)

    def _range(self, span: IntegerSpan) -> list[Expression]:
        """A half-open range; an end of the domain needs no comparison."""
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
    """The ranges in which the condition is TRUE; None if some value cannot be decided."""
    columns = columns_of(expression)
    domain = _domain(columns[0].type) if len(columns) == 1 else None
    if domain is None:
        return None
    column = columns[0]
    if _may_be_true_of_null(expression, column, zone):
        return None
    true_spans = _decided(expression, column, domain, zone)
    return None if true_spans is None else Spans(column, domain, tuple(_joined(true_spans)))


def _domain(kind: Type) -> IntegerSpan | None:
    match kind:
        case IntegerType():
            return IntegerSpan(kind.least, kind.greatest)
        case DateType():
            return IntegerSpan(*DAYS_OF_YEARS)
        case TimestampType():
            day = 86_400 * kind.unit.per_second
            last = (DAYS_OF_YEARS[1] + 1) * day - 1
            return None if last >= 1 << 63 else IntegerSpan(DAYS_OF_YEARS[0] * day, last)
        case _:
            return None


def _may_be_true_of_null(expression: Expression, column: Column, zone: Zone) -> bool:
    """The condition may be TRUE of NULL. A range never is, so it would not be equivalent."""
    containers = Containers(1, pa.array([1], pa.int64()), {column.path: only_null(column.type)})
    may, _ = kept_and_every(expression, containers, zone)
    return bool(may[0])


def _decided(
    expression: Expression, column: Column, domain: IntegerSpan, zone: Zone
) -> list[IntegerSpan] | None:
    true: list[IntegerSpan] = []
    open_pieces = [domain]
    while open_pieces:
        pieces = [piece for span in open_pieces for piece in span.cut()]
        may, matches_all_rows = _verdicts(expression, column, pieces, zone)
        true += [piece for piece, every in zip(pieces, matches_all_rows, strict=True) if every]
        open_pieces = [
            p for p, m, e in zip(pieces, may, matches_all_rows, strict=True) if m and not e
        ]
        if len(open_pieces) > OPEN_AT_MOST or any(span.low == span.high for span in open_pieces):
            return None
    return true


def _verdicts(
    expression: Expression, column: Column, pieces: list[IntegerSpan], zone: Zone
) -> tuple[Flags, Flags]:
    lower = arrow.array([piece.low for piece in pieces], column.type)
    upper = arrow.array([piece.high for piece in pieces], column.type)
    containers = Containers(
        len(pieces),
        pa.repeat(pa.scalar(2, pa.int64()), len(pieces)),
        {column.path: between(column.type, lower, upper)},
    )
    return kept_and_every(expression, containers, zone)


def _joined(spans: list[IntegerSpan]) -> Iterator[IntegerSpan]:
    """The spans in order, with neighbours joined into one."""
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
