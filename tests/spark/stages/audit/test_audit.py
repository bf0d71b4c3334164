"""An audit explains every query of a workload as `explain` explains one."""

from __future__ import annotations

import pytest

import whyscan
from whyscan.spark.pinned_tables import pin_all
from whyscan.spark.stages.audit.stage import explain_workload
from whyscan.spark.stages.workload.query import Query, Workload
from whyscan.spark.tables import NamedTable

pytestmark = pytest.mark.spark

MIXED = (
    "SELECT id FROM sales WHERE country = 'DE' AND id < 70",
    "SELECT id FROM events WHERE ts >= TIMESTAMP '2024-02-15' AND amount > 20",
    "SELECT id FROM events WHERE year(ts) = 2024 AND month(ts) = 2",
    "SELECT * FROM visits WHERE country = 'IT' AND id BETWEEN 40 AND 60",
    "SELECT count(*) FROM visits",
    "SELECT s.id FROM sales s JOIN events e ON s.id = e.id WHERE e.ts < TIMESTAMP '2024-01-09'",
    "SELECT id FROM sales WHERE upper(country) = 'FR'",
    "SELECT id FROM visits WHERE country = 'DE' OR amount > 1000",
    "WITH x AS (SELECT * FROM sales WHERE id > 100) SELECT * FROM x LIMIT 3",
    "DELETE FROM sales WHERE country = 'IT'",
    "SELECT * FROM sales VERSION AS OF 1 WHERE id > 90",
    "SELECT 1",
)


def pinned(lake):
    return pin_all(NamedTable(name, uri) for name, uri in lake.items())


def audit(spark, lake, *texts, **question):
    queries = tuple(text if isinstance(text, Query) else Query(text, "spark") for text in texts)
    audited, _ = explain_workload(spark, Workload(queries), pinned(lake), **question)
    return audited


def test_every_query_is_explained_as_explain_does(spark, lake):
    audited = audit(spark, lake, *MIXED)

    assert (audited.unparsed, {line.sql for line in audited.queries}) == ((), set(MIXED))
    for line in audited.queries:
        report = whyscan.explain_sql(line.sql, lake)
        assert [
            (t.scan.report.levels, t.scan.report.conjuncts, t.scan.report.findings)
            for t in line.tables
        ] == [(s.report.levels, s.report.conjuncts, s.report.findings) for s in report.scans]
        assert line.findings == report.findings
        assert [t.scan.report.summary for t in line.tables] == [
            s.plan.summary for s in report.scans
        ]
