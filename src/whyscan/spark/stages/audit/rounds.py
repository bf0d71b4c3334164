"""What the driver does for queries on a large table: it starts rounds until all are explained.

The driver has the names of the tables, the pickled slices, the outcomes, and the questions, which
it does not open. Answers go from executor to executor.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import msgpack
from msgspec.structs import replace

from whyscan.reports.words import counted
from whyscan.spark.jobs import TASKS_A_CORE, described, evenly_hashed, mapped, packed, ran
from whyscan.spark.sessions import cores
from whyscan.spark.stages.audit.executor import NumberedQuery, QueryOutcome
from whyscan.spark.stages.audit.slices import (
    EVERY_PLACE,
    MESSAGES,
    NO_QUERY,
    OUTCOME,
    QUERY,
    TABLES,
    Message,
    SlicedTables,
    answering,
    explaining_in_rounds,
    message_batch,
    outcome_of,
    slice_message,
)
from whyscan.spark.versions import frame_of, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.audit.executor import Terms

    Bundle = tuple[tuple[Pinned, ...], tuple[NumberedQuery, ...]]

MOST_ROUNDS = 1_000
"""A query of one scan takes three to eight rounds, and each further scan adds as many."""


class SliceNumbers:
    """The numbers of the tables with slices, and the task of each slice.

    Slices go to the tasks in turn: each task has as many of them as the others, of all tables.
    """

    def __init__(self, tables: Iterable[Pinned], most_tasks: int) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._slices: dict[int, tuple[bytes, ...]] = {}
        for table in tables:
            number = self._numbers.setdefault(_identity(table), len(self._numbers))
            self._slices[number] = table.slices
        total = sum(map(len, self._slices.values()))
        self.tasks = max(1, min(total, most_tasks))
        self.places = evenly_hashed(self.tasks)
        self._places: dict[int, tuple[int, ...]] = {}
        first = 0
        for number, slices in self._slices.items():
            self._places[number] = tuple(
                self.places[(first + at) % self.tasks] for at in range(len(slices))
            )
            first += len(slices)

    def messages(self) -> Iterator[Message]:
        """One message per slice, for the task that has it."""
        for number, slices in self._slices.items():
            for part, contents in enumerate(slices):
                yield slice_message(self._places[number][part], number, part, contents)

    def for_task(self, tables: Sequence[Pinned]) -> SlicedTables:
        """The tables with the numbers and places of their slices, for a task that explains."""
        numbers = {t.name: self._numbers[_identity(t)] for t in tables if t.slices}
        places = {number: self._places[number] for number in numbers.values()}
        return SlicedTables(tuple(replace(t, slices=()) for t in tables), numbers, places)

    def __len__(self) -> int:
        """The number of slices."""
        return sum(map(len, self._slices.values()))


def _identity(table: Pinned) -> tuple[object, ...]:
    return table.uri, table.version, table.snapshot


def explained_in_rounds(
    spark: SparkSession,
    bundles: Sequence[Bundle],
    terms: Terms,
    say: Callable[[str], None],
) -> list[QueryOutcome]:
    """The outcomes of queries; each bundle has queries and the tables that they may name."""
    sliced = {table.name: table for tables, _ in bundles for table in tables if table.slices}
    numbers = SliceNumbers(sliced.values(), cores(spark) * TASKS_A_CORE)
    rounds = _Rounds(spark, numbers, bundles, terms)
    waiting = {query.number for _, queries in bundles for query in queries}
    outcomes: list[QueryOutcome] = []
    questions: pa.Table | None = None
    try:
        for number in range(1, MOST_ROUNDS + 1):
            text = f"round {number}: {counted(len(waiting), 'query')} on {len(numbers):,} slices"
            say(text)
            with described(spark, "audit", text):
                written = ran(partial(rounds.messages, waiting, questions))
            is_outcome = pc.equal(written["kind"], OUTCOME)
            questions = written.filter(pc.invert(is_outcome))
            results = [outcome_of(v) for v in written.filter(is_outcome)["value"].to_pylist()]
            outcomes += results
            waiting -= {outcome.number for outcome in results}
            if not waiting:
                return outcomes
    finally:
        rounds.forget()
    why = f"whyscan itself failed: it asks for more than {MOST_ROUNDS} rounds"
    return [*outcomes, *(QueryOutcome(number, unbound=why) for number in sorted(waiting))]


class _Rounds:
    """Starts rounds, and keeps the answers of each one in the executors: later rounds read them.

    Questions come through the driver, so that plans of Spark stay small: a plan of a round that
    contained those of the rounds before it would double with each round.
    """

    def __init__(
        self,
        spark: SparkSession,
        numbers: SliceNumbers,
        bundles: Sequence[Bundle],
        terms: Terms,
    ) -> None:
        self._spark = spark
        self._numbers = numbers
        self._bundles = bundles
        self._terms = terms
        self._answers: list[DataFrame] = []

    def messages(self, waiting: set[int], questions: pa.Table | None) -> pa.Table:
        """The outcomes and questions of the queries that wait, after answers to `questions`.

        A second attempt makes its frames anew: Spark remembers that a frame has failed.
        """
        rows = _frame(self._spark, asking(self._bundles, self._numbers, waiting))
        for answers in self._answers:
            rows = rows.unionAll(answers)
        new_answers = None if questions is None else self._answered(questions).persist()
        if new_answers is not None:
            rows = rows.unionAll(new_answers)
        rows = rows.repartition(len(self._bundles), "place")
        rows = rows.sortWithinPartitions("place", "query", "kind")
        try:
            written = table_of(mapped(rows, explaining_in_rounds(self._terms), MESSAGES))
        except BaseException:
            if new_answers is not None:
                new_answers.unpersist()
            raise
        if new_answers is not None:
            self._answers.append(new_answers)
        return written

    def _answered(self, questions: pa.Table) -> DataFrame:
        """The answers of all slices; a question without a place goes to every task."""
        spark, numbers = self._spark, self._numbers
        sent = frame_of(spark, questions)
        places = frame_of(spark, pa.table({"place": pa.array(numbers.places, pa.int32())}))
        everywhere = sent.where(sent.place == EVERY_PLACE).drop("place").crossJoin(places)
        to_one = sent.where(sent.place != EVERY_PLACE)
        rows = _frame(spark, numbers.messages()).unionAll(to_one).unionByName(everywhere)
        return mapped(rows.repartition(numbers.tasks, "place"), answering(), MESSAGES)

    def forget(self) -> None:
        """Remove the answers from the executors.

        After an interrupt Spark may be gone, and the answers with it: the interrupt is what counts.
        """
        with suppress(Exception):
            for answers in self._answers:
                answers.unpersist()


def asking(
    bundles: Sequence[Bundle], numbers: SliceNumbers, waiting: set[int]
) -> Iterator[Message]:
    """The tables of each bundle, and its queries that are not finished."""
    for place, (tables, queries) in zip(evenly_hashed(len(bundles)), bundles, strict=True):
        left = [query for query in queries if query.number in waiting]
        if left:
            yield Message(place, NO_QUERY, TABLES, value=packed(numbers.for_task(tables)))
        for query in left:
            yield Message(place, query.number, QUERY, value=msgpack.encode(query))


def _frame(spark: SparkSession, messages: Iterable[Message]) -> DataFrame:
    return frame_of(spark, pa.Table.from_batches([message_batch(list(messages))]))
