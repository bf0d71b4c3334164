"""What an engine can use of a predicate: each rule makes a part of it weaker, and none stronger.

NOT is moved to the conditions first, so every part stands where TRUE in its place excludes less:

| original | written as |
|---|---|
| `NOT (a AND b)` | `NOT a OR NOT b` |
| `NOT (a OR b)` | `NOT a AND NOT b` |
| `NOT a < 1` | `a >= 1` |
| `NOT a BETWEEN 1 AND 2` | `a < 1 OR a > 2` |
| `a BETWEEN 1 AND 2` | `a >= 1 AND a <= 2` |

A conjunct that no rule concerns stays as it is, so that its truth need not be computed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.judgement import kept_and_every
from whyscan.planning.plan.replan import Metadata
from whyscan.profiles.features import ColumnRoles, part_of
from whyscan.profiles.rule import RuleEffect
from whyscan.pruning.containers import Containers
from whyscan.pruning.interval import only_null
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    And,
    Between,
    Comparator,
    Comparison,
    Conjunct,
    Expression,
    In,
    IsNull,
    Literal,
    NanOrder,
    Not,
    Or,
    columns_of,
    type_of,
)
from whyscan.tree.types import FloatType
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whyscan.profiles.features import Part
    from whyscan.profiles.rule import Rule
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Predicate
    from whyscan.tree.zones import Zone


class RuleUse(Struct, frozen=True):
    """A rule that made the conjunct at a position weaker, or that is a note about it."""

    rule: Rule
    position: int


class Weakened(Struct, frozen=True):
    """What an engine uses of a predicate at one level.

    Each conjunct has its position in the predicate, and the metadata that the engine evaluates it
    on. A conjunct of which nothing is left is not there.
    """

    conjuncts: tuple[tuple[int, Metadata, Conjunct], ...]
    uses: tuple[RuleUse, ...]

    @property
    def key(self) -> tuple[tuple[int, Metadata, Expression], ...]:
        """Equal for two engines that use the same of a predicate."""
        return tuple((at, by, conjunct.expression) for at, by, conjunct in self.conjuncts)


def roles_of(snapshot: Snapshot) -> ColumnRoles:
    """Which columns have one value in each partition, and which are sources of transforms."""
    specs, sources = snapshot.specs, snapshot.partition_sources
    identity = {
        path
        for path in sources
        if all(
            any(isinstance(transform, IdentityTransform) for transform in spec.get(path, ()))
            for spec in specs
        )
    }
    return ColumnRoles(frozenset(identity), frozenset(sources) - identity)


def weakened(predicate: Predicate, rules: Sequence[Rule], roles: ColumnRoles) -> Weakened:
    """What rules leave of a predicate. The first rule that concerns a part is applied to it."""
    uses: list[RuleUse] = []
    conjuncts: list[tuple[int, Metadata, Conjunct]] = []
    alone: RuleUse | None = None
    session = zone(predicate.zone)
    for position, conjunct in enumerate(predicate.conjuncts):
        reader = _ConjunctReader(tuple(rules), roles, session)
        left = reader.left_of(normal(conjunct.expression))
        uses += (RuleUse(rule, position) for rule in dict.fromkeys(reader.used))
        alone = alone or next(
            (use for use in uses if use.rule.effect is RuleEffect.ALONE and not use.rule.unsound),
            None,
        )
        if left is None:
            continue
        same = not reader.changed
        kept_conjunct = conjunct if same else Conjunct(left, conjunct.sql, conjunct.from_join)
        conjuncts += ((position, by, kept_conjunct) for by in _metadata(reader.used))
    return Weakened(() if alone else tuple(conjuncts), tuple(uses))


_METADATA: Mapping[RuleEffect, tuple[Metadata, ...]] = {
    RuleEffect.PARTITION_VALUES_ONLY: (Metadata.PARTITION,),
    RuleEffect.STATISTICS_ONLY: (Metadata.STATISTICS,),
    RuleEffect.SEPARATELY: (Metadata.PARTITION, Metadata.STATISTICS),
    RuleEffect.ONE_VALUE_IN_FILE: (Metadata.ONE_VALUE_IN_FILE,),
    RuleEffect.ONE_VALUE: (Metadata.ONE_VALUE,),
    RuleEffect.ONE_VALUE_OR_NULL: (Metadata.ONE_VALUE_OR_NULL,),
    RuleEffect.NOT_ONLY_NULL: (Metadata.NOT_ONLY_NULL,),
    RuleEffect.WITHOUT_NULL: (Metadata.WITHOUT_NULL,),
}
"""By effect: the metadata on which the conjunct is evaluated. The first of a conjunct counts."""


def _metadata(used: Iterable[Rule]) -> tuple[Metadata, ...]:
    """The metadata on which a conjunct is evaluated; a container stays if each of them keeps it."""
    effects = {rule.effect for rule in used if not rule.unsound}
    return next((by for effect, by in _METADATA.items() if effect in effects), (Metadata.ALL,))


class _ConjunctReader:
    """Applies rules to the parts of one conjunct, and notes which were applied."""

    def __init__(self, rules: tuple[Rule, ...], roles: ColumnRoles, session: Zone) -> None:
        self.rules = rules
        self.roles = roles
        self.session = session
        self.used: list[Rule] = []
        self.changed = False

    def left_of(self, expression: Expression) -> Expression | None:
        """What is left of an expression without NOT over AND and OR; None is TRUE."""
        match expression:
            case And(operands=operands):
                left = [part for operand in operands if (part := self.left_of(operand)) is not None]
                return _joined(And, left) if left else None
            case Or(operands=operands):
                whole = self._after_rules(expression)
                if whole is not expression:
                    return whole
                # Every branch is read, so that all rules are named.
                branches = [self.left_of(operand) for operand in operands]
                left = [branch for branch in branches if branch is not None]
                return _joined(Or, left) if len(left) == len(branches) else None
            case _:
                return self._after_rules(expression)

    def _after_rules(self, expression: Expression) -> Expression | None:
        if not columns_of(expression):
            return expression
        part = part_of(expression, self.roles)
        for rule in self.rules:
            if concerns(rule, part):
                self.used.append(rule)
                if rule.unsound:
                    continue
                left = self._after(rule, expression)
                self.changed |= left is not expression
                return left
        return expression

    def _after(self, rule: Rule, expression: Expression) -> Expression | None:
        match rule.effect:
            case RuleEffect.NOT_USED | RuleEffect.ALONE:
                return None
            case RuleEffect.NOT_NULL:
                return self._not_null(expression)
            case RuleEffect.RANGE:
                return range_of_list(expression)
            case RuleEffect.INCLUSIVE:
                return inclusive(expression)
            case RuleEffect.COLUMN_BY_COLUMN:
                said = column_by_column(expression)
                return None if said is None else self.left_of(said)
            case (
                RuleEffect.AT_LEAST
                | RuleEffect.PARTITION_VALUES_ONLY
                | RuleEffect.STATISTICS_ONLY
                | RuleEffect.SEPARATELY
                | RuleEffect.NOT_ONLY_NULL
                | RuleEffect.WITHOUT_NULL
                | RuleEffect.ONE_VALUE_OR_NULL
                | RuleEffect.ONE_VALUE
                | RuleEffect.ONE_VALUE_IN_FILE
            ):
                return expression

    def _not_null(self, expression: Expression) -> Expression | None:
        """That the columns are not NULL of whose NULL the law proves that nothing is TRUE."""
        parts: list[Expression] = []
        for column in columns_of(expression):
            null = {column.path: only_null(column.type)}
            containers = Containers(1, pa.array([1], pa.int64()), null)
            may, _ = kept_and_every(expression, containers, self.session)
            if not may[0]:
                parts.append(Not(IsNull(column)))
        return _joined(And, parts) if parts else None


def concerns(rule: Rule, part: Part) -> bool:
    """Whether a rule is about a part with these features."""
    return (
        rule.concerns <= part.features
        and (not rule.any_of or bool(rule.any_of & part.features))
        and not rule.unless & part.features
        and (not rule.longer_than or part.listed > rule.longer_than)
        and (not rule.functions or bool(rule.functions & part.functions))
        and (not rule.but_not or not part.functions or not part.functions <= rule.but_not)
    )


def _joined(kind: type[And | Or], parts: Sequence[Expression]) -> Expression:
    """AND or OR of parts. A part of the same kind gives its operands."""
    if len(parts) == 1:
        return parts[0]
    operands: list[Expression] = []
    for part in parts:
        operands += part.operands if isinstance(part, kind) else (part,)
    return kind(tuple(operands))


def range_of_list(expression: Expression) -> Expression:
    """A list as the range from its least to its greatest value; anything else as it is."""
    match expression:
        case In(operand=operand, values=values, nan=False) if len(values):
            kind = type_of(operand)
            low, high = (
                Literal(arrow.value(values[at], kind), kind) for at in (0, len(values) - 1)
            )
            return Between(operand, low, high)
        case _:
            return expression


def inclusive(expression: Expression) -> Expression:
    """A comparison with its bound; anything else as it is."""
    match expression:
        case Comparison(operator=Comparator.LESS):
            return replace(expression, operator=Comparator.LESS_EQUAL)
        case Comparison(operator=Comparator.GREATER):
            return replace(expression, operator=Comparator.GREATER_EQUAL)
        case _:
            return expression


def column_by_column(expression: Expression) -> Expression | None:
    """What every branch of an OR says of a column, for each such column; None if there is none.

    | original | what is left |
    |---|---|
    | `(a = 1 AND b = 2) OR (a = 3 AND c = 4)` | `a = 1 OR a = 3` |
    | `a = 1 OR b = 2` | nothing |
    """
    branches = expression.operands if isinstance(expression, Or) else (expression,)
    parts = [branch.operands if isinstance(branch, And) else (branch,) for branch in branches]
    columns = [[columns_of(part) for part in conjunction] for conjunction in parts]
    left: list[Expression] = []
    for column in columns_of(expression):
        alone = [
            [part for part, inside in zip(*both, strict=True) if inside == (column,)]
            for both in zip(parts, columns, strict=True)
        ]
        if all(alone):
            left.append(_joined(Or, [_joined(And, conjunction) for conjunction in alone]))
    return _joined(And, left) if left else None


_OPPOSITE = {
    Comparator.EQUAL: Comparator.NOT_EQUAL,
    Comparator.NOT_EQUAL: Comparator.EQUAL,
    Comparator.LESS: Comparator.GREATER_EQUAL,
    Comparator.LESS_EQUAL: Comparator.GREATER,
    Comparator.GREATER: Comparator.LESS_EQUAL,
    Comparator.GREATER_EQUAL: Comparator.LESS,
}


def normal(expression: Expression, *, negated: bool = False) -> Expression:
    """The same condition with NOT only before conditions that have no opposite, and no BETWEEN."""
    match expression:
        case Not(operand=operand):
            return normal(operand, negated=not negated)
        case And(operands=operands) | Or(operands=operands):
            is_and = isinstance(expression, And) is not negated
            parts = [normal(operand, negated=negated) for operand in operands]
            return _joined(And if is_and else Or, parts)
        case Between(operand=operand, low=low, high=high):
            if negated:
                below = Comparison(Comparator.LESS, operand, low)
                return Or((below, Comparison(Comparator.GREATER, operand, high)))
            above = Comparison(Comparator.GREATER_EQUAL, operand, low)
            return And((above, Comparison(Comparator.LESS_EQUAL, operand, high)))
        case Comparison() if negated and _has_opposite(expression):
            opposite = _OPPOSITE[expression.operator]
            return Comparison(opposite, expression.left, expression.right, expression.nan_order)
        case _:
            return Not(expression) if negated else expression


def _has_opposite(comparison: Comparison) -> bool:
    """With NaN that is in no order, `NOT a < b` is TRUE of NaN, and `a >= b` is not."""
    if comparison.operator not in _OPPOSITE:
        return False
    floats = any(isinstance(column.type, FloatType) for column in columns_of(comparison))
    return comparison.nan_order is NanOrder.GREATEST or not floats
