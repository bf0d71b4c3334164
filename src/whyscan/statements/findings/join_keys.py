"""Finds join keys of the larger side without bounds, or with bounds that rule no file out."""

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
"""An equality, its side of the larger scan, and its other side."""

Suggestion = tuple[str, str | None, Effect | None]
"""A fix, SQL to copy, and the effect of the fix."""

TRIED_AT_MOST = 4
"""At most so many columns with the same name are tried as one more equality."""


def join_keys(context: FindingContext) -> Iterator[Finding]:
    """The findings about join keys."""
    fully_read: dict[str, list[Joined]] = {}
    for link in links(context):
        larger = context.larger(link.left.key, link.right.key)
        side, other = next(pair for pair in link.sides if pair[0].key == larger)
        if not context.is_filtered(other.key) or not _is_supplied(context, link, side):
            continue
        yield from _without_statistics(context, link, side)
        if side.is_bare and other.is_bare and _reads_all(context, side.key):
            fully_read.setdefault(side.key, []).append((link, side, other))
    for key, joined in fully_read.items():
        yield from _full_scan(context, key, joined)


def _is_supplied(context: FindingContext, link: Link, side: Side) -> bool:
    """Whether the values of the other side may filter the rows of this side."""
    dynamic = context.scans[side.key].dynamic
    supplied = () if dynamic is None else dynamic.supplies
    return link.restricts(side) or any(supply.sql == link.condition.sql for supply in supplied)


def _without_statistics(context: FindingContext, link: Link, side: Side) -> Iterator[Finding]:
    """A finding where the join key has no statistics, so that values of joins prune nothing.

    If a condition on the key was spread to the scan, the scan's report has a finding already.
    """
    plan = context.static[side.key].plan
    partitioned = side.table_column.path in plan.snapshot.partition_sources
    if partitioned or side.table_column in plan.predicate.columns():
        return
    if side.table_column not in plan.options.measured:
        return
    coverage = reduce(add, plan.each(partial(of_column, side.table_column)))
    if coverage.mode == "exact":
        return
    lacking = coverage.files - coverage.files_with_bounds
    repair = remedy(plan, side.table_column)
    never = plan.snapshot.recording(side.table_column).collected is Collected.NEVER
    title = context.titles[side.key]
    yield Finding(
        Code.JOIN_KEY_WITHOUT_STATISTICS,
        Severity.INFO if never else Severity.WARNING,
        f"{lacking:,} of {counted(coverage.files, 'file')} of {title} cannot be skipped by the "
        f"values that {link.condition.sql} lets through: {coverage.column} has no bounds there "
        f"({repair.why})",
        repair.fix,
        {"files": coverage.files, "files_without_bounds": lacking},
        repair.setting,
    )


def _reads_all(context: FindingContext, key: str) -> bool:
    """Whether every file is read, with or without the values of joins."""
    reads, dynamic = context.reading(key), context.scans[key].dynamic
    if reads.total < FEWEST_FILES or reads.kept < reads.total:
        return False
    if not context.is_relevant(reads.bytes_kept):
        return False
    answers = [] if dynamic is None else [dynamic.bounded, dynamic.actual]
    return all(amount is None or amount.files == reads.total for amount in answers)


def _full_scan(context: FindingContext, key: str, joined: list[Joined]) -> Iterator[Finding]:
    """A finding where the larger side is read completely although its partners are filtered."""
    suggestion = _spreading(context, joined) or _clustering(context, joined)
    if suggestion is None:
        return
    fix, rewrite, effect = suggestion
    reads, title = context.reading(key), context.titles[key]
    others = dict.fromkeys(other.key for _, _, other in joined)
    filters = " and ".join(
        f"{context.titles[k]}, which {_filters(context, k)} filters" for k in others
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


def _filters(context: FindingContext, key: str) -> str:
    return " AND ".join(dict.fromkeys(fact.written for fact in context.facts(key)))


def _weight(reads: GatedAmount) -> str:
    return "" if reads.bytes_kept is None else f" ({size(reads.bytes_kept)})"


def _spreading(context: FindingContext, joined: list[Joined]) -> Suggestion | None:
    """An equality of columns with the same name that would spread a condition to this side."""
    for link, side, other in joined:
        for equality in islice(_candidates(context, side, other), TRIED_AT_MOST):
            sql = context.sql(equality)
            changed = link.with_condition(context.query, Condition(equality, sql, None))
            leaf = context.leaves(changed).get(side.key)
            effect = None if leaf is None else context.effect(side.key, context.kept(leaf))
            if effect is not None:
                fix = (
                    f"if they belong together, add {sql} to that {link.clause}: conditions then "
                    f"spread, and {effect.after:,} of {effect.before:,} files are read"
                )
                return fix, sql, effect
    return None


def _candidates(context: FindingContext, side: Side, other: Side) -> Iterator[Comparison]:
    """Equalities of columns with the same name, of which the other side's is filtered."""
    if side.column != side.base or other.column != other.base:
        return
    other_columns = {
        column.path[1].lower(): column
        for fact in context.facts(other.key)
        for column in columns_of(fact.expression)
        if column.path[0] == other.key
    }
    for field in context.static[side.key].leaf.base.snapshot.schema().fields:
        other_column = other_columns.get(field.name.lower())
        if other_column is not None and other_column.type == field.type:
            side_column = Column((side.key, field.name), field.type)
            yield Comparison(Comparator.EQUAL, side_column, other_column)


def _clustering(context: FindingContext, joined: list[Joined]) -> Suggestion | None:
    """A fix that clusters the table by the key; None where its bounds already separate files."""
    for _, side, _ in joined:
        (depth,) = overlaps(context.static[side.key].plan, [side.table_column], ends)
        if depth is not None and depth.median >= DEEP * depth.ideal:
            name = ".".join(side.table_column.path)
            fix = (
                f"cluster {context.scans[side.key].name} by {name}: a value of it falls into "
                f"{depth.median:,} of {counted(depth.files, 'file')} (median), where "
                f"{depth.ideal:,} would do"
            )
            return fix, None, Effect("median depth", depth.median, depth.ideal)
    return None
