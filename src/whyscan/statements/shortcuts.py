"""Blocks that need fewer than all matching rows: LIMIT, top-k, and aggregates from metadata.

A shortcut needs a block with one scan, and all filters of the block in the plan of that scan: then
a row that surely matches in the plan is a row of the block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.rows.answers import Answers, Function, MetadataAggregate, answers
from whyscan.planning.rows.limit import Unproven, limited
from whyscan.planning.rows.topk import SortKey, top
from whyscan.statements.joins.edges import one_scan, selects
from whyscan.statements.joins.supply import literal_text
from whyscan.statements.roles import Origin
from whyscan.tree.nodes import Column, Literal, columns_of
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.planning.plan.scan_plan import PlannedSnapshot
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.sql.relations import Query, Select, Source
    from whyscan.tree.nodes import Expression

_FUNCTIONS = {function.value: function for function in Function}


class Shortcut(Struct, frozen=True, eq=False):
    """A block over one scan with its sort key or its aggregates, in the table's column names."""

    select: Select
    key: str
    sort: SortKey | None = None
    aggregates: tuple[MetadataAggregate, ...] = ()

    @property
    def measured(self) -> tuple[Column, ...]:
        """The columns whose statistics decide."""
        expressions = [a.expression for a in self.aggregates if a.expression is not None]
        if self.sort is not None:
            expressions.append(self.sort.expression)
        return tuple(dict.fromkeys(c for e in expressions for c in columns_of(e)))


class ShortcutPlan(Struct, frozen=True):
    """The plan that a shortcut leaves, with its description.

    `values` are the answers of the aggregates, one value per aggregate.
    """

    plan: PlannedSnapshot
    limit: str | None = None
    answer: str | None = None
    values: tuple[Literal, ...] = ()


def shortcuts(query: Query) -> Iterator[Shortcut]:
    """The blocks of a query that may need fewer than all rows of their only scan."""
    for select in selects(query):
        shortcut = _shortcut(select)
        if shortcut is not None:
            yield shortcut


def _shortcut(select: Select) -> Shortcut | None:
    """The shortcut of a block: LIMIT, ORDER BY with LIMIT, or aggregates; None for others."""
    inner = one_scan(select)
    if inner is None:
        return None
    source, in_table_terms = inner
    plain = not (select.distinct or select.partitions or select.qualify)
    if select.groups is None and plain and select.cut is not None:
        if not select.order:
            return Shortcut(select, source.key)
        first = select.order[0]
        key = None if first.expression is None else in_table_terms(first.expression)
        if key is None:
            return None
        return Shortcut(select, source.key, SortKey(key, first.descending, first.nulls_first))
    return _answerable(select, source, in_table_terms)


def _answerable(
    select: Select, source: Source, in_table_terms: Callable[[Expression], Expression | None]
) -> Shortcut | None:
    """A shortcut for `SELECT count(*), max(a)`, with aggregates only; None for other blocks."""
    alone = len(select.aggregates) == len(select.outputs) and bool(select.outputs)
    if select.groups != () or not alone or select.having or select.cut or select.qualify:
        return None
    aggregates = []
    for aggregate in select.aggregates:
        function = _FUNCTIONS.get(aggregate.function)
        argument = None if aggregate.argument is None else in_table_terms(aggregate.argument)
        counts_all = isinstance(argument, Literal) and argument.value is not None
        if function is None or (argument is None and not aggregate.star):
            return None
        if function is Function.COUNT and (aggregate.star or counts_all):
            aggregates.append(MetadataAggregate(function))
        elif argument is None or not columns_of(argument):
            return None
        else:
            aggregates.append(MetadataAggregate(function, argument))
    return Shortcut(select, source.key, aggregates=tuple(aggregates))


def applies(shortcut: Shortcut, leaf: PlacedScan) -> bool:
    """Whether the scan has all filters of the block, and LIMIT and OFFSET are numbers."""
    if leaf.above or any(fact.origin is not Origin.WRITTEN for fact in leaf.facts):
        return False
    cut = shortcut.select.cut
    return bool(shortcut.aggregates) or (
        cut is not None and cut.limit is not None and cut.offset is not None
    )


def plan_shortcut(shortcut: Shortcut, plan: PlannedSnapshot) -> ShortcutPlan | str:
    """The plan that is left, or the reason why there is none."""
    if shortcut.aggregates:
        answered = answers(plan, shortcut.aggregates)
        return answered.why if isinstance(answered, Unproven) else _answer_plan(shortcut, answered)
    limit, offset = _rows(shortcut)
    if shortcut.sort is None:
        shortened = limited(plan, limit, offset)
    else:
        shortened = top(plan, shortcut.sort, limit, offset)
    return (
        shortened.why
        if isinstance(shortened, Unproven)
        else ShortcutPlan(shortened, limit=_limit_text(shortcut, shortened))
    )


def _answer_plan(shortcut: Shortcut, answered: Answers) -> ShortcutPlan:
    parts = []
    for aggregate, value in zip(shortcut.aggregates, answered.values, strict=True):
        inner = "*" if aggregate.expression is None else to_sql(aggregate.expression)
        parts.append(f"{aggregate.function.value}({inner}) = {literal_text(value)}")
    return ShortcutPlan(answered.plan, answer=", ".join(parts), values=answered.values)


def _rows(shortcut: Shortcut) -> tuple[int, int]:
    """LIMIT and OFFSET, 0 for a missing one."""
    cut = shortcut.select.cut
    return (0, 0) if cut is None else (cut.limit or 0, cut.offset or 0)


def _limit_text(shortcut: Shortcut, shortened: PlannedSnapshot) -> str:
    kept = shortened.summary.files_kept
    order = "" if shortcut.sort is None else f"ORDER BY {to_sql(shortcut.sort.expression)} "
    files = "1 file is" if kept == 1 else f"{kept} files are"
    return f"{order}LIMIT: {files} sure to have the {sum(_rows(shortcut))} rows that are asked for"
