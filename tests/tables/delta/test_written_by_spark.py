"""What Spark writes, asked of its own values: no row lost, and no file that a peer drops."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow.compute as pc
import pytest

import whyscan
from support.spark_sessions import INTERPRETED, settings
from tables.delta.peers import DeltaExplain, DeltaOnSpark, DeltaRs, relative
from tables.delta.questions import (
    Question,
    columns,
    peers_sql,
    plain_questions,
    questions,
    rows_of,
    world,
)
from tables.delta.spark_lakes import LAKES, write
from tables.delta.verdicts import complaints, looser, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from oracle.tables import Row
    from whyscan.tree.nodes import Path
    from whyscan.tree.types import Type

pytestmark = pytest.mark.spark

QUESTIONS = 40
PLAIN = 10
THRIFTY = INTERPRETED | {"spark.databricks.delta.snapshotPartitions": "1"}
# Off for columns generated from instants: Delta lifts with the zone of the reader.
LIFTING = "spark.databricks.delta.generatedColumn.partitionFilterOptimization.enabled"


@pytest.fixture(scope="module")
def thrifty(spark: SparkSession) -> Iterator[SparkSession]:
    with settings(spark, THRIFTY):
        yield spark


@pytest.mark.parametrize("name", LAKES)
def test_no_row_is_lost_and_no_file_kept_that_a_peer_drops(thrifty, tmp_path, name):
    lake = LAKES[name]
    folder = write(thrifty, lake, tmp_path / "t")
    table = whyscan.open(folder)
    live = live_rows(thrifty, folder, columns(table.snapshot))
    rows_world = world(columns(table.snapshot), list(live.values()))
    predicates = [
        *map(Question, lake.predicates),
        *questions(rows_world, QUESTIONS, seed=len(live)),
    ]
    rows = {path: len(container) for path, container in live.items()}

    wrong: list[str] = []
    peer = DeltaOnSpark(thrifty, folder)
    with settings(thrifty, {LIFTING: str(not lake.instants).lower()}):
        for question, matched in zip(
            predicates, spark_says(thrifty, folder, predicates), strict=True
        ):
            judgements = verdicts(table, question.sql)
            wrong += complaints(judgements, question.sql, matched, rows)
            wrong += looser(table, judgements, question.sql, peer.kept(question.sql))
    others = [DeltaRs(folder), DeltaExplain(folder)]
    for question in plain_questions(rows_world, PLAIN, seed=len(live)):
        judgements = verdicts(table, question.sql)
        for other in others:
            kept = other.kept(peers_sql(question.tree))
            wrong += looser(table, judgements, question.sql, kept)

    assert wrong == []


def test_delta_on_spark_loses_a_row_whose_day_another_zone_named(thrifty, tmp_path):
    """Why its lifting of columns generated from instants is no measure of ours."""
    folder = write(thrifty, LAKES["generated from instants"], tmp_path / "t")
    predicate = "t = TIMESTAMP '2024-03-10 05:00:00Z'"  # in Los Angeles still the 9th
    frame = thrifty.read.format("delta").load(folder).where(predicate)

    counts = {}
    for lifting in ("true", "false"):
        with settings(thrifty, {LIFTING: lifting}):
            counts[lifting] = frame.count()
    (there,) = [p for p, n in spark_says(thrifty, folder, [Question(predicate)])[0].items() if n]

    assert counts == {"true": 0, "false": 1}
    assert there in verdicts(whyscan.open(folder), predicate).kept


def live_rows(
    spark: SparkSession, folder: str, schema: dict[Path, Type]
) -> dict[str, tuple[Row, ...]]:
    """The rows of each file that were not deleted, as Spark reads them."""
    names = [".".join(f"`{name}`" for name in path) for path in schema]
    chosen = [f"{name} AS c{at}" for at, name in enumerate(names)]
    frame = spark.read.format("delta").load(folder)
    rows = frame.selectExpr("_metadata.file_path AS file", *chosen).toArrow()
    live = {}
    for uri in rows["file"].unique().to_pylist():
        part = rows.filter(pc.equal(rows["file"], uri)).drop_columns(["file"])
        values = [column.combine_chunks() for column in part.columns]
        live[relative(unquote(uri), folder)] = rows_of(schema, values)
    return live


def spark_says(
    spark: SparkSession, folder: str, predicates: list[Question]
) -> list[dict[str, int]]:
    """Predicate by predicate how many rows of each file match, all in one job."""
    from pyspark.sql import functions as f

    frame = spark.read.format("delta").load(folder)
    counts = [f.expr(f"count_if({question.sql})") for question in predicates]
    rows = frame.groupBy(f.expr("_metadata.file_path").alias("file")).agg(*counts).collect()
    paths = [relative(unquote(row["file"]), folder) for row in rows]
    return [
        dict(zip(paths, (row[1 + at] for row in rows), strict=True))
        for at in range(len(predicates))
    ]
