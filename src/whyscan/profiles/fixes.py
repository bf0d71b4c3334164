"""What may be written instead of a predicate, so that an engine reads less.

Each alternative is TRUE of the same rows, and is planned again under the same profile:

| alternative | `a IN (1, 5, 9)` or `year(d) = 1995` is written as |
|---|---|
| a range beside the list | `a IN (1, 5, 9) AND a BETWEEN 1 AND 9` |
| several shorter lists | `a = 1 OR a = 5 OR a = 9`, or lists as long as the engine takes |
| a range of the column | `d >= DATE '1995-01-01' AND d < DATE '1996-01-01'` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.evidence import ROW_GROUPS
from whyscan.planning.plan.file_scans import joined
from whyscan.planning.plan.replan import conjunct
from whyscan.planning.why.equivalence import where_true
from whyscan.predicate.binding.comparisons import LONG_DISJUNCTION, all_of, any_of
from whyscan.profiles.rule import Alternative
from whyscan.profiles.weakened import normal, range_of_list
from whyscan.pruning.same_representation import column_below
from whyscan.tree.arrow import value
from whyscan.tree.nodes import And, Comparator, Comparison, In, Literal, Or, type_of
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from whyscan.planning.plan.scan_plan import PlanRequest
    from whyscan.profiles.prediction import Prediction
    from whyscan.tree.nodes import Expression, Predicate
    from whyscan.tree.zones import Zone

LISTS_AT_MOST = 50
"""A list is divided into at most this many lists: more would not be written by hand."""


class WrittenAlternative(Struct, frozen=True):
    """An alternative in the conjunct at a position; `parts` are what is new in it, as SQL."""

    position: int
    alternative: Alternative
    parts: tuple[str, ...]


class Fix(Struct, frozen=True):
    """Another predicate that is TRUE of the same rows, and what the engine reads with it."""

    predicate: Predicate
    prediction: Prediction
    changes: tuple[WrittenAlternative, ...] = ()

    @property
    def sql(self) -> str:
        """The text of the whole predicate."""
        return joined([conjunct.sql for conjunct in self.predicate.conjuncts]) or ""


Written: TypeAlias = "dict[tuple[int, Alternative, int], tuple[Expression, tuple[str, ...]]]"
"""By position, alternative and longest list: the changed conjunct, and what is new in it."""


def best_fix(
    request: PlanRequest,
    read: Prediction,
    predict: Callable[[Predicate], Prediction],
    written: Written,
) -> Fix | None:
    """The predicate with which an engine reads the fewest files; None where none reads fewer.

    `read` is what the engine reads, and `predict` gives what it reads with another predicate. The
    conjuncts are changed one after another. `written` keeps alternatives for other engines.
    """
    best = Fix(request.predicate, read)
    offers = dict.fromkeys(
        (use.position, alternative, use.rule.longer_than)
        for use in read.uses
        for alternative in use.rule.instead
    )
    for position, alternative, longest in offers:
        key = position, alternative, longest
        if key not in written:
            writer = _Writer(alternative, longest or 1, request.zone)
            original = request.predicate.conjuncts[position].expression
            written[key] = writer.mapped(normal(original)), tuple(writer.parts)
        changed, parts = written[key]
        if not parts:
            continue
        conjuncts = list(best.predicate.conjuncts)
        conjuncts[position] = conjunct(changed)
        predicate = replace(best.predicate, conjuncts=tuple(conjuncts))
        predicted = predict(predicate)
        if _amount(predicted) < _amount(best.prediction):
            others = (change for change in best.changes if change.position != position)
            change = WrittenAlternative(position, alternative, parts)
            best = Fix(predicate, predicted, (*others, change))
    return best if best.changes else None


def _amount(read: Prediction) -> tuple[int, int]:
    """The files that are read, and after them the row groups."""
    groups = read.level(ROW_GROUPS)
    return read.files_kept, 0 if groups is None else groups.kept


class _Writer:
    """Writes one alternative into a conjunct, and collects the SQL of what is new."""

    def __init__(self, alternative: Alternative, longest: int, session: Zone) -> None:
        self.alternative = alternative
        self.longest = longest
        self.session = session
        self.parts: list[str] = []

    def mapped(self, expression: Expression) -> Expression:
        """The expression with the widest of its parts changed that can be changed."""
        other = self.changed(expression)
        if other is not None or not isinstance(expression, And | Or):
            return expression if other is None else other
        operands = [self.mapped(operand) for operand in expression.operands]
        return all_of(operands) if isinstance(expression, And) else any_of(operands)

    def changed(self, part: Expression) -> Expression | None:
        """The alternative of one part; None where it has none."""
        match self.alternative:
            case Alternative.RANGE_BESIDE_LIST:
                span = range_of_list(part)
                return None if span is part else all_of([part, self.noted(span)])
            case Alternative.SHORTER_LISTS:
                lists = _shorter_lists(part, self.longest)
                return None if lists is None else self.noted(lists)
            case Alternative.RANGE_OF_COLUMN:
                ranges = _range_of_column(part, self.session)
                return None if ranges is None else self.noted(ranges)

    def noted(self, new: Expression) -> Expression:
        """The expression, after its SQL was noted."""
        self.parts.append(to_sql(new))
        return new


def _shorter_lists(part: Expression, longest: int) -> Expression | None:
    """Values are in order in a list, so each of the lists has a range of its own."""
    if not isinstance(part, In) or part.null or part.nan or len(part.values) <= longest:
        return None
    # A longer OR of equalities is read as one list again.
    lists_at_most = LONG_DISJUNCTION - 1 if longest == 1 else LISTS_AT_MOST
    if len(part.values) > longest * lists_at_most:
        return None
    lists = [part.values[at : at + longest] for at in range(0, len(part.values), longest)]
    return any_of([_list(part, values) for values in lists])


def _list(part: In, values: pa.Array) -> Expression:
    if len(values) > 1:
        return replace(part, values=values)
    kind = type_of(part.operand)
    return Comparison(Comparator.EQUAL, part.operand, Literal(value(values[0], kind), kind))


def _range_of_column(part: Expression, session: Zone) -> Expression | None:
    """Ranges of the one column of a condition, which the interpreter proves to be the same."""
    bare = isinstance(part, Comparison) and any(
        column_below(side) is not None for side in (part.left, part.right)
    )
    if bare or isinstance(part, And | In):
        return None
    spans = where_true(part, session)
    return None if spans is None else spans.as_ranges()
