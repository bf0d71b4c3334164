"""A conjunct that is an OR, an AND or a NOT, explained by its operands.

An unsupported operand may be left out of a conjunction, and never out of a disjunction: it makes
the whole disjunction unsupported. Under NOT it is the other way round.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.plan.judgement import UNDECIDED, kept_and_every
from whyscan.planning.plan.replan import conjunct, kept
from whyscan.planning.why.attribution import Share, share
from whyscan.planning.why.pushdown import Class, FileOutcomes, class_of, recorded
from whyscan.tree.nodes import And, Not, Or, children
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.scan_plan import PlanRequest, ScanPlan
    from whyscan.tree.nodes import Expression

PARTS_AT_MOST = 16
"""People read a generated OR of a thousand branches as one list: its operands are not explained."""


class PartCount(Struct, frozen=True):
    """What one operand alone did to the files; for several parts of a table, their sum.

    `kept` is how many files the operand keeps, `removed` what it removes.
    """

    outcomes: FileOutcomes
    kept: int
    removed: Share
    parts: tuple[PartCount, ...]

    def __add__(self, other: PartCount) -> PartCount:
        return PartCount(
            self.outcomes + other.outcomes,
            self.kept + other.kept,
            self.removed + other.removed,
            tuple(map(add, self.parts, other.parts)),
        )


class OperandOutcome(Struct, frozen=True):
    """One operand of an OR, an AND or a NOT: its class, and what it did to the files."""

    expression: Expression
    sql: str
    conjunct_class: Class
    kept: int
    removed: Share
    parts: tuple[OperandOutcome, ...]

    @property
    def operator(self) -> str | None:
        """OR, AND or NOT; None for a condition without such operands."""
        return operator(self.expression)


def operator(expression: Expression) -> str | None:
    """The word that joins the operands of an expression; None where there are none."""
    match expression:
        case Or():
            return "OR"
        case And():
            return "AND"
        case Not(operand=And() | Or() | Not()):
            return "NOT"
        case _:
            return None


def count_parts(
    expression: Expression, plan: ScanPlan, at_most: int = PARTS_AT_MOST
) -> tuple[PartCount, ...]:
    """What the operands of a conjunct did; empty for a plain condition or for too many operands."""
    if operator(expression) is None or sum(1 for _ in _below(expression)) > at_most:
        return ()
    return tuple(_count(child, plan, at_most) for child in children(expression))


def parts(
    expression: Expression, counted: Sequence[PartCount], request: PlanRequest
) -> tuple[OperandOutcome, ...]:
    """The operands of a conjunct with their classes, from what they did to all files."""
    if not counted:
        return ()
    pairs = zip(children(expression), counted, strict=True)
    return tuple(
        OperandOutcome(
            child,
            to_sql(child),
            class_of(child, count.outcomes, request),
            count.kept,
            count.removed,
            parts(child, count.parts, request),
        )
        for child, count in pairs
    )


def _below(expression: Expression) -> Iterator[Expression]:
    for child in children(expression) if operator(expression) is not None else ():
        yield child
        yield from _below(child)


def _count(expression: Expression, plan: ScanPlan, at_most: int) -> PartCount:
    evidence = plan.evidence
    containers = evidence.files.containers.by_partition()
    may, every = kept_and_every(expression, containers, plan.zone)
    stays = kept(plan, [conjunct(expression)], decided=UNDECIDED)
    unread = bool((~evidence.described & stays).any()) or evidence.closed_files > 0
    return PartCount(
        FileOutcomes(
            files=evidence.files.count,
            settled=bool((~may | every).all()),
            prunes=not stays.all(),
            recorded=recorded(expression, evidence),
        ),
        int(stays.sum()),
        share(evidence, ~stays, at_least=unread),
        count_parts(expression, plan, at_most),
    )
