"""The conjuncts of a report: their classes in our words and the engines', and what each removes."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.why.attribution import Attribution, Share, attribute
from whyscan.planning.why.engine_words import Words, words
from whyscan.planning.why.operands import PartCount, count_parts, operator, parts
from whyscan.planning.why.pushdown import (
    Class,
    ConjunctBucket,
    FileOutcomes,
    Pushdown,
    conjuncts_here,
    partition_columns,
)
from whyscan.reports.file_evidence import unread
from whyscan.tables.snapshot import Collected
from whyscan.tree.nodes import Conjunct, Opaque, columns_of, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.scan_plan import PlanRequest, ScanPlan
    from whyscan.planning.why.engine_words import Measured
    from whyscan.planning.why.operands import OperandOutcome
    from whyscan.tree.nodes import Column, Expression


class PartLine(Struct, frozen=True):
    """One operand of an OR, an AND or a NOT: what it would do if it were asked alone."""

    sql: str
    operator: str | None
    bucket: ConjunctBucket
    pushdown: Pushdown
    words: Words
    kept: int
    removed: Share
    parts: tuple[PartLine, ...]


class ConjunctLine(Struct, frozen=True):
    """One conjunct: its classes and why, what it removes, and its parts where it has some.

    `operator` is the word that joins the parts; None for a plain condition. `joined`: it came from
    the other side of a join.
    """

    sql: str
    columns: tuple[str, ...]
    bucket: ConjunctBucket
    pushdown: Pushdown
    alone: Share
    only: Share
    why: str
    words: Words
    operator: str | None = None
    parts: tuple[PartLine, ...] = ()
    joined: bool = False


class ConjunctCount(Struct, frozen=True):
    """What a conjunct did, and each of its parts; of several plans, their sum."""

    here: FileOutcomes
    share: Attribution
    parts: tuple[PartCount, ...]

    def __add__(self, other: ConjunctCount) -> ConjunctCount:
        return ConjunctCount(
            self.here + other.here,
            self.share + other.share,
            tuple(map(add, self.parts, other.parts)),
        )


def count_conjuncts(plan: ScanPlan) -> tuple[ConjunctCount, ...]:
    """What each conjunct did, in their order."""
    below = (count_parts(conjunct.expression, plan) for conjunct in plan.predicate.conjuncts)
    return tuple(map(ConjunctCount, conjuncts_here(plan), attribute(plan), below))


def conjunct_lines(
    asked: PlanRequest, classes: Sequence[Class], counted: Sequence[ConjunctCount]
) -> tuple[ConjunctLine, ...]:
    """One line a conjunct, in their order."""
    measured = _measured(asked)
    told = zip(asked.predicate.conjuncts, classes, counted, strict=True)
    return tuple(_line(conjunct, found, did, measured, asked) for conjunct, found, did in told)


def _line(
    conjunct: Conjunct, found: Class, did: ConjunctCount, measured: Measured, asked: PlanRequest
) -> ConjunctLine:
    below = parts(conjunct.expression, did.parts, asked)
    return ConjunctLine(
        sql=conjunct.sql,
        columns=tuple(".".join(c.path) for c in columns_of(conjunct.expression)),
        bucket=found.bucket,
        pushdown=found.pushdown,
        alone=did.share.alone,
        only=did.share.only,
        why=_why(conjunct, found, below),
        words=words(conjunct.expression, found, measured),
        operator=operator(conjunct.expression) if below else None,
        parts=tuple(_part(part, measured) for part in below),
        joined=conjunct.joined,
    )


def _measured(asked: PlanRequest) -> Measured:
    partition = partition_columns(asked)

    def measured(column: Column) -> bool:
        told = asked.snapshot.recording(column)
        return column.path not in partition and told.collected is Collected.YES

    return measured


def _part(part: OperandOutcome, measured: Measured) -> PartLine:
    return PartLine(
        part.sql,
        part.operator,
        part.found.bucket,
        part.found.pushdown,
        words(part.expression, part.found, measured),
        part.kept,
        part.removed,
        tuple(_part(inner, measured) for inner in part.parts),
    )


def _why(conjunct: Conjunct, found: Class, below: tuple[OperandOutcome, ...]) -> str:
    """Why the class is what it is."""
    match found.pushdown:
        case Pushdown.EXACT:
            return "partition values alone decide it: nothing is left to check"
        case Pushdown.INEXACT:
            if not found.interpreted:
                return "it can exclude some files, though not all of it can be read from metadata"
            return "it can exclude files, and the rows of the others are checked again"
        case Pushdown.UNSUPPORTED:
            return _unsupported(conjunct, found, below)


def _unsupported(conjunct: Conjunct, found: Class, below: tuple[OperandOutcome, ...]) -> str:
    stopping = [p.sql for p in below if p.found.pushdown is Pushdown.UNSUPPORTED]
    if operator(conjunct.expression) == "OR" and stopping and len(stopping) < len(below):
        return f"a branch that excludes nothing may not be left out of an OR: {stopping[0]}"
    if _has_opaque(conjunct.expression) or not found.interpreted:
        return "; ".join(f"{sql}: {why}" for sql, why in unread(conjunct))
    return "no file has statistics for what it names"


def _has_opaque(expression: Expression) -> bool:
    return any(isinstance(node, Opaque) for node in walk(expression))
