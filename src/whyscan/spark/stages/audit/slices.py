"""What executors do for queries on a large table: no task has all containers of such a table.

A large table is divided into slices. Its queries are explained in rounds of two steps:

| step | what a task does |
|---|---|
| explain | it explains queries until they need counts of slices, and writes these questions |
| answer | it plans some slices for all queries with a question, and writes the counts of each |

The next round explains the same queries from the beginning, with the answers of all rounds before
it. The same text and the same answers lead to the same questions, so that an answer is found by the
number of its question. A query is finished when all its questions have answers.

The rows of both steps are messages: `place` is the number of the task that reads the message.
"""

from __future__ import annotations

import pickle
from collections import Counter
from functools import partial
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, msgpack
from msgspec.structs import replace

from whyscan.errors import PredicateError, UsageError, WhyscanError
from whyscan.layouts.planner import LAYOUT_PLANNER
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.scan_plan import ScanPlan
from whyscan.planning.rows.limit import CutParts
from whyscan.reports.tally import Tally
from whyscan.spark.errors import carried, from_text, to_text
from whyscan.spark.jobs import packed
from whyscan.spark.pinned_tables import Pinned, Tables, cached
from whyscan.spark.planning import Executors, PartResult, Work, summary_of
from whyscan.spark.stages.audit.amounts import PlanBytes
from whyscan.spark.stages.audit.executor import NumberedQuery, QueryOutcome, query_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from whyscan.planning.plan.scan_plan import Options, PlannedSnapshot
    from whyscan.reports.report import Report
    from whyscan.spark.jobs import Batches, Task
    from whyscan.spark.planning import Run
    from whyscan.spark.stages.audit.executor import Terms
    from whyscan.statements.planners import Planner
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Column, Predicate

    Answers = Mapping[bytes, Sequence[PartResult]]

MESSAGES = pa.schema(
    [
        ("place", pa.int32()),
        ("query", pa.int64()),
        ("kind", pa.string()),
        ("key", pa.binary()),
        ("part", pa.int32()),
        ("value", pa.binary()),
    ]
)
TABLES, QUERY, ANSWER, QUESTION, SLICE, OUTCOME = (
    "tables",
    "query",
    "answer",
    "question",
    "slice",
    "outcome",
)
NO_QUERY = NO_PART = EVERY_PLACE = -1
_WITH_EVERY_TALLY = (summary_of, PlanBytes.of)
"""What every audited scan asks beside its tally; asked in the same round, it costs no round."""


class SlicedTables(Struct, frozen=True):
    """The tables that some queries may name.

    A table with slices has a number in `numbers`, and `places` has the task of each of its slices
    by that number. Several names of one table have one number.
    """

    pinned: tuple[Pinned, ...]
    numbers: Mapping[str, int]
    places: Mapping[int, tuple[int, ...]]


class SliceQuestion(Struct, frozen=True):
    """A question of a query for the slices of a table; `place` is the task that explains it."""

    table: int
    place: int
    work: Work


class Message(Struct, frozen=True):
    """One row between two steps."""

    place: int
    query: int
    kind: str
    key: bytes = b""
    part: int = NO_PART
    value: bytes = b""


def message_batch(messages: Sequence[Message]) -> pa.RecordBatch:
    """The messages as rows of `MESSAGES`."""
    columns = [[getattr(message, name) for message in messages] for name in MESSAGES.names]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, MESSAGES, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=MESSAGES)


def messages_of(batches: Batches) -> Iterator[Message]:
    """The messages in the rows of a task."""
    for batch in batches:
        for row in batch.to_pylist():
            yield Message(**row)


def outcome_of(value: bytes) -> QueryOutcome:
    """Return the outcome in the value of a message of an executor."""
    outcome: QueryOutcome = pickle.loads(value)  # noqa: S301 - by our executors
    return outcome


def _by_place_and_query(message: Message) -> tuple[int, int]:
    return message.place, message.query


def explaining_in_rounds(terms: Terms) -> Task:
    """A function for `mapInArrow`: queries and the answers so far, to outcomes and questions.

    The rows are sorted by place, query and kind; the tables of a place come first.
    """

    @carried
    def explained(batches: Batches) -> Iterator[pa.RecordBatch]:
        tables: _TablesOfQueries | None = None
        for (place, number), messages in groupby(messages_of(batches), _by_place_and_query):
            if number == NO_QUERY:
                tables = _TablesOfQueries(pickle.loads(next(messages).value))  # noqa: S301 - ours
                continue
            query, answers = _query_with_answers(messages)
            if query is not None and tables is not None:
                yield message_batch(list(_explained(query, place, answers, tables, terms)))

    return explained


def _query_with_answers(
    messages: Iterable[Message],
) -> tuple[NumberedQuery | None, dict[bytes, list[PartResult]]]:
    """A query and its answers by key; None for a query that was finished in an earlier round."""
    query: NumberedQuery | None = None
    answers: dict[bytes, list[PartResult]] = {}
    for message in messages:
        if message.kind == QUERY:
            query = msgpack.decode(message.value, type=NumberedQuery)
        else:
            result: PartResult = pickle.loads(message.value)  # noqa: S301 - by executors
            answers.setdefault(message.key, []).append(result)
    return query, answers


def _explained(
    query: NumberedQuery, place: int, answers: Answers, tables: _TablesOfQueries, terms: Terms
) -> Iterator[Message]:
    """The outcome of a query, or its next questions."""
    planner = SlicedPlanner(tables, answers)
    try:
        outcome: QueryOutcome = query_outcome(query, tables, terms, planner)
    except _Unanswered:
        for key, (table, work) in planner.questions.items():
            places = tables.places[table]
            for to, part, portion in _portions(work, places):
                question = packed(SliceQuestion(table, place, portion))
                yield Message(to, query.number, QUESTION, key, part, question)
        return
    yield Message(place, query.number, OUTCOME, value=pickle.dumps(outcome))


def _portions(work: Work, places: Sequence[int]) -> Iterator[tuple[int, int, Work]]:
    """A message for all tasks, or one for the task of each slice if each slice has an argument."""
    if work.arguments is None:
        yield EVERY_PLACE, NO_PART, work
        return
    for part, place in enumerate(places):
        yield place, part, replace(work, arguments={part: work.arguments[part]})


class _Unanswered(BaseException):
    """A question has no answer yet. It is no Exception: no handler of errors may catch it."""


class _TablesOfQueries(Tables):
    """The tables of some queries; a sliced one is opened without reading its containers."""

    def __init__(self, tables: SlicedTables) -> None:
        super().__init__(tables.pinned)
        self.numbers = tables.numbers
        self.places = tables.places
        self._sliced: dict[int, Snapshot] = {}

    def __getitem__(self, name: str) -> Snapshot:
        snapshot = super().__getitem__(name)
        number = self.numbers.get(name)
        # The cache of the process may drop a table, and a planner knows a snapshot by identity.
        return snapshot if number is None else self._sliced.setdefault(number, snapshot)

    def number_of(self, snapshot: Snapshot) -> int | None:
        """The number of a sliced table; None for any other snapshot."""
        return next((n for n, sliced in self._sliced.items() if sliced is snapshot), None)

    def fail(self, number: int, error: WhyscanError) -> None:
        """Note that a slice of a table cannot be read."""
        name = next(name for name in self.requested if self.numbers.get(name) == number)
        self.failed[name] = error


class SlicedPlanner:
    """Plans the scans of sliced tables by the answers of their slices, and the others in process.

    `questions` has the table and the work of each question without an answer, by its key.
    """

    def __init__(self, tables: _TablesOfQueries, answers: Answers) -> None:
        self._tables = tables
        self._answers = answers
        self._runs: dict[int, Run] = {}
        self._executors = Executors(self._run_of)
        self.questions: dict[bytes, tuple[int, Work]] = {}

    def plan(self, snapshot: Snapshot, predicate: Predicate, options: Options) -> PlannedSnapshot:
        """Plan a scan."""
        planner: Planner = self._executors
        if self._tables.number_of(snapshot) is None:
            planner = LAYOUT_PLANNER
        return planner.plan(snapshot, predicate, options)

    def report(self, plan: PlannedSnapshot, *, verbose: bool) -> Report:
        """The report of a plan that this object made."""
        whole_plan = plan.plan if isinstance(plan, CutParts) else plan
        in_process = isinstance(whole_plan, ScanPlan)
        planner: Planner = LAYOUT_PLANNER if in_process else self._executors
        return planner.report(plan, verbose=verbose)

    def _run_of(self, snapshot: Snapshot) -> Run:
        number = self._tables.number_of(snapshot)
        if number is None:
            raise TypeError(f"{snapshot.uri} has no slices")
        if number not in self._runs:
            numbered = _NumberedQuestions(number)
            self._runs[number] = partial(self._answered, numbered=numbered)
        return self._runs[number]

    def _answered(self, work: Work, *, numbered: _NumberedQuestions) -> Sequence[PartResult]:
        key = numbered.key(work)
        if key in self._answers:
            return self._complete(numbered.table, self._answers[key])
        self.questions[key] = (numbered.table, work)
        if _function(work.question) == Tally.of:
            for question in _WITH_EVERY_TALLY:
                extra = replace(work, question=question, arguments=None)
                extra_key = numbered.first_key(extra)
                if extra_key not in self._answers:
                    self.questions[extra_key] = (numbered.table, extra)
        raise _Unanswered

    def _complete(self, table: int, results: Sequence[PartResult]) -> Sequence[PartResult]:
        """The results, one per slice; a missing slice would make every count too small."""
        if sorted(result.part for result in results) != list(
            range(len(self._tables.places[table]))
        ):
            raise RuntimeError(f"{len(results)} results of the slices of one table")
        for result in results:
            if result.error is None:
                continue
            error = from_text(result.error)
            if not isinstance(error, PredicateError | UsageError):
                self._tables.fail(table, error)
        return results


class _NumberedQuestions:
    """Numbers the plans of a table in the order in which a query makes them, and their questions.

    A key has the text of the predicate, too: if the order differed, a question would be asked
    again, and never get the answer of another one.
    """

    def __init__(self, table: int) -> None:
        self.table = table
        self._plans: dict[str, int] = {}
        self._times: Counter[tuple[str, str]] = Counter()

    def key(self, work: Work) -> bytes:
        """The key of the next question of this name."""
        name = _name(work)
        self._times[work.name, name] += 1
        return self._key(work, name, self._times[work.name, name])

    def first_key(self, work: Work) -> bytes:
        """The key that the first question of this name has, or will have."""
        return self._key(work, _name(work), 1)

    def _key(self, work: Work, name: str, times: int) -> bytes:
        plan = self._plans.setdefault(work.name, len(self._plans))
        about = (self.table, plan, name, times, work.predicate.text, repr(work.options))
        return blake2b(repr(about).encode(), digest_size=16).digest()


def _function(question: Callable[..., Any]) -> object:
    return question.func if isinstance(question, partial) else question


def _name(work: Work) -> str:
    function = _function(work.question)
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def answering() -> Task:
    """A function for `mapInArrow`: slices and questions to answers."""

    @carried
    def answered(batches: Batches) -> Iterator[pa.RecordBatch]:
        slices: list[Message] = []
        questions: dict[int, list[tuple[Message, SliceQuestion]]] = {}
        for message in messages_of(batches):
            if message.kind == SLICE:
                slices.append(message)
            else:
                question: SliceQuestion = pickle.loads(message.value)  # noqa: S301 - by executors
                questions.setdefault(question.table, []).append((message, question))
        for sent in questions.values():
            # All questions of a plan one after another: a slice is planned once for them.
            sent.sort(key=lambda pair: (pair[0].query, pair[1].work.name))
        for piece in slices:
            yield from _answers_of_slice(piece, questions.get(piece.query, ()))

    return answered


def slice_message(place: int, table: int, part: int, contents: bytes) -> Message:
    """The message of a slice: `query` has the number of its table."""
    return Message(place, table, SLICE, b"", part, contents)


def _answers_of_slice(
    piece: Message, sent: Iterable[tuple[Message, SliceQuestion]]
) -> Iterator[pa.RecordBatch]:
    # Two places may have come to one task, each with a copy of a question for all places.
    pairs = [
        (message, question)
        for message, question in sent
        if message.place == piece.place and message.part in (NO_PART, piece.part)
    ]
    planned = _PlannedSlice(piece, [question.work for _, question in pairs])
    for message, question in pairs:
        result = planned.answer(question.work)
        value = pickle.dumps(result)
        answer = Message(question.place, message.query, ANSWER, message.key, piece.part, value)
        yield message_batch([answer])


class _PlannedSlice:
    """A slice, and the plan that was made last."""

    def __init__(self, piece: Message, works: Sequence[Work]) -> None:
        self._part = piece.part
        self._pinned = Pinned("", f"slice {piece.part}", {}, snapshot=piece.value)
        self._columns = _columns_of(works)
        self._plan: tuple[str, Options, ScanPlan] | None = None

    def answer(self, work: Work) -> PartResult:
        """The answer, or the error, of one question."""
        try:
            arguments = () if work.arguments is None else (work.arguments[self._part],)
            value = pickle.dumps(work.question(self._planned(work), *arguments))
        except WhyscanError as error:
            return PartResult(self._part, b"", to_text(error), 0, 0)
        except Exception as error:  # noqa: BLE001 - one query that we fail at must not cost the others
            line = " ".join(str(error).splitlines()[:1])
            failed = WhyscanError(f"whyscan itself failed: {type(error).__name__}: {line}")
            return PartResult(self._part, b"", to_text(failed), 0, 0)
        return PartResult(self._part, value, None, 0, 0)

    def _planned(self, work: Work) -> ScanPlan:
        if self._plan is not None and self._plan[:2] == (work.name, work.options):
            return self._plan[2]
        snapshot = cached(self._pinned, lambda _: self._columns)
        plan = make_plan(snapshot, work.predicate, work.options)
        self._plan = work.name, work.options, plan
        return plan


def _columns_of(works: Iterable[Work]) -> tuple[Column, ...]:
    """The columns that the predicates name, the most frequent first."""
    named = Counter(column for work in works for column in work.predicate.columns())
    return tuple(column for column, _ in named.most_common())
