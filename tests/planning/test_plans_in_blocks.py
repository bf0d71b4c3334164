"""The summary of a plan whose files are in blocks is that of the plan that looks at every file."""

from __future__ import annotations

import numpy as np
import pytest

from support.lakes import delta_users, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.planning.plan import blockwise, planner
from whyscan.planning.plan.planner import make_plan, summarise
from whyscan.planning.plan.request import bind_request
from whyscan.planning.plan.scan_plan import Depth, Options
from whyscan.reports.report import make_report
from whyscan.tables import cached_snapshot
from whyscan.tables.cached_snapshot import with_cache
from whyscan.terms import PlanTerms
from whyscan.tree.types import DOUBLE, INT, STRING

FILES_ONLY = Options(depth=Depth.FILES)
PREDICATES = (
    "country = 'DE' AND age > 40",
    "age < 30",
    "age BETWEEN 25 AND 41 OR country = 'US'",
    "NOT country IN ('DE', 'IT')",
    "upper(country) = 'DE'",
    "reverse(country) = 'ED' AND age > 50",
    "price > 100",
    "price <= 10 OR age IS NULL",
    "country > 'ZZ'",
    "price = 398",
    "true",
)


@pytest.fixture(autouse=True)
def few_files_in_blocks(monkeypatch):
    monkeypatch.setattr(cached_snapshot, "BLOCKS_FROM", 1)
    monkeypatch.setattr(blockwise, "WORTH_WHILE", 0)


def many() -> MemoryTable:
    dice = np.random.default_rng(5)
    files = []
    for at in range(400):
        country = "DE" if at > 370 else dice.choice(["DE", "IT", "US"])
        age, price = at % 80, float(at)
        bounds = {"age": (age, age + 5), "price": (price, price + 20)}
        rows = 0 if at % 50 == 0 else int(dice.integers(1, 9))
        group = RowGroup(rows, bounds, {"age": at % 3 == 0 and rows}, nan=at % 7 == 0)
        files.append(DataFile(f"{at}.parquet", {"country": str(country)}, [group]))
    columns = {"country": STRING, "age": INT, "price": DOUBLE}
    return MemoryTable(columns, files, ("country",), footers_describe_files=False)


def bound(table, texts):
    return [bind_request(table, text, None, PlanTerms())[0] for text in texts]


def test_files_in_blocks_are_counted_as_plans_count_them():
    predicates = bound(many(), PREDICATES)
    opened = with_cache(many(), predicates[0].columns())

    plans = [make_plan(opened, predicate, FILES_ONLY) for predicate in predicates]

    expected = [make_plan(many(), predicate, FILES_ONLY).summary for predicate in predicates]
    assert [plan.summary for plan in plans] == expected
    assert [summarise(plan.counted) for plan in plans] == expected
    assert len({summary.files_kept for summary in expected}) > 4
    assert opened.files((), None).containers.blocks is not None


def test_a_summary_looks_into_fewer_blocks_than_a_report(monkeypatch):
    opened = with_cache(many())
    (predicate,) = bound(opened, ["country = 'DE' AND age > 40"])

    with monkeypatch.context() as patch:
        patch.delattr(planner, "judge_groups")  # what a report needs
        plan = make_plan(opened, predicate, FILES_ONLY)

    assert plan.summary == summarise(plan.counted)


@pytest.mark.parametrize("table", [users(), delta_users()], ids=["footers", "log"])
@pytest.mark.parametrize("depth", Depth)
def test_other_depths_and_tables_are_planned(table, depth):
    for predicate in bound(table, PREDICATES[:5]):
        plans = [make_plan(t, predicate, Options(depth=depth)) for t in (with_cache(table), table)]

        assert plans[0].summary == plans[1].summary
        assert [*plans[0]] == [*plans[1]]


def test_reports_on_files_in_blocks_are_those_of_the_table_itself():
    opened = with_cache(many())
    for text in (*PREDICATES, *PREDICATES):
        actual, expected = (
            make_report(
                make_plan(table, *bind_request(table, text, None, PlanTerms(depth="files"))),
                verbose=True,
            )
            for table in (opened, many())
        )
        documents = [report.to_dict() for report in (actual, expected)]
        for document in documents:
            del document["metadata"]
        assert documents[0] == documents[1], text
        if text == "price = 398":
            assert any(finding.rewrite == "country = 'DE'" for finding in actual.findings)
