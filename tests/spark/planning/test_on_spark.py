"""The executors of a real session give the report of one process."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from spark.planning.one_spark_job import Question, in_one_job
from spark.planning.plans_in_parts import ZOO, comparable, in_one, predicates, zoo
from support.commands import whyscan as command
from whyscan.errors import CorruptFile, WhyscanError
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.request import bind_request
from whyscan.spark.planning import explain_parts, plan_parts
from whyscan.tables.parts import parts
from whyscan.terms import PlanTerms
from whyscan.tree.zones import zone

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def hive(tmp_path_factory):
    root = tmp_path_factory.mktemp("hive")
    for at in range(9):
        folder = root / f"country={'DE' if at < 5 else 'IT'}"
        folder.mkdir(exist_ok=True)
        rows = {"x": [at * 10, at * 10 + 5], "price": [1.0, float("nan") if at == 3 else 2.0]}
        pq.write_table(pa.table(rows), folder / f"{at}.parquet", row_group_size=1)
    return whyscan.open(root)


@pytest.fixture(scope="module")
def iceberg(spark, tmp_path_factory):
    """Five manifests by country, and a delete."""
    spark.sql(
        "CREATE TABLE ice.parted.t (country STRING, x INT) USING iceberg "
        "PARTITIONED BY (country) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', "
        "'format-version' = '2', 'commit.manifest.min-count-to-merge' = '99')"
    )
    for at in range(4):
        rows = spark.range(at * 100, at * 100 + 100).selectExpr(
            f"'c{at % 3}' AS country", "CAST(id AS INT) AS x"
        )
        rows.writeTo("ice.parted.t").append()
    spark.sql("DELETE FROM ice.parted.t WHERE x = 7")
    folder = spark.conf.get("spark.sql.catalog.ice.warehouse")
    return whyscan.open(f"{folder}/parted/t")


def in_parts(spark, table, predicate, files_each=2, **question):
    bound, options = bind_request(table.snapshot, predicate, None, PlanTerms(**question))
    planned = plan_parts(spark, table.snapshot, bound, options, files_each=files_each)
    return explain_parts(planned, verbose=question.get("verbose", False))


def assert_same(spark, table, predicate, **question):
    actual = in_parts(spark, table, predicate, **question)
    whole = table.explain(predicate, **question)
    assert comparable(actual.to_dict()) == comparable(whole.to_dict())


def test_hive(spark, hive):
    assert_same(spark, hive, "country = 'IT' AND x < 70", verbose=True)
    assert_same(spark, hive, "lower(country) = 'de' OR price > 1.5")


def test_iceberg(spark, iceberg):
    assert_same(spark, iceberg, "country = 'c1' AND x > 120", verbose=True)
    assert_same(spark, iceberg, "x < 150 OR my_function(x) = 1", depth="files")


def test_every_table_of_the_zoo(spark):
    """In parts of a quarter of its files; a predicate of another kind for each table in turn."""
    names = [name for name in zoo if isinstance(name, str)]
    if not names:
        pytest.skip(f"there is no zoo at {ZOO}")
    whole, questions = {}, {}
    for at, name in enumerate(names):
        try:
            snapshot = whyscan.open(ZOO / name).snapshot
            texts, files = predicates(snapshot), snapshot.files((), zone("UTC")).count
        except WhyscanError:
            continue
        predicate, question = texts[at % len(texts)], {"verbose": at % 2 == 0}
        whole[name] = in_one(snapshot, predicate, **question)
        divided = parts(snapshot, 1 + files // 4)
        questions[name] = Question(snapshot, divided, predicate, question)

    documents = in_one_job(spark, questions)

    assert len(whole) > 100
    assert [name for name in whole if documents[name] != whole[name]] == []


def test_as_people_ask(spark, hive):
    """Parts as large as they come by themselves: one, for so few files."""
    report = hive.explain("x > 30", select=["x"], spark=spark, verbose=True)
    whole = hive.explain("x > 30", select=["x"], verbose=True)
    assert comparable(report.to_dict()) == comparable(whole.to_dict())
    assert report.metadata.objects >= 9
    with pytest.raises(TypeError, match="unexpected keyword"):
        hive.explain("x > 30", spark=spark, depht="files")


def test_the_plan_has_the_same_files(spark, hive):
    assert hive.plan("x > 30", spark=spark).files == hive.plan("x > 30").files


def test_files_to_read_come_from_the_executors(spark, hive):
    bound, options = bind_request(hive.snapshot, "x > 30", None, PlanTerms())
    planned = plan_parts(spark, hive.snapshot, bound, options, files_each=2)
    plan = make_plan(hive.snapshot, bound, options)
    assert planned.files == plan.files
    assert planned.summary == plan.summary


def test_a_corrupt_footer_is_named_in_one_line(spark, tmp_path):
    for at in range(4):
        pq.write_table(pa.table({"x": [at]}), tmp_path / f"{at}.parquet")
    table = whyscan.open(tmp_path)
    table.schema  # noqa: B018 - from two of the files, before one of the others is broken
    (tmp_path / "1.parquet").write_bytes(b"PAR1 and no more PAR1")
    with pytest.raises(CorruptFile) as caught:
        in_parts(spark, table, "x > 1", files_each=1)
    assert "1.parquet" in caught.value.message
    assert "\n" not in caught.value.message


def test_a_worker_that_is_killed_is_asked_again(spark, hive, tmp_path):
    mark = str(tmp_path / "died")

    def dies_once(plan):
        if not os.path.exists(mark):  # noqa: PTH110 - what an executor has at hand
            open(mark, "w").close()  # noqa: PTH123
            os._exit(9)
        return plan.evidence.files.count

    bound, options = bind_request(hive.snapshot, "x > 30", None, PlanTerms())
    planned = plan_parts(spark, hive.snapshot, bound, options, files_each=3)
    assert planned.each(dies_once) == [3, 3, 3]
    assert Path(mark).exists()


def test_a_worker_that_always_dies_is_one_line(spark, hive):
    def dies(plan):
        os._exit(9)

    bound, options = bind_request(hive.snapshot, "x > 30", None, PlanTerms())
    planned = plan_parts(spark, hive.snapshot, bound, options, files_each=9)
    with pytest.raises(WhyscanError, match="worker exited unexpectedly") as caught:
        planned.each(dies)
    assert "\n" not in caught.value.message


def test_the_command_line(spark, hive, tmp_path):
    words = ["explain", hive.uri, "-w", "x > 30", "--format", "json", "--max-files", "2"]
    whole = command(*words, cwd=tmp_path)
    run = command(*words, "--spark", cwd=tmp_path)
    assert whole.code == run.code == 1
    assert comparable(json.loads(run.out)) == comparable(json.loads(whole.out))
    assert spark.range(1).count() == 1, "a session that was there goes on"


def test_a_master_goes_with_spark(tmp_path):
    run = command("explain", "t", "-w", "x", "--master", "local", cwd=tmp_path)
    assert run.code == 2
    assert "--master goes with --spark" in run.err
