"""Findings about how the predicate is written."""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.plan.replan import conjunct as made
from whyscan.planning.plan.replan import kept, with_other
from whyscan.planning.why.obstacles import loses_order
from whyscan.planning.why.pushdown import ConjunctBucket, Pushdown
from whyscan.planning.why.reason_codes import Reason
from whyscan.reports.file_evidence import NO_RULE, unread
from whyscan.reports.findings.finding import (
    Code,
    Effect,
    Facts,
    Finding,
    FixedAmount,
    Severity,
    reads,
)
from whyscan.reports.words import counted, staying
from whyscan.tree.nodes import (
    And,
    Between,
    Cast,
    Column,
    Comparator,
    Comparison,
    In,
    Like,
    Literal,
    Not,
    Or,
    columns_of,
)
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import BOOLEAN, STRING, StringType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.reports.conjuncts import ConjunctLine
    from whyscan.tree.nodes import Conjunct, Expression

BRANCHES_AT_MOST = 4
"""An OR with more branches than this gets no proposal of a UNION."""

BARE_COLUMN = "compare the bare column with a constant where the query allows it"
"""The fix of an expression that cannot be evaluated on bounds."""


def conditions(facts: Facts) -> Iterator[Finding]:
    """Yield all findings of this family."""
    for position, conjunct in enumerate(facts.plan.predicate.conjuncts):
        line = facts.conjuncts[position]
        yield from _literal_type(facts, position, conjunct)
        of_or = list(_or_findings(facts, position, conjunct, line))
        if all(finding.code is not Code.OR_ENDS_PRUNING for finding in of_or):
            yield from _uninterpreted(facts, position, conjunct)
        yield from of_or
        yield from _negation(facts, position, conjunct, line)


def _uninterpreted(facts: Facts, position: int, conjunct: Conjunct) -> Iterator[Finding]:
    """Find parts of conjuncts that cannot be evaluated, or not from the bounds of some files."""
    files = facts.stays.named(Reason.UNINTERPRETED, [position])
    if facts.classes[position].interpreted and not files:
        return
    if _has_type_mismatch(facts, position, conjunct):
        return
    if not facts.files.kept or facts.workings.conjuncts[position].outcomes.settled:
        return  # No file is kept because of it.
    for sql, why in unread(conjunct):
        yield Finding(
            Code.UNINTERPRETED,
            Severity.WARNING,
            f"{sql} cannot be evaluated from metadata: {why}",
            BARE_COLUMN if columns_of(conjunct.expression) else None,
            {"files": files},
            conjunct=position,
        )


def _has_type_mismatch(facts: Facts, position: int, conjunct: Conjunct) -> bool:
    return facts.stays.named(Reason.TYPE_MISMATCH, [position]) > 0 or loses_order(
        conjunct.expression
    )


def _literal_type(facts: Facts, position: int, conjunct: Conjunct) -> Iterator[Finding]:
    """Find text columns that are compared with a number: engines cast every value of the column."""
    if not _has_type_mismatch(facts, position, conjunct):
        return
    cast = _cast(conjunct.expression)
    if cast is None:
        return
    column, kind, other = cast
    name = ".".join(column.path)
    message = (
        f"{name} is {column.type} and is compared as {kind} in {conjunct.sql}: the order of its "
        "bounds is not that of what they are cast to"
    )
    stays = facts.stays.named(Reason.TYPE_MISMATCH, [position])
    before = facts.read_without(position)
    if before is not None and other is not None and _same_on_partitions(facts, position, other):
        after = facts.read_with(with_other(facts.plan, position, other))
        rewrite = to_sql(other)
        fix = (
            f"{rewrite} means the same (checked on every partition value that is there) and reads "
            f"{after.files:,} instead of the {counted(before.files, 'file')} of an engine that "
            "does not cast partition values"
        )
        yield Finding(
            Code.LITERAL_TYPE,
            Severity.INFO,
            message,
            fix,
            {"files": stays},
            rewrite,
            Effect("files", before.files, after.files, before.bytes, after.bytes),
            conjunct=position,
        )
        return
    on_partitions = facts.classes[position].bucket is ConjunctBucket.PARTITION_SAFE
    if not stays and not (on_partitions and facts.files.kept):
        return
    cost = (
        f"{staying(stays)} for that"
        if stays
        else "an engine that does not cast partition values reads every partition"
    )
    yield Finding(
        Code.LITERAL_TYPE,
        Severity.WARNING if stays else Severity.INFO,
        f"{message}; {cost}",
        f"store {name} as {kind}; a comparison with text is not the same, since '05' equals 5",
        {"files": stays},
        conjunct=position,
    )


def _cast(expression: Expression) -> tuple[Column, str, Expression | None] | None:
    """Return the column, the type it is cast to, and the same comparison with a text literal."""
    match expression:
        case Comparison(
            operator=operator,
            left=Cast(operand=Column(type=StringType()) as column, type=kind),
            right=Literal() as literal,
        ):
            text = Literal(str(literal.value), STRING)
            bare = Comparison(operator, column, text) if _is_equality(operator) else None
            return column, str(kind), bare
        case In(operand=Cast(operand=Column(type=StringType()) as column, type=kind)):
            return column, str(kind), None
        case _:
            return None


def _is_equality(operator: Comparator) -> bool:
    return operator in {Comparator.EQUAL, Comparator.NULL_SAFE_EQUAL}


def _same_on_partitions(facts: Facts, position: int, other: Expression) -> bool:
    """Return whether both conditions keep the same files, proved on all partition values."""
    if not facts.workings.conjuncts[position].outcomes.settled or facts.workings.closed:
        return False
    return all(facts.plan.each(partial(_keeps_the_same, position=position, other=made(other))))


def _keeps_the_same(plan: ScanPlan, position: int, other: Conjunct) -> bool:
    by = plan.evidence.by_partition.conjunct_kept[position]
    return bool((by == kept(plan, [other])).all())


def _or_findings(
    facts: Facts, position: int, conjunct: Conjunct, line: ConjunctLine
) -> Iterator[Finding]:
    expression = conjunct.expression
    if not isinstance(expression, Or) or not line.parts:
        return
    if len(expression.operands) > BRANCHES_AT_MOST:
        return
    stopping = [p for p in line.parts if p.pushdown is Pushdown.UNSUPPORTED]
    helping = [p for p in line.parts if p.removed.files]
    if stopping and helping:
        yield _or_ends_pruning(facts, position, expression, line)
    elif line.bucket is ConjunctBucket.UNSPLITTABLE and helping:
        before = facts.read_without(position)
        if before is not None:
            yield _unsplittable(facts, position, expression, before)


class Arms(Struct, frozen=True):
    """The number of files that each arm of a UNION reads, and the files that any arm reads."""

    each: tuple[int, ...]
    any_arm: FixedAmount

    def __add__(self, other: Arms) -> Arms:
        return Arms(tuple(map(add, self.each, other.each)), self.any_arm + other.any_arm)


def _read_by_arms(plan: ScanPlan, arms: Sequence[tuple[Conjunct, ...]]) -> Arms:
    files_of_arms = [kept(plan, conjuncts) for conjuncts in arms]
    any_arm = reads(plan, reduce(np.logical_or, files_of_arms))
    return Arms(tuple(int(files.sum()) for files in files_of_arms), any_arm)


def _arms(facts: Facts, position: int, expression: Or) -> tuple[list[Expression], Arms]:
    """Return the OR as conditions that share no row, and the files that each of them reads."""
    arms: list[Expression] = []
    for at, branch in enumerate(expression.operands):
        before = [Not(_is_true(earlier)) for earlier in expression.operands[:at]]
        arms.append(And((branch, *before)) if before else branch)
    queries = tuple(with_other(facts.plan, position, arm) for arm in arms)
    return arms, reduce(add, facts.plan.each(partial(_read_by_arms, arms=queries)))


def _is_true(expression: Expression) -> Expression:
    """Return an expression that is TRUE or FALSE and never NULL."""
    return Comparison(Comparator.NULL_SAFE_EQUAL, expression, Literal(value=True, type=BOOLEAN))


def _union_sql(arms: list[Expression]) -> str:
    return " UNION ALL ".join(f"SELECT ... WHERE {to_sql(arm)}" for arm in arms)


def _or_ends_pruning(facts: Facts, position: int, expression: Or, line: ConjunctLine) -> Finding:
    at = next(i for i, p in enumerate(line.parts) if p.pushdown is Pushdown.UNSUPPORTED)
    stopping = line.parts[at]
    why = ", ".join(
        dict.fromkeys(
            why for _, why in unread(facts.plan.predicate.conjuncts[position]) if why != NO_RULE
        )
    )
    others = ", ".join(f"{p.sql} alone leaves {p.kept:,}" for p in line.parts if p is not stopping)
    return Finding(
        Code.OR_ENDS_PRUNING,
        Severity.WARNING,
        f"{stopping.sql} excludes no file{f' ({why})' if why else ''}, and so nothing that is "
        f"joined to it by OR does: {others}",
        BARE_COLUMN if columns_of(expression.operands[at]) else None,
        {"files": facts.files.kept},
        conjunct=position,
    )


def _unsplittable(facts: Facts, position: int, expression: Or, before: FixedAmount) -> Finding:
    line = facts.conjuncts[position]
    arms, reads_of_arms = _arms(facts, position, expression)
    any_arm, in_all = reads_of_arms.any_arm.files, sum(reads_of_arms.each)
    branches = ", ".join(f"{p.sql} leaves {p.kept:,}" for p in line.parts)
    return Finding(
        Code.UNSPLITTABLE_OR,
        Severity.WARNING if in_all < before.files else Severity.INFO,
        f"{line.sql} joins partition columns and others by OR: an engine that sorts conditions "
        f"into partition filters and data filters (Delta on Spark) can use it for neither, and "
        f"reads {before.files:,} of {counted(facts.files.total, 'file')}; {branches}",
        None
        if in_all >= before.files
        else f"as a UNION each arm is one kind of filter: {counted(any_arm, 'file')}, in "
        f"{in_all:,} reads",
        {"files_without": before.files, "files_of_arms": any_arm, "reads_of_arms": in_all},
        _union_sql(arms) if in_all < before.files else None,
        Effect("files", before.files, any_arm, before.bytes, reads_of_arms.any_arm.bytes)
        if in_all < before.files
        else None,
        conjunct=position,
    )


def _negation(
    facts: Facts, position: int, conjunct: Conjunct, line: ConjunctLine
) -> Iterator[Finding]:
    """Find `<>` and NOT IN that exclude no file: they exclude only files of one single value."""
    if not _negates(conjunct.expression) or line.alone.files or line.alone.at_least:
        return
    if facts.files.total <= 1 or line.pushdown is Pushdown.UNSUPPORTED:
        return
    yield Finding(
        Code.NEGATION_EXCLUDES_NOTHING,
        Severity.INFO,
        f"{conjunct.sql} excludes only files that hold nothing but what it rules out, and none of "
        f"the {counted(facts.files.total, 'file')} does: it is left to check on every row",
        None,
        {"files": facts.files.total},
        conjunct=position,
    )


def _negates(expression: Expression) -> bool:
    match expression:
        case Comparison(operator=Comparator.NOT_EQUAL):
            return True
        case Not(operand=In() | Like() | Between()):
            return True
        case Not(operand=Comparison(operator=operator)):
            return _is_equality(operator)
        case _:
            return False
