"""Functions of dates and times: the calls of each dialect as calls of Spark."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import TypeProblem
from whyscan.predicate.binding import arithmetic, casts, date_formats, time_intervals
from whyscan.predicate.binding.arguments import Arguments, without_origin
from whyscan.predicate.binding.calls import call
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.pruning.functions.folding import folded
from whyscan.tree import time_text, zones
from whyscan.tree.coercion import is_numeric
from whyscan.tree.nodes import Arithmetic, Call, CastFailure, Literal, Operation, type_of
from whyscan.tree.types import (
    BIGINT,
    DATE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DateType,
    DecimalType,
    IntegerType,
    IntervalType,
    StringType,
    TimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type

_UNITS = {
    **dict.fromkeys(("year", "years", "yyyy", "yy", "y"), "year"),
    **dict.fromkeys(("quarter", "quarters", "qtr"), "quarter"),
    **dict.fromkeys(("month", "months", "mon", "mm"), "month"),
    **dict.fromkeys(("week", "weeks"), "week"),
    **dict.fromkeys(("day", "days", "dd"), "day"),
    **dict.fromkeys(("hour", "hours"), "hour"),
    **dict.fromkeys(("minute", "minutes"), "minute"),
    **dict.fromkeys(("second", "seconds"), "second"),
    **dict.fromkeys(("millisecond", "milliseconds"), "millisecond"),
    **dict.fromkeys(("microsecond", "microseconds"), "microsecond"),
}
_DATE_UNITS = {"year", "quarter", "month", "week", "day"}
_DEFAULT_FORMAT = "yyyy-MM-dd HH:mm:ss"
_LAST_YEAR = 9999
_WITH_ZONE = 7

UNIT_WORDS = frozenset(_UNITS) | {
    "dow",
    "doy",
    "isoweek",
    "isodow",
    "epoch",
    "dayofweek",
    "dayofyear",
}
"""Words without quotes that are units of time and not columns."""


def unit_named(word: str) -> str:
    """The unit of time for one of its names."""
    unit = _UNITS.get(word.lower())
    if unit is None:
        raise Uninterpreted(f"the unit {word!r}")
    return unit


def current_date(scope: Scope) -> Literal:
    return Literal(scope.clock.today(), DATE)


def current_timestamp(scope: Scope) -> Literal:
    return Literal(scope.clock.instant(), TIMESTAMP)


def local_timestamp(scope: Scope) -> Literal:
    return Literal(scope.clock.wall(), TIMESTAMP_NTZ)


def truncate_to_timestamp(unit: str, moment: Operand, scope: Scope) -> Expression:
    """`date_trunc` of Spark, which gives a timestamp also for a date."""
    return call("date_trunc", (_string_operand(unit), moment), scope)


def truncate_keeping_type(unit: str, moment: Operand, scope: Scope) -> Expression:
    """`date_trunc` of other dialects, in which a date stays a date.

    Spark's `trunc` of a date has no unit below the week; truncation to the day is the date itself.
    """
    if not isinstance(type_of(moment.expression), DateType):
        return truncate_to_timestamp(unit, moment, scope)
    if unit not in _DATE_UNITS:
        raise Uninterpreted(f"a date cut to the {unit}")
    cut = (
        moment.expression
        if unit == "day"
        else call("trunc", (moment, _string_operand(unit)), scope)
    )
    kind = _CUT_DATES.get(scope.dialect.family)
    return cut if kind is None else casts.implicit_cast(Operand(cut, moment.origin), kind, scope)


_CUT_DATES = {DialectFamily.DUCKDB: TIMESTAMP_NTZ, DialectFamily.POSTGRES: TIMESTAMP}
"""The result type of `date_trunc` of a date, in the families in which it is not a date."""


def _string_operand(text: str) -> Operand:
    return without_origin(Literal(text, STRING))


def date_trunc_spark(arguments: Arguments) -> Expression:
    """`date_trunc('MONTH', ts)`. A timestamp without a zone is cast to an instant first."""
    unit = unit_named(arguments.expect(2).text(0))
    moment = arguments.operand(1)
    kind = type_of(moment.expression)
    if isinstance(kind, TimestampType):
        instant = casts.implicit_cast(moment, replace(kind, instant=True), arguments.scope)
        moment = replace(moment, expression=instant)
    return truncate_to_timestamp(unit, moment, arguments.scope)


def date_trunc(arguments: Arguments) -> Expression:
    """`date_trunc('month', ts)`. Weeks start on Monday."""
    unit = unit_named(arguments.expect(2).word(0))
    return truncate_keeping_type(unit, arguments.operand(1), arguments.scope)


def date_trunc_without_weeks(arguments: Arguments) -> Expression:
    """`date_trunc` of Snowflake, where a setting decides on which day a week starts."""
    if unit_named(arguments.expect(2).word(0)) == "week":
        raise Uninterpreted("weeks whose first day is a setting")
    return date_trunc(arguments)


def date_trunc_bigquery(arguments: Arguments) -> Expression:
    """`date_trunc(d, MONTH)`, `timestamp_trunc(ts, DAY)`. ISOWEEK starts on Monday."""
    word = arguments.expect(2).word(1)
    if word == "week":
        raise Uninterpreted("weeks from Sunday")
    unit = "week" if word == "isoweek" else unit_named(word)
    return truncate_keeping_type(unit, arguments.operand(0), arguments.scope)


def trunc_spark(arguments: Arguments) -> Expression:
    """`trunc(date, 'MM')`."""
    unit = unit_named(arguments.expect(2).text(1))
    if unit not in _DATE_UNITS - {"day"}:
        raise Uninterpreted(f"a date cut to the {unit}")
    return call("trunc", (arguments.operand(0), _string_operand(unit)), arguments.scope)


def read(target: Type, *counts: int, numbers: bool = True) -> Callable[[Arguments], Expression]:
    """A builder for `to_date(x)` and `to_timestamp(x)`: CAST. By a format only literals are read.

    Snowflake reads numbers in another way than Spark, and Postgres needs a format.
    """

    def build(arguments: Arguments) -> Expression:
        arguments.expect(*(counts or (1, 2)))
        if not numbers:
            _refuse_numbers(arguments)
        return _cast_or_read(arguments, target)

    return build


def _refuse_numbers(arguments: Arguments) -> None:
    kind = type_of(arguments.operand(0).expression)
    if not isinstance(kind, StringType | DateType | TimestampType):
        raise Uninterpreted(f"a time made of {kind}")


def _cast_or_read(arguments: Arguments, target: Type) -> Expression:
    operand, scope = arguments.operand(0), arguments.scope
    if target == DATE and is_numeric(type_of(operand.expression)):
        raise Uninterpreted("the text of a number read as a date")
    if len(arguments) == 1:
        return casts.explicit_cast(operand, target, CastFailure.RAISE, scope)
    match operand.expression:
        case Literal(None, _):
            return Literal(None, target)
        case Literal(str() as text, _):
            wall = _read_literal(text, arguments.text(1), arguments)
            converted = casts.of_wall(wall, target, scope)
            if converted is not None:
                return converted
        case _:
            pass
    raise Uninterpreted("a time read by a format")


def _read_literal(text: str, pattern: str, arguments: Arguments) -> int:
    """The wall time, in microseconds, of a literal with a format.

    Spark refuses a text that does not follow the format; Postgres and Snowflake may accept it.
    """
    scope = arguments.scope
    match scope.dialect.family:
        case DialectFamily.SPARK:
            wall = date_formats.parse_by_format(pattern, text)
            if wall is None:
                raise scope.problem(f"{text!r} does not follow {pattern!r}", arguments.operand(0))
        case DialectFamily.POSTGRES | DialectFamily.SNOWFLAKE:
            wall = date_formats.parse_by_format(date_formats.java_from_oracle(pattern), text)
        case _:
            wall = None
    if wall is None:
        raise Uninterpreted("a time read by a format")
    return wall


def unix_timestamp(arguments: Arguments) -> Expression:
    """`unix_timestamp(x, format)`: seconds of a date, timestamp or string literal.

    Without arguments it is the current time. The format only applies to strings.
    """
    scope = arguments.scope
    if len(arguments) == 0:
        return call("unix_timestamp", [without_origin(current_timestamp(scope))], scope)
    operand = arguments.expect(1, 2).operand(0)
    match operand.expression:
        case Literal(str() as text, _):
            pattern = arguments.text(1) if len(arguments) > 1 else _DEFAULT_FORMAT
            wall = Literal(_read_literal(text, pattern, arguments), TIMESTAMP_NTZ)
            operand = without_origin(casts.implicit_cast(without_origin(wall), TIMESTAMP, scope))
        case expression if isinstance(type_of(expression), StringType):
            raise Uninterpreted("a time read by a format")
        case _:
            pass
    return call("unix_timestamp", [operand], scope)


def make_date(arguments: Arguments) -> Expression:
    """`make_date(2024, 3, 1)`. For an invalid date Spark raises an error."""
    date = call("make_date", arguments.expect(3).operands(), arguments.scope)
    if isinstance(date, Call) and all(isinstance(a, Literal) for a in date.arguments):
        raise Uninterpreted("a date that is none")
    return date


def try_to_read(target: Type) -> Callable[[Arguments], Expression]:
    """A builder for `try_to_date(x)`: TRY_CAST. By a format only literals are read."""

    def build(arguments: Arguments) -> Expression:
        if len(arguments.expect(1, 2)) > 1:
            try:
                return _cast_or_read(arguments, target)
            except TypeProblem as problem:
                raise Uninterpreted("a time read by a format") from problem
        return casts.explicit_cast(arguments.operand(0), target, CastFailure.NULL, arguments.scope)

    return build


def make_timestamp(target: Type) -> Callable[[Arguments], Expression]:
    """A builder for `make_timestamp(2024, 3, 1, 12, 30, 15.5, zone)` of literals."""

    def build(arguments: Arguments) -> Expression:
        wall = _wall_of_parts(arguments.expect(*((6, 7) if target == TIMESTAMP else (6,))))
        if len(arguments) == _WITH_ZONE:
            zone = zones.find_zone(arguments.text(6))
            if zone is None:
                raise Uninterpreted("a zone that is none")
            return Literal(zones.to_instant(wall, zone), target)
        converted = casts.of_wall(wall, target, arguments.scope)
        if converted is None:
            raise Uninterpreted("a time that is none")
        return converted

    return build


def _wall_of_parts(arguments: Arguments) -> int:
    """The wall time of six numbers, year to second, in microseconds."""
    year, month, day, hour, minute = (arguments.integer(i) for i in range(5))
    match arguments.operand(5).expression:
        case Literal(int() | Decimal() as seconds, IntegerType() | DecimalType()):
            fraction = int(seconds % 1 * zones.SECOND)
        case _:
            raise Uninterpreted("seconds that are no literal")
    timestamp = None
    if 0 <= year <= _LAST_YEAR and min(month, day, hour, minute, seconds) >= 0:
        text = f"{year:04}-{month}-{day} {hour}:{minute}:{int(seconds)}"
        timestamp = time_text.read_timestamp(text)
    if timestamp is None or timestamp.day is None or seconds != round(seconds, 6):
        raise Uninterpreted("a time that is none")
    return timestamp.day * zones.DAY + timestamp.nanoseconds // 1000 + fraction


def zone_shift(name: str) -> Callable[[Arguments], Expression]:
    """A builder for `from_utc_timestamp(ts, zone)`. `ts` is cast to an instant first."""

    def build(arguments: Arguments) -> Expression:
        moment, zone = arguments.expect(2).operands()
        instant = casts.implicit_cast(moment, TIMESTAMP, arguments.scope)
        return call(name, (Operand(instant, moment.origin), zone), arguments.scope)

    return build


def from_unixtime_spark(arguments: Arguments) -> Expression:
    """Spark's `from_unixtime(seconds)`: text in the time zone of the session."""
    pattern = arguments.text(1) if len(arguments.expect(1, 2)) > 1 else _DEFAULT_FORMAT
    return call("from_unixtime", (arguments.operand(0), _string_operand(pattern)), arguments.scope)


def from_unixtime_trino(arguments: Arguments) -> Expression:
    """Trino's `from_unixtime(seconds)`: a timestamp. Fractions are cut to milliseconds there."""
    operand = arguments.expect(1).operand(0)
    if not isinstance(type_of(operand.expression), IntegerType):
        raise Uninterpreted("a fraction of seconds")
    return call("timestamp_seconds", [operand], arguments.scope)


def formatted(
    to_java: Callable[[str], str] = str, *, numbers: bool = True
) -> Callable[[Arguments], Expression]:
    """A builder for `date_format(x, format)`; `to_java` translates the format to Java's letters."""

    def build(arguments: Arguments) -> Expression:
        pattern = to_java(arguments.expect(2).text(1))
        if not numbers:
            _refuse_numbers(arguments)
        operands = (arguments.operand(0), _string_operand(pattern))
        return call("date_format", operands, arguments.scope)

    return build


strftime = formatted(date_formats.java_from_c)
"""DuckDB's `strftime(value, format)`, whose format has the letters of C."""


def format_bigquery(arguments: Arguments) -> Expression:
    """`format_date('%Y-%m', d)`."""
    return strftime(arguments.expect(2).reordered(1, 0))


def date_add_spark(arguments: Arguments) -> Expression:
    """`date_add(d, 7)`, or `date_add(DAY, 7, ts)` as `timestampadd`."""
    if len(arguments.expect(2, 3)) > 2:  # noqa: PLR2004
        return timestampadd(arguments)
    return call("date_add", arguments.operands(), arguments.scope)


def timestampadd(arguments: Arguments) -> Expression:
    """`timestampadd(DAY, 7, x)`: a timestamp for any type of x.

    Days are calendar days, as in `x + INTERVAL 24 HOURS`; `timestampadd(HOUR, 24, x)` adds 24
    hours of real time (measured).
    """
    interval = _interval(arguments.expect(3), 1, 0)
    moment, scope = arguments.operand(2), arguments.scope
    kind = type_of(moment.expression)
    target = kind if isinstance(kind, TimestampType) else TIMESTAMP
    start = Operand(casts.implicit_cast(moment, target, scope), moment.origin)
    match interval.expression:
        case Literal(int() as span, _) if _is_real_time(span, start, arguments.word(0)):
            micros = without_origin(call("unix_micros", [start], scope))
            later = arithmetic.arithmetic(
                Operation.ADD, micros, without_origin(Literal(span, BIGINT)), scope
            )
            return call("timestamp_micros", [without_origin(later)], scope)
        case _:
            return arithmetic.arithmetic(Operation.ADD, start, interval, scope)


def _is_real_time(span: int, start: Operand, unit: str) -> bool:
    kind = type_of(start.expression)
    if unit_named(unit) in _DATE_UNITS or abs(span) < zones.DAY or kind == TIMESTAMP_NTZ:
        return False
    if kind != TIMESTAMP:
        raise Uninterpreted("hours of nanoseconds")
    return True


def date_add_units(arguments: Arguments) -> Expression:
    """Trino's `date_add('day', 7, x)`, Snowflake's `dateadd(day, 7, x)`."""
    interval = _interval(arguments.expect(3), 1, 0)
    return _add_or_subtract(Operation.ADD, arguments.operand(2), interval, arguments.scope)


def moved(operation: Operation) -> Callable[[Arguments], Expression]:
    """A builder for `date_add(x, INTERVAL 7 DAY)` and `date_sub`."""

    def build(arguments: Arguments) -> Expression:
        moment, interval = arguments.expect(2).operands()
        return _add_or_subtract(operation, moment, interval, arguments.scope)

    return build


def _add_or_subtract(
    operation: Operation, moment: Operand, interval: Operand, scope: Scope
) -> Expression:
    if not isinstance(type_of(moment.expression), DateType | TimestampType):
        raise Uninterpreted("a time made of text")
    if not isinstance(type_of(interval.expression), IntervalType):
        raise Uninterpreted("a time and something else than an interval")
    if scope.dialect.family is DialectFamily.DUCKDB:
        return arithmetic.add_interval(operation, moment, interval, scope)
    return arithmetic.add_interval_keeping_type(operation, moment, interval, scope)


def _interval(arguments: Arguments, count: int, unit: int) -> Operand:
    return without_origin(
        time_intervals.of_units(arguments.integer(count), unit_named(arguments.word(unit)))
    )


def datediff_spark(arguments: Arguments) -> Expression:
    """`datediff(end, start)`. With a unit only days between dates are interpreted."""
    if len(arguments.expect(2, 3)) > 2:  # noqa: PLR2004
        return datediff_full(arguments)
    return call("datediff", arguments.operands(), arguments.scope)


def datediff_full(arguments: Arguments) -> Expression:
    """`date_diff('day', start, end)` in complete days; only for dates."""
    _require_days(arguments.expect(3).word(0))
    return _days_between_dates(arguments.operand(1), arguments.operand(2), arguments.scope)


def datediff_borders(arguments: Arguments) -> Expression:
    """`date_diff('day', start, end)`: the number of midnights between the two."""
    _require_days(arguments.expect(3).word(0))
    return call("datediff", (arguments.operand(2), arguments.operand(1)), arguments.scope)


def datediff_duckdb(arguments: Arguments) -> Expression:
    """DuckDB's `date_diff('day', start, end)`; of instants only where no clock is changed.

    DuckDB counts from first hour to first hour: a day that begins at 01:00 makes it a day less.
    """
    ends = [type_of(arguments.expect(3).operand(at).expression) for at in (1, 2)]
    if TIMESTAMP in ends and arguments.scope.clock.zone.transitions:
        raise Uninterpreted("days between instants in a time zone that changes its clocks")
    return datediff_borders(arguments)


def datediff_bigquery(arguments: Arguments) -> Expression:
    """`date_diff(end, start, DAY)`."""
    _require_days(arguments.expect(3).word(2))
    end, start = arguments.operand(0), arguments.operand(1)
    return _days_between_dates(start, end, arguments.scope)


def _days_between_dates(start: Operand, end: Operand, scope: Scope) -> Expression:
    if not all(type_of(o.expression) == DATE for o in (start, end)):
        raise Uninterpreted("whole days between timestamps")
    return call("datediff", (end, start), scope)


def _require_days(word: str) -> None:
    if unit_named(word) != "day":
        raise Uninterpreted(f"a difference in {word}")


def shifted_part(operation: Operation, name: str, operand: Operand, scope: Scope) -> Expression:
    """The function plus or minus one, for a dialect that counts from another number."""
    shifted = Arithmetic(operation, call(name, [operand], scope), Literal(1, INT), INT)
    return folded(shifted, scope.clock.zone) or shifted
