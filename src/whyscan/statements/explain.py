"""A statement's text to the report on its scans."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.statements.changes.targets import notes, rewrite
from whyscan.statements.concurrency import in_parallel
from whyscan.statements.findings import findings
from whyscan.statements.joins.dynamic_filters import Dynamics, PlannedScan, compared
from whyscan.statements.joins.edges import edges, selects
from whyscan.statements.planners import HERE
from whyscan.statements.records import Placed, Role, ScanReport, StatementReport
from whyscan.statements.scans import leaves_of, predicate, read
from whyscan.statements.shortcuts import ShortcutPlan, applies, shortcuts, take

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

    With `resolve` rows of scans that have no more than so many are read for the filters that
    joins make of them. `verbose` lists every live file.
    """

    resolve: int | None = None
    verbose: bool = False
    planner: Planner = HERE


PLAINLY = ExplainOptions()


def explain_statement(
    sql: str,
    catalogue: Catalogue,
    session: Session,
    options: Options,
    manner: ExplainOptions = PLAINLY,
) -> StatementReport:
    """Every scan of a statement, planned and explained."""
    started, resolve = perf_counter(), manner.resolve
    asked = replace(read(sql, catalogue, session, options), planner=manner.planner)
    leaves = leaves_of(asked)
    short = _short(asked.query, leaves)
    told = compared(asked.query)
    static = _planned(leaves, asked, told, short)
    taken = _taken(static, short)
    dynamics = Dynamics(asked, told, static, _answered(asked.query, short, taken))
    resolution = dynamics.actual(resolve) if resolve is not None and dynamics.feeds else None
    scans = []
    for planned in static:
        key = planned.leaf.source.key
        dynamic = dynamics.report(key, resolution)
        final = planned if resolution is None else resolution.scans[key]
        scans.append(_scan_report(final, dynamic, taken.get(key), asked, verbose=manner.verbose))
    report = StatementReport(
        sql=asked.statement.syntax.text,
        dialect=session.dialect,
        timezone=session.timezone,
        operation=asked.change.operation,
        scans=tuple(scans),
        joins=_edges(asked, leaves),
        notes=notes(asked.change, [scan.rewrite for scan in scans]),
    )
    found = findings(report, asked, static)
    return replace(report, findings=found, seconds=perf_counter() - started)


def _short(query: Query, leaves: Sequence[PlacedScan]) -> dict[str, Shortcut]:
    """The shortcuts of scans whose filters are all of their block's, by the scan."""
    found = {shortcut.key: shortcut for shortcut in shortcuts(query)}
    placed = {leaf.source.key: leaf for leaf in leaves}
    return {k: short for k, short in found.items() if k in placed and applies(short, placed[k])}


def _edges(asked: BoundStatement, leaves: Sequence[PlacedScan]) -> tuple[Edge, ...]:
    """The joins, those of a MERGE's target by that name."""
    found = edges(asked.query, [leaf.source.key for leaf in leaves])
    if asked.change.operation != "merge":
        return found
    target = next(at for at, leaf in enumerate(leaves) if leaf.source.target)
    return tuple(
        replace(edge, kind="merge") if target in (edge.left, edge.right) else edge for edge in found
    )


def _planned(
    leaves: Sequence[PlacedScan],
    asked: BoundStatement,
    told: JoinedColumns,
    short: Mapping[str, Shortcut],
) -> list[PlannedScan]:
    """Each scan's plan, with statistics of the columns that any scan of its table is asked by.

    Tables are read at once, the scans of one of them one after another: they share what was read.
    """
    asking = [predicate(leaf.facts, asked) for leaf in leaves]
    measured: dict[int, dict[Column, None]] = {}
    for leaf, condition in zip(leaves, asking, strict=True):
        key, shortcut = leaf.source.key, short.get(leaf.source.key)
        cut_by = () if shortcut is None else shortcut.measured
        wanted = measured.setdefault(id(leaf.base.snapshot), {})
        wanted |= dict.fromkeys((*told.of_scan(key), *cut_by, *condition.columns()))

    def planned(scan: tuple[PlacedScan, Predicate]) -> PlannedScan:
        leaf, condition = scan
        options = replace(
            asked.options,
            projection=tuple((name,) for name in leaf.columns),
            measured=tuple(measured[id(leaf.base.snapshot)]),
        )
        return PlannedScan(leaf, asked.planner.plan(leaf.base.snapshot, condition, options))

    scans = list(zip(leaves, asking, strict=True))
    return in_parallel(planned, scans, by=lambda scan: id(scan[0].base.snapshot))


def _taken(
    static: Sequence[PlannedScan], short: Mapping[str, Shortcut]
) -> dict[str, ShortcutPlan | str]:
    """The shortcuts that metadata allows, and why it does not allow the others."""
    found = {}
    for planned in static:
        shortcut = short.get(planned.leaf.source.key)
        if shortcut is not None:
            found[planned.leaf.source.key] = take(shortcut, planned.plan)
    return found


def _answered(
    query: Query, short: Mapping[str, Shortcut], taken: Mapping[str, ShortcutPlan | str]
) -> dict[int, Literal]:
    """The values of subqueries that metadata answers, by the condition that compares with them."""
    values = {
        id(short[key].select): found.values
        for key, found in taken.items()
        if isinstance(found, ShortcutPlan)
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
    taken: ShortcutPlan | str | None,
    asked: BoundStatement,
    *,
    verbose: bool,
) -> ScanReport:
    """One scan, explained."""
    leaf = planned.leaf
    short = taken if isinstance(taken, ShortcutPlan) else None
    plan = planned.plan if short is None else short.plan
    is_target = leaf.source.target
    return ScanReport(
        name=leaf.base.name,
        alias=leaf.source.alias,
        columns=leaf.columns,
        plan=plan,
        report=asked.planner.report(plan, verbose=verbose),
        placed=tuple(map(_placed, leaf.facts, plan.predicate.conjuncts)),
        above=leaf.above,
        dynamic=dynamic,
        limit=taken if isinstance(taken, str) else None if short is None else short.limit,
        answer=None if short is None else short.answer,
        role=Role.TARGET if is_target else Role.READ,
        rewrite=rewrite(plan, asked.change, asked.besides or asked.query) if is_target else None,
    )


def _placed(fact: Fact, conjunct: Conjunct) -> Placed:
    return Placed(conjunct.sql, fact.origin, fact.written, fact.via)
