"""A conjunct that is an OR, an AND or a NOT, explained by its parts.

What is unsupported may be left out of a conjunction, and never out of a disjunction: there it
makes the whole unsupported. Under NOT the two change places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.attribution import Share, share
from whyscan.planning.judgement import Flags, flags
from whyscan.planning.pushdown import Class, Here, class_of, partition_columns
from whyscan.predicate.render import to_sql
from whyscan.predicate.tree import And, Not, Or, children
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.truth import matches_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.plan import ScanPlan
    from whyscan.predicate.tree import Expression
    from whyscan.pruning.containers import Containers

PARTS_AT_MOST = 16
"""A generated OR of a thousand branches is one list to people; its parts are not told."""


class Part(Struct, frozen=True):
    """One operand of an OR, an AND or a NOT, as if it were asked alone.

    `kept` counts the files that it leaves, `removed` is what it removes; `every` the files in which
    all rows match it.
    """

    expression: Expression
    sql: str
    found: Class
    kept: int
    removed: Share
    stays: Flags
    parts: tuple[Part, ...]

    @property
    def operator(self) -> str | None:
        """OR, AND or NOT; None for a condition that has no such parts."""
        return operator(self.expression)


def operator(expression: Expression) -> str | None:
    """The word that joins an expression's parts."""
    match expression:
        case Or():
            return "OR"
        case And():
            return "AND"
        case Not(operand=And() | Or() | Not()):
            return "NOT"
        case _:
            return None


def parts(expression: Expression, plan: ScanPlan) -> tuple[Part, ...]:
    """The parts of a conjunct; none of a plain condition, nor of one with a great many."""
    if operator(expression) is None or sum(1 for _ in _below(expression)) > PARTS_AT_MOST:
        return ()
    return tuple(_part(child, plan) for child in children(expression))


def _below(expression: Expression) -> Iterator[Expression]:
    for child in children(expression) if operator(expression) is not None else ():
        yield child
        yield from _below(child)


def _part(expression: Expression, plan: ScanPlan) -> Part:
    evidence = plan.evidence
    partition = evidence.files.containers.by_partition()
    by = evaluate(expression, partition, plan.zone)
    settled = ~flags(by.true, partition.count) | flags(matches_all(by), partition.count)
    stays = _stays(expression, plan)
    found = class_of(
        expression,
        Here(settled=bool(settled.all()), prunes=not stays.all()),
        partition_columns(plan),
        plan,
    )
    unread = bool((~evidence.opened & stays).any()) or evidence.closed_files > 0
    return Part(
        expression,
        to_sql(expression),
        found,
        int(stays.sum()),
        share(evidence, ~stays, at_least=unread),
        stays,
        parts(expression, plan),
    )


def _stays(expression: Expression, plan: ScanPlan) -> Flags:
    """The files in which the expression may be TRUE."""
    evidence = plan.evidence
    if not plan.snapshot.footers_describe_files or evidence.groups is None:
        return _true(expression, evidence.files.containers, plan)
    kept = _true(expression, evidence.files.containers.by_partition(), plan)
    groups = evidence.groups
    at = groups.opened.to_numpy()
    inside = np.zeros(evidence.files.count, np.bool_)
    inside[groups.owners.to_numpy()[_true(expression, groups.containers, plan)]] = True
    kept[at] &= inside[at]
    return kept


def _true(expression: Expression, containers: Containers, plan: ScanPlan) -> Flags:
    told = containers.without_nan() if plan.options.assume_no_nan else containers
    return flags(evaluate(expression, told, plan.zone).true, containers.count).copy()
