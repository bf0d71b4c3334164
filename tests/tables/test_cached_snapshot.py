"""A held snapshot answers every question as the snapshot itself does, in any order."""

from __future__ import annotations

import random
import re
import shutil
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest

from fuzz.victims import victims
from tables.storage import lakes_to_upload
from whyscan.errors import WhyscanError
from whyscan.planning.plan import blockwise
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import bind_request
from whyscan.planning.plan.scan_plan import Options
from whyscan.predicate.syntax.session import Session
from whyscan.reports.report import make_report
from whyscan.statements.explain import explain_statement
from whyscan.statements.sql.table_names import Catalogue
from whyscan.tables import cached_snapshot as held_tables
from whyscan.tables import open_snapshot
from whyscan.tables.cached_snapshot import with_cache
from whyscan.terms import PlanTerms
from whyscan.tree import arrow
from whyscan.tree.nodes import Column, Comparator, Comparison, Literal
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import NullType, OtherType, StructType
from whyscan.tree.zones import zone

UTC = zone("UTC")
COLUMNS_AT_MOST = 6
OPERATORS = (Comparator.GREATER, Comparator.LESS_EQUAL, Comparator.EQUAL)


def opened(folder):
    return open_snapshot([str(folder)], {}, {})


def columns_of(snapshot, at_most=COLUMNS_AT_MOST) -> list[Column]:
    fields = snapshot.schema().fields
    plain = [f for f in fields if not isinstance(f.type, NullType | OtherType | StructType)]
    return [Column((f.name,), f.type) for f in plain][:at_most]


def questions(snapshot) -> list[str]:
    """On one column and on two, around values that the table's own statistics name."""
    texts = []
    for column in columns_of(snapshot):
        texts.append(f"{to_sql(column)} IS NULL")
        for at, value in enumerate(islice(values(snapshot, column), 3)):
            compared = Comparison(OPERATORS[at], column, Literal(value, column.type))
            texts.append(to_sql(compared))
    pairs = list(zip(texts, texts[len(texts) // 2 :], strict=False))
    return texts + [f"{a} AND {b}" for a, b in pairs] + [f"({a}) OR ({b})" for a, b in pairs[:2]]


def values(snapshot, column):
    files = snapshot.files([column], UTC, None)
    batches = [files.containers]
    if snapshot.footers_describe_files:
        everywhere = pa.array(np.arange(files.count))
        batches.append(snapshot.row_groups(files, everywhere, [column], None).containers)
    for batch in batches:
        interval = batch.interval(column)
        for end in (interval.lower, interval.upper):
            if isinstance(end, pa.Array):
                yield from (arrow.value(v, column.type) for v in end.drop_null().unique()[:2])


def report_of(snapshot, text, columns=None, **question):
    """The whole report but for what reading it cost, or the error."""
    try:
        predicate, options = bind_request(snapshot, text, columns, PlanTerms(**question))
        report = make_report(make_plan(snapshot, predicate, options), verbose=True).to_dict()
    except WhyscanError as error:
        return type(error).__name__, str(error)
    del report["metadata"]
    return report


def assert_same(fresh, cached, texts):
    ways = ({}, {"depth": "row-groups", "verbose": True}, {"depth": "files", "full": True})
    for at, text in enumerate(texts):
        way = ways[at % len(ways)]
        columns = None if at % 2 else [".".join(c.path) for c in columns_of(cached)[:2]]
        assert report_of(cached, text, columns, **way) == report_of(
            fresh(), text, columns, **way
        ), text


@pytest.mark.parametrize("name", [name for name in victims() if not name.startswith("zoo:")])
def test_every_question_has_the_answer_of_the_snapshot_itself(tmp_path, monkeypatch, name):
    victims()[name].write(tmp_path)
    bare = opened(tmp_path)
    texts = questions(bare)
    random.Random(name).shuffle(texts)

    assert_same(lambda: opened(tmp_path), with_cache(opened(tmp_path), columns_of(bare)), texts[:8])
    # However few they are, files lie in blocks. Nothing is named: columns come one by one.
    monkeypatch.setattr(held_tables, "BLOCKS_FROM", 1)
    monkeypatch.setattr(blockwise, "WORTH_WHILE", 0)
    assert_same(lambda: opened(tmp_path), with_cache(opened(tmp_path)), texts[:6])


zoo = [name for name in victims() if name.startswith("zoo:")]


@pytest.mark.skipif(not zoo, reason="there is no zoo")
@pytest.mark.parametrize("name", zoo[::9])
def test_the_tables_of_engines_too(tmp_path, name):
    victims()[name].write(tmp_path)
    try:
        bare = opened(tmp_path)
        texts = questions(bare)
    except WhyscanError:
        pytest.skip("it cannot be opened")
    random.Random(name).shuffle(texts)

    assert_same(lambda: opened(tmp_path), with_cache(opened(tmp_path), columns_of(bare)), texts[:8])


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    lakes_to_upload.write(folder)
    return folder


PREDICATES = {
    "hive": ("country = 'DE' AND age > 40", "age < 30", "country IN ('IT', 'US') OR age = 41"),
    "delta": ("k = 'b' AND x > 150", "x < 60", "k = 'a' OR x = 150"),
    "iceberg": ("i < 0 AND yes", "yes", "i > 5 OR yes IS NULL"),
}


@pytest.mark.parametrize("name", PREDICATES)
def test_a_table_that_was_read_is_needed_no_more(lake, tmp_path, name):
    shutil.copytree(lake / name, tmp_path / name)
    expected = [report_of(opened(tmp_path / name), text, full=True) for text in PREDICATES[name]]
    cached = with_cache(opened(tmp_path / name), columns_of(opened(tmp_path / name), None))
    report_of(cached, "true", full=True, depth="row-groups")
    shutil.rmtree(tmp_path / name)

    actual = [report_of(cached, text, full=True) for text in PREDICATES[name]]

    assert actual == expected
    assert all(isinstance(report, dict) for report in actual)


def test_columns_come_with_the_questions_that_name_them(lake):
    cached = with_cache(opened(lake / "delta"))

    columns_read = []
    for text in PREDICATES["delta"]:
        report_of(cached, text)
        columns_read.append({".".join(path) for path in cached._columns.by_path})

    assert columns_read == [{"k", "x"}] * 3
    assert cached.files((), UTC) is cached.files((), UTC)


def test_columns_beyond_the_bound_are_read_again(lake):
    cached = with_cache(opened(lake / "delta"))
    cached._columns.by_path.bound = 1

    for text in PREDICATES["delta"]:
        assert report_of(cached, text) == report_of(opened(lake / "delta"), text)

    assert len(cached._columns.by_path) == 0


def test_a_column_with_unreadable_statistics_is_cached_as_others(tmp_path):
    lakes_to_upload.write_delta(tmp_path)
    commit = tmp_path / "_delta_log" / f"{8:020}.json"
    commit.write_text(re.sub(r'(\\"x\\": ?\d+)', r"\1.5", commit.read_text()))
    questions = ("x > 100", "k = 'a'", "x > 100 AND k = 'a'")
    expected = [report_of(opened(tmp_path), question) for question in questions]
    cached = with_cache(opened(tmp_path), columns_of(opened(tmp_path)))
    report_of(cached, "true")
    shutil.rmtree(tmp_path)

    assert [report_of(cached, question) for question in questions] == expected
    codes = [{finding["code"] for finding in report["findings"]} for report in expected]
    assert ["UNREADABLE_STATISTICS" in c for c in codes] == [True, False, True]


def test_row_groups_beyond_the_bound_are_read_again(lake):
    cached = with_cache(opened(lake / "hive"))
    cached._groups.batches.bound = 1
    texts = PREDICATES["hive"] * 2

    actual = [report_of(cached, text, ["age"] if at % 2 else None) for at, text in enumerate(texts)]

    fresh = [
        report_of(opened(lake / "hive"), text, ["age"] if at % 2 else None)
        for at, text in enumerate(texts)
    ]
    assert actual == fresh
    assert len(cached._groups.batches) == 0


def test_statistics_that_cannot_be_true_are_counted_for_each_question(tmp_path):
    lakes_to_upload.write_delta(tmp_path)
    commit = tmp_path / "_delta_log" / f"{8:020}.json"
    text = commit.read_text()
    broken = text.replace("minValues", "WAS").replace("maxValues", "minValues")
    commit.write_text(broken.replace("WAS", "maxValues"))
    cached = with_cache(opened(tmp_path), columns_of(opened(tmp_path)))

    for question in ("x > 100", "k = 'a'", "x > 100 AND k = 'a'"):
        assert report_of(cached, question) == report_of(opened(tmp_path), question)
    assert report_of(cached, "x > 100")["findings"] != report_of(cached, "k = 'a'")["findings"]
    assert ("x",) in cached._columns.by_path


STATEMENTS = (
    "SELECT u.age FROM users u JOIN events e ON u.age = e.x WHERE u.country = 'DE' AND e.k = 'a'",
    "SELECT * FROM events WHERE x > 100 LIMIT 1",
    "SELECT max(x) FROM events WHERE k = 'b'",
    "SELECT count(*) FROM users WHERE age IN (SELECT x FROM events WHERE k = 'b')",
    "SELECT x FROM events ORDER BY x DESC LIMIT 2",
    "DELETE FROM events WHERE x < 60",
)


def test_statements_read_held_tables_as_others(lake):
    places = {"users": lake / "hive", "events": lake / "delta"}
    kept = {name: with_cache(opened(place)) for name, place in places.items()}
    for sql in STATEMENTS:
        fresh = {name: opened(place) for name, place in places.items()}

        actual, expected = (
            explain_statement(sql, Catalogue(tables), Session(), Options()).to_dict()
            for tables in (kept, fresh)
        )

        assert _without_effort(actual) == _without_effort(expected), sql


def _without_effort(document):
    match document:
        case dict():
            return {k: _without_effort(v) for k, v in document.items() if k not in EFFORT}
        case list():
            return [_without_effort(each) for each in document]
        case _:
            return document


EFFORT = {"metadata", "seconds"}


def test_many_files_lie_in_blocks_by_the_columns_that_are_asked_for(lake, monkeypatch):
    monkeypatch.setattr(held_tables, "BLOCKS_FROM", 1)
    kept = with_cache(opened(lake / "delta"))

    seen = []
    for text in ("x < 60", "k = 'b' AND x > 150", "k = 'a' OR x = 150"):
        assert report_of(kept, text) == report_of(opened(lake / "delta"), text)
        seen.append([".".join(c.path) for c in kept._columns.arranged])

    assert seen == [["x"], ["x", "k"], ["x", "k"]]
