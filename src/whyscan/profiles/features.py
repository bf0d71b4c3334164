"""The features of a part of a predicate, by which rules of engines name it.

A part is a comparison or another condition without AND, OR and NOT inside, or an OR. Each of its
columns and operands adds features. `BARE` means that a column stands alone, or below a widening.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.pruning.same_representation import column_below
from whyscan.tree.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparator,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Or,
    children,
    columns_of,
    type_of,
    walk,
)
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.tree.nodes import Expression, Path
    from whyscan.tree.types import Type


class Feature(StrEnum):
    """One thing that is true of a part of a predicate."""

    # What kind of condition it is.
    EQUALITY = "="
    INEQUALITY = "<>"
    ORDER = "<, <=, > or >="
    ABOVE = "> or >= a value"
    NULL_SAFE_EQUALITY = "<=>"
    LIST = "IN"
    NOT_IN_LIST = "NOT IN"
    PREFIX = "LIKE 'a%'"
    PATTERN = "LIKE with another pattern"
    EXACT = "LIKE without a wildcard"
    NOT_LIKE = "NOT LIKE"
    CASE_BLIND = "ILIKE"
    IS_NULL = "IS NULL"
    IS_NOT_NULL = "IS NOT NULL"
    BARE_BOOLEAN = "a boolean column by itself"
    BOOLEAN_CALL = "a function that is a condition"
    OTHER_CONDITION = "another condition"
    NOT_INTERPRETED = "a condition that whyscan cannot interpret"
    NEGATED = "NOT before it"
    NULL_IN_LIST = "NULL in the list"
    NAN_LITERAL = "NaN as a literal"
    # What an OR is made of.
    OR = "OR"
    OR_OF_COLUMNS = "OR across columns"
    OR_OF_ANDS = "AND inside OR"
    # What the operands are.
    BARE = "a column compared with a value"
    FUNCTION = "a function of a column"
    CAST = "a cast of a column"
    CAST_TO_DATE = "a timestamp cast to a date"
    CAST_OF_NUMBER = "a number cast to another kind of number"
    LOSSY_CAST = "a number cast to a type that may lose digits"
    ARITHMETIC = "arithmetic on a column"
    CASE = "CASE of a column"
    COALESCE = "COALESCE of a column"
    CAST_TO_TEXT = "a cast of a column to text"
    CAST_OF_DATE = "a date cast to a timestamp"
    COLUMN_TO_COLUMN = "two columns compared"
    SEVERAL_COLUMNS = "several columns in one condition"
    # What the columns are.
    NESTED = "a field of a struct"
    PARTITION = "partition columns only"
    DATA = "columns without partition values only"
    MIXED = "partition columns and others"
    TRANSFORMED = "the source of a partition transform"
    # Which types the columns have.
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    STRING = "string"
    BINARY = "binary"
    BOOLEAN = "boolean"
    DATE = "date"
    INSTANT = "timestamp"
    WALL_CLOCK = "timestamp without time zone"
    UUID = "uuid"
    OTHER_TYPE = "another type"


COMPUTED = frozenset(
    {
        Feature.FUNCTION,
        Feature.CAST,
        Feature.ARITHMETIC,
        Feature.CASE,
        Feature.COALESCE,
        Feature.BOOLEAN_CALL,
        Feature.OTHER_CONDITION,
        Feature.NOT_INTERPRETED,
    }
)
"""The features of a part in which something is computed from a column."""

COMPARED = frozenset(
    {
        *(Feature.EQUALITY, Feature.INEQUALITY, Feature.ORDER, Feature.LIST, Feature.PREFIX),
        Feature.PATTERN,
    }
)
"""The features of conditions that are NULL where their column is NULL."""


class ColumnRoles(Struct, frozen=True):
    """The columns of a table whose partition values are the values, and sources of transforms."""

    identity: frozenset[Path]
    transformed: frozenset[Path]


class Part(Struct, frozen=True):
    """The features of a part, its functions and operators, and how many values its list has."""

    features: frozenset[Feature]
    functions: frozenset[str]
    listed: int = 0


def part_of(expression: Expression, roles: ColumnRoles) -> Part:
    """The features of a condition that has no AND and no NOT but before it, or of an OR."""
    columns = columns_of(expression)
    if isinstance(expression, Or):
        return Part(
            frozenset(
                (
                    *_or_features(expression),
                    *_column_features(columns, roles),
                )
            ),
            frozenset(_functions(expression)),
        )
    negated = isinstance(expression, Not)
    condition = expression.operand if isinstance(expression, Not) else expression
    features = {
        *_kind_features(condition, negated=negated),
        *_operand_features(condition),
        *_column_features(columns, roles),
    }
    if negated:
        features.add(Feature.NEGATED)
    if len(columns) > 1:
        features.add(Feature.SEVERAL_COLUMNS)
    listed = len(condition.values) if isinstance(condition, In) else 0
    return Part(frozenset(features), frozenset(_functions(condition)), listed)


def _or_features(expression: Or) -> Iterator[Feature]:
    yield Feature.OR
    if len({column.path for column in columns_of(expression)}) > 1:
        yield Feature.OR_OF_COLUMNS
    if any(isinstance(operand, And) for operand in expression.operands):
        yield Feature.OR_OF_ANDS


_COMPARISONS = {
    Comparator.EQUAL: Feature.EQUALITY,
    Comparator.NOT_EQUAL: Feature.INEQUALITY,
    Comparator.NULL_SAFE_EQUAL: Feature.NULL_SAFE_EQUALITY,
}


_ABOVE = frozenset({Comparator.GREATER, Comparator.GREATER_EQUAL})


def _kind_features(condition: Expression, *, negated: bool) -> Iterator[Feature]:
    match condition:
        case Comparison(operator=operator):
            kind = _COMPARISONS.get(operator, Feature.ORDER)
            yield Feature.INEQUALITY if negated and kind is Feature.EQUALITY else kind
            if kind is Feature.ORDER and (operator in _ABOVE) != isinstance(
                condition.left, Literal
            ):
                yield Feature.ABOVE
            if any(_is_nan(side) for side in (condition.left, condition.right)):
                yield Feature.NAN_LITERAL
        case Between():
            yield Feature.ORDER
        case In():
            yield Feature.NOT_IN_LIST if negated else Feature.LIST
            if condition.null:
                yield Feature.NULL_IN_LIST
            if condition.nan:
                yield Feature.NAN_LITERAL
        case Like():
            if negated:
                yield Feature.NOT_LIKE
            yield from _pattern_features(condition, negated=negated)
            if condition.ignore_case:
                yield Feature.CASE_BLIND
        case IsNull():
            yield Feature.IS_NOT_NULL if negated else Feature.IS_NULL
        case Column():
            yield Feature.BARE_BOOLEAN
        case Call():
            yield Feature.BOOLEAN_CALL
        case Opaque():
            yield Feature.NOT_INTERPRETED
        case _:
            yield Feature.OTHER_CONDITION


def _pattern_features(like: Like, *, negated: bool) -> Iterator[Feature]:
    """Most engines read a pattern without a wildcard as an equality."""
    if is_prefix(like):
        yield Feature.PREFIX
    elif set(like.pattern) & set("%_\\") or like.ignore_case:
        yield Feature.PATTERN
    else:
        yield Feature.EXACT
        yield Feature.INEQUALITY if negated else Feature.EQUALITY


def _is_nan(expression: Expression) -> bool:
    return (
        isinstance(expression, Literal)
        and isinstance(expression.value, float)
        and expression.value != expression.value
    )


def is_prefix(like: Like) -> bool:
    """A pattern like `ab%`, which engines read as "starts with ab"."""
    head = like.pattern.rstrip("%")
    return head != like.pattern and not set(head) & set("%_\\")


def _operand_features(condition: Expression) -> Iterator[Feature]:
    operands = (condition,) if isinstance(condition, Column) else children(condition)
    sides = [operand for operand in operands if columns_of(operand)]
    if isinstance(condition, Comparison | Between) and len(sides) > 1:
        yield Feature.COLUMN_TO_COLUMN
    for side in sides:
        if column_below(side) is not None:
            yield Feature.BARE
            continue
        for node in walk(side):
            match node:
                case Call():
                    yield Feature.FUNCTION
                case Cast(operand=operand, type=kind):
                    yield Feature.CAST
                    yield from _cast_features(type_of(operand), kind)
                case Arithmetic():
                    yield Feature.ARITHMETIC
                case Case():
                    yield Feature.CASE
                case Coalesce():
                    yield Feature.COALESCE
                case _:
                    pass


def _cast_features(source: Type, target: Type) -> Iterator[Feature]:
    numbers = IntegerType | FloatType | DecimalType
    if isinstance(source, TimestampType) and isinstance(target, DateType):
        yield Feature.CAST_TO_DATE
    if isinstance(source, numbers) and isinstance(target, numbers):
        yield Feature.CAST_OF_NUMBER
    if isinstance(source, numbers) and _may_lose_digits(source, target):
        yield Feature.LOSSY_CAST
    if isinstance(source, DateType) and isinstance(target, TimestampType):
        yield Feature.CAST_OF_DATE
    if isinstance(target, StringType):
        yield Feature.CAST_TO_TEXT


def _may_lose_digits(source: Type, target: Type) -> bool:
    match target:
        case FloatType():
            return not isinstance(source, FloatType)
        case IntegerType(bits=bits):
            return not isinstance(source, IntegerType) or source.bits > bits
        case _:
            return False


def _functions(expression: Expression) -> Iterator[str]:
    """The functions, and the operators of arithmetic, with a column below them."""
    for node in walk(expression):
        if isinstance(node, Call) and columns_of(node):
            yield node.function
        elif isinstance(node, Arithmetic) and columns_of(node):
            yield node.operation.value


def _column_features(columns: tuple[Column, ...], roles: ColumnRoles) -> Iterator[Feature]:
    if not columns:
        return
    partition = [column.path in roles.identity for column in columns]
    yield (
        Feature.PARTITION if all(partition) else Feature.MIXED if any(partition) else Feature.DATA
    )
    for column in columns:
        if len(column.path) > 1:
            yield Feature.NESTED
        if column.path in roles.transformed:
            yield Feature.TRANSFORMED
        yield _type_feature(column.type)


def _type_feature(kind: Type) -> Feature:
    match kind:
        case IntegerType():
            return Feature.INTEGER
        case FloatType():
            return Feature.FLOAT
        case DecimalType():
            return Feature.DECIMAL
        case StringType():
            return Feature.STRING
        case BinaryType():
            return Feature.BINARY
        case BooleanType():
            return Feature.BOOLEAN
        case DateType():
            return Feature.DATE
        case TimestampType(instant=instant):
            return Feature.INSTANT if instant else Feature.WALL_CLOCK
        case UuidType():
            return Feature.UUID
        case _:
            return Feature.OTHER_TYPE
