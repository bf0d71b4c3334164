"""A table in parts gives the report of the table in one piece; the parts answer from pickles."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from spark.planning.plans_in_parts import (
    ZOO,
    in_one,
    in_parts,
    in_this_process,
    predicates,
    sliced,
    zoo,
)
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.proof_cases import sampled
from tables.delta.conftest import Lake, bounds
from tables.iceberg import by_hand
from whyscan.errors import CorruptFile, WhyscanError
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import bind_request
from whyscan.planning.why import overlap_depth
from whyscan.reports.tally import CommonFacts, Tally
from whyscan.spark.planning import DistributedPlan, planned_by
from whyscan.spark.table_facts import TableFacts
from whyscan.tables import open_snapshot
from whyscan.tables.parts import parts
from whyscan.terms import PlanTerms
from whyscan.tree.types import DATE, DOUBLE, INT, STRING
from whyscan.tree.zones import zone

UTC = zone("UTC")


def opened(folder):
    return open_snapshot([str(folder)], {}, {})


def outcome_of(run, *arguments, **question):
    """What is found, or why not."""
    try:
        return run(*arguments, **question)
    except WhyscanError as error:
        return str(error)


def assert_same(snapshot, divided, texts, **question):
    run = in_this_process(snapshot, divided)
    for predicate in texts:
        whole = outcome_of(in_one, snapshot, predicate, **dict(question))
        assert outcome_of(partial(in_parts, run), snapshot, predicate, **dict(question)) == whole


@pytest.mark.parametrize("name", sampled(zoo))
def test_every_table_of_the_zoo(name):
    try:
        snapshot = opened(ZOO / name)
        texts, files = predicates(snapshot), snapshot.files((), UTC).count
    except WhyscanError:
        pytest.skip("broken on purpose")
    divided = parts(snapshot, 1 + files // 4)
    if len(divided) == 1 and snapshot.format == "delta" and files:
        # A commit is one part: here its files are two, and one without any.
        divided = sliced(snapshot, -(-files // 2))
    assert_same(snapshot, divided, texts[1:])
    assert_same(snapshot, divided, texts[:1], verbose=True, depth="files")


@pytest.fixture(scope="module")
def events():
    """40 files in six days and none, their bounds wide, NaN uncounted, some without statistics."""
    chance = random.Random(7)
    files = []
    for at in range(40):
        low = chance.randrange(100)
        statistics = {
            "x": (low, low + 40),
            "word": (b"abc" * 12, b"abd" * 12),
            "price": (low / 2, low * 2.0),
        }
        group = RowGroup(10 + at, {} if at % 9 == 8 else statistics, {"word": at % 2}, nan=True)
        day = 19_723 + at % 6 if at % 20 else None
        files.append(DataFile(f"f{at}", {"day": day}, [group], deleted=at % 3))
    columns = {"day": DATE, "x": INT, "word": STRING, "price": DOUBLE}
    return MemoryTable(columns, files, ("day",), footers_describe_files=False)


def pieces(table, each):
    """A table in memory in parts of so many files; the last has none."""
    firsts = range(0, len(table.data) + each, each)
    return [dataclasses.replace(table, data=table.data[first : first + each]) for first in firsts]


EVENTS = [
    "x > 120",
    "x BETWEEN 10 AND 30 AND price > 60",
    "day = DATE '2024-01-02' AND x > 60",
    "date_format(day, 'yyyy-MM-dd') = '2024-01-03' AND x > 0",
    "day < DATE '2024-01-03' OR x > 130",
    "day < DATE '2024-01-03' OR my_function(x) = 1",
    "CAST(day AS STRING) LIKE '%-04'",
    "word > 'abcabcabcabcabcabcabcabcabcabcabcabcabc'",
    "word = 5",
    "x <> 1",
    "x > 1000",
    "NOT (x > 20 AND price < 500)",
    "my_function(day) = 2 AND x IS NULL",
]


@pytest.mark.parametrize("each", [9, 25])
def test_whatever_the_size_of_the_parts(events, each):
    assert_same(events, pieces(events, each), EVENTS)


@pytest.mark.parametrize(
    "question",
    [
        {"verbose": True},
        {"assume_no_nan": True},
        {"full": True},
        {"depth": "row-groups", "columns": ["x", "day"]},
        {"timezone": "Asia/Tokyo"},
    ],
    ids=lambda question: next(iter(question)),
)
def test_however_it_is_asked(events, question):
    assert_same(events, pieces(events, 13), EVENTS[:6], **question)


def test_more_files_than_are_measured_are_sampled_the_same_way(monkeypatch):
    monkeypatch.setattr(overlap_depth, "FILES_AT_MOST", 11)
    data = [DataFile(f"f{at}", {}, [RowGroup(10 + at, {"x": (at, 900)})]) for at in range(40)]
    wide = MemoryTable({"x": INT}, data, footers_describe_files=False)
    findings = in_one(wide, "x BETWEEN 50 AND 70")["findings"]
    (finding,) = (f for f in findings if f["code"] == "WIDE_BOUNDS")

    assert (finding["effect"]["before"], finding["effect"]["after"]) == (40, 2)
    assert_same(wide, pieces(wide, 7), ["x BETWEEN 50 AND 70"])


def test_footers_are_opened_by_what_all_parts_leave(events, monkeypatch):
    """No part alone leaves too many."""
    monkeypatch.setattr("whyscan.planning.plan.planner.FOOTERS_AT_MOST", 20)
    whole = in_one(events, "x > 0")
    assert "files survive, more than 20" in whole["unchecked"][0]["why"]
    assert in_parts(in_this_process(events, pieces(events, 5)), events, "x > 0") == whole


@pytest.fixture(scope="module")
def hive(tmp_path_factory):
    """Two folders by text, files of two row groups, one of them without a column."""
    root = tmp_path_factory.mktemp("hive")
    for at in range(12):
        folder = root / f"country={'DE' if at < 7 else 'IT'}"
        folder.mkdir(exist_ok=True)
        rows = {"x": [at * 10, at * 10 + 5], "price": [1.0, float("nan") if at == 3 else 2.0]}
        if at % 4:
            rows["late"] = [f"w{at}", None]
        pq.write_table(pa.table(rows), folder / f"{at}.parquet", row_group_size=1)
    return opened(root)


HIVE = [
    "x > 55",
    "country = 'IT' AND x < 90",
    "lower(country) = 'de' AND late = 'w5'",
    "price > 1.5",
    "late IS NULL OR x = 0",
    "country = 'DE' OR x > 100",
    "country = 'FR'",
]


@pytest.mark.parametrize("question", [{}, {"verbose": True, "columns": ["x"]}, {"full": True}])
def test_hive_and_plain_parquet(hive, question):
    assert_same(hive, parts(hive, 5), HIVE, **question)
    folder = opened(f"{hive.uri}/country=DE")
    assert_same(folder, parts(folder, 2), ["x > 55", "price > 1.5", "late = 'w5'"], **question)


@pytest.fixture
def two_specs(tmp_path):
    """An Iceberg table: two manifests by country, two from before it was partitioned by that."""
    country = {"source-id": 1, "field-id": 1000, "name": "country", "transform": "identity"}
    specs = [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [country]}]
    table = by_hand.Lake(tmp_path / "ice", {"country": "string", "x": "int"}, specs=specs)
    for at in range(2):
        table.manifest([table.file(f"old-{at}-{n}", {"x": (n, n + 5)}) for n in range(3)])
    for at in range(2):
        files = [
            table.file(f"new-{at}-{n}", {"x": (n, n + 5)}, partition={"country": f"c{at}"})
            for n in range(3)
        ]
        table.manifest(files, spec=1)
    return table.commit().open()


SPECS = [
    "country = 'c1'",
    "upper(country) = 'C1' AND x < 3",
    "country = 'c0' OR x > 6",
    "md5(country) = 'a'",
]


def test_a_function_is_run_on_every_partition_value_or_on_none(two_specs):
    """Where files of an old spec have no value to run it on, it is interpreted everywhere."""
    bound, options = bind_request(two_specs, "md5(country) = 'a'", None, PlanTerms())
    some = [make_plan(part, bound, options) for part in parts(two_specs, 1)]
    facts = sum((TableFacts.of(plan) for plan in some[1:]), TableFacts.of(some[0]))
    assert facts.ran == facts.never_run == {0}
    assert not facts.run_everywhere
    assert_same(two_specs, parts(two_specs, 1), SPECS)
    assert_same(two_specs, parts(two_specs, 1), SPECS, verbose=True)


def test_a_part_of_letters_beyond_ascii_leaves_the_others_to_be_run(tmp_path):
    table = by_hand.Lake(
        tmp_path / "ice",
        {"city": "string"},
        [{"source-id": 1, "field-id": 1000, "name": "city", "transform": "identity"}],
    )
    for city in ("abc", "xyz", "ß"):
        table.manifest([table.file(city, partition={"city": city})])
    snapshot = table.commit().open()
    assert_same(snapshot, parts(snapshot, 1), ["city rlike '^a'", "reverse(city) = 'cba'"])
    assert_same(snapshot, parts(snapshot, 1), ["city rlike '^a'"], verbose=True)


def test_sums_do_not_depend_on_how_parts_are_put_together(events):
    bound, options = bind_request(events, EVENTS[4], None, PlanTerms())
    common = CommonFacts.of(make_plan(events, bound, options))
    tallies = [Tally.of(make_plan(p, bound, options), common) for p in pieces(events, 9)]
    first, *rest = tallies
    forward = sum(rest, first)
    in_pairs = (tallies[0] + tallies[1]) + sum(tallies[3:], tallies[2])
    assert forward == in_pairs


def test_files_to_read_and_their_summary(events):
    bound, options = bind_request(events, EVENTS[2], None, PlanTerms())
    plan = make_plan(events, bound, options)
    planned = planned_by(in_this_process(events, pieces(events, 8)), events, bound, options)
    assert planned.files == plan.files
    assert planned.summary == plan.summary
    assert isinstance(planned, DistributedPlan)


def test_a_corrupt_manifest_is_named_in_one_line(two_specs):
    divided = parts(two_specs, 1)
    manifest = Path(divided[2].manifests().paths[0].as_py())
    manifest.write_bytes(manifest.read_bytes()[:200])
    with pytest.raises(CorruptFile) as caught:
        in_parts(in_this_process(two_specs, divided), two_specs, "x > 1")
    assert manifest.name in caught.value.message
    assert "\n" not in caught.value.message


def test_what_is_asked_of_one_run_is_no_answer_to_another(events):
    """A process keeps plans by run: the same part of another run is planned anew."""
    run = in_this_process(events, pieces(events, 20))
    assert in_parts(run, events, "x > 120") == in_one(events, "x > 120")
    assert in_parts(run, events, "x > 60") == in_one(events, "x > 60")
    question = {"assume_no_nan": True}
    assert in_parts(run, events, "price > 60", **question) == in_one(
        events, "price > 60", **question
    )


def test_the_effort_is_that_of_all_parts(hive):
    bound, options = bind_request(hive, "x > 0", None, PlanTerms())
    planned = planned_by(in_this_process(hive, parts(hive, 4)), hive, bound, options)
    before = planned.traffic().objects
    assert before > hive.traffic().objects
    assert replace(planned, meter=[]).traffic() == replace(hive.traffic(), from_cache=None)


PLANNED_FIRST = """
import sys, whyscan

class NoSession:
    @property
    def sparkContext(self):
        raise EOFError

table = whyscan.open(sys.argv[1])
early = "sqlglot" not in sys.modules
try:
    table.plan("id > 5", spark=NoSession())
except EOFError:
    print(early, len(table.snapshot.cached_files._begun), len(table.snapshot.cached_files))
"""


def test_a_process_that_hands_a_delta_log_to_executors_does_not_begin_to_read_it(tmp_path):
    lake = Lake(tmp_path / "t").create({"id": "long"})
    lake.commit(lake.add("f", bounds("id", 1, 9)))
    run = [sys.executable, "-c", PLANNED_FIRST, str(lake.folder)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == "True 0 0\n"
