"""Arithmetic of bound operands: numbers, bits, dates and timestamps with intervals."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.predicate.binding import casts, time_intervals
from whyscan.predicate.binding.calls import call, computed
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily, Division
from whyscan.pruning.functions.folding import folded
from whyscan.tree import zones
from whyscan.tree.coercion import arithmetic_type, as_decimal, exact_digits, is_numeric
from whyscan.tree.literals import MAX_DIGITS, exact_decimal, rounded_decimal
from whyscan.tree.nodes import Arithmetic, Call, Cast, Literal, Operation, type_of, walk
from whyscan.tree.types import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    NullType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Expression

OPERATIONS: dict[type[exp.Expr], Operation] = {
    exp.Add: Operation.ADD,
    exp.Sub: Operation.SUBTRACT,
    exp.Mul: Operation.MULTIPLY,
    exp.Div: Operation.DIVIDE,
    exp.IntDiv: Operation.QUOTIENT,
    exp.Mod: Operation.REMAINDER,
}
_SIMPLE = {Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY}
_DAY_COUNTING = {DialectFamily.POSTGRES, DialectFamily.DUCKDB, DialectFamily.SNOWFLAKE}


def arithmetic(operation: Operation, left: Operand, right: Operand, scope: Scope) -> Expression:
    """Bind `left operation right` with Spark's result type. Two literals give a literal."""
    match (type_of(left.expression), type_of(right.expression)):
        case (IntervalType(), IntervalType()):
            return _interval_sum(operation, left, right)
        case (DateType() | TimestampType(), IntervalType()):
            return add_interval(operation, left, right, scope)
        case (IntervalType(), DateType() | TimestampType()) if operation is Operation.ADD:
            return add_interval(operation, right, left, scope)
        case (DateType(), IntegerType()) if operation in {Operation.ADD, Operation.SUBTRACT}:
            if scope.dialect.family is DialectFamily.OTHER:
                raise Uninterpreted("a date and a number in this dialect")
            return _add_days(operation, left, right, scope)
        case (DateType(), DateType()) if scope.dialect.family in _DAY_COUNTING:
            if operation is Operation.SUBTRACT:
                return Call("datediff", (left.expression, right.expression), INT)
            raise Uninterpreted("arithmetic on dates")
        case (DateType() | TimestampType() | IntervalType(), _):
            raise Uninterpreted("arithmetic on times other than with an interval")
        case (_, DateType() | TimestampType() | IntervalType()):
            raise Uninterpreted("arithmetic on times other than with an interval")
        case _:
            return _numeric(operation, left, right, scope)


def negative(operand: Operand, scope: Scope) -> Expression:
    """`-operand`.

    DuckDB rewrites `-i >= 6` to `i <= -6`, as it rewrites `0 - i >= 6`: the least integer is TRUE.
    """
    match operand.expression:
        case Literal(None, _) as null:
            return null
        case Literal(_, IntervalType()) as interval:
            return time_intervals.negated(interval)
        case expression if (
            not scope.dialect.is_spark
            and isinstance(type_of(expression), IntegerType)
            and not isinstance(expression, Literal)
        ):
            zero: Literal = Literal(0, type_of(expression))
            return arithmetic(Operation.SUBTRACT, Operand(zero, None), operand, scope)
        case expression if is_numeric(type_of(expression)):
            return computed(Call("negative", (expression,), type_of(expression)), scope)
        case Literal(str(), _):
            return negative(
                Operand(casts.implicit_cast(operand, DOUBLE, scope), operand.origin), scope
            )
        case expression:
            raise scope.problem(f"cannot negate {type_of(expression)}", operand)


def positive(operand: Operand, scope: Scope) -> Expression:
    """`positive(operand)`: the operand itself. A string becomes a number."""
    kind = type_of(operand.expression)
    if isinstance(kind, StringType):
        if not scope.dialect.is_spark:
            raise Uninterpreted("the sign of a text")
        return casts.implicit_cast(operand, DOUBLE, scope)
    if not (is_numeric(kind) or isinstance(kind, IntervalType | NullType)):
        raise scope.problem(f"{kind} has no sign", operand)
    return operand.expression


def bits(name: str, operands: Sequence[Operand], scope: Scope) -> Expression:
    """`a & b`, `a | b`, `a ^ b` or `~a` of integers, in the wider type of the two."""
    if not all(isinstance(type_of(o.expression), IntegerType | NullType) for o in operands):
        raise Uninterpreted("bits of what is no integer")
    common = casts.cast_to_common_type(operands, scope)
    if any(isinstance(o, Literal) and o.value is None for o in common.operands):
        return Literal(None, common.type)
    return computed(Call(name, common.operands, common.type), scope)


def _interval_sum(operation: Operation, left: Operand, right: Operand) -> Expression:
    first, second = left.expression, right.expression
    if isinstance(first, Literal) and isinstance(second, Literal):
        if operation is Operation.ADD:
            return time_intervals.total([first, second])
        if operation is Operation.SUBTRACT:
            return time_intervals.total([first, time_intervals.negated(second)])
    raise Uninterpreted("arithmetic on intervals")


def absolute(operand: Operand, scope: Scope) -> Expression:
    """`abs(operand)`. In Snowflake `abs` of the least bigint does not overflow."""
    if scope.dialect.family is DialectFamily.SNOWFLAKE and type_of(operand.expression) == BIGINT:
        operand = _as_38_digits(operand)
    return call("abs", [operand], scope)


def add_interval_keeping_type(
    operation: Operation, moment: Operand, span: Operand, scope: Scope
) -> Expression:
    """A date or timestamp plus or minus an interval. A date plus whole days stays a date."""
    if operation not in {Operation.ADD, Operation.SUBTRACT}:
        raise Uninterpreted("arithmetic on times other than with an interval")
    interval = span.expression
    if not isinstance(interval, Literal):
        raise Uninterpreted("an interval that is no literal")
    start = moment.expression
    whole_days = (
        interval.type == time_intervals.MONTHS
        or time_intervals.integer_value(interval) % zones.DAY == 0
    )
    if type_of(start) == DATE and not whole_days:
        start = casts.implicit_cast(
            moment, TIMESTAMP if scope.dialect.is_spark else TIMESTAMP_NTZ, scope
        )
    if type_of(start) == TIMESTAMP and _may_add_differently(interval, scope):
        raise Uninterpreted("days on a clock that is put forward and back")
    result = Arithmetic(operation, start, interval, type_of(start))
    if not isinstance(start, Literal):
        return result
    moved = folded(result, scope.clock.zone)
    if moved is None:
        raise Uninterpreted("a time out of range")
    return moved


_TIMES_FROM_DATES = {DialectFamily.DUCKDB, DialectFamily.POSTGRES, DialectFamily.BIGQUERY}
"""The families in which a date plus an interval is a timestamp, even for whole days."""


def add_interval(operation: Operation, moment: Operand, span: Operand, scope: Scope) -> Expression:
    """`moment + span` or `moment - span`, with the result type of the operator."""
    result = add_interval_keeping_type(operation, moment, span, scope)
    if type_of(result) == DATE and scope.dialect.family in _TIMES_FROM_DATES:
        return casts.implicit_cast(Operand(result, moment.origin), TIMESTAMP_NTZ, scope)
    return result


def _may_add_differently(interval: Literal, scope: Scope) -> bool:
    """Whether Spark and the dialect may add the interval with different results.

    Spark adds 25 hours as one calendar day and one hour; other dialects add 25 hours. A month is
    a calendar month in all dialects, but the time zone of the calendar may differ.
    """
    if interval.type == time_intervals.MONTHS:
        return scope.clock_differs
    if scope.dialect.is_spark or not scope.clock.zone.transitions:
        return False
    return abs(time_intervals.integer_value(interval)) >= zones.DAY


def _add_days(operation: Operation, date: Operand, days: Operand, scope: Scope) -> Expression:
    match (date.expression, days.expression):
        case (Literal(), Literal(int() as count, _)):
            interval = Operand(time_intervals.of_units(count, "day"), None)
            return add_interval_keeping_type(operation, date, interval, scope)
        case (start, count):
            name = "date_add" if operation is Operation.ADD else "date_sub"
            return Call(name, (start, count), DATE)


def _numeric(operation: Operation, left: Operand, right: Operand, scope: Scope) -> Expression:
    if not scope.dialect.is_spark:
        left, right = _widened_integers(operation, left, right, scope)
    operation, left, right = _division_in_spark(operation, left, right, scope)
    left, right = _from_strings(left, right, scope)
    left, right = _shortest_decimal(left, right), _shortest_decimal(right, left)
    left, right = _typed_null(left, right), _typed_null(right, left)
    first, second = type_of(left.expression), type_of(right.expression)
    if scope.dialect.narrow_floats and first != second and FLOAT in (first, second):
        raise Uninterpreted("arithmetic on floats of two kinds in this dialect")
    kind = arithmetic_type(operation, first, second)
    if kind is None:
        raise scope.problem(f"cannot compute {first} {operation.value} {second}", left)
    if isinstance(kind, DecimalType) and not scope.dialect.is_spark:
        _require_digits(operation, first, second, scope)
    if isinstance(kind, FloatType):
        left = Operand(casts.implicit_cast(left, kind, scope), left.origin)
        right = Operand(casts.implicit_cast(right, kind, scope), right.origin)
    operands = (
        _as_decimal_operand(left.expression, kind),
        _as_decimal_operand(right.expression, kind),
    )
    result = Arithmetic(operation, *operands, kind, may_exceed=not scope.dialect.is_spark)
    return folded(result, scope.clock.zone) or result


def _widened_integers(
    operation: Operation, left: Operand, right: Operand, scope: Scope
) -> tuple[Operand, Operand]:
    """Operands with integers as wide as in any dialect, so that no valid result overflows.

    A dialect with narrower integers raises an error, and an error loses no row.
    """
    both = (left.expression, right.expression)
    constant = all(isinstance(expression, Literal) for expression in both)
    if scope.dialect.family is DialectFamily.OTHER and not constant:
        raise Uninterpreted("arithmetic in this dialect")
    if scope.dialect.wide_integers or constant:
        wide = _as_bigint(left), _as_bigint(right)
    else:
        wide = _call_as_bigint(left), _call_as_bigint(right)
    long = any(type_of(expression) == BIGINT for expression in both)
    if (
        scope.dialect.family is DialectFamily.SNOWFLAKE
        and long
        and operation in _SIMPLE
        and not constant
    ):
        return _as_38_digits(wide[0]), _as_38_digits(wide[1])
    return wide


def _call_as_bigint(operand: Operand) -> Operand:
    """An operand with a function call as bigint: some dialects return bigint, Spark int."""
    called = any(isinstance(node, Call) for node in walk(operand.expression))
    return _as_bigint(operand) if called else operand


def _as_38_digits(operand: Operand) -> Operand:
    """An integer operand as a decimal: integers of Snowflake have 38 digits."""
    match (operand.expression, type_of(operand.expression)):
        case (Literal(int() as value, _), IntegerType()):
            return Operand(exact_decimal(Decimal(value)), operand.origin)
        case (expression, IntegerType() as kind):
            return Operand(Cast(expression, as_decimal(kind)), operand.origin)
        case _:
            return operand


_BIGQUERY_DIGITS = (29, 9)


def _require_digits(operation: Operation, first: Type, second: Type, scope: Scope) -> None:
    """Raise Uninterpreted if a decimal result may be rounded or overflow: limits differ."""
    if DecimalType not in map(type, (first, second)):
        return
    needed = exact_digits(operation, as_decimal(first), as_decimal(second))
    if sum(needed) > MAX_DIGITS:
        raise Uninterpreted("decimals of more digits than 38")
    limits = _BIGQUERY_DIGITS if scope.dialect.family is DialectFamily.BIGQUERY else needed
    if needed > limits or needed[1] > limits[1]:
        raise Uninterpreted("decimals of more digits than the dialect has")


def _as_bigint(operand: Operand) -> Operand:
    kind = type_of(operand.expression)
    if not isinstance(kind, IntegerType) or kind == BIGINT:
        return operand
    match operand.expression:
        case Literal(value, _):
            return Operand(Literal(value, BIGINT), operand.origin)
        case narrow:
            return Operand(Cast(narrow, BIGINT), operand.origin)


def _typed_null(operand: Operand, other: Operand) -> Operand:
    """An untyped NULL with the type of the other operand, if that is a number."""
    kind = type_of(other.expression)
    if isinstance(type_of(operand.expression), NullType) and is_numeric(kind):
        return Operand(Literal(None, kind), operand.origin)
    return operand


def _division_in_spark(
    operation: Operation, left: Operand, right: Operand, scope: Scope
) -> tuple[Operation, Operand, Operand]:
    """The operation and operands that give in Spark the division of the dialect."""
    kinds = (type_of(left.expression), type_of(right.expression))
    both_integers = all(isinstance(kind, IntegerType) for kind in kinds)
    floating = any(isinstance(kind, FloatType) for kind in kinds)
    division = scope.dialect.division
    if operation not in {Operation.DIVIDE, Operation.QUOTIENT, Operation.REMAINDER}:
        return operation, left, right
    if division is Division.UNKNOWN or (operation is Operation.QUOTIENT and not both_integers):
        raise Uninterpreted("division in this dialect")
    fractional = floating or (operation is Operation.DIVIDE and division is Division.NULLABLE)
    if (
        fractional
        and scope.dialect.floats_divide_by_zero
        and not _is_nonzero_literal(right.expression)
    ):
        raise Uninterpreted("division by what may be zero")
    if division is Division.NULLABLE and not is_numeric(kinds[1]):
        raise Uninterpreted("division by text")
    if division is Division.NULLABLE:
        right = Operand(_null_if_zero(right.expression), right.origin)
    if operation is not Operation.DIVIDE or scope.dialect.is_spark or floating:
        return operation, left, right
    return _divided_exact(left, right, scope)


def _is_nonzero_literal(divisor: Expression) -> bool:
    return isinstance(divisor, Literal) and divisor.value not in {None, 0}


def _divided_exact(
    left: Operand, right: Operand, scope: Scope
) -> tuple[Operation, Operand, Operand]:
    """`/` of integers and decimals in other dialects than Spark."""
    both_integers = all(isinstance(type_of(o.expression), IntegerType) for o in (left, right))
    match scope.dialect.division:
        case Division.NULLABLE:
            left, right = (
                Operand(casts.implicit_cast(o, DOUBLE, scope), o.origin) for o in (left, right)
            )
            return Operation.DIVIDE, left, right
        case Division.TRUNCATED if both_integers:
            _require_integers((left, right), scope)
            return Operation.QUOTIENT, left, right
        case Division.FRACTIONAL if both_integers:
            return Operation.DIVIDE, left, right
        case _:
            raise Uninterpreted("division of decimals in this dialect")


_INTEGERS_IN_POSTGRES = {
    *("abs", "datediff", "greatest", "instr", "least", "length", "negative", "nullif"),
    "octet_length",
}


def _require_integers(operands: tuple[Operand, ...], scope: Scope) -> None:
    """Raise Uninterpreted for a call that returns an integer in Spark but not in Postgres."""
    if scope.dialect.family is not DialectFamily.POSTGRES:
        return
    for operand in operands:
        for node in walk(operand.expression):
            if isinstance(node, Call) and node.function not in _INTEGERS_IN_POSTGRES:
                raise Uninterpreted("division of what may be no integer")


def _null_if_zero(divisor: Expression) -> Expression:
    kind = type_of(divisor)
    if isinstance(divisor, Literal):
        return Literal(None, kind) if divisor.value == 0 else divisor
    zero: Literal = Literal(0, kind)
    if isinstance(kind, FloatType):
        zero = Literal(0.0, kind)
    elif isinstance(kind, DecimalType):
        zero = Literal(rounded_decimal(Decimal(0), kind), kind)
    return Call("nullif", (divisor, zero), kind)


def _from_strings(left: Operand, right: Operand, scope: Scope) -> tuple[Operand, Operand]:
    """A string becomes a bigint if the other operand is an integer, else a double."""
    first, second = type_of(left.expression), type_of(right.expression)
    if isinstance(first, StringType):
        target = BIGINT if isinstance(second, IntegerType) else DOUBLE
        left = Operand(casts.implicit_cast(left, target, scope), left.origin)
    if isinstance(second, StringType):
        target = BIGINT if isinstance(first, IntegerType) else DOUBLE
        right = Operand(casts.implicit_cast(right, target, scope), right.origin)
    return left, right


def _shortest_decimal(operand: Operand, other: Operand) -> Operand:
    """In `price * 2` the literal becomes decimal(1,0), and not decimal(10,0) as an int."""
    match (operand.expression, type_of(other.expression)):
        case (Literal(int() as value, IntegerType()), DecimalType()):
            return Operand(exact_decimal(Decimal(value)), operand.origin)
        case _:
            return operand


def _as_decimal_operand(expression: Expression, result: Type) -> Expression:
    kind = type_of(expression)
    if isinstance(result, DecimalType) and isinstance(kind, IntegerType):
        return Cast(expression, as_decimal(kind))
    return expression
