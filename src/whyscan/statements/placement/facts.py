"""Derives facts from conditions that hold together: by parts of conditions and by equal columns.

A fact is TRUE of every combination of rows that can matter. So a fact that follows from others and
names one source only may filter the rows of that source.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.predicate.binding.comparisons import all_of, any_of
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import only_null
from whyscan.pruning.mask import materialise
from whyscan.statements.roles import Origin
from whyscan.statements.sql.relations import Condition, keys_of
from whyscan.tree import arrow
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import (
    And,
    Between,
    Cast,
    Column,
    Comparator,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
    Opaque,
    Or,
    columns_of,
    type_of,
    walk,
)
from whyscan.tree.rewrite import substituted
from whyscan.tree.types import (
    BOOLEAN,
    DateType,
    DecimalType,
    IntegerType,
    StringType,
    TimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from whyscan.tree.nodes import Expression
    from whyscan.tree.zones import Zone

MOST_DERIVED = 500
_SAME = (Comparator.EQUAL, Comparator.NULL_SAFE_EQUAL)


class Fact(Struct, frozen=True, eq=False, dict=True):
    """A condition that is TRUE, and its origin. `written` is the condition that it follows from.

    `bare` is its text without table names, None where the statement does not contain it as it is.
    """

    expression: Expression
    written: str
    bare: str | None = None
    origin: Origin = Origin.WRITTEN
    via: str | None = None

    @lazy
    def columns(self) -> tuple[Column, ...]:
        return columns_of(self.expression)

    @lazy
    def keys(self) -> frozenset[str]:
        """The keys of the sources that it names."""
        return frozenset(column.path[0] for column in self.columns)


class Equality(Struct, frozen=True, eq=False):
    """`column = other`: what holds for the column also holds for `other`.

    `strict`: neither side is NULL. `widened`: the column was cast to a wider integer to be
    compared.
    """

    column: Column
    other: Expression
    sql: str
    strict: bool
    widened: bool = False


def fact_of(condition: Condition) -> Fact | None:
    """The condition as a fact; None where the condition must not be moved."""
    if condition.fixed is not None:
        return None
    return Fact(condition.expression, condition.sql, condition.bare)


def common_parts(fact: Fact) -> Iterator[Fact]:
    """The parts that all branches of an OR have: `a` for `(a AND b) OR (a AND c)`."""
    if isinstance(fact.expression, Or):
        first, *others = (_conjuncts(branch) for branch in fact.expression.operands)
        for part in first:
            if all(part in other for other in others):
                yield Fact(part, fact.written, None, Origin.PART, fact.via)


def _conjuncts(expression: Expression) -> tuple[Expression, ...]:
    return expression.operands if isinstance(expression, And) else (expression,)


def equalities(facts: Sequence[Fact]) -> Iterator[Equality]:
    """Every `a = b` with a column on one side, in both directions."""
    for fact in facts:
        e = fact.expression
        if not isinstance(e, Comparison) or e.operator not in _SAME:
            continue
        strict = e.operator is Comparator.EQUAL
        for side, other in ((e.left, e.right), (e.right, e.left)):
            if isinstance(other, Literal) or _is_opaque(other):
                continue
            if isinstance(side, Column):
                yield Equality(side, other, fact.written, strict)
            elif isinstance(side, Cast) and isinstance(side.operand, Column) and _widens(side):
                yield Equality(side.operand, other, fact.written, strict, widened=True)


def _widens(cast: Cast) -> bool:
    """Whether a cast makes an integer wider: order and differences of values stay."""
    return isinstance(type_of(cast.operand), IntegerType) and isinstance(cast.type, IntegerType)


def _is_opaque(expression: Expression) -> bool:
    return any(isinstance(node, Opaque) for node in walk(expression))


def spread(facts: Sequence[Fact], supplied: Callable[[Column], Sequence[Fact]]) -> list[Fact]:
    """The facts, and the facts that follow from them by equalities.

    `supplied` gives facts about the values of a column at run time. They hold for an equal column
    too, but only if the equality rejects NULL.
    """
    by_constants = _with_constants(facts)
    facts = [*facts, *by_constants]
    equal: dict[Column, list[Equality]] = {}
    for equality in equalities(facts):
        equal.setdefault(equality.column, []).append(equality)
    derived_facts = list(facts)
    if not equal:
        return derived_facts
    supplied_facts = [fact for column in equal for fact in supplied(column)]
    reached = {(id(fact), column) for fact in (*facts, *supplied_facts) for column in fact.columns}
    reached |= {(id(fact), column) for fact, columns in by_constants.items() for column in columns}
    pending = deque((fact, fact) for fact in (*facts, *supplied_facts) if _spreads(fact))
    while pending and len(derived_facts) < len(facts) + MOST_DERIVED:
        root, fact = pending.popleft()
        for e in equal.get(fact.columns[0], ()):
            target = columns_of(e.other)
            if not target or (id(root), target[0]) in reached:
                continue
            if fact.origin is Origin.JOIN and not e.strict:
                continue
            derived = _carried(fact, e)
            if derived is not None:
                reached.add((id(root), target[0]))
                derived_facts.append(derived)
                if len(derived.columns) == 1:
                    pending.append((root, derived))
    return [*derived_facts, *_with_constants(derived_facts)]


class Constant(Struct, frozen=True, eq=False):
    """The value that a column equals, the condition that says so, and the columns behind it."""

    value: Expression
    sql: str
    columns: frozenset[Column]


def _with_constants(facts: Sequence[Fact]) -> dict[Fact, frozenset[Column]]:
    """Facts about one source, derived by replacing the other sources' columns by constants.

    `a.month = b.month + 1 AND b.month = 4` gives `a.month = 4 + 1`, which may be a constant in
    turn. A plain equality of two columns is left to `equalities`. Each fact comes with the columns
    whose values it follows from.
    """
    several = [f for f in facts if len(f.keys) > 1 and not _is_opaque(f.expression)]
    constants = dict(_constants(dict.fromkeys(facts, frozenset())))
    derived: dict[Fact, frozenset[Column]] = {}
    written: set[Expression] = {f.expression for f in facts if isinstance(f.expression, Comparison)}
    while several and constants and len(derived) < MOST_DERIVED:
        new_facts = dict(f for fact in several for f in _substituted(fact, constants, written))
        new_constants = {
            column: c for column, c in _constants(new_facts) if column not in constants
        }
        derived |= new_facts
        constants |= new_constants
        if not new_constants:
            break
    return derived


def _constants(facts: Mapping[Fact, frozenset[Column]]) -> Iterator[tuple[Column, Constant]]:
    """The columns that equal an expression without columns.

    Only of types in which equal values are the same value.
    """
    for fact, columns in facts.items():
        match fact.expression:
            case Comparison(Comparator.EQUAL, Column() as column, value) | Comparison(
                Comparator.EQUAL, value, Column() as column
            ) if isinstance(column.type, _SAME_IN_PLACE):
                if fact.origin is not Origin.JOIN and _is_constant(value, column):
                    yield column, Constant(value, fact.written, columns | {column})
            case _:
                continue


def _is_constant(value: Expression, column: Column) -> bool:
    return not columns_of(value) and not _is_opaque(value) and type_of(value) == column.type


def _substituted(
    fact: Fact, constants: Mapping[Column, Constant], written: set[Expression]
) -> Iterator[tuple[Fact, frozenset[Column]]]:
    """The fact about each of its sources alone, where all other columns are constants."""
    for key in sorted(fact.keys):
        other_columns = [column for column in fact.columns if column.path[0] != key]
        if _is_carried(fact.expression, key) or not all(
            column in constants for column in other_columns
        ):
            continue
        values = {column: constants[column].value for column in other_columns}
        expression = substituted(fact.expression, partial(_value_of, values))
        if expression is None or (isinstance(expression, Comparison) and expression in written):
            continue
        if isinstance(expression, Comparison):
            written.add(expression)
        via = " AND ".join(dict.fromkeys(constants[column].sql for column in other_columns))
        follows = frozenset[Column]().union(
            *(constants[column].columns for column in other_columns)
        )
        yield Fact(expression, fact.written, None, Origin.SPREAD, via), follows


def _value_of(values: Mapping[Column, Expression], column: Column) -> Expression:
    return values.get(column, column)


def _is_carried(expression: Expression, key: str) -> bool:
    """Whether the expression equates a column of another source, which `equalities` handles."""
    if not isinstance(expression, Comparison) or expression.operator not in _SAME:
        return False
    for side in (expression.left, expression.right):
        inner = side.operand if isinstance(side, Cast) and _widens(side) else side
        if isinstance(inner, Column) and inner.path[0] != key:
            return True
    return False


def _spreads(fact: Fact) -> bool:
    """Whether a fact is about one column, and has the same truth for equal values."""
    return len(fact.columns) == 1 and not _is_opaque(fact.expression)


def _carried(fact: Fact, equality: Equality) -> Fact | None:
    """The same fact about the expression that equals its column; None where that is not certain."""
    expression: Expression | None = None
    if equality.widened:
        expression = _widened(fact.expression, equality.other)
    elif isinstance(equality.column.type, _SAME_IN_ALL) or _compares(fact.expression):
        expression = substituted(fact.expression, lambda _: equality.other)
    if expression is None:
        return None
    origin = Origin.JOIN if fact.origin is Origin.JOIN else Origin.SPREAD
    return Fact(expression, fact.written, None, origin, equality.sql)


_SAME_IN_ALL = (IntegerType, DateType, StringType)
"""Types whose equal values behave the same in every function; 0.0 = -0.0, but 1 / x differs."""

_SAME_IN_PLACE = (*_SAME_IN_ALL, TimestampType, DecimalType)
"""Types whose columns may be replaced by an equal constant."""


def _compares(expression: Expression) -> bool:
    """Whether the expression only compares the column with literals."""
    match expression:
        case And() | Or():
            return all(map(_compares, expression.operands))
        case Comparison():
            sides = (expression.left, expression.right)
            return any(isinstance(s, Column) for s in sides) and any(
                isinstance(s, Literal) for s in sides
            )
        case Between():
            ends = isinstance(expression.low, Literal) and isinstance(expression.high, Literal)
            return ends and isinstance(expression.operand, Column)
        case In():
            return isinstance(expression.operand, Column)
        case Not(operand=IsNull(operand=Column())):
            return True
        case _:
            return False


def _widened(expression: Expression, other: Expression) -> Expression | None:
    """The same comparison of a wider integer expression instead of an integer column."""
    kind = type_of(other)

    def literal(node: Expression) -> Expression | None:
        return Literal(node.value, kind) if isinstance(node, Literal) else None

    match expression:
        case And() | Or():
            parts = [_widened(part, other) for part in expression.operands]
            widened = [part for part in parts if part is not None]
            if len(widened) < len(parts):
                return None
            return all_of(widened) if isinstance(expression, And) else any_of(widened)
        case Comparison(left=Column(), right=Literal()):
            right = literal(expression.right)
            return None if right is None else replace(expression, left=other, right=right)
        case Comparison(left=Literal(), right=Column()):
            left = literal(expression.left)
            return None if left is None else replace(expression, left=left, right=other)
        case Between(operand=Column()):
            low, high = literal(expression.low), literal(expression.high)
            if low is None or high is None:
                return None
            return Between(other, low, high)
        case Not(operand=IsNull(operand=Column())):
            return Not(IsNull(other))
        case In(operand=Column()):
            values = expression.values.cast(arrow.arrow_type(kind))
            return In(other, values, expression.null, expression.nan)
        case _:
            return None


def part_for(expression: Expression, keys: AbstractSet[str]) -> Expression | None:
    """The part of a condition that names only some sources; None where there is no such part.

    AND: the parts of any operands. OR: the parts of all operands, and each must have one.
    """
    if keys_of(expression) <= keys:
        return expression if keys_of(expression) else None
    match expression:
        case And():
            operand_parts = [part_for(part, keys) for part in expression.operands]
            parts = [part for part in operand_parts if part is not None]
            return all_of(parts) if parts else None
        case Or():
            operand_parts = [part_for(part, keys) for part in expression.operands]
            parts = [part for part in operand_parts if part is not None]
            return any_of(parts) if len(parts) == len(operand_parts) else None
        case _:
            return None


_TRUE = Literal(value=True, type=BOOLEAN)


def facts_about(facts: Sequence[Fact], key: str) -> Iterator[Fact]:
    """The facts, and parts of facts, that are about one source alone."""
    for fact in facts:
        if fact.keys and key not in fact.keys:
            continue
        part = part_for(fact.expression, {key})
        if part is None and not fact.keys:
            part = fact.expression  # WHERE FALSE is about every source.
        if part is None or part == _TRUE:
            continue
        if part is fact.expression:
            yield fact
        else:
            yield Fact(part, fact.written, None, _partly(fact.origin), fact.via)


def _partly(origin: Origin) -> Origin:
    return Origin.PART if origin is Origin.WRITTEN else origin


def rejects_null(fact: Fact, keys: AbstractSet[str], zone: Zone) -> bool:
    """Whether a fact cannot be TRUE where all columns of some sources are NULL."""
    columns = [c for c in fact.columns if c.path[0] in keys]
    if not columns:
        return False
    nulls = {column.path: only_null(column.type) for column in columns}
    null_row = Containers(1, pa.array([1], pa.int64()), nulls)
    return not materialise(evaluate(fact.expression, null_row, zone).true, 1)[0].as_py()
