"""Join keys of the larger side: without bounds, or with bounds that rule no file out."""

from __future__ import annotations

from functools import partial, reduce
from itertools import islice
from operator import add
from typing import TYPE_CHECKING

from whyscan.reports.coverage import of_column
from whyscan.reports.file_bounds import ends
from whyscan.reports.findings import Code, Effect, Finding, Severity
from whyscan.reports.findings.layout import DEEP, overlaps
from whyscan.reports.findings.pruning import FEWEST_FILES
from whyscan.reports.findings.statistics import remedy
from whyscan.reports.words import counted, size
from whyscan.statements.findings.equalities import Link, Side, links
from whyscan.statements.sql.relations import Condition
from whyscan.tables.snapshot import Collected
from whyscan.tree.nodes import Column, Comparator, Comparison, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.gates import GatedAmount
    from whyscan.statements.findings.context import FindingContext

Joined = tuple[Link, Side, Side]
"""An equality, its side of the larger scan, and the other."""

Suggestion = tuple[str, str | None, Effect | None]
"""A fix, text to copy, and what it changes."""

TRIED_AT_MOST = 4
"""Columns of the same name in both that are tried as one more equality."""


def join_keys(ground: FindingContext) -> Iterator[Finding]:
    """All of this family."""
    whole: dict[str, list[Joined]] = {}
    for link in links(ground):
        larger = ground.larger(link.left.key, link.right.key)
        side, other = next(pair for pair in link.sides if pair[0].key == larger)
        if not ground.is_filtered(other.key) or not _is_told(ground, link, side):
            continue
        yield from _without_statistics(ground, link, side)
        if side.is_bare and other.is_bare and _reads_all(ground, side.key):
            whole.setdefault(side.key, []).append((link, side, other))
    for key, joined in whole.items():
        yield from _full_scan(ground, key, joined)


def _is_told(ground: FindingContext, link: Link, side: Side) -> bool:
    """Whether the other side's values may filter this one's rows."""
    dynamic = ground.scans[side.key].dynamic
    supplied = () if dynamic is None else dynamic.supplies
    return link.restricts(side) or any(supply.sql == link.condition.sql for supply in supplied)


def _without_statistics(ground: FindingContext, link: Link, side: Side) -> Iterator[Finding]:
    """A spread condition on the key has the scan's own finding; this is for the values of joins."""
    plan = ground.static[side.key].plan
    partitioned = side.own.path in plan.snapshot.partition_sources
    if partitioned or side.own in plan.predicate.columns():
        return
    if side.own not in plan.options.measured:
        return
    told = reduce(add, plan.each(partial(of_column, side.own)))
    if told.mode == "exact":
        return
    lacking = told.files - told.files_with_bounds
    found = remedy(plan, side.own)
    never = plan.snapshot.recording(side.own).collected is Collected.NEVER
    title = ground.titles[side.key]
    yield Finding(
        Code.JOIN_KEY_WITHOUT_STATISTICS,
        Severity.INFO if never else Severity.WARNING,
        f"{lacking:,} of {counted(told.files, 'file')} of {title} cannot be skipped by the values "
        f"that {link.condition.sql} lets through: {told.column} has no bounds there ({found.why})",
        found.fix,
        {"files": told.files, "files_without_bounds": lacking},
        found.setting,
    )


def _reads_all(ground: FindingContext, key: str) -> bool:
    """Every file is read, whatever the values of joins are."""
    reads, dynamic = ground.reading(key), ground.scans[key].dynamic
    if reads.total < FEWEST_FILES or reads.kept < reads.total:
        return False
    if not ground.is_worth_a_word(reads.bytes_kept):
        return False
    answers = [] if dynamic is None else [dynamic.bounded, dynamic.actual]
    return all(told is None or told.files == reads.total for told in answers)


def _full_scan(ground: FindingContext, key: str, joined: list[Joined]) -> Iterator[Finding]:
    found = _spreading(ground, joined) or _clustering(ground, joined)
    if found is None:
        return
    fix, rewrite, effect = found
    reads, title = ground.reading(key), ground.titles[key]
    others = dict.fromkeys(other.key for _, _, other in joined)
    filters = " and ".join(
        f"{ground.titles[k]}, which {_filters(ground, k)} filters" for k in others
    )
    by = " AND ".join(dict.fromkeys(link.condition.sql for link, _, _ in joined))
    yield Finding(
        Code.FULL_SCAN_OF_LARGER_SIDE,
        Severity.WARNING,
        f"{title} is read whole, {counted(reads.total, 'file')}{_weight(reads)}, although it is "
        f"joined by {by} with {filters}",
        fix,
        {"files": reads.total, "joins": len(joined)},
        rewrite,
        effect,
    )


def _filters(ground: FindingContext, key: str) -> str:
    return " AND ".join(dict.fromkeys(fact.written for fact in ground.facts(key)))


def _weight(reads: GatedAmount) -> str:
    return "" if reads.bytes_kept is None else f" ({size(reads.bytes_kept)})"


def _spreading(ground: FindingContext, joined: list[Joined]) -> Suggestion | None:
    """An equality of partition columns by which a condition of the other side would spread."""
    for link, side, other in joined:
        for equality in islice(_candidates(ground, side, other), TRIED_AT_MOST):
            sql = ground.sql(equality)
            changed = link.beside(ground.query, Condition(equality, sql, None))
            leaf = ground.leaves(changed).get(side.key)
            effect = None if leaf is None else ground.effect(side.key, ground.kept(leaf))
            if effect is not None:
                fix = (
                    f"if they belong together, add {sql} to that {link.clause}: conditions then "
                    f"spread, and {effect.after:,} of {effect.before:,} files are read"
                )
                return fix, sql, effect
    return None


def _candidates(ground: FindingContext, side: Side, other: Side) -> Iterator[Comparison]:
    """Columns of both tables that are called the same, and that the other one is filtered by."""
    if side.column != side.base or other.column != other.base:
        return
    theirs = {
        column.path[1].lower(): column
        for fact in ground.facts(other.key)
        for column in columns_of(fact.expression)
        if column.path[0] == other.key
    }
    for field in ground.static[side.key].leaf.base.snapshot.schema().fields:
        found = theirs.get(field.name.lower())
        if found is not None and found.type == field.type:
            mine = Column((side.key, field.name), field.type)
            yield Comparison(Comparator.EQUAL, mine, found)


def _clustering(ground: FindingContext, joined: list[Joined]) -> Suggestion | None:
    """Into how many files a value of the key falls; None where its bounds tell files apart."""
    for _, side, _ in joined:
        (depth,) = overlaps(ground.static[side.key].plan, [side.own], ends)
        if depth is not None and depth.median >= DEEP * depth.ideal:
            name = ".".join(side.own.path)
            fix = (
                f"cluster {ground.scans[side.key].name} by {name}: a value of it falls into "
                f"{depth.median:,} of {counted(depth.files, 'file')} (median), where "
                f"{depth.ideal:,} would do"
            )
            return fix, None, Effect("median depth", depth.median, depth.ideal)
    return None
