"""Spark gives every row the answer that is recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from oracle.render import spelled
from pruning.recorded_answers.rows import ANSWERS, COLUMNS, TABLE, predicates, recorded
from support.golden import RENEWED
from support.spark_sessions import INTERPRETED, settings
from whyscan.tree import arrow
from whyscan.tree.types import IntegerType, StringType, TimestampType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from whyscan.tree.types import Type

pytestmark = pytest.mark.spark

LETTER = {True: "T", False: "F", None: "N"}


def frame(spark: SparkSession) -> DataFrame:
    arrays = {name: _array(name, kind) for name, kind in COLUMNS.items()}
    arrays["row"] = pa.array(range(len(TABLE)), pa.int32())
    types = ", ".join(f"{name} {spelled(kind)}" for name, kind in COLUMNS.items())
    return spark.createDataFrame(pa.table(arrays), f"{types}, row INT").coalesce(1).cache()


def _array(name: str, kind: Type) -> pa.Array:
    values = [row[name] for row in TABLE]
    match kind:
        case IntegerType():
            return pa.array(values, getattr(pa, f"int{kind.bits}")())
        case StringType():
            return pa.array(values, pa.string())
        case TimestampType(instant=True):
            return arrow.array(values, kind).cast(pa.timestamp("us", "UTC"))
    return arrow.array(values, kind)


def answers(table: DataFrame, written: list[str], rows: range) -> list[str]:
    """One letter a row for each predicate; halves of the rows alone where one of them raises."""
    from pyspark.errors import PySparkException

    columns = [f"({text}) AS p{at}" for at, text in enumerate(written)]
    chosen = table.where(f"row BETWEEN {rows.start} AND {rows.stop - 1}")
    try:
        collected = chosen.selectExpr("row", *columns).orderBy("row").collect()
    except PySparkException as error:
        if len(written) > 1:
            middle = len(written) // 2
            halves = (written[:middle], written[middle:])
            return [answer for half in halves for answer in answers(table, half, rows)]
        if "AnalysisException" in type(error).__name__ or "Parse" in type(error).__name__:
            raise AssertionError(f"{written[0]}: {error}") from error
        if len(rows) == 1:
            return ["E"]
        middle = rows.start + len(rows) // 2
        parts = (range(rows.start, middle), range(middle, rows.stop))
        return ["".join(answers(table, written, part)[0] for part in parts)]
    return ["".join(LETTER[row[1 + at]] for row in collected) for at in range(len(written))]


def guarded(text: str, letters: str) -> str:
    """The predicate where no error is recorded; Spark is asked about those rows one by one."""
    failing = [str(at) for at, letter in enumerate(letters) if letter == "E"]
    return f"CASE WHEN row NOT IN ({', '.join(failing)}) THEN {text} END" if failing else text


def test_spark_gives_the_recorded_answers(spark: SparkSession) -> None:
    written, every = predicates(), range(len(TABLE))
    with settings(spark, INTERPRETED | {"spark.sql.session.timeZone": "UTC"}):
        table, expected = frame(spark), recorded()
        if RENEWED:
            missing = [text for text in written if text not in expected]
            expected |= dict(zip(missing, answers(table, missing, every), strict=True))
            kept = {text: expected[text] for text in written}
            lines = json.dumps(kept, ensure_ascii=False, indent=1, sort_keys=True)
            ANSWERS.write_text(lines + "\n", "utf-8")
            expected = kept
        assert sorted(expected) == sorted(written)
        columns = [guarded(text, expected[text]) for text in written]
        letters = answers(table, columns, every)
        raising = {
            text: answers(table, [text], range(at, at + 1))[0]
            for text in written
            if (at := expected[text].find("E")) >= 0
        }
    pairs = zip(written, letters, strict=True)
    assert [t for t, actual in pairs if actual != expected[t].replace("E", "N")] == []
    assert {text: letter for text, letter in raising.items() if letter != "E"} == {}
