"""Plans for tests, of predicates some conjuncts of which came from a join."""

from __future__ import annotations

from msgspec.structs import replace

from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.scan_plan import Options
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session


def planned(table, predicate, joined=(), **options):
    """A plan in which the conjuncts at `joined` came from a join; no predicate keeps all rows."""
    bound = bind(predicate or "TRUE", table.schema(), Session())
    conjuncts = tuple(
        replace(conjunct, from_join=at in joined) for at, conjunct in enumerate(bound.conjuncts)
    )
    conjuncts = conjuncts if predicate else ()
    return make_plan(table, replace(bound, conjuncts=conjuncts), Options(**options))
