"""The audit stage: executors explain every query of a workload as `explain` explains one.

Every distinct text is explained by the function that explains a single statement, on tables that
are pinned to one snapshot for the whole run. Queries that name the same tables go to the same task,
where the metadata of a table is read once.
"""

from __future__ import annotations

import pickle
import secrets
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.request import options_of
from whyscan.reports.words import counted
from whyscan.spark.jobs import TASKS_A_CORE, described, mapped, ran, work_frame
from whyscan.spark.pinned_tables import FILES_A_SLICE, pin_all
from whyscan.spark.sessions import cores
from whyscan.spark.stages.audit.executor import (
    SCHEMA,
    NumberedQuery,
    QueryOutcome,
    Terms,
    explaining,
)
from whyscan.spark.stages.audit.report import Audit, AuditRun
from whyscan.spark.stages.audit.rounds import explained_in_rounds
from whyscan.spark.stages.audit.totals import query_lines, table_totals
from whyscan.spark.stages.inputs import names_in
from whyscan.spark.stages.workload.query import unexplained
from whyscan.spark.tables import NamedTable, canonical_uri
from whyscan.terms import PlanTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.audit.rounds import Bundle
    from whyscan.spark.stages.workload.query import Query, Unparsed, Workload

QUERIES_A_TASK = 20
"""With fewer queries, starting a task costs more than explaining them."""
ROUNDS = 8
"""Each round finds one more unlisted table per query: a query rarely names more than this."""

THRESHOLD = 0.1
"""A share of a table's bytes: a shape that keeps this much more than before has drifted."""


class AuditOptions(Struct, frozen=True):
    """How queries are read and planned; the defaults are those of a single explanation.

    A table that a query names and that is not listed is divided into slices of `files_each` files.
    Without `engines`, bytes are those of the plan.
    """

    timezone: str = "UTC"
    depth: str = "auto"
    full: bool = False
    assume_no_nan: bool = False
    threshold: float = THRESHOLD
    files_each: int = FILES_A_SLICE
    engines: tuple[str, ...] = ()

    @property
    def terms(self) -> Terms:
        terms = PlanTerms(
            depth=self.depth,
            full=self.full,
            assume_no_nan=self.assume_no_nan,
            engines=self.engines or None,
        )
        return Terms(self.timezone, options_of(terms))


DEFAULT = AuditOptions()


def explain_workload(
    spark: SparkSession,
    workload: Workload,
    tables: Iterable[Pinned],
    options: AuditOptions = DEFAULT,
    progress: Callable[[str], None] | None = None,
) -> tuple[Audit, dict[str, Pinned]]:
    """The audit of a workload, and all tables that its queries name.

    `progress` is called with a text before each step.
    """
    started, at = perf_counter(), datetime.now(UTC)
    say = progress or (lambda _: None)
    rounds = _ExplainRounds(spark, workload.queries, tables, say, options.files_each)
    outcomes = rounds.run(options.terms)
    unparsed = (*workload.unparsed, *_unbound(workload.queries, outcomes))
    queries = query_lines(workload.queries, outcomes, rounds.tables.values())
    run = AuditRun(
        id=f"{at:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}",
        at=at,
        seconds=round(perf_counter() - started, 3),
        timezone=options.timezone,
        depth=options.depth,
        threshold=options.threshold,
    )
    totals = table_totals(queries, rounds.tables.values())
    return Audit(run, queries, totals, unparsed), rounds.tables


def _unbound(queries: Sequence[Query], outcomes: Mapping[int, QueryOutcome]) -> Iterator[Unparsed]:
    """The queries that could not be explained, with the reason."""
    for number, query in enumerate(queries):
        why = outcomes[number].unbound
        if why is not None:
            yield from unexplained(query, why, f"query {number + 1}")


class _ExplainRounds:
    """Explains queries in rounds: a query that names an unlisted table waits until it is opened."""

    def __init__(
        self,
        spark: SparkSession,
        queries: Sequence[Query],
        tables: Iterable[Pinned],
        say: Callable[[str], None],
        files_each: int,
    ) -> None:
        self._spark = spark
        self._queries = [
            NumberedQuery(number, query.text, query.dialect, query.within)
            for number, query in enumerate(queries)
        ]
        self.tables = {table.name: table for table in tables}
        self._options = next((table.options for table in self.tables.values()), {})
        self._say = say
        self._files_each = files_each

    def run(self, terms: Terms) -> dict[int, QueryOutcome]:
        outcomes: dict[int, QueryOutcome] = {}
        left: Sequence[NumberedQuery] = self._queries
        extra_names: dict[int, set[str]] = {}
        for _ in range(ROUNDS):
            if not left:
                break
            round_outcomes = self._explained(left, extra_names, terms)
            outcomes |= {outcome.number: outcome for outcome in round_outcomes}
            missing = {o.number: o.missing for o in round_outcomes if o.missing is not None}
            self._find(set(missing.values()))
            for number, name in missing.items():
                extra_names.setdefault(number, set()).add(name)
            left = [self._queries[number] for number in sorted(missing)]
        for query in left:
            why = f"it names more than {ROUNDS} tables that were not given"
            outcomes[query.number] = QueryOutcome(query.number, unbound=why)
        return outcomes

    def _find(self, names: set[str]) -> None:
        """Open tables by catalog name or path; at the address of a listed table, use that table."""
        tables_at = {canonical_uri(table.uri): table for table in self.tables.values()}
        by_address = {
            name: tables_at[canonical_uri(name)]
            for name in names
            if canonical_uri(name) in tables_at
        }
        self.tables |= {
            name: replace(table, name=name, declared=False) for name, table in by_address.items()
        }
        new_tables = [
            NamedTable(name, name, self._options) for name in sorted(names - self.tables.keys())
        ]
        if new_tables:
            self._say(f"opening {counted(len(new_tables), 'table')} that queries name")
        pinned = pin_all(new_tables, files_each=self._files_each)
        self.tables |= {table.name: replace(table, declared=False) for table in pinned}

    def _explained(
        self, queries: Sequence[NumberedQuery], extra_names: Mapping[int, set[str]], terms: Terms
    ) -> list[QueryOutcome]:
        """The outcomes: those of queries that name a table with slices come in rounds."""
        names_of_texts = names_in([query.text for query in queries], self.tables)
        named = {
            query.number: names | extra_names.get(query.number, set())
            for query, names in zip(queries, names_of_texts, strict=True)
        }
        sliced = {name for name, table in self.tables.items() if table.slices}
        whole = [query for query in queries if sliced.isdisjoint(named[query.number])]
        in_slices = [query for query in queries if not sliced.isdisjoint(named[query.number])]
        most = cores(self._spark) * TASKS_A_CORE
        outcomes = []
        if whole:
            outcomes += self._explained_whole(
                list(_bundles(whole, self.tables, named, most)), terms
            )
        if in_slices:
            bundles = list(_bundles(in_slices, self.tables, named, most))
            outcomes += explained_in_rounds(self._spark, bundles, terms, self._say)
        return outcomes

    def _explained_whole(self, bundles: Sequence[Bundle], terms: Terms) -> list[QueryOutcome]:
        count = sum(len(queries) for _, queries in bundles)
        text = f"explaining {counted(count, 'query')} in {counted(len(bundles), 'task')}"
        self._say(text)
        frame = mapped(work_frame(self._spark, bundles), explaining(terms), SCHEMA)
        with described(self._spark, "audit", text):
            rows = ran(frame.collect)
        return [pickle.loads(row["outcome"]) for row in rows]  # noqa: S301 - by our executors


def _bundles(
    queries: Sequence[NumberedQuery],
    tables: Mapping[str, Pinned],
    named: Mapping[int, set[str]],
    at_most: int,
) -> Iterator[Bundle]:
    """The tables and queries of each task: few tasks, each with queries on few tables."""
    ordered = sorted(queries, key=lambda query: (sorted(named[query.number]), query.number))
    tasks = max(1, min(at_most, len(ordered) // QUERIES_A_TASK))
    size = -(-len(ordered) // tasks)
    for begin in range(0, len(ordered), size):
        chosen = ordered[begin : begin + size]
        names = sorted(set().union(*(named[query.number] for query in chosen)))
        yield tuple(tables[name] for name in names), tuple(chosen)
