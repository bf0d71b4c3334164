"""Builds typed predicates from the filters that engines push down, and never guesses.

An engine compares after casts of its own. A comparison is interpreted only where whyscan's law and
the engine give the same answer for every pair of values of these types. Everything else becomes
`Opaque`, which may be TRUE, FALSE or NULL: its conjunct prunes nothing, and the others still prune.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.tree import arrow
from whyscan.tree.coercion import MAX_PRECISION, as_decimal
from whyscan.tree.literals import nearest_float32
from whyscan.tree.nodes import (
    And,
    Call,
    Cast,
    Column,
    Comparator,
    Comparison,
    Conjunct,
    In,
    IsNull,
    Literal,
    NanOrder,
    Not,
    Opaque,
    Or,
    Predicate,
    type_of,
)
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    NULL,
    STRING,
    TIMESTAMP_NTZ,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
    StringType,
    StructType,
    TimestampType,
    TimeUnit,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Field, Schema

_EXACT_INTEGERS = {32: 1 << 24, 64: 1 << 53}
"""Floats of so many bits have each integer up to this one."""

_UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_COMPARED = (
    BooleanType,
    IntegerType,
    FloatType,
    DecimalType,
    StringType,
    BinaryType,
    DateType,
    TimestampType,
)
FLIPPED = {
    Comparator.LESS: Comparator.GREATER,
    Comparator.LESS_EQUAL: Comparator.GREATER_EQUAL,
    Comparator.GREATER: Comparator.LESS,
    Comparator.GREATER_EQUAL: Comparator.LESS_EQUAL,
}
"""The comparison with its sides exchanged; `=` and `<>` stay."""


class NotInterpreted(Exception):
    """A part of a filter whose meaning is not known for certain; the message says why."""


class FilteredSchema(Struct, frozen=True):
    """The columns that a filter may name, and what its engine makes of NaN."""

    schema: Schema
    nan_order: NanOrder

    def column(self, *names: str) -> Column:
        """The column or the member of a struct with exactly these names."""
        fields, path = self.schema.fields, names
        kind: Type = NULL
        for depth, name in enumerate(path):
            kind = _type_named(fields, name)
            if isinstance(kind, StructType):
                fields = kind.fields
            elif depth + 1 < len(path):
                raise NotInterpreted(f"{name} is no struct")
        return Column(path, kind)

    def compared(
        self, operator: Comparator, left: Expression, right: Expression
    ) -> Comparison | Literal:
        """`left operator right`; raises NotInterpreted where the engine may compare otherwise."""
        if isinstance(left, Literal) and not isinstance(right, Literal):
            left, right, operator = right, left, FLIPPED.get(operator, operator)
        if isinstance(right, Literal) and right.value is None:
            return Literal(None, BOOLEAN)
        left, right = _in_one_type(left, right)
        if self.nan_order is NanOrder.SIGNED and any(map(_is_nan, (left, right))):
            raise NotInterpreted("the sign of this NaN counts")
        order = self.nan_order if isinstance(type_of(left), FloatType) else NanOrder.GREATEST
        return Comparison(operator, left, right, order)

    def is_in(self, operand: Expression, values: Sequence[Literal]) -> Expression:
        """`operand IN (values)` for values without NULL and NaN: NULL only for a NULL operand."""
        if not values:
            return And((Not(IsNull(operand)), Literal(value=False, type=BOOLEAN)))
        pairs = [_in_one_type(operand, value) for value in values]
        subject = pairs[0][0]
        literals = [right for _, right in pairs if isinstance(right, Literal)]
        if any(left != subject for left, _ in pairs) or len(literals) < len(pairs):
            raise NotInterpreted("the values of the list have several types")
        if isinstance(type_of(subject), FloatType) and any(
            v.value == 0 or _is_nan(v) for v in literals
        ):
            raise NotInterpreted("zeros have two signs, and NaN may equal nothing")
        distinct = pc.unique(arrow.array([v.value for v in literals], type_of(subject)))
        return In(subject, distinct.take(pc.sort_indices(distinct)), null=False, nan=False)


def _is_nan(operand: Expression) -> bool:
    match operand:
        case Literal(value=float() as number):
            return math.isnan(number)
        case _:
            return False


def _type_named(fields: Iterable[Field], name: str) -> Type:
    kinds = [field.type for field in fields if field.name == name]
    if len(kinds) != 1:
        raise NotInterpreted(f"{len(kinds)} columns are named {name}")
    return kinds[0]


def _in_one_type(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both operands in the type in which every engine compares them."""
    kinds = type_of(left), type_of(right)
    if not all(isinstance(kind, _COMPARED) for kind in kinds):
        raise NotInterpreted(f"{kinds[0]} and {kinds[1]} are not compared")
    if kinds[0] == kinds[1]:
        return left, right
    if isinstance(right, Literal):
        return _with_literal(left, right)
    if isinstance(kinds[0], IntegerType) and isinstance(kinds[1], IntegerType):
        return cast(left, BIGINT), cast(right, BIGINT)
    raise NotInterpreted(f"{kinds[0]} and {kinds[1]} are compared by rules of the engine")


def _with_literal(left: Expression, right: Literal) -> tuple[Expression, Expression]:
    value = right.value
    match type_of(left), right.type:
        case IntegerType() as kind, IntegerType():
            if kind.least <= _integer(value) <= kind.greatest:
                return left, Literal(value, kind)
            return cast(left, BIGINT), Literal(value, BIGINT)
        case IntegerType(), FloatType(bits=64):
            return cast(left, DOUBLE), right
        case FloatType() as kind, IntegerType() if _is_exact(_integer(value), kind):
            return left, Literal(float(_integer(value)), kind)
        case FloatType() as kind, FloatType():
            number = _float(value)
            if kind != DOUBLE and nearest_float32(number) != number and not math.isnan(number):
                raise NotInterpreted("engines round this number to 32 bits, or do not")
            return left, Literal(number, kind)
        case (IntegerType() | DecimalType() as kind, IntegerType() | DecimalType() as other):
            return _as_decimals(left, as_decimal(kind), right, as_decimal(other))
        case DateType(), TimestampType(instant=False, unit=TimeUnit.MICROSECOND):
            return Cast(left, TIMESTAMP_NTZ), right
        case TimestampType() as kind, TimestampType() as other if kind.instant == other.instant:
            return left, Literal(_in_units(_integer(value), other.unit, kind.unit), kind)
        case kind, other:
            raise NotInterpreted(f"{kind} and {other} are compared by rules of the engine")


def _is_exact(value: int, kind: FloatType) -> bool:
    return abs(value) <= _EXACT_INTEGERS[kind.bits]


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise NotInterpreted(f"{value!r} is no integer")
    return value


def _float(value: object) -> float:
    if not isinstance(value, float):
        raise NotInterpreted(f"{value!r} is no float")
    return value


def _as_decimals(
    left: Expression, kind: DecimalType, right: Literal, other: DecimalType
) -> tuple[Expression, Expression]:
    scale = max(kind.scale, other.scale)
    digits = max(kind.precision - kind.scale, other.precision - other.scale)
    if scale + digits > MAX_PRECISION:
        raise NotInterpreted("the decimals have too many digits to be compared")
    wider = DecimalType(scale + digits, scale)
    value = right.value
    if not isinstance(value, int | Decimal):
        raise NotInterpreted(f"{value!r} is no exact number")
    return cast(left, wider), Literal(Decimal(value), wider)


def _in_units(value: int, unit: TimeUnit, wanted: TimeUnit) -> int:
    units, rest = divmod(value * wanted.per_second, unit.per_second)
    if rest or not BIGINT.least <= units <= BIGINT.greatest:
        raise NotInterpreted("the timestamp has other digits than the column")
    return units


def cast(expression: Expression, kind: Type) -> Expression:
    """The expression in another type, which has every value of its own."""
    return expression if type_of(expression) == kind else Cast(expression, kind)


def literal_of(value: pa.Scalar) -> Literal:
    """The value of an Arrow scalar as a literal; raises NotInterpreted for other types."""
    if pa.types.is_dictionary(value.type):
        value = value.value if value.is_valid else pa.scalar(None, value.type.value_type)
    kind = literal_type(value.type)
    if not value.is_valid:
        return Literal(None, kind)
    match kind:
        case DateType():
            return Literal(value.cast(pa.int32()).as_py(), kind)
        case TimestampType():
            nanoseconds = value.value * _UNITS[value.type.unit]
            return Literal(nanoseconds * kind.unit.per_second // 1_000_000_000, kind)
        case _:
            return Literal(value.as_py(), kind)


def literal_type(kind: pa.DataType) -> Type:
    """The type of literals of an Arrow type; raises NotInterpreted where there is none."""
    types = pa.types
    if types.is_null(kind):
        return NULL
    if types.is_boolean(kind):
        return BOOLEAN
    if types.is_signed_integer(kind):
        return IntegerType(kind.bit_width)
    if types.is_unsigned_integer(kind) and kind.bit_width < BIGINT.bits:
        return BIGINT
    if types.is_float32(kind) or types.is_float64(kind):
        return FloatType(kind.bit_width)
    if types.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= MAX_PRECISION:
        return DecimalType(kind.precision, kind.scale)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return STRING
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return BINARY
    if types.is_date32(kind):
        return DATE
    if types.is_timestamp(kind):
        unit = TimeUnit.NANOSECOND if kind.unit == "ns" else TimeUnit.MICROSECOND
        return TimestampType(instant=kind.tz is not None, unit=unit)
    raise NotInterpreted(f"literals of the type {kind} are not read")


def is_nan(operand: Expression) -> Call:
    """`isnan(operand)`, which is FALSE for NULL."""
    if not isinstance(type_of(operand), FloatType):
        raise NotInterpreted("only floats have NaN")
    return Call("isnan", (cast(operand, DOUBLE),), BOOLEAN)


def as_condition(expression: Expression) -> Expression:
    """The expression, which must be a boolean; raises NotInterpreted for others."""
    kind = type_of(expression)
    if isinstance(kind, NullType):
        return Literal(None, BOOLEAN)
    if not isinstance(kind, BooleanType):
        raise NotInterpreted(f"a condition is no {kind}")
    return expression


def all_of(operands: Iterable[Expression]) -> Expression:
    """`a AND b`, without an AND inside of an AND."""
    flat = tuple(inner for e in operands for inner in (e.operands if isinstance(e, And) else (e,)))
    return flat[0] if len(flat) == 1 else And(flat)


def any_of(operands: Iterable[Expression]) -> Expression:
    """`a OR b`, without an OR inside of an OR."""
    flat = tuple(inner for e in operands for inner in (e.operands if isinstance(e, Or) else (e,)))
    return flat[0] if len(flat) == 1 else Or(flat)


def opaque(text: str, reason: str, columns: Iterable[Column]) -> Opaque:
    """A condition that prunes nothing; `text` is how the engine writes it."""
    return Opaque(" ".join(text.split()), reason, tuple(dict.fromkeys(columns)))


def as_predicate(condition: Expression | None) -> Predicate:
    """The condition as a predicate, which the planner takes; None means all rows."""
    parts = () if condition is None else tuple(_conjuncts(condition))
    if not parts:
        parts = (Literal(value=True, type=BOOLEAN),)
    conjuncts = tuple(Conjunct(part, to_sql(part)) for part in parts)
    text = " AND ".join(conjunct.sql for conjunct in conjuncts)
    return Predicate(text, "spark", "UTC", None, conjuncts)


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, And):
        for operand in condition.operands:
            yield from _conjuncts(operand)
    else:
        yield condition
