"""Every temporal function as data: its tree, its SQL, and what the reference says it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time

from pruning.functions.time import reference as ref
from pruning.functions.time.reference import DAY, SECOND
from whyscan.tree.nodes import Arithmetic, Call, Cast, Column, Expression, Literal, Operation
from whyscan.tree.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    IntervalType,
    Type,
)

ZONES = (
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Toronto",
    "Europe/Dublin",
    "Asia/Kathmandu",
    "Africa/Monrovia",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "UTC",
    "+05:30",
)

Answer = Callable[[int, str], object]


@dataclass(frozen=True)
class Case:
    """`expression` over the column x of type `source`; `{x}` in `sql`; `answer(value, zone)`.

    Where it is `exact`, one value gives one point.
    """

    name: str
    expression: Expression
    sql: str
    answer: Answer
    exact: bool = True

    @property
    def column(self) -> Column:
        return COLUMNS[self.name.split()[0]]


COLUMNS = {
    "instant": Column(("x",), TIMESTAMP),
    "wall": Column(("x",), TIMESTAMP_NTZ),
    "date": Column(("x",), DATE),
    "number": Column(("x",), BIGINT),
}
INSTANT, WALL, DAYS, NUMBER = COLUMNS.values()
MONTHS, SPAN = IntervalType(months=True), IntervalType(months=False)


def text(value: str) -> Literal:
    return Literal(value, STRING)


def span(interval: str) -> str:
    """An interval's microseconds in SQL."""
    units = {"day": DAY, "hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND}
    return " + ".join(f"extract({unit} from {interval}) * {n}L" for unit, n in units.items())


LEAP_DAY = 1_709_208_000_000_000
"""2024-02-29 12:00 in UTC."""


def months_between(later: int, earlier: int, zone: str) -> float:
    """Whole months on the same day of the month and from end to end; else 31 days are a month.

    The time of day is the time since midnight, which is not what a clock shows that was changed.
    """
    first, second = (ref.reading(instant, zone).date() for instant in (later, earlier))
    months = (first.year - second.year) * 12 + first.month - second.month
    if first.day == second.day or all(ref.last_day(day) == day for day in (first, second)):
        return float(months)
    midnights = [ref.instant_of(datetime.combine(d, time.min), zone) for d in (first, second)]
    seconds = [(i - start) // SECOND for i, start in zip((later, earlier), midnights, strict=True)]
    days = first.day - second.day
    return round(months + (days * 86400 + seconds[0] - seconds[1]) / (31 * 86400), 8)


def call(function: str, kind: Type, *arguments: Expression) -> Call:
    return Call(function, arguments, kind)


def days(read: Callable[[object], object]) -> dict[str, Answer]:
    """A function of a date, asked of a date, of an instant and of a wall clock."""
    return {
        "date": lambda value, _: read(ref.date_of(value)),
        "instant": lambda value, zone: read(ref.reading(value, zone).date()),
        "wall": lambda value, _: read(ref.wall_of(value).date()),
    }


def clock(read: Callable[[object], object]) -> dict[str, Answer]:
    """A function of the time of day, asked of an instant and of a wall clock."""
    return {
        "instant": lambda value, zone: read(ref.reading(value, zone)),
        "wall": lambda value, _: read(ref.wall_of(value)),
    }


def number_of(day: object) -> int:
    return (day - ref.EPOCH_DATE).days


FIELDS = {
    "year": days(lambda d: d.year),
    "quarter": days(lambda d: (d.month + 2) // 3),
    "month": days(lambda d: d.month),
    "day": days(lambda d: d.day),
    "dayofyear": days(lambda d: d.timetuple().tm_yday),
    "dayofweek": days(lambda d: d.isoweekday() % 7 + 1),
    "weekday": days(lambda d: d.weekday()),
    "weekofyear": days(lambda d: d.isocalendar()[1]),
    "hour": clock(lambda w: w.hour),
    "minute": clock(lambda w: w.minute),
    "second": clock(lambda w: w.second),
}


def field_cases() -> list[Case]:
    return [
        Case(f"{source} {name}", call(name, INT, COLUMNS[source]), f"{name}({{x}})", answer)
        for name, answers in FIELDS.items()
        for source, answer in answers.items()
    ]


def truncation_cases() -> list[Case]:
    units = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")
    whole = ("year", "quarter", "month", "week")
    return [
        *(
            Case(
                f"instant date_trunc {unit}",
                call("date_trunc", TIMESTAMP, text(unit), INSTANT),
                f"date_trunc('{unit}', {{x}})",
                lambda value, zone, unit=unit: ref.date_trunc(value, zone, unit),
            )
            for unit in units
        ),
        *(
            Case(
                f"wall date_trunc {unit}",
                call("date_trunc", TIMESTAMP, text(unit), Cast(WALL, TIMESTAMP)),
                f"date_trunc('{unit}', {{x}})",
                lambda value, zone, unit=unit: ref.date_trunc(
                    ref.instant_of(ref.wall_of(value), zone), zone, unit
                ),
            )
            for unit in ("month", "day", "hour")
        ),
        *(
            Case(
                f"date trunc {unit}",
                call("trunc", DATE, DAYS, text(unit.upper())),
                f"trunc({{x}}, '{unit}')",
                lambda value, _, unit=unit: number_of(ref.first_day(ref.date_of(value), unit)),
            )
            for unit in whole
        ),
    ]


def moved_cases() -> list[Case]:
    spans = (1, SECOND, 3 * 3600 * SECOND, DAY, 25 * 3600 * SECOND, 100 * DAY)
    plus, minus = Operation.ADD, Operation.SUBTRACT
    return [
        *(
            Case(
                f"instant + {months} months",
                Arithmetic(plus, INSTANT, Literal(months, MONTHS), TIMESTAMP),
                f"{{x}} + make_ym_interval(0, {months})",
                lambda v, zone, months=months: ref.timestamp_plus_months(v, zone, months),
            )
            for months in (-13, -1, 1, 6)
        ),
        *(
            Case(
                f"instant - {span} us",
                Arithmetic(minus, INSTANT, Literal(span, SPAN), TIMESTAMP),
                f"{{x}} - make_dt_interval({span // DAY}, 0, 0, {span % DAY / SECOND:.6f}BD)",
                lambda v, zone, span=span: ref.timestamp_plus_micros(v, zone, -span),
            )
            for span in spans
        ),
        Case(
            "wall + months",
            Arithmetic(plus, WALL, Literal(1, MONTHS), TIMESTAMP_NTZ),
            "{x} + interval 1 month",
            lambda v, _: (
                v + DAY * (number_of(ref.plus_months(ref.date_of(v // DAY), 1)) - v // DAY)
            ),
        ),
        Case(
            "date + months",
            Arithmetic(plus, DAYS, Literal(1, MONTHS), DATE),
            "{x} + interval 1 month",
            lambda v, _: number_of(ref.plus_months(ref.date_of(v), 1)),
        ),
        Case(
            "date - days",
            Arithmetic(minus, DAYS, Literal(3 * DAY, SPAN), DATE),
            "{x} - interval 3 day",
            lambda v, _: v - 3,
        ),
        Case(
            "date + 5", Arithmetic(plus, DAYS, Literal(5, INT), DATE), "{x} + 5", lambda v, _: v + 5
        ),
        Case(
            "date add_months",
            call("add_months", DATE, DAYS, Literal(-12, INT)),
            "add_months({x}, -12)",
            lambda v, _: number_of(ref.plus_months(ref.date_of(v), -12)),
        ),
        Case(
            "date minus date",
            Arithmetic(minus, Literal(10, DATE), DAYS, SPAN),
            "(unix_date(date'1970-01-11') - unix_date({x})) * 86400000000L",
            lambda v, _: (10 - v) * DAY,
        ),
        Case(
            "instant minus instant",
            Arithmetic(minus, INSTANT, Literal(0, TIMESTAMP), SPAN),
            span("{x} - timestamp_micros(0)"),
            lambda v, zone: ref.micros(ref.reading(v, zone)) - ref.micros(ref.reading(0, zone)),
        ),
    ]


def date_cases() -> list[Case]:
    return [
        Case(
            "date last_day",
            call("last_day", DATE, DAYS),
            "last_day({x})",
            days(lambda d: number_of(ref.last_day(d)))["date"],
        ),
        Case(
            "date date_add",
            call("date_add", DATE, DAYS, Literal(40, INT)),
            "date_add({x}, 40)",
            lambda v, _: v + 40,
        ),
        Case(
            "date date_sub",
            call("date_sub", DATE, DAYS, Literal(40, INT)),
            "date_sub({x}, 40)",
            lambda v, _: v - 40,
        ),
        Case(
            "date datediff",
            call("datediff", INT, Literal(99, DATE), DAYS),
            "datediff(date_from_unix_date(99), {x})",
            lambda v, _: 99 - v,
        ),
        *(
            Case(
                f"date next_day {name}",
                call("next_day", DATE, DAYS, text(name)),
                f"next_day({{x}}, '{name}')",
                lambda v, _, weekday=weekday: next(
                    v + n for n in range(1, 8) if (v + n + 3) % 7 == weekday
                ),
            )
            for name, weekday in (("MON", 0), ("th", 3), ("Sunday", 6))
        ),
        Case("date unix_date", call("unix_date", INT, DAYS), "unix_date({x})", lambda v, _: v),
        Case(
            "date unix_timestamp",
            call("unix_timestamp", BIGINT, DAYS),
            "unix_timestamp({x})",
            lambda v, zone: int(ref.start_of_day(ref.date_of(v), zone) / SECOND),
        ),
        Case(
            "instant unix_seconds",
            call("unix_seconds", BIGINT, INSTANT),
            "unix_seconds({x})",
            lambda v, _: v // SECOND,
        ),
        Case(
            "instant unix_millis",
            call("unix_millis", BIGINT, INSTANT),
            "unix_millis({x})",
            lambda v, _: v // 1000,
        ),
        Case(
            "instant unix_micros",
            call("unix_micros", BIGINT, INSTANT),
            "unix_micros({x})",
            lambda v, _: v,
        ),
        Case(
            "instant unix_timestamp",
            call("unix_timestamp", BIGINT, INSTANT),
            "unix_timestamp({x})",
            lambda v, _: abs(v) // SECOND * (1 if v > 0 else -1),
        ),
        Case(
            "wall unix_timestamp",
            call("unix_timestamp", BIGINT, WALL),
            "unix_timestamp({x})",
            lambda v, _: abs(v) // SECOND * (1 if v > 0 else -1),
        ),
        Case(
            "number timestamp_seconds",
            call("timestamp_seconds", TIMESTAMP, NUMBER),
            "timestamp_seconds({x})",
            lambda v, _: v * SECOND,
        ),
        Case(
            "number from_unixtime",
            call("from_unixtime", STRING, NUMBER, text("yyyy-MM-dd HH:mm:ss")),
            "from_unixtime({x})",
            lambda v, zone: ref.text_of(ref.reading(v * SECOND, zone)),
        ),
        Case(
            "number from_unixtime day",
            call("from_unixtime", STRING, NUMBER, text("yyyyMMdd")),
            "from_unixtime({x}, 'yyyyMMdd')",
            lambda v, zone: ref.formatted(ref.reading(v * SECOND, zone), "%Y%m%d"),
        ),
    ]


def text_cases() -> list[Case]:
    patterns = {
        "yyyy-MM-dd HH:mm": "%Y-%m-%d %H:%M",
        "yyyyMM": "%Y%m",
        "HH:mm": "%H:%M",
        "dd.MM.yyyy": "%d.%m.%Y",
        "yyyy-MM-dd''T''HH": "%Y-%m-%dT%H",
        "MM-dd": "%m-%d",
    }
    return [
        *(
            Case(
                f"instant date_format {pattern}",
                call("date_format", STRING, INSTANT, text(pattern.replace("''", "'"))),
                f"date_format({{x}}, '{pattern}')",
                lambda v, zone, letters=letters: ref.formatted(ref.reading(v, zone), letters),
            )
            for pattern, letters in patterns.items()
        ),
        Case(
            "instant as string",
            Cast(INSTANT, STRING),
            "cast({x} as string)",
            lambda v, zone: ref.text_of(ref.reading(v, zone)),
        ),
        Case(
            "wall as string",
            Cast(WALL, STRING),
            "cast({x} as string)",
            lambda v, _: ref.text_of(ref.wall_of(v)),
        ),
        Case(
            "date as string",
            Cast(DAYS, STRING),
            "cast({x} as string)",
            lambda v, _: ref.text_of(ref.wall_of(v * DAY))[:10],
        ),
    ]


def cast_cases() -> list[Case]:
    return [
        Case("instant as date", Cast(INSTANT, DATE), "cast({x} as date)", ref.day_of),
        Case("wall as date", Cast(WALL, DATE), "cast({x} as date)", lambda v, _: v // DAY),
        Case(
            "instant as wall",
            Cast(INSTANT, TIMESTAMP_NTZ),
            span("cast({x} as timestamp_ntz) - timestamp_ntz'1970-01-01 00:00:00'"),
            lambda v, zone: ref.micros(ref.reading(v, zone)),
        ),
        Case(
            "wall as instant",
            Cast(WALL, TIMESTAMP),
            "cast({x} as timestamp)",
            lambda v, zone: ref.instant_of(ref.wall_of(v), zone),
        ),
        Case(
            "date as instant",
            Cast(DAYS, TIMESTAMP),
            "cast({x} as timestamp)",
            lambda v, zone: ref.start_of_day(ref.date_of(v), zone),
        ),
        Case(
            "instant as bigint",
            Cast(INSTANT, BIGINT),
            "cast({x} as bigint)",
            lambda v, _: v // SECOND,
        ),
        Case(
            "instant as double",
            Cast(INSTANT, DOUBLE),
            "cast({x} as double)",
            lambda v, _: float(v) / SECOND,
        ),
        Case(
            "number as instant",
            Cast(NUMBER, TIMESTAMP),
            "cast({x} as timestamp)",
            lambda v, _: v * SECOND,
        ),
        Case(
            "instant from_utc",
            call("from_utc_timestamp", TIMESTAMP, INSTANT, text("America/St_Johns")),
            "from_utc_timestamp({x}, 'America/St_Johns')",
            lambda v, _: ref.micros(ref.reading(v, "America/St_Johns")),
        ),
        Case(
            "instant months_between",
            call("months_between", DOUBLE, INSTANT, Literal(LEAP_DAY, TIMESTAMP)),
            f"months_between({{x}}, timestamp_micros({LEAP_DAY}))",
            lambda v, zone: months_between(v, LEAP_DAY, zone),
            exact=False,
        ),
        Case(
            "instant to_utc",
            call("to_utc_timestamp", TIMESTAMP, INSTANT, text("America/St_Johns")),
            "to_utc_timestamp({x}, 'America/St_Johns')",
            lambda v, _: ref.instant_of(ref.wall_of(v), "America/St_Johns"),
        ),
    ]


CASES = (
    *field_cases(),
    *truncation_cases(),
    *moved_cases(),
    *date_cases(),
    *text_cases(),
    *cast_cases(),
)
