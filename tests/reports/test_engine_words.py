"""The engines' words for a condition: Delta on Spark is asked for its own."""

import pytest

import whyscan
from support.lakes import delta_users
from support.reports import explained
from tables.delta.conftest import Lake, bounds

CONDITIONS = (
    "p = 1",
    "x > 5",
    "x <> 5",
    "x IN (1, 2)",
    "x NOT IN (1, 2)",
    "NOT (x > 5 AND id < 3)",
    "x + 1 > 5",
    "x IS NULL",
    "s LIKE 'a%'",
    "NOT s LIKE 'a%'",
    "s = 5",
    "year(ts) = 1970",
    "cast(ts AS DATE) = DATE '1970-01-05'",
    "far > 5",
    "p = 1 OR x > 5",
    "x > 5 OR hash(x) = 1",
    "(p = 1 AND x > 5) OR (p = 2 AND x < 3)",
)


def words(snapshot, predicate):
    (conjunct,) = explained(snapshot, predicate, depth="files")["conjuncts"]
    return conjunct["engines"]


@pytest.mark.spark
def test_delta_on_spark_uses_the_word_that_we_say_it_does(spark, tmp_path):
    folder = str(tmp_path / "t")
    columns = (
        "id",
        "id % 3 AS p",
        "cast(id AS INT) AS x",
        "cast(id AS STRING) AS s",
        "timestamp_seconds(id * 86400) AS ts",
        "id % 2 = 0 AS b",
        "id AS far",
    )
    rows = spark.range(0, 30, 1, 1).selectExpr(*columns).write.format("delta")
    rows.partitionBy("p").option("delta.dataSkippingNumIndexedCols", "5").save(folder)
    snapshot = whyscan.open(folder).snapshot
    scanned = spark.read.format("delta").load(folder)

    ours = {c: words(snapshot, c)["delta_spark"] for c in CONDITIONS}
    assert ours == {c: word_of(scanned.where(c)) for c in CONDITIONS}


def word_of(frame):
    """Where Delta put the condition, once Spark's own IS NOT NULL beside it is left out."""
    (scan,) = (n for n in nodes(frame._jdf.queryExecution().executedPlan()) if is_scan(n))
    prepared = scan.relation().location().preparedScan()
    sets = {
        "unused filter": prepared.unusedFilters(),
        "data filter": prepared.dataFilters(),
        "partition filter": prepared.partitionFilters(),
    }
    for word, filters in sets.items():
        texts = [filters.toList().apply(i).toString() for i in range(filters.size())]
        if any(not text.startswith("isnotnull") for text in texts):
            return word
    return None


def is_scan(node):
    return "Scan" in node.nodeName()


def nodes(plan):
    if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
        plan = plan.executedPlan()
    yield plan
    for at in range(plan.children().size()):
        yield from nodes(plan.children().apply(at))


@pytest.mark.parametrize(
    ("predicate", "trino", "datafusion", "again"),
    [
        ("country = 'DE'", "enforced", "Exact", False),
        ("age > 40", "unenforced", "Inexact", True),
        ("my_function(age) = 1", "unsupported", "Unsupported", True),
        ("country = 'DE' OR age > 40", "unenforced", "Inexact", True),
        ("country = 'DE' OR my_function(age) = 1", "unsupported", "Unsupported", True),
        ("NOT (country = 'DE' OR country = 'IT')", "enforced", "Exact", False),
    ],
)
def test_words_follow_from_the_class(predicate, trino, datafusion, again):
    engine_words = words(delta_users(), predicate)

    assert (engine_words["trino"], engine_words["datafusion"]) == (trino, datafusion)
    assert engine_words["remains_above_scan"] is again


def test_the_branches_of_an_or_have_words_of_their_own():
    (conjunct,) = explained(delta_users(), "country = 'DE' OR my_function(age) = 1")["conjuncts"]

    assert [part["engines"]["trino"] for part in conjunct["parts"]] == ["enforced", "unsupported"]


def test_with_the_files_comes_what_evidence_proves():
    proofs = explained(delta_users(), "age > 40", verbose=True)["proofs"]

    assert [p["evidence"] for p in proofs] == [
        "an engine's plan",
        "an engine's run",
        "partition metadata",
        "file metadata",
        "row-group metadata",
    ]
    assert "proofs" not in explained(delta_users(), "age > 40")


def test_a_column_beyond_the_budget_is_no_data_filter(tmp_path):
    lake = Lake(tmp_path / "t")
    lake.create({"a": "long", "b": "long"}, properties={"delta.dataSkippingNumIndexedCols": "1"})
    lake.commit(lake.add("f", bounds("a", 1, 2)))

    assert words(lake.open(), "a = 1")["delta_spark"] == "data filter"
    assert words(lake.open(), "b = 1")["delta_spark"] == "unused filter"
