"""A table that is explained slice by slice gives every query the answer of the whole table."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from oracle.dice import Dice
from spark.stages.audit.lake import write_delta, write_hive, write_iceberg
from statements.generated.changes import Changes
from statements.generated.queries import Queries
from statements.generated.worlds import TABLES as TABLES_OF_A_WORLD
from statements.generated.worlds import make
from support.spark_sessions import persisted
from whyscan.spark.jobs import evenly_hashed
from whyscan.spark.pinned_tables import Pinned, Tables, pin, pin_all, pin_inventory
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
from whyscan.spark.stages.audit.stage import AuditOptions, explain_workload
from whyscan.spark.stages.inventory.reading import InventoryDepth
from whyscan.spark.stages.inventory.run import write_inventory
from whyscan.spark.stages.workload.query import Query, Workload
from whyscan.spark.tables import NamedTable
from whyscan.tables.inventory.opening import open_inventory
from whyscan.tables.parts import parts

if TYPE_CHECKING:
    from whyscan.spark.stages.audit.slices import Message

TERMS = AuditOptions(depth="row-groups").terms
MOST_ROUNDS = 60
# Every example asks each file of its tables several questions.
EXAMPLES = 4 if settings.default.derandomize else settings.default.max_examples

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


def explained(texts, tables, tasks, dialect="spark", terms=TERMS):
    """The outcomes of texts, in rounds without Spark: what a task writes, another one reads."""
    queries = tuple(NumberedQuery(at, text, dialect) for at, text in enumerate(texts))
    bundle = (tuple(tables), queries)
    numbers = SliceNumbers([table for table in tables if table.slices], tasks)
    answers: list[Message] = []
    outcomes = {}
    for _ in range(MOST_ROUNDS):
        waiting = {query.number for query in queries} - outcomes.keys()
        if not waiting:
            return [outcomes[number] for number in sorted(outcomes)]
        sent = sorted(
            [*asking([bundle], numbers, waiting), *answers],
            key=lambda message: (message.query, message.kind != "tables"),
        )
        written = through(explaining_in_rounds(terms), sent)
        outcomes |= {m.query: outcome_of(m.value) for m in written if m.kind == OUTCOME}
        questions = [message for message in written if message.kind == QUESTION]
        # All places are in one task, as it may happen on Spark: their answers do not mix.
        everywhere = [replace(m, place=p) for m in questions if m.place < 0 for p in numbers.places]
        to_one = [message for message in questions if message.place >= 0]
        answers += through(answering(), [*numbers.messages(), *to_one, *everywhere])
    raise AssertionError(f"queries {waiting} are not explained after {MOST_ROUNDS} rounds")


def through(task, messages) -> list[Message]:
    """What a task makes of messages; Spark pickles the task."""
    return list(messages_of(pickle.loads(pickle.dumps(list(task([message_batch(messages)]))))))


def answers_of(record):
    """A record as plain data, without the effort of its reports: who reads what differs."""
    return without("metadata", to_builtins(record))


def without(name, value):
    """Plain data without the members of that name."""
    if isinstance(value, dict):
        return {key: without(name, part) for key, part in value.items() if key != name}
    return [without(name, part) for part in value] if isinstance(value, list | tuple) else value


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
        assert answers_of(outcomes[number]) == answers_of(expected), text


@pytest.mark.parametrize(
    ("name", "engine"),
    [("sales", "spark-delta"), ("events", "spark-iceberg"), ("visits", "duckdb")],
)
def test_a_named_engine_reads_of_slices_what_it_reads_of_the_whole_table(lake, name, engine):
    terms = AuditOptions(depth="row-groups", engines=(engine,)).terms
    source = NamedTable(name, str(lake / name))
    texts = [text.format(name, name) for text in (QUERIES[2], "SELECT * FROM {0} WHERE id + 1 = 9")]

    outcomes = explained(texts, [pin(source, files_each=1)], 3, terms=terms)

    for number, text in enumerate(texts):
        query = NumberedQuery(number, text, "spark")
        expected = query_outcome(query, Tables([pin(source)]), terms)
        assert answers_of(outcomes[number]) == answers_of(expected), text
        (scan,) = expected.tables
        (reading,) = scan.scan.report.engines
        assert scan.bytes_read >= reading.bytes >= scan.bytes_kept


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make(tmp_path_factory.mktemp("world"), 1)


@st.composite
def statements(draw):
    """A query or a change, and the number of the table of each name in it, from `first` on."""
    queries = Queries(Dice(draw), TABLES_OF_A_WORLD)
    if queries.dice.number(0, 2):
        return queries.statement().sql, 1, queries.occurrences
    target = queries.dice.number(0, TABLES_OF_A_WORLD - 1)
    sql = Changes(queries).statement()
    return sql, 0, [target, *queries.occurrences]


@given(statements(), st.integers(1, 3))
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_whatever_the_statement_rounds_give_the_outcome_of_one_process(world, drawn, tasks):
    sql, first, occurrences = drawn
    tables = [
        large(f"t{at}" if at else "target", world.tables[number].snapshot)
        for at, number in enumerate(occurrences, first)
    ]

    (outcome,) = explained([sql], tables, tasks, "duckdb")

    whole = Tables([replace(table, slices=()) for table in tables])
    expected = query_outcome(NumberedQuery(0, sql, "duckdb"), whole, TERMS)
    assert answers_of(outcome) == answers_of(expected), sql


def large(name, snapshot):
    """A table in slices of three files."""
    slices = tuple(map(pickle.dumps, parts(snapshot, 3)))
    pickled = pickle.dumps(snapshot)
    return Pinned(name, f"{snapshot.uri}#{name}", {}, snapshot=pickled, slices=slices)


NAMES = ("sales", "events", "visits")
WORKLOAD = Workload(
    tuple(
        Query(text.format(name, "visits"), "spark")
        for name, numbers in (("sales", (0, 4, 11)), ("events", (0, 5)), ("visits", (3,)))
        for text in (QUERIES[number] for number in numbers)
    )
)
OPTIONS = AuditOptions(depth="row-groups")


def documents(audit):
    """What an audit says of each query, by its text."""
    lines = {line.sql: answers_of(line) for line in audit.queries}
    return lines, sorted((one.text, one.why) for one in audit.unparsed)


@pytest.fixture(scope="module")
def expected(spark, lake):
    tables = pin_all(NamedTable(name, str(lake / name)) for name in NAMES)
    return documents(explain_workload(spark, WORKLOAD, tables, OPTIONS)[0])


def jobs_of(spark):
    """The description of each job of audits, as Spark's UI shows it."""
    context = spark.sparkContext
    store = context._jsc.sc().statusStore()
    numbers = context.statusTracker().getJobIdsForGroup("whyscan audit")
    return {number: store.job(number).description().get() for number in numbers}


@pytest.mark.spark
def test_numbers_that_are_evenly_hashed_come_to_different_tasks(spark):
    numbers = [(number,) for number in evenly_hashed(9)]
    frame = spark.createDataFrame(numbers, "number int").repartition(9, "number")

    tasks = [row["task"] for row in frame.selectExpr("spark_partition_id() AS task").collect()]

    assert sorted(tasks) == list(range(9))


@pytest.mark.spark
def test_executors_answer_for_their_slices_in_rounds_that_the_ui_names(spark, lake, expected):
    tables = pin_all([NamedTable(n, str(lake / n)) for n in NAMES], files_each=1)
    before, persisted_before = jobs_of(spark), persisted(spark)

    audit, _ = explain_workload(spark, WORKLOAD, tables, OPTIONS)

    assert documents(audit) == expected
    slices = sum(len(table.slices) for table in tables)
    described = {text for number, text in jobs_of(spark).items() if number not in before}
    # Spark forgets old jobs: the last ones are there.
    assert any(re.fullmatch(rf"round \d+: 1 query on {slices} slices", text) for text in described)
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None
    assert persisted(spark) <= persisted_before


@pytest.mark.spark
def test_slices_of_an_inventory_give_the_same_answers(spark, lake, expected, tmp_path, monkeypatch):
    place = str(tmp_path / "inventory")
    monkeypatch.setattr(InventoryDepth, "files_each", 1)
    tables = {name: str(lake / name) for name in NAMES}
    write_inventory(spark, tables, place, depth="row-groups")
    inventory = open_inventory(place, {})
    sliced = pin_inventory(inventory, {}, NAMES, files_each=1)

    audit, _ = explain_workload(spark, WORKLOAD, sliced, OPTIONS)

    assert all(len(table.slices) > 1 for table in sliced)
    # A note says that the containers are those of an inventory.
    lines, plain = without("notes", documents(audit)[0]), without("notes", expected[0])
    assert lines == {sql: line for sql, line in plain.items() if sql in lines}
    assert len(lines) == len(expected[0])
