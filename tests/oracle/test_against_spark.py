"""Spark is the oracle's judge: the same rows and predicates, TRUE, FALSE, NULL or an error."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from oracle.dice import Rolled
from oracle.errors import Unsupported
from oracle.predicates import Maker
from oracle.render import spelled, sql
from oracle.rows import RAISED, evaluate_row
from oracle.tables import World
from oracle.values import NANOS, TYPES, any_value
from support.spark_sessions import INTERPRETED, settings
from whyscan.errors import WhyscanError
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree import arrow
from whyscan.tree.types import (
    BOOLEAN,
    INT,
    Field,
    FloatType,
    IntegerType,
    Schema,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.tree.nodes import Expression

pytestmark = pytest.mark.spark

SEED = int(os.environ.get("WHYSCAN_SEED", "1"))
ROWS = 60
PREDICATES = int(os.environ.get("WHYSCAN_EXAMPLES", "200"))
ERRORS = 12
KINDS = [kind for kind in TYPES if kind != NANOS]


def one_table(seed: int, zone: str) -> World:
    """Two columns of most types, sixty rows."""
    dice = Rolled.of(seed)
    schema: dict[tuple[str, ...], Type] = {(f"c{i}",): kind for i, kind in enumerate(KINDS)}
    schema |= {("d0",): INT, ("d1",): BOOLEAN}
    rows = tuple(
        {path: None if dice.one_in(6) else any_value(dice, kind) for path, kind in schema.items()}
        for _ in range(ROWS)
    )
    return World(schema, (rows,), (), (True,), zone)


def frame(spark: SparkSession, world: World) -> DataFrame:
    columns = {path[0]: _as_spark(world, path, kind) for path, kind in world.schema.items()}
    columns["row"] = pa.array(range(ROWS), pa.int32())
    types = [f"{path[0]} {spelled(kind)}" for path, kind in world.schema.items()]
    return spark.createDataFrame(pa.table(columns), ", ".join([*types, "row INT"]))


def _as_spark(world: World, path: tuple[str, ...], kind: Type) -> pa.Array:
    values = [row[path] for row in world.rows[0]]
    match kind:
        case IntegerType():
            return pa.array(
                values, {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bits]
            )
        case FloatType(bits=32):
            return pa.array(values, pa.float32())
        case StringType():
            return pa.array(values, pa.string())
        case TimestampType(instant=True):
            return arrow.array(values, kind).cast(pa.timestamp("us", "UTC"))
    made = arrow.array(values, kind)
    if pa.types.is_decimal(made.type):
        return made.cast(pa.decimal128(kind.precision, kind.scale))
    return made


def generated_cases(world: World, count: int) -> Iterator[tuple[Expression, str, list[Any]]]:
    """Predicates with their text and the oracle's answers; only those that it fully knows."""
    maker = Maker(Rolled.of(SEED), world, certain=True)
    made = 0
    while made < count:
        predicate = maker.predicate(3)
        try:
            text = sql(predicate)
            answers = [evaluate_row(predicate, row, world.zone) for row in world.rows[0]]
        except Unsupported:
            continue
        made += 1
        yield predicate, text, answers


@pytest.fixture
def interpreted(spark: SparkSession) -> Iterator[SparkSession]:
    """As it is, but for expressions; the zone is put back as well."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    changed = INTERPRETED | {"spark.sql.session.timeZone": zone}
    with settings(spark, changed):
        yield spark


@pytest.mark.parametrize("zone", ["UTC", "America/St_Johns"])
def test_spark_gives_every_row_the_oracles_answer(interpreted, zone):
    world = one_table(SEED, zone)
    table = frame(interpreted, world)
    interpreted.conf.set("spark.sql.session.timeZone", zone)
    cases = list(generated_cases(world, PREDICATES))
    # Rows on which an error is expected are asked about one at a time, below.
    guarded = [
        f"CASE WHEN row IN ({_safe(answers)}) THEN {text} END AS p{index}"
        for index, (_, text, answers) in enumerate(cases)
    ]
    answers_of_spark = spark_says(table, guarded)
    wrong = [
        f"{text}\n  {row}: oracle {answers[at]}, Spark {answers_of_spark[index][at]}"
        for index, (_, text, answers) in enumerate(cases)
        for at, row in enumerate(world.rows[0])
        if answers[at] is not RAISED and answers_of_spark[index][at] is not answers[at]
    ]
    assert not wrong, f"{len(wrong)} answers differ:\n" + "\n".join(wrong[:10])


def spark_says(table: DataFrame, columns: list[str]) -> list[list[Any]]:
    """Column by column Spark's answers, all in one job; halved where one of them raises."""
    from pyspark.errors import PySparkException

    try:
        rows = table.selectExpr("row", *columns).orderBy("row").collect()
    except PySparkException as error:
        if len(columns) == 1:
            return [[str(error).splitlines()[0]] * ROWS]
        middle = len(columns) // 2
        return spark_says(table, columns[:middle]) + spark_says(table, columns[middle:])
    return [[row[1 + index] for row in rows] for index in range(len(columns))]


def _safe(answers: list[Any]) -> str:
    return ", ".join(str(i) for i, answer in enumerate(answers) if answer is not RAISED) or "-1"


def test_spark_raises_where_the_oracle_says_so(interpreted):
    from pyspark.errors import PySparkException

    world = one_table(SEED, "UTC")
    table = frame(interpreted, world)
    raising = [
        (text, answers.index(RAISED))
        for _, text, answers in generated_cases(world, PREDICATES)
        if RAISED in answers
    ]
    assert len(raising) >= ERRORS
    for text, at in raising[:ERRORS]:
        with pytest.raises(PySparkException):
            table.where(f"row = {at}").selectExpr(f"{text} AS p").collect()


LITERALS = (
    "5", "-1", "0", "2147483648", "9223372036854775808", "5L", "5S", "-128Y", "5.0", "1.50", "0.1",
    "5e0", "1.5D", "0.1F", "2.5BD", "'5'", "'-1'", "'1.5'", "' 5 '", "'abc'", "''", "'true'",
    "'2024-03-01'", "'2024-03-01 12:00:00'", "NULL", "TRUE", "X'61'", "DATE '2024-03-01'",
    "TIMESTAMP '2024-03-01 12:00:00'", "TIMESTAMP_NTZ '2024-03-01 12:00:00'",
)  # fmt: skip
OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "<=>")
MIXTURES = (
    "{c} {op} {l}", "{l} {op} {c}", "{c} {op} {d}", "{c} IN ({l}, {m})", "{c} NOT IN ({l}, {d})",
    "{c} BETWEEN {l} AND {d}", "coalesce({c}, {l}) {op} {m}", "{c} + {l} {op} {d}",
    "{c} - {d} {op} {l}", "{c} * {l} {op} {m}", "{c} / {l} {op} {d}", "{c} % {l} {op} {m}",
    "nullif({c}, {l}) IS NULL", "least({c}, {d}) {op} {l}", "greatest({c}, {l}) {op} {m}",
    "CASE WHEN {c} {op} {l} THEN {d} ELSE {m} END {op} {l}", "NOT {c} {op} {l}",
    "if({c} {op} {l}, {c}, {d}) IS NOT NULL", "{c} || {l} = {m}", "-{c} {op} {l}",
)  # fmt: skip


def mixed(world: World, count: int) -> Iterator[str]:
    """Predicates whose operands are of different types: what Spark makes of them is coercion."""
    rng = random.Random(SEED)
    names = [path[0] for path in world.schema]
    for _ in range(count):
        yield rng.choice(MIXTURES).format(
            c=rng.choice(names),
            d=rng.choice(names),
            l=rng.choice(LITERALS),
            m=rng.choice(LITERALS),
            op=rng.choice(OPERATORS),
        )


def test_mixed_types_bind_as_spark_coerces_them(interpreted):
    """Each text that Spark accepts, bound by us: the same answers on every row."""
    world = one_table(SEED, "UTC")
    table = frame(interpreted, world)
    schema = Schema(tuple(Field(path[0], kind) for path, kind in world.schema.items()))
    cases, refused = [], []
    for text in mixed(world, PREDICATES):
        if not accepted(table, text):
            continue
        try:
            expression = bind(text, schema, Session()).expression
        except WhyscanError:
            refused.append(text)  # a constant that Spark cannot read either, once it has a row
            continue
        try:
            answers = [evaluate_row(expression, row) for row in world.rows[0]]
        except Unsupported:
            continue
        cases.append((text, answers))
    taken = [text for text in refused[:ERRORS] if not raises(table, text)]
    assert not taken, "Spark takes these:\n" + "\n".join(taken)
    assert len(cases) > PREDICATES / 10
    answers_of_spark = spark_says(
        table,
        [
            f"CASE WHEN row IN ({_safe(answers)}) THEN {text} END AS p{index}"
            for index, (text, answers) in enumerate(cases)
        ],
    )
    wrong = [
        f"{text}\n  {row}: bound {answers[at]}, Spark {answers_of_spark[index][at]}"
        for index, (text, answers) in enumerate(cases)
        for at, row in enumerate(world.rows[0])
        if answers[at] is not RAISED and answers_of_spark[index][at] is not answers[at]
    ]
    assert not wrong, f"{len(wrong)} answers differ:\n" + "\n".join(wrong[:10])


def raises(table: DataFrame, text: str) -> bool:
    from pyspark.errors import PySparkException

    try:
        table.selectExpr(f"{text} AS p").collect()
    except PySparkException:
        return True
    return False


def accepted(table: DataFrame, text: str) -> bool:
    from pyspark.errors import AnalysisException, ParseException

    try:
        table.selectExpr(f"{text} AS p")
    except (AnalysisException, ParseException):
        return False
    return True
