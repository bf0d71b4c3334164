"""A statement's text to the report on its scans."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.explain.report import make_report
from whyscan.planning.planner import make_plan
from whyscan.predicate.tree import Column
from whyscan.statements.dynamic import Dynamics, Planned
from whyscan.statements.links import Origins, edges
from whyscan.statements.report import Placed, ScanReport, StatementReport
from whyscan.statements.scans import leaves_of, predicate, read
from whyscan.statements.supply import joined_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan import Options, ScanPlan
    from whyscan.predicate.session import Session
    from whyscan.predicate.tree import Conjunct
    from whyscan.statements.catalogue import Catalogue
    from whyscan.statements.facts import Fact
    from whyscan.statements.placement import Leaf
    from whyscan.statements.report import Dynamic
    from whyscan.statements.scans import Asked


def explain_statement(
    sql: str,
    catalogue: Catalogue,
    session: Session,
    options: Options,
    *,
    resolve: int | None = None,
    verbose: bool = False,
) -> StatementReport:
    """Every scan of a statement, planned and explained.

    With `resolve` rows of scans that have no more than so many are read for the filters that
    joins make of them.
    """
    started = perf_counter()
    asked = read(sql, catalogue, session, options)
    leaves = leaves_of(asked)
    static = [Planned(leaf, plan) for leaf, plan in zip(leaves, _plans(leaves, asked), strict=True)]
    dynamics = Dynamics(asked, static)
    bounded = dynamics.bounded() if dynamics.feeds else {}
    resolution = dynamics.actual(resolve) if resolve is not None and dynamics.feeds else None
    scans = []
    for planned in static:
        key = planned.leaf.source.key
        told = dynamics.report(key, bounded, resolution)
        final = planned if resolution is None else resolution.scans[key]
        scans.append(_scan_report(final, told, verbose=verbose))
    return StatementReport(
        sql=sql,
        dialect=session.dialect,
        timezone=session.timezone,
        operation=asked.statement.tree.key,
        scans=tuple(scans),
        joins=edges(asked.query, [leaf.source.key for leaf in leaves]),
        seconds=perf_counter() - started,
    )


def _plans(leaves: Sequence[Leaf], asked: Asked) -> list[ScanPlan]:
    """The plan of each scan, with statistics of the columns that it is joined by."""
    keys = list(joined_columns(asked.query, Origins(asked.query)))
    return [_plan(leaf, keys, asked) for leaf in leaves]


def _plan(leaf: Leaf, keys: Sequence[Column], asked: Asked) -> ScanPlan:
    own = [c for c in dict.fromkeys(keys) if c.path[0] == leaf.source.key]
    options = replace(
        asked.options,
        projection=tuple((name,) for name in leaf.columns),
        measured=tuple(Column(column.path[1:], column.type) for column in own),
    )
    return make_plan(leaf.base.snapshot, predicate(leaf.facts, asked), options)


def _scan_report(planned: Planned, dynamic: Dynamic | None, *, verbose: bool) -> ScanReport:
    """One scan, explained."""
    leaf, plan = planned.leaf, planned.plan
    return ScanReport(
        name=leaf.base.name,
        alias=leaf.source.alias,
        columns=leaf.columns,
        plan=plan,
        report=make_report(plan, verbose=verbose),
        placed=tuple(map(_placed, leaf.facts, plan.predicate.conjuncts)),
        above=leaf.above,
        dynamic=dynamic,
    )


def _placed(fact: Fact, conjunct: Conjunct) -> Placed:
    return Placed(conjunct.sql, fact.origin, fact.written, fact.via)
