"""A table that is explained slice by slice gives every query the answer of the whole table."""

from __future__ import annotations

import pickle
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from msgspec import to_builtins

from spark.stages.audit.lake import write_delta, write_hive, write_iceberg
from whyscan.spark.pinned_tables import Tables, pin
from whyscan.spark.stages.audit.executor import NumberedQuery, query_outcome
from whyscan.spark.stages.audit.rounds import SliceNumbers, asking
from whyscan.spark.stages.audit.slices import (
    OUTCOME,
    QUESTION,
    answering,
    explaining_in_rounds,
    message_batch,
    messages_of,
    outcome_of,
)
from whyscan.spark.stages.audit.stage import AuditOptions
from whyscan.spark.tables import NamedTable

if TYPE_CHECKING:
    from whyscan.spark.stages.audit.slices import Message

TERMS = AuditOptions(depth="row-groups").terms
MOST_ROUNDS = 40

QUERIES = (
    "SELECT id FROM {0} WHERE id >= 60",
    "SELECT * FROM {0}",
    "SELECT * FROM {0} WHERE upper(country) = 'FR' AND code = '03'",
    "SELECT * FROM {0} WHERE ts BETWEEN '2024-01-05' AND '2024-01-07' OR id IS NULL",
    "SELECT * FROM {0} WHERE id > 20 LIMIT 70",
    "SELECT * FROM {0} ORDER BY ts DESC LIMIT 5",
    "SELECT count(*), max(id) FROM {0}",
    "SELECT count(*) FROM {0} JOIN {1} ON {0}.id = {1}.id WHERE {0}.id < 10",
    "SELECT count(*) FROM {0} a JOIN {0} b ON a.id = b.id WHERE a.country = 'DE' AND b.amount > 80",
    "DELETE FROM {0} WHERE id = 7",
    "SELECT * FROM {0} WHERE nothing = 1",
    "SELECT * FROM {0} VERSION AS OF 99",
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    write_delta(folder / "sales", 4)
    write_iceberg(folder / "events", 4)
    write_hive(folder / "visits", 2)
    return folder


def explained(texts, tables, tasks):
    """The outcomes of texts, in rounds without Spark: what a task writes, another one reads."""
    queries = tuple(NumberedQuery(at, text, "spark") for at, text in enumerate(texts))
    bundle = (tuple(tables), queries)
    numbers = SliceNumbers([table for table in tables if table.slices], tasks)
    answers: list[Message] = []
    outcomes = {}
    for _ in range(MOST_ROUNDS):
        waiting = {query.number for query in queries} - outcomes.keys()
        if not waiting:
            return [outcomes[number] for number in sorted(outcomes)]
        asked = sorted(
            [*asking([bundle], numbers, waiting), *answers],
            key=lambda message: (message.query, message.kind != "tables"),
        )
        written = through(explaining_in_rounds(TERMS), asked)
        outcomes |= {m.query: outcome_of(m.value) for m in written if m.kind == OUTCOME}
        questions = [message for message in written if message.kind == QUESTION]
        for task in range(numbers.tasks):
            mine = [m for m in chain(numbers.messages(), questions) if m.place == task]
            answers += through(answering(), mine)
    raise AssertionError(f"queries {waiting} are not explained after {MOST_ROUNDS} rounds")


def through(task, messages) -> list[Message]:
    """What a task makes of messages; Spark pickles the task."""
    return list(messages_of(pickle.loads(pickle.dumps(list(task([message_batch(messages)]))))))


@pytest.mark.parametrize("name", ["sales", "events", "visits"])
@pytest.mark.parametrize(("files_each", "tasks"), [(1, 3), (3, 1), (3, 8)])
def test_every_query_has_the_outcome_that_it_has_on_the_whole_table(lake, name, files_each, tasks):
    other = "events" if name != "events" else "sales"
    texts = [text.format(name, other) for text in QUERIES]
    sources = [NamedTable(n, str(lake / n)) for n in (name, other)]
    whole = Tables([pin(source) for source in sources])

    large = pin(sources[0], files_each=files_each)
    outcomes = explained(texts, [large, pin(sources[1])], tasks)

    assert len(large.slices) > 1
    for number, text in enumerate(texts):
        expected = query_outcome(NumberedQuery(number, text, "spark"), whole, TERMS)
        assert to_builtins(outcomes[number]) == to_builtins(expected), text
