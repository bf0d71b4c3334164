"""The conjuncts of a report: pushdown class, the engines' words for it, and what each removes."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

from msgspec import Meta, Struct

from whyscan.fields import Count, Name, Record, Sentence, Sql, Word, one_of
from whyscan.planning.why.attribution import Attribution, Share, attribute
from whyscan.planning.why.engine_words import Words, words
from whyscan.planning.why.operands import PartCount, count_parts, operator, parts
from whyscan.planning.why.pushdown import (
    Class,
    ConjunctBucket,
    FileOutcomes,
    Pushdown,
    conjunct_outcomes,
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


Operator: TypeAlias = Annotated[
    Word | None,
    Meta(description="The word that joins the parts; null for a plain condition."),
    one_of("AND", "OR", "NOT"),
]


class PartLine(
    Record,
    frozen=True,
    rename={"words": "engines", "kept": "files_kept", "removed": "alone"},
):
    """One operand of an OR, AND or NOT, and what it would remove if it were the whole predicate."""

    sql: Sql
    operator: Operator
    bucket: ConjunctBucket
    pushdown: Pushdown
    words: Words
    kept: Annotated[Count, Meta(description="The listed files that this operand keeps.")]
    removed: Annotated[Share, Meta(description="What this operand removes by itself.")]
    parts: tuple[PartLine, ...]


class ConjunctLine(Record, frozen=True, rename={"words": "engines"}):
    """One conjunct: its class and why, what it removes, and its operands."""

    OPTIONAL: ClassVar = ("joined",)

    sql: Sql
    columns: tuple[Name, ...]
    bucket: ConjunctBucket
    pushdown: Pushdown
    alone: Annotated[Share, Meta(description="What the conjunct removes by itself.")]
    only: Annotated[Share, Meta(description="What no other conjunct removes.")]
    why: Annotated[Sentence, Meta(description="Why the conjunct has this pushdown class.")]
    words: Words
    operator: Operator = None
    parts: Annotated[
        tuple[PartLine, ...], Meta(description="The operands, each as if it were alone.")
    ] = ()
    joined: Annotated[
        bool, Meta(description="The condition comes from the other side of a join.")
    ] = False


class ConjunctCount(Struct, frozen=True):
    """What one conjunct and each of its operands removed. Counts of several parts can be added."""

    outcomes: FileOutcomes
    share: Attribution
    parts: tuple[PartCount, ...]

    def __add__(self, other: ConjunctCount) -> ConjunctCount:
        return ConjunctCount(
            self.outcomes + other.outcomes,
            self.share + other.share,
            tuple(map(add, self.parts, other.parts)),
        )


def count_conjuncts(plan: ScanPlan) -> tuple[ConjunctCount, ...]:
    """Count what each conjunct removed, in the order of the predicate."""
    operands = (count_parts(conjunct.expression, plan) for conjunct in plan.predicate.conjuncts)
    return tuple(map(ConjunctCount, conjunct_outcomes(plan), attribute(plan), operands))


def conjunct_lines(
    request: PlanRequest, classes: Sequence[Class], counted: Sequence[ConjunctCount]
) -> tuple[ConjunctLine, ...]:
    """Make one line per conjunct, in the order of the predicate."""
    measured = collected_bounds(request)
    rows = zip(request.predicate.conjuncts, classes, counted, strict=True)
    return tuple(
        _line(conjunct, pushdown_class, count, measured, request)
        for conjunct, pushdown_class, count in rows
    )


def _line(
    conjunct: Conjunct,
    pushdown_class: Class,
    count: ConjunctCount,
    measured: Measured,
    request: PlanRequest,
) -> ConjunctLine:
    operands = parts(conjunct.expression, count.parts, request)
    return ConjunctLine(
        sql=conjunct.sql,
        columns=tuple(".".join(c.path) for c in columns_of(conjunct.expression)),
        bucket=pushdown_class.bucket,
        pushdown=pushdown_class.pushdown,
        alone=count.share.alone,
        only=count.share.only,
        why=why_class(conjunct, pushdown_class, operands),
        words=words(conjunct.expression, pushdown_class, measured),
        operator=operator(conjunct.expression) if operands else None,
        parts=tuple(_part(part, measured) for part in operands),
        joined=conjunct.from_join,
    )


def collected_bounds(request: PlanRequest) -> Measured:
    """Return a function of a column: bounds are collected, and it is no partition column."""
    partition = partition_columns(request)

    def measured(column: Column) -> bool:
        recording = request.snapshot.recording(column)
        return column.path not in partition and recording.collected is Collected.YES

    return measured


def _part(part: OperandOutcome, measured: Measured) -> PartLine:
    return PartLine(
        part.sql,
        part.operator,
        part.conjunct_class.bucket,
        part.conjunct_class.pushdown,
        words(part.expression, part.conjunct_class, measured),
        part.kept,
        part.removed,
        tuple(_part(inner, measured) for inner in part.parts),
    )


def why_class(
    conjunct: Conjunct, pushdown_class: Class, operands: tuple[OperandOutcome, ...]
) -> str:
    """Say in words why a conjunct has its pushdown class."""
    match pushdown_class.pushdown:
        case Pushdown.EXACT:
            return "partition values alone decide it: nothing is left to check"
        case Pushdown.INEXACT:
            if not pushdown_class.interpreted:
                return "it can exclude some files, though not all of it can be read from metadata"
            return "it can exclude files, and the rows of the others are checked again"
        case Pushdown.UNSUPPORTED:
            return _unsupported(conjunct, pushdown_class, operands)


def _unsupported(
    conjunct: Conjunct, pushdown_class: Class, operands: tuple[OperandOutcome, ...]
) -> str:
    stopping = [p.sql for p in operands if p.conjunct_class.pushdown is Pushdown.UNSUPPORTED]
    if operator(conjunct.expression) == "OR" and stopping and len(stopping) < len(operands):
        return f"a branch that excludes nothing may not be left out of an OR: {stopping[0]}"
    if _has_opaque(conjunct.expression) or not pushdown_class.interpreted:
        return "; ".join(f"{sql}: {why}" for sql, why in unread(conjunct))
    return "no file has statistics for what it names"


def _has_opaque(expression: Expression) -> bool:
    return any(isinstance(node, Opaque) for node in walk(expression))
