"""An audit of layouts that tables do not have explains each query as `explain` does with them."""

from __future__ import annotations

import pytest

import whyscan
import whyscan.spark as whyscan_spark
from support.commands import whyscan as command
from whyscan.errors import SyntaxProblem, UsageError
from whyscan.spark.stages.workload.query import Query

pytestmark = pytest.mark.spark

TEXTS = (
    "SELECT id FROM visits WHERE amount > 20 AND id < 70",
    "SELECT v.id FROM visits v JOIN sales s ON v.id = s.id WHERE v.amount = 3",
    "SELECT id FROM sales WHERE id = 5",
)
LAYOUTS = {"visits": "partition by none sort by amount", "sales": "partition by none sort by id"}


@pytest.fixture
def workload():
    return whyscan_spark.Workload(tuple(Query(text, "spark") for text in TEXTS), ())


def test_every_query_is_explained_in_the_layouts(spark, lake, workload):
    audited = whyscan_spark.audit(spark, workload, lake, layouts=LAYOUTS)

    tables = {
        name: whyscan.open(uri).with_layout(LAYOUTS[name]) if name in LAYOUTS else uri
        for name, uri in lake.items()
    }
    assert audited.unparsed == ()
    for line in audited.queries:
        expected = whyscan.explain_sql(line.sql, tables)
        assert [(t.scan.report.levels, t.scan.report.hypothetical) for t in line.tables] == [
            (s.report.levels, s.report.hypothetical) for s in expected.scans
        ]
        assert all(t.scan.report.hypothetical is not None for t in line.tables)
    assert [note for note in audited.run.notes if "another layout" in note]


def test_bounds_alone_prove_a_layout_and_no_row_is_read(spark, lake, workload):
    audited = whyscan_spark.audit(spark, workload, lake, layouts=LAYOUTS, sample=0)

    of_scans = [t.scan.report.hypothetical for line in audited.queries for t in line.tables]
    assert {one.evidence for one in of_scans} == {"guaranteed"}


@pytest.mark.parametrize(
    ("layouts", "error"),
    [
        ({"visitors": "sort by id"}, UsageError),
        ({"visits": "sorted by id"}, SyntaxProblem),
        ({"sales": "partition by day(id)"}, UsageError),
    ],
)
def test_a_layout_that_cannot_be_planned_ends_before_the_first_job(
    spark, lake, workload, layouts, error
):
    with pytest.raises(error):
        whyscan_spark.audit(spark, workload, lake, layouts=layouts)


def test_layouts_are_no_part_of_a_history(spark, lake, workload, tmp_path):
    with pytest.raises(UsageError) as caught:
        whyscan_spark.audit(
            spark, workload, lake, layouts=LAYOUTS, history=str(tmp_path / "history")
        )

    assert "a history is of tables as they are" in caught.value.message
    assert not (tmp_path / "history").exists()


def test_the_command_takes_layouts_by_the_names_of_tables(spark, lake, tmp_path):
    (tmp_path / "log.sql").write_text(TEXTS[0])

    run = command(
        *("audit", "--workload", "log.sql", "--table", f"visits={lake['visits']}"),
        *("--layout", f"visits: {LAYOUTS['visits']}"),
        cwd=tmp_path,
    )

    assert (run.code, run.err) == (0, "")
    assert "note: visits is planned in another layout: partition by none sort by amount" in run.out
