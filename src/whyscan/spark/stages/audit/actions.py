"""The things to do first: changes that queries share, each with what it saves and for whom.

| change | what it saves |
|---|---|
| a rewrite of a condition | what the scans waste: proven |
| another order of a table (`WIDE_BOUNDS`) | what only the layout makes scans need: an estimate |

Two changes may save the same bytes, so the amounts do not add up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, Struct

from whyscan.fields import Count, Name, Record, Sentence, Sql, Value
from whyscan.reports.findings import Code
from whyscan.reports.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.findings import Finding
    from whyscan.reports.prices import WorkloadCost
    from whyscan.spark.stages.audit.report import AuditedScan, QueryLine

MOST = 10
MOST_USERS = 3


class Saved(Record, frozen=True):
    """What the bytes that a change saves cost: in the log, and in a month at its pace."""

    log: Annotated[float | None, Meta(description="Null without a price of bytes.")]
    month: Annotated[float | None, Meta(description="Null without the days of the log, too.")]


class Action(Record, frozen=True):
    """One change, with what it saves over all runs of the queries that it makes cheaper."""

    OPTIONAL: ClassVar = ("cost",)

    code: Code
    table: Name
    columns: tuple[Name, ...]
    fix: Sentence
    rewrite: Annotated[
        Sql | None, Meta(description="The condition to write in the query that saves the most.")
    ]
    saves: Annotated[Count, Meta(description="Bytes that all runs save.")]
    is_estimate: Annotated[bool, Meta(description="An upper estimate; else it is proven.")]
    queries: Annotated[Count, Meta(description="The texts that get cheaper.")]
    times: Annotated[Count, Meta(description="How often they ran.")]
    users: Annotated[tuple[Value, ...], Meta(description="Who ran them most, at most three.")]
    cost: Annotated[Saved | None, Meta(description="With --price: what it saves, as money.")] = None


class Saving(Struct, frozen=True):
    """What a change saves of one scan, over all runs of its query."""

    query: QueryLine
    finding: Finding
    bytes: int


def actions(queries: Iterable[QueryLine], cost: WorkloadCost | None) -> tuple[Action, ...]:
    """The ten changes that save the most, the largest first; `cost` has the prices."""
    savings: dict[tuple[Code, str, tuple[str, ...]], list[Saving]] = {}
    for query in queries:
        for table in query.tables:
            for saving in _savings(query, table):
                key = saving.finding.code, table.name, saving.finding.columns
                savings.setdefault(key, []).append(saving)
    changes = [_action(table, parts, cost) for (_, table, _), parts in savings.items()]
    return tuple(sorted(changes, key=lambda action: -action.saves)[:MOST])


def _savings(query: QueryLine, table: AuditedScan) -> Iterator[Saving]:
    wasted, layout = table.wasted_per_run, table.layout_bytes
    for finding in table.scan.report.findings:
        is_rewrite = finding.rewrite is not None and finding.rewrite == table.write_instead
        if wasted and is_rewrite:
            yield Saving(query, finding, wasted * query.times)
            wasted = None  # Another finding may offer the same rewrite.
        elif layout and finding.code is Code.WIDE_BOUNDS:
            yield Saving(query, finding, layout * query.times)
            layout = None


def _action(table: str, savings: Sequence[Saving], cost: WorkloadCost | None) -> Action:
    finding = max(savings, key=lambda saving: saving.bytes).finding
    queries = {id(saving.query): saving.query for saving in savings}.values()
    runs: dict[str, int] = {}
    for query in queries:
        for one in query.users:
            runs[one.user] = runs.get(one.user, 0) + one.times
    return Action(
        code=finding.code,
        table=table,
        columns=finding.columns,
        fix=finding.fix or finding.message,
        rewrite=finding.rewrite if finding.code is not Code.WIDE_BOUNDS else None,
        saves=sum(saving.bytes for saving in savings),
        is_estimate=finding.code is Code.WIDE_BOUNDS,
        queries=len(queries),
        times=sum(query.times for query in queries),
        users=tuple(sorted(runs, key=lambda user: -runs[user])[:MOST_USERS]),
        cost=None if cost is None else _saved(savings, cost),
    )


def _saved(savings: Sequence[Saving], cost: WorkloadCost) -> Saved:
    prices = Prices.of(cost.price, None)
    if prices is None:
        return Saved(None, None)
    log = prices.amount(sum(saving.bytes for saving in savings), None)
    dated = prices.amount(
        sum(one.bytes // one.query.times * sum(one.query.days.values()) for one in savings), None
    )
    return Saved(log, None if dated is None or cost.months is None else dated * cost.months)
