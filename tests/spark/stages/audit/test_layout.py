"""What a query reads because the layout of a table does not fit it is an estimate of its own."""

from __future__ import annotations

import pytest

from tables.delta.conftest import Lake
from whyscan.planning.plan.scan_plan import Options
from whyscan.predicate.syntax.session import Session
from whyscan.spark.stages.audit.amounts import audited_scans
from whyscan.spark.stages.audit.executor import QueryOutcome
from whyscan.spark.stages.audit.phrases import by_layout
from whyscan.spark.stages.audit.totals import query_lines
from whyscan.spark.stages.workload.query import Query
from whyscan.statements.explain import explain_statement
from whyscan.statements.sql.table_names import Catalogue
from whyscan.tables import open_snapshot

FILES, BYTES = 10, 1000


@pytest.fixture
def tables(tmp_path):
    """Ten files: `mixed` has every value in every file, `at` rises from file to file."""
    lake = Lake(tmp_path / "sales").create({"mixed": "long", "at": "long"}, ())
    lake.commit(*(lake.add(f"{n}", statistics(n), size=BYTES) for n in range(FILES)))
    return {"sales": open_snapshot([str(tmp_path / "sales")], {}, {})}


def statistics(number):
    return {
        "numRecords": 100,
        "minValues": {"mixed": 0, "at": 100 * number},
        "maxValues": {"mixed": 999, "at": 100 * number + 99},
        "nullCount": {"mixed": 0, "at": 0},
    }


def audited(tables, *queries):
    outcomes = {}
    for number, query in enumerate(queries):
        report = explain_statement(query.text, Catalogue(tables), Session("spark"), Options())
        outcomes[number] = QueryOutcome(number, report.operation, audited_scans(report))
    return query_lines(queries, outcomes, ())


@pytest.mark.parametrize(
    ("condition", "needed", "layout"),
    [
        # Sorted by `mixed`, one file of ten would have the value.
        ("mixed = 5", FILES * BYTES, (FILES - 1) * BYTES),
        # Already sorted: one file is read.
        ("at = 5", BYTES, 0),
        # Every row is needed.
        ("mixed >= 0", FILES * BYTES, 0),
    ],
)
def test_the_estimate_is_what_a_sorted_table_would_spare(tables, condition, needed, layout):
    (line,) = audited(tables, Query(f"SELECT at FROM sales WHERE {condition}", "spark", times=3))

    assert line.bytes_needed == needed
    assert line.wasted == 0
    assert line.layout_bytes == 3 * layout
    assert (by_layout(line) is None) is (layout == 0)


def test_a_query_that_runs_often_over_the_whole_table_is_ranked_first(tables):
    queries = [
        Query("SELECT at FROM sales WHERE at = 5", "spark", times=5000),
        Query("SELECT at FROM sales", "spark", times=10),
        Query("SELECT at FROM sales WHERE mixed = 5", "spark", times=720),
    ]

    ranked = audited(tables, *queries)

    assert [line.times for line in ranked] == [720, 5000, 10]
    assert "an estimate" in by_layout(ranked[0])
