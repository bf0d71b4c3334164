"""Generated conditions over the rows of the lakes, and what they are in the words of each engine.

A condition is a tree of `whyscan.tree`, judged row by row by the oracle of the law.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from engines.lakes import LIVE, SCHEMA, row
from oracle.dice import Rolled
from oracle.predicates import in_list
from oracle.rows import Evaluator, Sequence, plain
from whyscan.tree.nodes import (
    And,
    Call,
    Cast,
    Column,
    Comparator,
    Comparison,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    type_of,
)
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
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MONEY = DecimalType(10, 2)
COLUMNS: dict[tuple[str, ...], Type] = {
    ("id",): BIGINT,
    ("big",): BIGINT,
    ("i",): INT,
    ("x",): DOUBLE,
    ("f",): FLOAT,
    ("s",): STRING,
    ("y",): BINARY,
    ("d",): DATE,
    ("t",): TIMESTAMP_NTZ,
    ("z",): TIMESTAMP,
    ("n",): MONEY,
    ("b",): BOOLEAN,
    ("st", "u"): BIGINT,
    ("st", "w", "v"): STRING,
    ("p",): STRING,
}
ORDERED = [path for path, kind in COLUMNS.items() if kind != BOOLEAN]
COMPARATORS = [each for each in Comparator if each is not Comparator.NULL_SAFE_EQUAL]
CASTS = [("id", DOUBLE), ("i", BIGINT), ("t", DATE), ("d", TIMESTAMP_NTZ), ("f", DOUBLE)]
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MICROSECOND = dt.timedelta(microseconds=1)


def as_number(value: Any) -> Any:
    """A value as the oracle has it: dates are days and moments are microseconds."""
    match value:
        case dt.datetime():
            return (value.replace(tzinfo=dt.UTC) - EPOCH) // MICROSECOND
        case dt.date():
            return (value - EPOCH.date()).days
        case _:
            return value


def member(values: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = values
    for name in path:
        value = None if value is None else value[name]
    return as_number(value)


VALUES = [{path: member(row(number), path) for path in COLUMNS} for number in range(LIVE)]
"""The live rows, as the oracle has them. 32-bit floats are widened as Arrow widens them."""
for _each in VALUES:
    _each["f",] = pa.scalar(_each["f",], pa.float32()).as_py()


@dataclass(frozen=True)
class Question:
    """Columns of the rows for which a condition is TRUE."""

    columns: tuple[str, ...]
    condition: Expression

    def answer(self, *, ordered: bool = True) -> list[int]:
        """The rows by brute force; `ordered`: NaN is the greatest value and equals itself."""
        judge = Evaluator if ordered else _Unordered
        return [
            number
            for number, values in enumerate(VALUES)
            if judge(values, "UTC", Sequence.LEFT_TO_RIGHT).value(self.condition) is True
        ]


class _Unordered(Evaluator):
    """PyArrow's meaning: NaN is less than nothing, equals nothing, and a list has no NULL."""

    def _comparison(self, node: Comparison) -> bool | None:
        sides = self.value(node.left), self.value(node.right)
        if all(side is not None for side in sides) and any(map(_is_nan, sides)):
            return node.operator is Comparator.NOT_EQUAL
        return super()._comparison(node)

    def _in(self, node: In) -> bool | None:
        return self.value(node.operand) is not None and super()._in(node)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def question(seed: int) -> Question:
    """The question of a seed."""
    dice = Rolled.of(seed)
    columns = {dice.pick(SCHEMA.names) for _ in range(dice.number(1, 3))}
    return Question(tuple(sorted(columns)), _condition(dice, 2))


def _condition(dice: Rolled, depth: int) -> Expression:
    if depth and dice.one_in(2):
        node = dice.pick((And, And, Or))
        parts = [_condition(dice, depth - 1) for _ in range(dice.number(2, 3))]
        flat = (p.operands if isinstance(p, node) else (p,) for p in parts)
        return node(tuple(part for group in flat for part in group))
    if dice.one_in(6):
        return Not(_condition(dice, 0))
    return _leaf(dice)


def _leaf(dice: Rolled) -> Expression:
    match dice.number(0, 11):
        case 0:
            return IsNull(_column(dice.pick(list(COLUMNS))))
        case 1:
            return Column(("b",), BOOLEAN)
        case 2:
            return Like(Column(("s",), STRING), f"s{dice.number(0, 9)}%", "\\", False)
        case 3:
            path = dice.pick([path for path in ORDERED if path[0] not in ("x", "f", "y")])
            listed = [_value(dice, path) for _ in range(dice.number(1, 4))]
            return in_list(_column(path), COLUMNS[path], listed, null=False)
        case 4:
            path = dice.pick(ORDERED)
            low, high = (Literal(_value(dice, path), COLUMNS[path]) for _ in range(2))
            parts = (Comparator.GREATER_EQUAL, low), (Comparator.LESS_EQUAL, high)
            return And(tuple(Comparison(op, _column(path), end) for op, end in parts))
        case 5:
            name, kind = dice.pick(CASTS)
            operand = Cast(_column((name,)), kind)
            return Comparison(dice.pick(COMPARATORS), operand, _literal(dice, kind))
        case 6:
            left, right = dice.pick(((("id",), ("st", "u")), (("id",), ("big",)), (("s",), ("p",))))
            return Comparison(dice.pick(COMPARATORS), _column(left), _column(right))
        case 7:
            upper = Call("upper", (Column(("s",), STRING),), STRING)
            text = Literal(f"S{dice.number(0, LIVE):03}", STRING)
            return Comparison(dice.pick(COMPARATORS), upper, text)
        case _:
            path = dice.pick(ORDERED)
            literal = Literal(_value(dice, path), COLUMNS[path])
            sides = (_column(path), literal)
            return Comparison(dice.pick(COMPARATORS), *(sides[::-1] if dice.one_in(4) else sides))


def _column(path: tuple[str, ...]) -> Column:
    return Column(path, COLUMNS[path])


def _value(dice: Rolled, path: tuple[str, ...]) -> Any:
    """A value of a row; for floats NaN, too."""
    if path[0] in ("x", "f") and dice.one_in(5):
        return math.nan
    while (value := VALUES[dice.number(0, LIVE - 1)][path]) is None:
        continue
    return value


def _literal(dice: Rolled, kind: Type) -> Literal:
    number = dice.number(0, LIVE - 1)
    if kind == DOUBLE:
        return Literal(math.nan if dice.one_in(6) else number + 0.5 * dice.number(0, 1), DOUBLE)
    if kind == BIGINT:
        return Literal(number, BIGINT)
    return Literal(VALUES[number][("d",) if kind == DATE else ("t",)], kind)


def python_value(value: Any, kind: Type) -> Any:
    """A literal of the oracle as Python has it."""
    if value is None:
        return None
    if kind == DATE:
        return (EPOCH + dt.timedelta(days=value)).date()
    if kind in (TIMESTAMP, TIMESTAMP_NTZ):
        moment = EPOCH + value * MICROSECOND
        return moment if kind == TIMESTAMP else moment.replace(tzinfo=None)
    return value


SQL_TYPES = {
    "double": "DOUBLE",
    "float": "REAL",
    "bigint": "BIGINT",
    "int": "INTEGER",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
    "decimal(10,2)": "DECIMAL(10, 2)",
}


def as_sql(node: Expression) -> str:
    """The condition as DuckDB and DataFusion both read it."""
    match node:
        case And():
            return "(" + " AND ".join(map(as_sql, node.operands)) + ")"
        case Or():
            return "(" + " OR ".join(map(as_sql, node.operands)) + ")"
        case Not():
            return f"(NOT {as_sql(node.operand)})"
        case IsNull():
            return f"({as_sql(node.operand)} IS NULL)"
        case Comparison():
            return f"({as_sql(node.left)} {node.operator.value} {as_sql(node.right)})"
        case In():
            values = ", ".join(as_sql(literal) for literal in listed(node))
            return f"({as_sql(node.operand)} IN ({values}))"
        case Like():
            return f"({as_sql(node.operand)} LIKE '{node.pattern}')"
        case Cast():
            return f"CAST({as_sql(node.operand)} AS {SQL_TYPES[str(node.type)]})"
        case Call():
            return f"{node.function}({', '.join(map(as_sql, node.arguments))})"
        case Column():
            return node.path[0] + "".join(f"['{name}']" for name in node.path[1:])
        case Literal():
            return _sql_literal(node)
    raise NotImplementedError(type(node))


def _sql_literal(node: Literal) -> str:
    value = python_value(node.value, node.type)
    match value:
        case str():
            return f"'{value}'"
        case bytes():
            return f"from_hex('{value.hex()}')" if value else "from_hex('')"
        case dt.datetime() if value.tzinfo:
            return f"TIMESTAMPTZ '{value.replace(tzinfo=None)}+00'"
        case _:
            return f"CAST('{value}' AS {SQL_TYPES[str(node.type)]})"


def listed(node: In) -> list[Literal]:
    """The values of a list."""
    kind = type_of(node.operand)
    like = "" if kind == STRING else None
    return [Literal(value, kind) for value in plain(node.values, like)]


POLARS_TYPES = {
    DOUBLE: pl.Float64,
    FLOAT: pl.Float32,
    BIGINT: pl.Int64,
    INT: pl.Int32,
    DATE: pl.Date,
    TIMESTAMP_NTZ: pl.Datetime("us"),
    TIMESTAMP: pl.Datetime("us", "UTC"),
    STRING: pl.String,
    BINARY: pl.Binary,
    MONEY: pl.Decimal(10, 2),
}
POLARS = {
    Comparator.EQUAL: pl.Expr.__eq__,
    Comparator.NOT_EQUAL: pl.Expr.__ne__,
    Comparator.LESS: pl.Expr.__lt__,
    Comparator.LESS_EQUAL: pl.Expr.__le__,
    Comparator.GREATER: pl.Expr.__gt__,
    Comparator.GREATER_EQUAL: pl.Expr.__ge__,
}


def as_polars(node: Expression) -> pl.Expr:
    """The condition as Polars has it."""
    match node:
        case And():
            return reduce(and_, map(as_polars, node.operands))
        case Or():
            return reduce(or_, map(as_polars, node.operands))
        case Not():
            return ~as_polars(node.operand)
        case IsNull():
            return as_polars(node.operand).is_null()
        case Comparison():
            return POLARS[node.operator](as_polars(node.left), as_polars(node.right))
        case In():
            kind = POLARS_TYPES[type_of(node.operand)]
            values = [python_value(literal.value, literal.type) for literal in listed(node)]
            return as_polars(node.operand).is_in(pl.Series(values, dtype=kind).implode())
        case Like():
            return as_polars(node.operand).str.starts_with(node.pattern[:-1])
        case Cast():
            return as_polars(node.operand).cast(POLARS_TYPES[node.type])
        case Call():
            return as_polars(node.arguments[0]).str.to_uppercase()
        case Column():
            column = pl.col(node.path[0])
            return reduce(lambda value, name: value.struct.field(name), node.path[1:], column)
        case Literal():
            return pl.lit(python_value(node.value, node.type), POLARS_TYPES[node.type])
    raise NotImplementedError(type(node))


ARROW_TYPES = {
    DOUBLE: pa.float64(),
    FLOAT: pa.float32(),
    BIGINT: pa.int64(),
    INT: pa.int32(),
    DATE: pa.date32(),
    TIMESTAMP_NTZ: pa.timestamp("us"),
    TIMESTAMP: pa.timestamp("us", "UTC"),
    STRING: pa.string(),
    BINARY: pa.binary(),
    MONEY: pa.decimal128(10, 2),
}
ARROW = {
    Comparator.EQUAL: pc.Expression.__eq__,
    Comparator.NOT_EQUAL: pc.Expression.__ne__,
    Comparator.LESS: pc.Expression.__lt__,
    Comparator.LESS_EQUAL: pc.Expression.__le__,
    Comparator.GREATER: pc.Expression.__gt__,
    Comparator.GREATER_EQUAL: pc.Expression.__ge__,
}


def as_arrow(node: Expression) -> pc.Expression:
    """The condition as PyArrow has it; a list of PyArrow is FALSE for NULL."""
    match node:
        case And():
            return reduce(and_, map(as_arrow, node.operands))
        case Or():
            return reduce(or_, map(as_arrow, node.operands))
        case Not():
            return ~as_arrow(node.operand)
        case IsNull():
            return as_arrow(node.operand).is_null()
        case Comparison():
            return ARROW[node.operator](as_arrow(node.left), as_arrow(node.right))
        case In():
            values = [python_value(literal.value, literal.type) for literal in listed(node)]
            kind = ARROW_TYPES[type_of(node.operand)]
            return as_arrow(node.operand).isin(pa.array(values, kind))
        case Like():
            return pc.starts_with(as_arrow(node.operand), node.pattern[:-1])
        case Cast():
            return as_arrow(node.operand).cast(ARROW_TYPES[node.type], safe=False)
        case Call():
            return pc.utf8_upper(as_arrow(node.arguments[0]))
        case Column():
            return pc.field(*node.path)
        case Literal():
            value = python_value(node.value, node.type)
            return pc.scalar(pa.scalar(value, ARROW_TYPES[node.type]))
    raise NotImplementedError(type(node))
