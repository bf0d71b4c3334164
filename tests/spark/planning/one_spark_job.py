"""Many tables planned by executors at once: whatever they all ask next is one job.

Each is planned in a thread of its own. A job costs more than these tables are worth.
"""

from __future__ import annotations

import pickle
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec.structs import astuple

from spark.planning.plans_in_parts import in_parts
from whyscan.spark.jobs import packed
from whyscan.spark.planning import ANSWER, PartResult, Work, answer
from whyscan.spark.versions import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.tables.snapshot import Snapshot

TASKS = 4
SCHEMA = pa.schema([("asker", pa.int64()), *ANSWER])
SPELLED = "asker long, part long, found binary, error string, objects long, bytes long"


@dataclass(frozen=True)
class Question:
    """A table in parts, and what is asked of it."""

    snapshot: Snapshot
    divided: Sequence[Snapshot]
    predicate: str
    question: Mapping[str, Any]


@dataclass(frozen=True)
class Waiting:
    """What one table asks its parts next, and where the answer is awaited."""

    work: bytes
    parts: Sequence[bytes]
    answered: Future[list[PartResult]]


def in_one_job(spark, questions: Mapping[str, Question]) -> dict[str, Any]:
    """The document of each table by its name."""
    waiting: SimpleQueue[Waiting] = SimpleQueue()

    def document(one: Question) -> dict[str, Any]:
        sent = [packed(part) for part in one.divided]

        def run(work: Work) -> list[PartResult]:
            answered: Future[list[PartResult]] = Future()
            waiting.put(Waiting(packed(work), sent, answered))
            return answered.result()

        return in_parts(run, one.snapshot, one.predicate, **one.question)

    with ThreadPoolExecutor(len(questions)) as pool:
        running = {name: pool.submit(document, one) for name, one in questions.items()}
        while unfinished := [future for future in running.values() if not future.done()]:
            # A process that has not ended will ask.
            if waiting.qsize() < len(unfinished):
                wait(unfinished, timeout=0.05, return_when=FIRST_COMPLETED)
                continue
            answer_all(spark, [waiting.get() for _ in unfinished])
        return {name: future.result() for name, future in running.items()}


def answer_all(spark, waiting: Sequence[Waiting]) -> None:
    """One job for all of them."""

    # In here: workers have no modules of the tests.
    def answering(batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                result = answer(pickle.loads(row["work"]), row["number"], row["part"])
                values = [row["asker"], *astuple(result)]
                yield pa.record_batch([[value] for value in values], schema=SCHEMA)

    rows = [
        (asker, one.work, number, part)
        for asker, one in enumerate(waiting)
        for number, part in enumerate(one.parts)
    ]
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    frame = frame_of(spark, pa.table(columns, ["asker", "work", "number", "part"]))
    results: list[list[PartResult]] = [[] for _ in waiting]
    for asker, *values_of_result in (
        frame.repartition(TASKS, "asker").mapInArrow(answering, SPELLED).collect()
    ):
        results[asker].append(PartResult(*values_of_result))
    for one, answers in zip(waiting, results, strict=True):
        one.answered.set_result(answers)
