"""A conjunct that is an OR, an AND or a NOT, explained by its parts.

What is unsupported may be left out of a conjunction, and never out of a disjunction: there it
makes the whole unsupported. Under NOT the two change places.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.plan.judgement import Flags, flags
from whyscan.planning.why.attribution import Share, share
from whyscan.planning.why.pushdown import Class, FileOutcomes, class_of, recorded
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.truth import matches_all
from whyscan.tree.nodes import And, Not, Or, children
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.scan_plan import PlanRequest, ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Expression

PARTS_AT_MOST = 16
"""A generated OR of a thousand branches is one list to people; its parts are not told."""


class PartCount(Struct, frozen=True):
    """What one operand did to the files, as if it were asked alone; of several plans, their sum.

    `kept` counts the files that it leaves, `removed` is what it removes.
    """

    here: FileOutcomes
    kept: int
    removed: Share
    parts: tuple[PartCount, ...]

    def __add__(self, other: PartCount) -> PartCount:
        return PartCount(
            self.here + other.here,
            self.kept + other.kept,
            self.removed + other.removed,
            tuple(map(add, self.parts, other.parts)),
        )


class OperandOutcome(Struct, frozen=True):
    """One operand of an OR, an AND or a NOT, its class, and what it did."""

    expression: Expression
    sql: str
    found: Class
    kept: int
    removed: Share
    parts: tuple[OperandOutcome, ...]

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


def count_parts(expression: Expression, plan: ScanPlan) -> tuple[PartCount, ...]:
    """What the parts of a conjunct did; none of a plain condition, nor of one with a great many."""
    if operator(expression) is None or sum(1 for _ in _below(expression)) > PARTS_AT_MOST:
        return ()
    return tuple(_count(child, plan) for child in children(expression))


def parts(
    expression: Expression, counted: Sequence[PartCount], asked: PlanRequest
) -> tuple[OperandOutcome, ...]:
    """The parts of a conjunct with their classes, from what they did to all files."""
    if not counted:
        return ()
    told = zip(children(expression), counted, strict=True)
    return tuple(
        OperandOutcome(
            child,
            to_sql(child),
            class_of(child, found.here, asked),
            found.kept,
            found.removed,
            parts(child, found.parts, asked),
        )
        for child, found in told
    )


def _below(expression: Expression) -> Iterator[Expression]:
    for child in children(expression) if operator(expression) is not None else ():
        yield child
        yield from _below(child)


def _count(expression: Expression, plan: ScanPlan) -> PartCount:
    evidence = plan.evidence
    partition = evidence.files.containers.by_partition()
    by = evaluate(expression, partition, plan.zone)
    settled = ~flags(by.true, partition.count) | flags(matches_all(by), partition.count)
    stays = _stays(expression, plan)
    unread = bool((~evidence.opened & stays).any()) or evidence.closed_files > 0
    return PartCount(
        FileOutcomes(
            files=evidence.files.count,
            settled=bool(settled.all()),
            prunes=not stays.all(),
            recorded=recorded(expression, evidence),
        ),
        int(stays.sum()),
        share(evidence, ~stays, at_least=unread),
        count_parts(expression, plan),
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
