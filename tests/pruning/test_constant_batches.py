"""A container's answer does not depend on its neighbours, however constant a batch is.

Every function of the catalogue, every cast and every operator is evaluated over batches in which
all containers say the same (only NULL, only NaN, one value, nothing at all), where masks and bounds
collapse to constants, and over one batch of all of them. The expressions are generated from the
catalogue: a new function is tried without a line here.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from whyscan.errors import WhyscanError
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.blocks import Blocks, make_blocks
from whyscan.pruning.concatenation import concatenate
from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.pruning.evaluate import ContainerBatch, evaluate, interval_of
from whyscan.pruning.functions import FUNCTIONS
from whyscan.pruning.functions.time.fields import TEMPORAL
from whyscan.pruning.interval import Interval, anything, less_equal
from whyscan.pruning.mask import Mask, as_array, materialise
from whyscan.pruning.transforms import (
    Bucket,
    Day,
    Hour,
    IdentityTransform,
    Month,
    Transform,
    Truncate,
    Unknown,
    Void,
    Year,
    exactness,
    of_partition_values,
    partition_interval,
    result_type,
    supports,
)
from whyscan.tree import arrow
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import Column, Opaque, type_of, walk
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DecimalType,
    Field,
    FloatType,
    Schema,
    Type,
)
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.tree.nodes import Expression

pytestmark = pytest.mark.slow

OF_TIME = {function.name for function in TEMPORAL}
DECIMAL = DecimalType(9, 2)
COLUMNS: dict[str, Type] = {
    "b": BOOLEAN,
    "i": INT,
    "l": BIGINT,
    "f": FLOAT,
    "x": DOUBLE,
    "d": DECIMAL,
    "s": STRING,
    "r": BINARY,
    "day": DATE,
    "ts": TIMESTAMP,
    "ntz": TIMESTAMP_NTZ,
}
VALUES: dict[Type, list[Any]] = {
    BOOLEAN: [False, True],
    INT: [-(2**31), -1, 0, 3, 2**31 - 1],
    BIGINT: [-(2**63), -1, 0, 3, 2**63 - 1],
    FLOAT: [-math.inf, -1.5, 0.0, 3.0, math.inf],
    DOUBLE: [-math.inf, -1.5, 0.0, 3.0, 1e300, math.inf],
    DECIMAL: [Decimal("-9999999.99"), Decimal("0.00"), Decimal("3.50"), Decimal("9999999.99")],
    STRING: ["", "3", "a", "ab%", "ß"],
    BINARY: [b"", b"a", b"\xff"],
    DATE: [-719_162, -1, 0, 19_783],
    TIMESTAMP: [-1, 0, 1_709_294_400_000_000],
    TIMESTAMP_NTZ: [-1, 0, 1_709_294_400_000_000],
}
ARGUMENTS = ("2", "0", "'a'", "'MONTH'", "'yyyy-MM-dd'", "'UTC'", "NULL", "true")
OPERATORS = ("+", "-", "*", "/", "%", "DIV", "&", "|", "^", "=", "<>", "<", ">=", "<=>", "||")
TEMPLATES = (
    "{c} IS NULL", "{c} IN ({v})", "{c} NOT IN ({v}, NULL)", "{c} BETWEEN {v} AND {v}",
    "{c} = {v}", "{v} = {c}", "{c} < {v}", "{c} <> {v}", "{c} <=> {v}", "{c} <=> NULL",
    "CASE WHEN {c} > {v} THEN 1 WHEN {c} IS NULL THEN 2 END = 1",
    "coalesce({c}, {v}) = {v}", "nullif({c}, {v}) IS NULL", "{c} = {c}", "{c} > {v} AND {c} < {v}",
    "nvl2({c}, 1, 0) = 1", "if({c} IS NULL, {c}, {v}) = {v}", "NOT ({c} > {v})", "-{c} < {v}",
    "CAST(NULL AS INT) = 1", "1 = 1", "{v} > {v} OR {c} IS NULL",
)  # fmt: skip
LITERALS: dict[Type, str] = {
    BOOLEAN: "true",
    INT: "3",
    BIGINT: "3",
    FLOAT: "CAST(3 AS FLOAT)",
    DOUBLE: "3.0D",
    DECIMAL: "3.50",
    STRING: "'a'",
    BINARY: "X'61'",
    DATE: "DATE '2024-03-01'",
    TIMESTAMP: "TIMESTAMP '2024-03-01 12:00:00'",
    TIMESTAMP_NTZ: "TIMESTAMP_NTZ '2024-03-01 12:00:00'",
}
UTC = zone("UTC")
ZONES = (UTC, zone("America/St_Johns"))
SCHEMA = Schema(tuple(Field(name, kind) for name, kind in COLUMNS.items()))
COPIES = 3


# Batches whose containers are all the same.


def only_nulls(kind: Type, count: int) -> Interval:
    return of_partition_values(kind, arrow.array([None] * count, kind))


def only_nan(kind: Type, count: int) -> Interval:
    if not isinstance(kind, FloatType):
        return only_nulls(kind, count)
    return of_partition_values(kind, arrow.array([math.nan] * count, kind))


def unknown(kind: Type, _count: int) -> Interval:
    return checked(kind, ColumnStatistics(), None).interval


def unknown_slots(kind: Type, count: int) -> Interval:
    ends = arrow.array([None] * count, kind)
    counts = pa.nulls(count, pa.int64())
    return checked(kind, ColumnStatistics(ends, ends, counts), counts).interval


def all_values(kind: Type, count: int) -> Interval:
    ends = (arrow.array([v] * count, kind) for v in (VALUES[kind][0], VALUES[kind][-1]))
    return checked(kind, ColumnStatistics(*ends), None).interval


def point(at: int) -> Callable[[Type, int], Interval]:
    def of(kind: Type, count: int) -> Interval:
        value = VALUES[kind][at % len(VALUES[kind])]
        return of_partition_values(kind, arrow.array([value] * count, kind))

    return of


STATES: dict[str, Callable[[Type, int], Interval]] = {
    "only NULL": only_nulls,
    "only NaN": only_nan,
    "unknown": unknown,
    "unknown slots": unknown_slots,
    "all values": all_values,
    **{f"value {at}": point(at) for at in range(6)},
}


@cache
def batch_of(state: str, count: int) -> Containers:
    made = {(name,): STATES[state](kind, count) for name, kind in COLUMNS.items()}
    return Containers(count, partition=made)


@cache
def mixed() -> Containers:
    return concatenate([batch_of(state, 1) for state in STATES])


# Expressions from the catalogue.


def shapes() -> Iterator[tuple[str, ...]]:
    """Arguments: each column alone, with itself, with the next one, with each literal."""
    names = list(COLUMNS)
    for at, name in enumerate(names):
        yield (name,)
        yield (name, name)
        yield (name, names[(at + 1) % len(names)])
        literals = [ARGUMENTS[(at + step) % len(ARGUMENTS)] for step in range(3)]
        for literal in dict.fromkeys(("2", "'a'", "NULL", *literals)):
            yield (name, literal)
            yield (literal, name)
        yield (name, *literals[:2])


def calls(name: str) -> Iterator[str]:
    if not name.isidentifier():
        return
    for arguments in shapes():
        yield f"{name}({', '.join(arguments)})"


@cache
def texts() -> dict[str, list[str]]:
    """SQL by the thing that it tries."""
    calls_by_function = {name: list(calls(name)) for name in sorted(FUNCTIONS)}
    for target in ("BOOLEAN", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5, 1)", "STRING",
                   "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ"):  # fmt: skip
        calls_by_function[f"CAST AS {target}"] = [
            f"{word}({name} AS {target})" for word in ("CAST", "TRY_CAST") for name in COLUMNS
        ]
    for operator in OPERATORS:
        calls_by_function[operator] = [
            f"{a} {operator} {b}"
            for name, kind in COLUMNS.items()
            for a, b in ((name, name), (name, LITERALS[kind]), (LITERALS[kind], name))
        ]
    calls_by_function["templates"] = [
        template.format(c=name, v=LITERALS[kind])
        for template, (name, kind) in product(TEMPLATES, COLUMNS.items())
    ]
    calls_by_function["LIKE"] = [f"s LIKE '{p}'" for p in ("a%", "%", "", "a", "_", "%a%")]
    return {name: calls_by_function[name] for name in calls_by_function if calls_by_function[name]}


@cache
def bound(text: str) -> Expression | None:
    """The expression; None where the binder does not take it, or takes it as opaque."""
    try:
        predicate = bind(f"({text}) IS NULL", SCHEMA, Session())
    except (WhyscanError, OverflowError):
        return None
    expression = predicate.expression.operand if hasattr(predicate.expression, "operand") else None
    if expression is None or any(isinstance(node, Opaque) for node in walk(expression)):
        return None
    return expression


# What is compared.


def checked_mask(mask: Mask, count: int) -> list[bool]:
    assert isinstance(mask, bool | pa.BooleanArray), f"{type(mask)} is no mask"
    if not isinstance(mask, bool):
        assert len(mask) == count
        assert mask.null_count == 0
    return materialise(mask, count).to_pylist()


def answers(expression: Expression, containers: Containers, session: Any) -> list[Any]:
    """Per container: the masks, the bounds where there may be a value, and the truth set."""
    count = containers.count
    interval = interval_of(expression, ContainerBatch(containers, session))
    masks = [
        checked_mask(m, count)
        for m in (interval.value, interval.null, interval.nan, interval.raises)
    ]
    kind = arrow_type(interval.type)
    ends = []
    for end in (interval.lower, interval.upper):
        if isinstance(end, pa.Array):
            assert len(end) == count
        ends.append([bits(v) for v in as_array(end, count, kind)])
    description = [
        masks,
        [[e if v else None for e, v in zip(end, masks[0], strict=True)] for end in ends],
    ]
    if type_of(expression) == BOOLEAN:
        truth = evaluate(expression, containers, session)
        description.append(
            [checked_mask(m, count) for m in (truth.true, truth.false, truth.null, truth.raises)]
        )
    return [[[row[at] for row in rows] for rows in description] for at in range(count)]


def bits(value: pa.Scalar) -> Any:
    """A bound that can be compared: temporal values as integers, NaN and zero as they are."""
    if pa.types.is_temporal(value.type) and value.is_valid:
        return value.value
    return value.as_py()


@pytest.mark.parametrize("tried", list(texts()))
def test_an_expression_says_the_same_of_a_container_alone_among_copies_and_beside_others(tried):
    bound_texts = [(text, e) for text in texts()[tried] if (e := bound(text)) is not None]
    wrong = {}
    for (text, expression), session in product(bound_texts, ZONES[: 2 if tried in OF_TIME else 1]):
        beside = answers(expression, mixed(), session)
        assert answers(expression, batch_of("only NULL", 0), session) == []
        for at, state in enumerate(STATES):
            count = COPIES if at % 2 else 1
            alone = answers(expression, batch_of(state, count), session)
            if alone != [beside[at]] * count:
                wrong[f"{text}, {state}"] = (alone, beside[at])
    assert wrong == {}


@pytest.mark.parametrize("tried", list(texts()))
def test_what_a_point_may_be_a_container_that_holds_the_point_may_be(tried):
    """Without an oracle: [v, v] lies in the hull of all values, and so do their answers."""
    states = list(STATES)
    whole, points = states.index("all values"), [s for s in states if s.startswith("value")]
    wrong = {}
    for text in texts()[tried]:
        if (expression := bound(text)) is None:
            continue
        interval = interval_of(expression, ContainerBatch(mixed(), UTC))
        count = len(states)
        masks = [
            checked_mask(m, count)
            for m in (interval.value, interval.null, interval.nan, interval.raises)
        ]
        kind = arrow_type(interval.type)
        lower, upper = (as_array(end, count, kind) for end in (interval.lower, interval.upper))
        for state in points:
            at = states.index(state)
            inside = (
                all(mask[whole] or not mask[at] for mask in masks)
                and (not masks[0][at] or surely_not_above(lower[whole], lower[at]))
                and (not masks[0][at] or surely_not_above(upper[at], upper[whole]))
            )
            if not inside:
                wrong[f"{text}, {state}"] = [(m[at], m[whole]) for m in masks], lower, upper
    assert wrong == {}


def surely_not_above(a: pa.Scalar, b: pa.Scalar) -> bool:
    """What is not known contradicts nothing."""
    return less_equal(a, b).as_py() is not False


def test_the_catalogue_is_tried():
    """Functions that no generated call reaches are named here, so that a new one is noticed."""
    tried = {
        name for name, written in texts().items() if any(bound(t) is not None for t in written)
    }
    missed = {name for name in FUNCTIONS if name not in tried and name.isidentifier()}
    assert missed <= {"btrim", "make_date", "nanvl", "positive", "replace", "try_to_date",
                      "try_to_timestamp"}  # fmt: skip


# Transforms and blocks.

TRANSFORMS: tuple[Transform, ...] = (
    IdentityTransform(), Year(), Month(), Day(), Hour(),
    Truncate(2), Bucket(4), Void(), Unknown("odd"),
)  # fmt: skip
CASES = [
    pytest.param(transform, kind, id=f"{transform} of {kind}")
    for transform, kind in product(TRANSFORMS, COLUMNS.values())
    if supports(transform, kind)
]


def described(interval: Interval, count: int) -> list[Any]:
    masks = [checked_mask(m, count) for m in (interval.value, interval.null, interval.nan)]
    kind = arrow_type(interval.type)
    ends = [
        [bits(v) for v in as_array(end, count, kind)] for end in (interval.lower, interval.upper)
    ]
    return [[row[at] for row in (*masks, *ends)] for at in range(count)]


@pytest.mark.parametrize(("transform", "kind"), CASES)
def test_a_transform_says_the_same_of_one_partition_value_and_of_many(transform, kind):
    made = result_type(transform, kind)
    if pa.types.is_null(arrow_type(made)):
        made = kind
    values = [*VALUES.get(made, VALUES[kind]), None]
    if isinstance(made, FloatType):
        values.append(math.nan)

    def sources(of: list[Any]) -> tuple[list[Any], list[bool]]:
        interval = of_partition_values(made, arrow.array(of, made))
        exact = checked_mask(exactness(transform, kind, interval), len(of))
        return described(partition_interval(transform, kind, interval), len(of)), exact

    together, exact = sources(values)
    for at, value in enumerate(values):
        alone, exact_alone = sources([value])
        copies, exact_copies = sources([value] * COPIES)
        assert alone == [together[at]], value
        assert copies == alone * COPIES, value
        assert exact_alone == [exact[at]]
        assert exact_copies == exact_alone * COPIES


@pytest.mark.parametrize("state", STATES)
def test_blocks_of_the_same_containers_are_one_of_them(state):
    many = batch_of(state, COPIES)
    columns = [Column((name,), kind) for name, kind in COLUMNS.items()]
    blocks: Blocks = make_blocks(many, columns)
    for made in (blocks.hulls(many, columns), blocks.kernels(many, columns)):
        for column in columns:
            interval = made.interval(column)
            alone = batch_of(state, 1).interval(column)
            kept = described(interval, made.count)
            assert kept == described(alone, 1) * made.count


def test_anything_is_what_no_statistics_say():
    for kind in COLUMNS.values():
        assert described(unknown(kind, 1), 1) == described(anything(kind), 1)
        assert described(unknown_slots(kind, 1), 1) == described(anything(kind), 1)
