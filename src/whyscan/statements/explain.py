"""Explains a statement: parses its text, plans every scan and builds the report."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.request import filtered_columns
from whyscan.statements.changes.targets import notes, rewrite
from whyscan.statements.concurrency import in_parallel
from whyscan.statements.findings import findings, united
from whyscan.statements.joins.dynamic_filters import Dynamics, PlannedScan, joined_columns_of
from whyscan.statements.joins.edges import edges, selects
from whyscan.statements.planners import IN_PROCESS_PLANNER
from whyscan.statements.records import Placed, ScanReport, StatementReport
from whyscan.statements.roles import Role
from whyscan.statements.scans import bind_statement, placed_scans, predicate_of
from whyscan.statements.shortcuts import ShortcutPlan, applies, plan_shortcut, shortcuts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.planning.plan.scan_plan import Options
    from whyscan.predicate.syntax.session import Session
    from whyscan.statements.joins.dynamic_filters import JoinedColumns
    from whyscan.statements.placement.facts import Fact
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.planners import Planner
    from whyscan.statements.records import Dynamic, Edge
    from whyscan.statements.scans import BoundStatement
    from whyscan.statements.shortcuts import Shortcut
    from whyscan.statements.sql.relations import Query
    from whyscan.statements.sql.table_names import Catalogue
    from whyscan.tree.nodes import Column, Conjunct, Literal, Predicate


class ExplainOptions(Struct, frozen=True):
    """How a statement is explained.

    `resolve` is a number of rows: scans that keep at most so many rows are read, and their values
    filter the scans that they are joined with. None reads no row. `verbose` lists every live file.
    `assert_stats` counts the files of every scanned snapshot that lack statistics. `planner` plans
    the scans.
    """

    resolve: int | None = None
    verbose: bool = False
    assert_stats: bool = False
    planner: Planner = IN_PROCESS_PLANNER


DEFAULT_OPTIONS = ExplainOptions()


def explain_statement(
    sql: str,
    catalogue: Catalogue,
    session: Session,
    options: Options,
    explain_options: ExplainOptions = DEFAULT_OPTIONS,
) -> StatementReport:
    """Plan and explain every scan of a statement."""
    started, resolve = perf_counter(), explain_options.resolve
    statement = replace(
        bind_statement(sql, catalogue, session, options), planner=explain_options.planner
    )
    leaves = placed_scans(statement)
    scan_shortcuts = _scan_shortcuts(statement.query, leaves)
    joined = joined_columns_of(statement.query)
    static = _planned(
        leaves, statement, joined, scan_shortcuts, assert_stats=explain_options.assert_stats
    )
    shortcut_plans = _shortcut_plans(static, scan_shortcuts)
    dynamics = Dynamics(
        statement, joined, static, _subquery_values(statement.query, scan_shortcuts, shortcut_plans)
    )
    resolution = dynamics.actual(resolve) if resolve is not None and dynamics.feeds else None
    scans = []
    for planned in static:
        key = planned.leaf.source.key
        dynamic = dynamics.report(key, resolution)
        final = planned if resolution is None else resolution.scans[key]
        scans.append(
            _scan_report(
                final, dynamic, shortcut_plans.get(key), statement, verbose=explain_options.verbose
            )
        )
    report = StatementReport(
        sql=statement.parsed.syntax.text,
        dialect=session.dialect,
        timezone=session.timezone,
        operation=statement.change.operation,
        scans=tuple(scans),
        joins=_edges(statement, leaves),
        notes=notes(statement.change, [scan.rewrite for scan in scans]),
    )
    statement_findings = findings(report, statement, static)
    united_report = united(report)
    return replace(united_report, findings=statement_findings, seconds=perf_counter() - started)


def _scan_shortcuts(query: Query, leaves: Sequence[PlacedScan]) -> dict[str, Shortcut]:
    """The shortcuts that are valid, by the key of their scan.

    A shortcut is valid where the scan's plan has all filters of its block.
    """
    by_key = {shortcut.key: shortcut for shortcut in shortcuts(query)}
    placed = {leaf.source.key: leaf for leaf in leaves}
    return {k: short for k, short in by_key.items() if k in placed and applies(short, placed[k])}


def _edges(statement: BoundStatement, leaves: Sequence[PlacedScan]) -> tuple[Edge, ...]:
    """The joins between scans; a join with the target of a MERGE has the kind `merge`."""
    all_edges = edges(statement.query, [leaf.source.key for leaf in leaves])
    if statement.change.operation != "merge":
        return all_edges
    target = next(position for position, leaf in enumerate(leaves) if leaf.source.target)
    return tuple(
        replace(edge, kind="merge") if target in (edge.left, edge.right) else edge
        for edge in all_edges
    )


def _planned(
    leaves: Sequence[PlacedScan],
    statement: BoundStatement,
    joined: JoinedColumns,
    scan_shortcuts: Mapping[str, Shortcut],
    *,
    assert_stats: bool,
) -> list[PlannedScan]:
    """Plan each scan, with statistics of the columns that any scan of its table needs.

    Tables are planned in parallel. The scans of one table are planned one after another, because
    they share what was read.
    """
    predicates = [predicate_of(leaf.facts, statement) for leaf in leaves]
    measured: dict[int, dict[Column, None]] = {}
    for leaf, scan_predicate in zip(leaves, predicates, strict=True):
        key, shortcut = leaf.source.key, scan_shortcuts.get(leaf.source.key)
        shortcut_columns = () if shortcut is None else shortcut.measured
        columns = measured.setdefault(id(leaf.base.snapshot), {})
        columns |= dict.fromkeys(
            (*joined.of_scan(key), *shortcut_columns, *scan_predicate.columns())
        )

    def planned(scan: tuple[PlacedScan, Predicate]) -> PlannedScan:
        leaf, scan_predicate = scan
        options = replace(
            statement.options,
            projection=tuple((name,) for name in leaf.columns),
            measured=tuple(measured[id(leaf.base.snapshot)]),
        )
        if assert_stats:
            # A file that is not looked at may lack statistics.
            complete = filtered_columns(scan_predicate, leaf.base.snapshot)
            options = replace(options, complete=complete, full=True)
        return PlannedScan(
            leaf, statement.planner.plan(leaf.base.snapshot, scan_predicate, options)
        )

    scans = list(zip(leaves, predicates, strict=True))
    return in_parallel(planned, scans, by=lambda scan: id(scan[0].base.snapshot))


def _shortcut_plans(
    static: Sequence[PlannedScan], scan_shortcuts: Mapping[str, Shortcut]
) -> dict[str, ShortcutPlan | str]:
    """For each scan the plan that a shortcut leaves, or why metadata does not allow it."""
    plans = {}
    for planned in static:
        shortcut = scan_shortcuts.get(planned.leaf.source.key)
        if shortcut is not None:
            plans[planned.leaf.source.key] = plan_shortcut(shortcut, planned.plan)
    return plans


def _subquery_values(
    query: Query,
    scan_shortcuts: Mapping[str, Shortcut],
    shortcut_plans: Mapping[str, ShortcutPlan | str],
) -> dict[int, Literal]:
    """The values of subqueries that metadata answers, by the id of the comparing condition."""
    values = {
        id(scan_shortcuts[key].select): shortcut_plan.values
        for key, shortcut_plan in shortcut_plans.items()
        if isinstance(shortcut_plan, ShortcutPlan)
    }
    return {
        id(nested.within): values[id(nested.query)][0]
        for inner in selects(query)
        for nested in inner.nested
        if nested.within is not None and len(values.get(id(nested.query), ())) == 1
    }


def _scan_report(
    planned: PlannedScan,
    dynamic: Dynamic | None,
    shortcut: ShortcutPlan | str | None,
    statement: BoundStatement,
    *,
    verbose: bool,
) -> ScanReport:
    """The report of one scan."""
    leaf = planned.leaf
    short = shortcut if isinstance(shortcut, ShortcutPlan) else None
    plan = planned.plan if short is None else short.plan
    is_target = leaf.source.target
    return ScanReport(
        name=leaf.base.name,
        alias=leaf.source.alias,
        columns=leaf.columns,
        plan=plan,
        report=statement.planner.report(plan, verbose=verbose),
        placed=tuple(map(_placed, leaf.facts, plan.predicate.conjuncts)),
        above=leaf.above,
        dynamic=dynamic,
        limit=shortcut if isinstance(shortcut, str) else None if short is None else short.limit,
        answer=None if short is None else short.answer,
        role=Role.TARGET if is_target else Role.READ,
        rewrite=rewrite(plan, statement.change, statement.target_query or statement.query)
        if is_target
        else None,
    )


def _placed(fact: Fact, conjunct: Conjunct) -> Placed:
    return Placed(conjunct.sql, fact.origin, fact.written, fact.via)
