"""The values for which a predicate is TRUE or FALSE, as one domain per column.

| predicate | TRUE for | FALSE for |
|---|---|---|
| x > v | the values above v, and NaN | the values up to v |
| x <> v | all but v, and NaN | v |
| x IN (…) | the listed values | all other values; none if NULL is listed |
| x IS NULL | NULL | all but NULL |
| x <=> v | v | all but v, and NULL |
| x LIKE 'ab%' | texts that start with ab | all other texts |
| a AND b | the values in both domains | the values in one of the domains |
| NOT a | the values for which a is FALSE | the values for which a is TRUE |

A column without a domain may have any value. A predicate that cannot be read gives no domains.
Conjuncts of an AND that share a column must be TRUE for one common value of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from whyscan.pruning.domains import ranges
from whyscan.pruning.domains.domain import Domain
from whyscan.pruning.domains.ranges import EVERYTHING, Key, Ranges, complement, key_of
from whyscan.pruning.functions.text.like import Wildcard, parsed
from whyscan.pruning.mask import Mask, all_of
from whyscan.pruning.same_representation import column_below, share_representation
from whyscan.tree.nodes import (
    And,
    Between,
    Column,
    Comparator,
    Comparison,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    columns_of,
)
from whyscan.tree.types import BOOLEAN, BooleanType, FloatType, StringType, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.containers import Containers

Domains: TypeAlias = Mapping[Column, Domain]
"""One domain per column; a column that is absent may have any value."""

Reading: TypeAlias = Callable[[Expression], Domains]

ANY: Domains = {}

_FLIPPED = {
    Comparator.LESS: Comparator.GREATER,
    Comparator.LESS_EQUAL: Comparator.GREATER_EQUAL,
    Comparator.GREATER: Comparator.LESS,
    Comparator.GREATER_EQUAL: Comparator.LESS_EQUAL,
}
_NEGATED = {
    Comparator.EQUAL: Comparator.NOT_EQUAL,
    Comparator.NOT_EQUAL: Comparator.EQUAL,
    Comparator.LESS: Comparator.GREATER_EQUAL,
    Comparator.LESS_EQUAL: Comparator.GREATER,
    Comparator.GREATER: Comparator.LESS_EQUAL,
    Comparator.GREATER_EQUAL: Comparator.LESS,
}


def where_true(expression: Expression) -> Domains:
    """The values for which the predicate is TRUE, or a superset."""
    match expression:
        case Comparison():
            return _compared(expression, _true_of)
        case And():
            return _all_of(where_true, expression.operands)
        case Or():
            return _any_of(where_true, expression.operands)
        case Not():
            return where_false(expression.operand)
        case Between():
            return _all_of(where_true, _ends(expression))
        case In():
            return _of_column(expression.operand, lambda kind: _listed(expression, kind))
        case IsNull():
            return _of_column(expression.operand, Domain.only_null)
        case Like():
            return _of_column(expression.operand, lambda kind: _like(expression, kind))
        case Column(type=BooleanType()):
            return where_true(_is_true(expression))
        case _:
            return ANY


def where_false(expression: Expression) -> Domains:
    """The values for which the predicate is FALSE, or a superset."""
    match expression:
        case Comparison():
            return _compared(expression, _false_of)
        case And():
            return _any_of(where_false, expression.operands)
        case Or():
            return _all_of(where_false, expression.operands)
        case Not():
            return where_true(expression.operand)
        case Between():
            return _any_of(where_false, _ends(expression))
        case In():
            return _of_column(expression.operand, lambda kind: _not_listed(expression, kind))
        case IsNull():
            return _of_column(expression.operand, Domain.not_null)
        case Like():
            return _of_column(expression.operand, lambda kind: _not_like(expression, kind))
        case Column(type=BooleanType()):
            return where_false(_is_true(expression))
        case _:
            return ANY


def _all_of(reading: Reading, operands: Iterable[Expression]) -> Domains:
    return reduce(_in_both, map(reading, operands), ANY)


def _any_of(reading: Reading, operands: Iterable[Expression]) -> Domains:
    return reduce(_in_either, map(reading, operands))


def _in_both(a: Domains, b: Domains) -> Domains:
    shared = {c: a[c].intersection(b[c]) for c in a.keys() & b.keys()}
    return {**a, **b, **shared}


def _in_either(a: Domains, b: Domains) -> Domains:
    """The union per column, which is a superset: (1, 2) or (3, 4) allows (1, 4)."""
    return {c: a[c].union(b[c]) for c in a.keys() & b.keys()}


def _of_column(operand: Expression, domain: Callable[[Type], Domain]) -> Domains:
    column = column_below(operand)
    return ANY if column is None else {column: domain(column.type)}


def _is_true(column: Column) -> Comparison:
    return Comparison(Comparator.EQUAL, column, Literal(value=True, type=BOOLEAN))


def _ends(between: Between) -> tuple[Comparison, Comparison]:
    return (
        Comparison(Comparator.GREATER_EQUAL, between.operand, between.low),
        Comparison(Comparator.LESS_EQUAL, between.operand, between.high),
    )


def _compared(
    comparison: Comparison, reading: Callable[[Comparator, Literal, Type], Domain | None]
) -> Domains:
    operator = comparison.operator
    match comparison.left, comparison.right:
        case operand, Literal() as literal:
            pass
        case Literal() as literal, operand:
            operator = _FLIPPED.get(operator, operator)
        case _:
            return ANY
    column = column_below(operand)
    if column is None or not share_representation(column.type, literal.type):
        return ANY
    domain = reading(operator, literal, column.type)
    if domain is not None and comparison.nan_unordered:
        domain = domain.union(Domain.only_nan(column.type))
    return ANY if domain is None else {column: domain}


def _true_of(operator: Comparator, literal: Literal, kind: Type) -> Domain | None:
    """The values for which `x operator literal` is TRUE; None if the type has no order."""
    if literal.value is None:
        null_safe = operator is Comparator.NULL_SAFE_EQUAL
        return Domain.only_null(kind) if null_safe else Domain.none(kind)
    if isinstance(literal.value, float) and math.isnan(literal.value):
        return _against_nan(operator, kind)
    key = key_of(literal.value, kind)
    return None if key is None else _against(operator, key, kind)


def _false_of(operator: Comparator, literal: Literal, kind: Type) -> Domain | None:
    """The values for which `x operator literal` is FALSE. `<=>` against a value includes NULL."""
    if operator is not Comparator.NULL_SAFE_EQUAL:
        return _true_of(_NEGATED[operator], literal, kind)
    if literal.value is None:
        return Domain.not_null(kind)
    differing = _true_of(Comparator.NOT_EQUAL, literal, kind)
    return None if differing is None else differing.union(Domain.only_null(kind))


def _against(operator: Comparator, key: Key, kind: Type) -> Domain:
    nan = isinstance(kind, FloatType)  # The greatest value, above any key.
    match operator:
        case Comparator.EQUAL | Comparator.NULL_SAFE_EQUAL:
            return Domain(kind, ranges.exactly(key, kind))
        case Comparator.NOT_EQUAL:
            return Domain(kind, complement(ranges.exactly(key, kind)), nan=nan)
        case Comparator.LESS:
            return Domain(kind, ranges.below(key))
        case Comparator.LESS_EQUAL:
            return Domain(kind, ranges.up_to(key, kind))
        case Comparator.GREATER:
            return Domain(kind, ranges.above(key, kind), nan=nan)
        case Comparator.GREATER_EQUAL:
            return Domain(kind, ranges.at_least(key), nan=nan)


def _against_nan(operator: Comparator, kind: Type) -> Domain:
    match operator:
        case Comparator.EQUAL | Comparator.NULL_SAFE_EQUAL | Comparator.GREATER_EQUAL:
            return Domain.only_nan(kind)
        case Comparator.NOT_EQUAL | Comparator.LESS:
            return Domain(kind, EVERYTHING)
        case Comparator.LESS_EQUAL:
            return Domain.not_null(kind)
        case Comparator.GREATER:
            return Domain.none(kind)


def _listed(expression: In, kind: Type) -> Domain:
    return Domain.listed(kind, expression.values, nan=expression.nan)


def _not_listed(expression: In, kind: Type) -> Domain:
    """All values but the listed ones; a superset if many values are listed."""
    if expression.null:
        return Domain.none(kind)
    values = _listed(expression, kind).values
    remaining = complement(values) if isinstance(values, tuple) else EVERYTHING
    return Domain(kind, remaining, nan=isinstance(kind, FloatType) and not expression.nan)


def _like(expression: Like, kind: Type) -> Domain:
    matched = _matched(expression, kind)
    return Domain.not_null(kind) if matched is None else Domain(kind, matched[0])


def _not_like(expression: Like, kind: Type) -> Domain:
    matched = _matched(expression, kind)
    if matched is None or not matched[1]:
        return Domain.not_null(kind)
    return Domain(kind, complement(matched[0]))


def _matched(expression: Like, kind: Type) -> tuple[Ranges, bool] | None:
    """The texts that the pattern matches, and whether it matches all of them; None if unknown."""
    if expression.ignore_case or not isinstance(kind, StringType):
        return None
    pattern = parsed(expression.pattern, expression.escape)
    if pattern is None:
        return None
    if not pattern.rest:
        return ranges.exactly(pattern.prefix, kind), True
    only_prefix = all(token is Wildcard.MANY for token in pattern.rest)
    return ranges.starting_with(pattern.prefix), only_prefix


_SEVERAL = 2


def may_satisfy_together(operands: Sequence[Expression], containers: Containers) -> Mask:
    """Each column may have a value for which every conjunct on it is TRUE.

    The caller has checked that each conjunct alone may be TRUE. So a column that only one conjunct
    uses is not checked.
    """
    named = [columns_of(operand) for operand in operands]
    times = Counter(column for columns in named for column in columns)
    shared = {column for column, count in times.items() if count >= _SEVERAL}
    if not shared:
        return True
    domains_by_conjunct = [
        where_true(operand)
        for operand, columns in zip(operands, named, strict=True)
        if not shared.isdisjoint(columns)
    ]
    return all_of(
        _may_be_one_value(
            column,
            [domains[column] for domains in domains_by_conjunct if column in domains],
            containers,
        )
        for column in shared
    )


def _may_be_one_value(column: Column, domains: list[Domain], containers: Containers) -> Mask:
    if len(domains) < _SEVERAL:
        return True
    common = reduce(Domain.intersection, domains)
    if common.is_none:
        return False
    # Helly's theorem: if each two of these ranges and the container's overlap, all of them do.
    if all(domain.is_one_range for domain in domains):
        return True
    return common.overlaps(containers.interval(column))
