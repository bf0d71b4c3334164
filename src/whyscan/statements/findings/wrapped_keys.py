"""Finds join keys that are compared inside a function or as another type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.reports.findings import Code, Effect, Finding, Severity
from whyscan.reports.words import counted
from whyscan.statements.findings.equalities import Link, Side, links
from whyscan.statements.findings.images import as_text, bare, image, is_bare
from whyscan.statements.roles import Origin
from whyscan.statements.sql.relations import Condition
from whyscan.tree.coercion import common_type
from whyscan.tree.nodes import Cast
from whyscan.tree.rewrite import substituted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.findings.context import FindingContext
    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type

TRIED_AT_MOST = 32
"""At most so many equalities of one statement are examined."""


class AddedCondition(Struct, frozen=True):
    """A condition to add, the proof that it changes no row, and its effect on the scan.

    `proof` is None where it may change rows. `costs`: this run reads more without the condition; if
    False, only an engine that does not see through functions does.
    """

    sql: str
    proof: str | None
    effect: Effect
    costs: bool


def wrapped_keys(context: FindingContext) -> Iterator[Finding]:
    """The findings about wrapped join keys."""
    wrapped = [link for link in links(context) if not (link.left.is_bare and link.right.is_bare)]
    for link in wrapped[:TRIED_AT_MOST]:
        remedies = sorted(_remedies(context, link), key=lambda r: r.effect.after - r.effect.before)
        best = next(iter(remedies), None)
        if _is_mismatch(link):
            yield _mismatch(context, link, best)
        elif best is not None or _matters(context, link):
            yield _function(context, link, best)


def _is_mismatch(link: Link) -> bool:
    """Whether the columns have two types and are only cast to their common type."""
    compared = _compared_as(link)
    if compared is None:
        return False
    return all(
        side.is_bare or side.expression == Cast(side.column, compared)
        for side in (link.left, link.right)
    )


def _compared_as(link: Link) -> Type | None:
    """The common type of the two columns; None where there is none."""
    return common_type(link.left.column.type, link.right.column.type)


def _remedies(context: FindingContext, link: Link) -> Iterator[AddedCondition]:
    for side, other in link.sides:
        if not side.is_bare:
            yield from _unwrapped(context, link, side)
        yield from _implied(context, link, side, other)


def _unwrapped(context: FindingContext, link: Link, side: Side) -> Iterator[AddedCondition]:
    """Conditions that came through the equality and name the function, on the bare column."""
    facts = context.facts(side.key)
    for fact in facts:
        if fact.via != link.condition.sql or fact.origin is not Origin.SPREAD:
            continue
        rest = [other_fact for other_fact in facts if other_fact is not fact]
        bare_condition = bare(fact.expression, context.zone)
        other, proof = (
            (as_text(fact.expression), None) if bare_condition is None else bare_condition
        )
        if other is None:
            continue
        before = context.kept_with(side.key, rest)
        after = context.kept_with(side.key, [*rest, replace(fact, expression=other)])
        if after < before:
            effect = Effect(f"files of {context.titles[side.key]}", before, after)
            costs = after < context.reading(side.key).kept
            yield AddedCondition(context.sql(_renamed(other, side)), proof, effect, costs=costs)


def _renamed(expression: Expression, side: Side) -> Expression:
    """The expression with the block's name for the scan's column."""
    renamed = substituted(expression, lambda _: side.column)
    return expression if renamed is None else renamed


def _implied(
    context: FindingContext, link: Link, side: Side, other: Side
) -> Iterator[AddedCondition]:
    """Conditions on the other side that follow from the conditions on this side's column."""
    follows = image(side, context.facts(side.key), other, context.zone)
    if follows is None:
        return
    shorter = None if is_bare(follows) else bare(follows, context.zone)
    expression = follows if shorter is None else shorter[0]
    sql = context.sql(expression)
    changed = link.with_condition(context.query, Condition(expression, sql, None))
    leaf = context.leaves(changed).get(other.key)
    effect = None if leaf is None else context.effect(other.key, context.kept(leaf))
    if effect is not None:
        yield AddedCondition(
            sql, "it follows from the conditions on the other side", effect, costs=True
        )


def _matters(context: FindingContext, link: Link) -> bool:
    """Whether the larger scan has a wrapped key and its partner is filtered, so it could prune."""
    larger = context.larger(link.left.key, link.right.key)
    return any(
        side.key == larger
        and not side.is_bare
        and link.restricts(side)
        and context.is_filtered(other.key)
        for side, other in link.sides
    )


def _function(context: FindingContext, link: Link, remedy: AddedCondition | None) -> Finding:
    """The finding about a join key inside a function."""
    sides = [side for side in (link.left, link.right) if not side.is_bare]
    side = sides[0]
    reads = context.reading(side.key)
    message = (
        f"{link.condition.sql} joins by {context.sql(side.expression)}: values of the other side "
        f"prune {context.titles[side.key]} only in an engine that sees through it; "
        f"{reads.kept:,} of {counted(reads.total, 'file')} are read{_bounded(context, link, side)}"
    )
    return Finding(
        Code.FUNCTION_ON_JOIN_KEY,
        _severity(remedy),
        message,
        f"store {context.sql(side.expression)} as a column of its own, and join by that"
        if remedy is None
        else _fix_text(remedy, link),
        {"files": reads.kept, "files_total": reads.total},
        None if remedy is None else remedy.sql,
        None if remedy is None else remedy.effect,
    )


def _bounded(context: FindingContext, link: Link, side: Side) -> str:
    """Text on the files that remain where joined values are applied through the function."""
    dynamic = context.scans[side.key].dynamic
    if dynamic is None or dynamic.bounded is None:
        return ""
    if dynamic.bounded.files >= context.reading(side.key).kept:
        return ""
    if all(supply.sql != link.condition.sql for supply in dynamic.supplies):
        return ""
    return f", and at most {dynamic.bounded.files:,} with what joins supply"


def _mismatch(context: FindingContext, link: Link, remedy: AddedCondition | None) -> Finding:
    """The finding about join keys of different types."""
    compared = _compared_as(link)
    cast = [side for side in (link.left, link.right) if not side.is_bare]
    names = " and ".join(context.sql(side.column) for side in cast)
    left, right = (
        f"{context.sql(side.column)} is {side.base.type}" for side in (link.left, link.right)
    )
    fewest = min(cast, key=lambda side: context.reading(side.key).kept)
    fix = f"store {context.sql(fewest.column)} as {compared}"
    return Finding(
        Code.JOIN_TYPE_MISMATCH,
        _severity(remedy),
        f"{left} and {right}: {link.condition.sql} compares them as {compared}, and {names} "
        f"{'is' if len(cast) == 1 else 'are'} cast for it, so that values of the other side do "
        "not prune by its bounds",
        fix if remedy is None else f"{fix}; or {_fix_text(remedy, link)}",
        {
            "left": str(link.left.base.type),
            "right": str(link.right.base.type),
            "compared_as": str(compared),
        },
        None if remedy is None else remedy.sql,
        None if remedy is None else remedy.effect,
    )


def _severity(remedy: AddedCondition | None) -> Severity:
    return Severity.WARNING if remedy is not None and remedy.costs else Severity.INFO


def _fix_text(remedy: AddedCondition, link: Link) -> str:
    """The sentence that offers a condition to add, with its effect."""
    effect = remedy.effect
    gain = f"{effect.after:,} instead of {effect.before:,} {effect.unit}"
    if not remedy.costs:
        gain += ", in an engine that takes bare columns alone"
    if remedy.proof is not None:
        add = f"add {remedy.sql} to that {link.clause}"
        return f"{add}: it changes no row ({remedy.proof}) and reads {gain}"
    return (
        f"{remedy.sql} in that {link.clause} reads {gain}, and is the same if every "
        "number is written in one way: '05' is 5 too"
    )
