"""Join keys that are not compared as they are stored: inside a function, or as another type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.reports.findings import Code, Effect, Finding, Severity
from whyscan.reports.words import counted
from whyscan.statements.findings.equalities import Link, Side, links
from whyscan.statements.findings.images import as_text, bare, image, is_bare
from whyscan.statements.records import Origin
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
"""Equalities of one statement that are looked at."""


class AddedCondition(Struct, frozen=True):
    """A condition to add, how it is known to change no row, and what it changes for its scan.

    `proof` is None where it may. `costs`: this run reads more without it, not only an engine that
    does not see through functions.
    """

    sql: str
    proof: str | None
    effect: Effect
    costs: bool


def wrapped_keys(ground: FindingContext) -> Iterator[Finding]:
    """All of this family."""
    wrapped = [link for link in links(ground) if not (link.left.is_bare and link.right.is_bare)]
    for link in wrapped[:TRIED_AT_MOST]:
        remedies = sorted(_remedies(ground, link), key=lambda r: r.effect.after - r.effect.before)
        best = next(iter(remedies), None)
        if _is_mismatch(link):
            yield _mismatch(ground, link, best)
        elif best is not None or _matters(ground, link):
            yield _function(ground, link, best)


def _is_mismatch(link: Link) -> bool:
    """Columns of two types, cast to where they meet."""
    compared = _compared_as(link)
    if compared is None:
        return False
    return all(
        side.is_bare or side.expression == Cast(side.column, compared)
        for side in (link.left, link.right)
    )


def _compared_as(link: Link) -> Type | None:
    """The type in which columns of these types meet; None where there is none."""
    return common_type(link.left.column.type, link.right.column.type)


def _remedies(ground: FindingContext, link: Link) -> Iterator[AddedCondition]:
    for side, other in link.sides:
        if not side.is_bare:
            yield from _unwrapped(ground, link, side)
        yield from _implied(ground, link, side, other)


def _unwrapped(ground: FindingContext, link: Link, side: Side) -> Iterator[AddedCondition]:
    """Conditions that came by the equality stand on the function; here on the bare column."""
    facts = ground.facts(side.key)
    for known in facts:
        if known.via != link.condition.sql or known.origin is not Origin.SPREAD:
            continue
        rest = [fact for fact in facts if fact is not known]
        found = bare(known.expression, ground.zone)
        other, proof = (as_text(known.expression), None) if found is None else found
        if other is None:
            continue
        before = ground.kept_with(side.key, rest)
        after = ground.kept_with(side.key, [*rest, replace(known, expression=other)])
        if after < before:
            effect = Effect(f"files of {ground.titles[side.key]}", before, after)
            costs = after < ground.reading(side.key).kept
            yield AddedCondition(ground.sql(_renamed(other, side)), proof, effect, costs=costs)


def _renamed(expression: Expression, side: Side) -> Expression:
    """The scan's column as the block calls it."""
    found = substituted(expression, lambda _: side.column)
    return expression if found is None else found


def _implied(
    ground: FindingContext, link: Link, side: Side, other: Side
) -> Iterator[AddedCondition]:
    """What follows for the other side from conditions on this one's column."""
    follows = image(side, ground.facts(side.key), other, ground.zone)
    if follows is None:
        return
    shorter = None if is_bare(follows) else bare(follows, ground.zone)
    expression = follows if shorter is None else shorter[0]
    sql = ground.sql(expression)
    changed = link.beside(ground.query, Condition(expression, sql, None))
    leaf = ground.leaves(changed).get(other.key)
    effect = None if leaf is None else ground.effect(other.key, ground.kept(leaf))
    if effect is not None:
        yield AddedCondition(
            sql, "it follows from the conditions on the other side", effect, costs=True
        )


def _matters(ground: FindingContext, link: Link) -> bool:
    """A wrapped key of the larger scan, whose partner is filtered: its values could prune."""
    larger = ground.larger(link.left.key, link.right.key)
    return any(
        side.key == larger
        and not side.is_bare
        and link.restricts(side)
        and ground.is_filtered(other.key)
        for side, other in link.sides
    )


def _function(ground: FindingContext, link: Link, remedy: AddedCondition | None) -> Finding:
    sides = [side for side in (link.left, link.right) if not side.is_bare]
    side = sides[0]
    reads = ground.reading(side.key)
    message = (
        f"{link.condition.sql} joins by {ground.sql(side.expression)}: values of the other side "
        f"prune {ground.titles[side.key]} only in an engine that sees through it; "
        f"{reads.kept:,} of {counted(reads.total, 'file')} are read{_bounded(ground, link, side)}"
    )
    return Finding(
        Code.FUNCTION_ON_JOIN_KEY,
        _severity(remedy),
        message,
        f"store {ground.sql(side.expression)} as a column of its own, and join by that"
        if remedy is None
        else _told(remedy, link),
        {"files": reads.kept, "files_total": reads.total},
        None if remedy is None else remedy.sql,
        None if remedy is None else remedy.effect,
    )


def _bounded(ground: FindingContext, link: Link, side: Side) -> str:
    """What is left where values of joins are seen through the function, if this one has any."""
    dynamic = ground.scans[side.key].dynamic
    if dynamic is None or dynamic.bounded is None:
        return ""
    if dynamic.bounded.files >= ground.reading(side.key).kept:
        return ""
    if all(supply.sql != link.condition.sql for supply in dynamic.supplies):
        return ""
    return f", and at most {dynamic.bounded.files:,} with what joins supply"


def _mismatch(ground: FindingContext, link: Link, remedy: AddedCondition | None) -> Finding:
    compared = _compared_as(link)
    cast = [side for side in (link.left, link.right) if not side.is_bare]
    names = " and ".join(ground.sql(side.column) for side in cast)
    left, right = (
        f"{ground.sql(side.column)} is {side.base.type}" for side in (link.left, link.right)
    )
    fewest = min(cast, key=lambda side: ground.reading(side.key).kept)
    stored = f"store {ground.sql(fewest.column)} as {compared}"
    return Finding(
        Code.JOIN_TYPE_MISMATCH,
        _severity(remedy),
        f"{left} and {right}: {link.condition.sql} compares them as {compared}, and {names} "
        f"{'is' if len(cast) == 1 else 'are'} cast for it, so that values of the other side do "
        "not prune by its bounds",
        stored if remedy is None else f"{stored}; or {_told(remedy, link)}",
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


def _told(remedy: AddedCondition, link: Link) -> str:
    effect = remedy.effect
    what = f"{effect.after:,} instead of {effect.before:,} {effect.unit}"
    if not remedy.costs:
        what += ", in an engine that takes bare columns alone"
    if remedy.proof is not None:
        add = f"add {remedy.sql} to that {link.clause}"
        return f"{add}: it changes no row ({remedy.proof}) and reads {what}"
    return (
        f"{remedy.sql} in that {link.clause} reads {what}, and is the same if every "
        "number is written in one way: '05' is 5 too"
    )
