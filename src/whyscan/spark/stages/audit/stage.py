"""The stage: a workload against its tables, explained on executors as `explain` explains one.

Every distinct text is explained by the same function that explains a single statement, on tables
that are pinned to one snapshot for the whole run; queries that name the same tables meet in the
same task, where what was read of a table is read once.
"""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct, msgpack
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.planning.plan.request import options_of
from whyscan.reports.words import counted
from whyscan.spark.errors import uncarried
from whyscan.spark.pinned_tables import pin_all
from whyscan.spark.sessions import cores
from whyscan.spark.stages.audit.executor import (
    NumberedQuery,
    QueryOutcome,
    Terms,
    bundle,
    explaining,
)
from whyscan.spark.stages.audit.report import Audit, AuditRun
from whyscan.spark.stages.audit.totals import place, query_lines, table_totals
from whyscan.spark.stages.workload.query import Unparsed
from whyscan.spark.tables import NamedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, Row, SparkSession

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.workload.query import Query, Workload

QUERIES_A_TASK = 20
"""Of fewer, a task costs more than they do."""
TASKS_A_CORE = 4
ROUNDS = 8
"""Tables that nobody gave are found one a round: a query rarely names more."""
DIED = ("Python worker exited unexpectedly", "Python worker failed to connect back")
_WORD = re.compile(r"\w+")


THRESHOLD = 0.1
"""A share of a table's bytes: a shape that keeps so much more than before has drifted."""


class AuditOptions(Struct, frozen=True):
    """How the queries are read and planned; the defaults are those of a single explanation."""

    timezone: str = "UTC"
    depth: str = "auto"
    full: bool = False
    assume_no_nan: bool = False
    threshold: float = THRESHOLD

    @property
    def terms(self) -> Terms:
        asked = {name: getattr(self, name) for name in ("depth", "full", "assume_no_nan")}
        return Terms(self.timezone, options_of(asked))


DEFAULT = AuditOptions()


def explain_workload(
    spark: SparkSession,
    workload: Workload,
    tables: Iterable[Pinned],
    question: AuditOptions = DEFAULT,
    told: Callable[[str], None] | None = None,
) -> tuple[Audit, dict[str, Pinned]]:
    """The workload against its tables, and all tables that it turned out to name.

    `told` hears what is done next.
    """
    started, at = perf_counter(), datetime.now(UTC)
    rounds = _Rounds(spark, workload.queries, tables, told or (lambda _: None))
    outcomes = rounds.run(question.terms)
    unparsed = (*workload.unparsed, *_unbound(workload.queries, outcomes))
    queries = query_lines(workload.queries, outcomes, rounds.tables.values())
    run = AuditRun(
        id=f"{at:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}",
        at=at,
        seconds=perf_counter() - started,
        timezone=question.timezone,
        depth=question.depth,
        threshold=question.threshold,
    )
    totals = table_totals(queries, rounds.tables.values())
    return Audit(run, queries, totals, unparsed), rounds.tables


def _unbound(queries: Sequence[Query], outcomes: Mapping[int, QueryOutcome]) -> Iterator[Unparsed]:
    for number, query in enumerate(queries):
        why = outcomes[number].unbound
        if why is not None:
            origin = query.origins[0] if query.origins else f"query {number + 1}"
            yield Unparsed(origin, query.text, why, query.times)


class _Rounds:
    """Queries are explained; those that name tables that nobody gave, once these are found."""

    def __init__(
        self,
        spark: SparkSession,
        queries: Sequence[Query],
        tables: Iterable[Pinned],
        say: Callable[[str], None],
    ) -> None:
        self._spark = spark
        self._asked = [
            NumberedQuery(number, query.text, query.dialect, query.within)
            for number, query in enumerate(queries)
        ]
        self.tables = {one.name: one for one in tables}
        self._options = next((one.options for one in self.tables.values()), {})
        self._say = say

    def run(self, terms: Terms) -> dict[int, QueryOutcome]:
        outcomes: dict[int, QueryOutcome] = {}
        left: Sequence[NumberedQuery] = self._asked
        wanted: dict[int, set[str]] = {}
        for _ in range(ROUNDS):
            if not left:
                break
            found = self._explained(left, wanted, terms)
            outcomes |= {outcome.number: outcome for outcome in found}
            missing = {o.number: o.missing for o in found if o.missing is not None}
            self._find(set(missing.values()))
            for number, name in missing.items():
                wanted.setdefault(number, set()).add(name)
            left = [self._asked[number] for number in sorted(missing)]
        for asked in left:
            why = f"it names more than {ROUNDS} tables that were not given"
            outcomes[asked.number] = QueryOutcome(asked.number, unbound=why)
        return outcomes

    def _find(self, names: set[str]) -> None:
        """Tables by their catalog's name or by path, as one that was given there, else as now."""
        places = {place(one.uri): one for one in self.tables.values()}
        known = {name: places[place(name)] for name in names if place(name) in places}
        self.tables |= {name: replace(one, name=name, given=False) for name, one in known.items()}
        new = [NamedTable(name, name, self._options) for name in sorted(names - self.tables.keys())]
        if new:
            self._say(f"opening {counted(len(new), 'table')} that queries name")
        self.tables |= {one.name: replace(one, given=False) for one in pin_all(new)}

    def _explained(
        self, asked: Sequence[NumberedQuery], wanted: Mapping[int, set[str]], terms: Terms
    ) -> list[QueryOutcome]:
        most = cores(self._spark) * TASKS_A_CORE
        work = list(_bundles(asked, self.tables, wanted, most))
        self._say(f"explaining {_queries(len(asked))} in {counted(len(work), 'task')}")
        frame = self._spark.createDataFrame(pa.Table.from_batches(work))
        rows = collected(frame.mapInArrow(explaining(terms), "outcome binary"))
        decoder = msgpack.Decoder(QueryOutcome)
        return [decoder.decode(bytes(row["outcome"])) for row in rows]


def collected(frame: DataFrame) -> list[Row]:
    """The rows of a job. One whose Python worker died is run once more.

    A cluster does so by itself, task by task; Spark on one machine gives up at once.
    """
    try:
        with uncarried():
            return frame.collect()
    except WhyscanError as error:
        if not any(word in str(error.__cause__) for word in DIED):
            raise
    with uncarried():
        return frame.collect()


def _queries(number: int) -> str:
    return "1 query" if number == 1 else f"{number:,} queries"


def _bundles(
    asked: Sequence[NumberedQuery],
    tables: Mapping[str, Pinned],
    wanted: Mapping[int, set[str]],
    at_most: int,
) -> Iterator[pa.RecordBatch]:
    """Few tasks, each with queries on few tables."""
    words = {name: set(_WORD.findall(name.rpartition(".")[2].lower())) for name in tables}
    meant = {one.number: _meant(one.text, words) | wanted.get(one.number, set()) for one in asked}
    ordered = sorted(asked, key=lambda one: (sorted(meant[one.number]), one.number))
    tasks = max(1, min(at_most, len(ordered) // QUERIES_A_TASK))
    size = -(-len(ordered) // tasks)
    for begin in range(0, len(ordered), size):
        chosen = ordered[begin : begin + size]
        names = sorted(set().union(*(meant[one.number] for one in chosen)))
        yield bundle([tables[name] for name in names], chosen)


def _meant(text: str, words: Mapping[str, set[str]]) -> set[str]:
    """The tables that a text may name: the last part of a name is in every way to write it."""
    said = set(_WORD.findall(text.lower()))
    return {name for name, last in words.items() if last <= said}
