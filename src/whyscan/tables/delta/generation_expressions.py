"""Generation expressions: how a generated column is computed from its source, for known shapes.

| expression | shape |
|---|---|
| `CAST(x AS DATE)`, `DATE(x)`, `TO_DATE(x)` | the start of the day |
| `TRUNC(x, 'MM')`, `DATE_TRUNC('HOUR', x)` | the start of the period |
| `YEAR(x)`, `MONTH(x)`, `DAY(x)`, `HOUR(x)`, `EXTRACT(YEAR FROM x)` | one field of the calendar |
| `DATE_FORMAT(x, 'yyyy-MM')` | several fields as text, from the year down |
| `SUBSTRING(x, 1, n)`, `LEFT(x, n)` | the first n characters |
| `SUBSTRING(x, m, n)` | n characters in the middle, for `x = literal` |
| `x` | the same |

The date of x may replace x, as in `YEAR(CAST(x AS DATE))`, if the result needs no hour. For an
instant x, `CAST(DATE_TRUNC('MONTH', x) AS DATE)` is the start of the month. Parentheses around an
operand change nothing. Other expressions have no shape: nothing is derived from their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum, IntEnum
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from whyscan.pruning.functions.time.kernels import SECONDS_A_DAY
from whyscan.pruning.transforms import Substring
from whyscan.tables.delta.partitions import is_instant
from whyscan.tree.names import AmbiguousName
from whyscan.tree.types import DateType, StringType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.tables.delta.schema import DeltaColumn, DeltaSchema
    from whyscan.tree.nodes import Path


class CalendarUnit(IntEnum):
    """Nested units of the calendar, the largest first."""

    YEAR = 0
    MONTH = 1
    DAY = 2
    HOUR = 3


class CalendarPeriod(Enum):
    """The periods that dates and timestamps are cut to: how many months or seconds each has."""

    YEAR = (12, 0)
    QUARTER = (3, 0)
    MONTH = (1, 0)
    WEEK = (0, 7 * SECONDS_A_DAY)
    DAY = (0, SECONDS_A_DAY)
    HOUR = (0, 3600)
    MINUTE = (0, 60)
    SECOND = (0, 1)

    @property
    def months(self) -> int:
        return self.value[0]

    @property
    def seconds(self) -> int:
        return self.value[1]

    @property
    def is_of_days(self) -> bool:
        """Whether every such period starts with a day."""
        return self.months > 0 or self.seconds >= SECONDS_A_DAY


class Start(Struct, frozen=True):
    """The start of the period that contains the source. A week starts on Monday."""

    period: CalendarPeriod


class CalendarField(Struct, frozen=True):
    """One calendar field of the source, for example its month."""

    unit: CalendarUnit


class Formatted(Struct, frozen=True):
    """Calendar fields as text: `pattern` matches the text and has one group per unit."""

    pattern: str
    units: tuple[CalendarUnit, ...]


class Prefix(Struct, frozen=True):
    """The first `width` characters."""

    width: int


class Same(Struct, frozen=True):
    """The source itself."""


Shape: TypeAlias = Start | CalendarField | Formatted | Prefix | Substring | Same


class Generated(Struct, frozen=True):
    """A generated column: `shape` of `source`."""

    source: DeltaColumn
    shape: Shape


_NAME = r"(?:`(?:[^`]|``)+`|\w+)"
_COLUMN = rf"\s*(?P<x>{_NAME}(?:\s*\.\s*{_NAME})*)\s*"
_PERIODS: Mapping[str, CalendarPeriod] = {
    **{period.name: period for period in CalendarPeriod},
    "YYYY": CalendarPeriod.YEAR,
    "YY": CalendarPeriod.YEAR,
    "MON": CalendarPeriod.MONTH,
    "MM": CalendarPeriod.MONTH,
    "DD": CalendarPeriod.DAY,
}
_FIELDS: Mapping[str, CalendarUnit] = {
    **{unit.name: unit for unit in CalendarUnit},
    "DAYOFMONTH": CalendarUnit.DAY,
}
_LETTERS: Mapping[CalendarUnit, str] = {
    CalendarUnit.YEAR: "yyyy",
    CalendarUnit.MONTH: "MM",
    CalendarUnit.DAY: "dd",
    CalendarUnit.HOUR: "HH",
}
_SEPARATORS = "-_/. :"

_Reader: TypeAlias = Callable[[re.Match[str]], "Shape | None"]


def _start(match: re.Match[str]) -> Shape | None:
    period = _PERIODS.get(match["unit"].upper())
    return None if period is None else Start(period)


def _start_of_days(match: re.Match[str]) -> Shape | None:
    """The start of a period of whole days, which is a date."""
    period = _PERIODS.get(match["unit"].upper())
    return Start(period) if period is not None and period.is_of_days else None


def _truncated_date(match: re.Match[str]) -> Shape | None:
    """The start that TRUNC gives: it gives NULL for a day and for shorter periods."""
    shape = _start_of_days(match)
    return None if shape == Start(CalendarPeriod.DAY) else shape


def _field(match: re.Match[str]) -> Shape | None:
    return CalendarField(_FIELDS[match["unit"].upper()])


def _formatted(match: re.Match[str]) -> Shape | None:
    """Return the units of a date format; None for a format that is not understood.

    A format that is understood begins with `yyyy`. `MM`, `dd` and `HH` may follow in that order,
    with separators between them. A year beyond 9999 has more digits, and a plus from Java on.
    """
    rest, pattern = match["format"], ""
    units: list[CalendarUnit] = []
    for unit, letters in _LETTERS.items():
        if not rest.startswith(letters):
            break
        behind = rest[len(letters) :]
        rest = behind.lstrip(_SEPARATORS)
        separator = behind[: len(behind) - len(rest)]
        digits = r"{4,6}" if unit is CalendarUnit.YEAR else "{2}"
        plus = r"\+?" if unit is CalendarUnit.YEAR else ""
        pattern += f"{plus}(?P<{unit.name}>[0-9]{digits}){re.escape(separator)}"
        units.append(unit)
    return Formatted(pattern, tuple(units)) if units and not rest else None


_DATES = (
    r"\s*CAST\({x}\sAS\s+DATE\s*\)\s*",
    r"\s*(?:DATE|TO_DATE)\({x}\)\s*",
    r"{x}::\s*DATE\s*",
)
"""The spellings of the date of x."""
_READINGS: tuple[tuple[str, _Reader], ...] = (
    (r"TRUNC\({x},\s*'(?P<unit>\w+)'\s*\)", _truncated_date),
    (r"DATE_TRUNC\(\s*'(?P<unit>\w+)'\s*,{x}\)", _start),
    (r"(?P<unit>YEAR|MONTH|DAY|DAYOFMONTH|HOUR)\({x}\)", _field),
    (r"EXTRACT\(\s*(?P<unit>YEAR|MONTH|DAY|HOUR)\s+FROM\s{x}\)", _field),
    (r"DATE_PART\(\s*'(?P<unit>YEAR|MONTH|DAY|HOUR)'\s*,{x}\)", _field),
    (r"DATE_FORMAT\({x},\s*'(?P<format>[^']*)'\s*\)", _formatted),
)
"""The functions of a date or timestamp x."""


def _of_date(reader: _Reader) -> _Reader:
    """A reader for functions of the date of x: the same shapes, without those of an hour."""

    def read(match: re.Match[str]) -> Shape | None:
        shape = reader(match)
        match shape:
            case Start(period):
                return shape if period.is_of_days else None
            case CalendarField(unit):
                return shape if unit < CalendarUnit.HOUR else None
            case Formatted(units=units):
                return shape if CalendarUnit.HOUR not in units else None
            case _:
                return shape

    return read


def _days() -> Iterator[tuple[str, _Reader]]:
    for date in _DATES:
        yield date.format(x=_COLUMN).strip(), lambda _: Start(CalendarPeriod.DAY)
    for pattern, reader in _READINGS:
        yield pattern.format(x=_COLUMN), reader
        for date in _DATES:
            yield pattern.format(x=date.format(x=_COLUMN)), _of_date(reader)


_INSTANT_STARTS = tuple(
    date.format(x=rf"\s*DATE_TRUNC\(\s*'(?P<unit>\w+)'\s*,{_COLUMN}\)\s*") for date in _DATES
)
"""The date on which a unit starts; only of instants, since a zone may skip a local date."""

_SHAPES: tuple[tuple[str, _Reader], ...] = (
    *_days(),
    (
        rf"SUBSTR(?:ING)?\({_COLUMN},\s*[01]\s*,\s*(?P<width>[1-9]\d{{0,8}})\s*\)",
        lambda m: Prefix(int(m["width"])),
    ),
    (
        rf"SUBSTR(?:ING)?\({_COLUMN},\s*(?P<at>[1-9]\d{{0,8}})\s*,\s*(?P<width>[1-9]\d{{0,8}})\s*\)",
        lambda m: Substring(int(m["at"]) - 1, int(m["width"])),
    ),
    (rf"LEFT\({_COLUMN},\s*(?P<width>[1-9]\d{{0,8}})\s*\)", lambda m: Prefix(int(m["width"]))),
    (_COLUMN, lambda _: Same()),
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when a table first has generated columns: few tables have any."""
    return re.compile(pattern, re.IGNORECASE)


def read_generation(schema: DeltaSchema, column: DeltaColumn) -> Generated | None:
    """The source and shape of a generated column; None for other columns and unknown shapes."""
    if column.generated_as is None:
        return None
    text = _without_parentheses(column.generated_as)
    for pattern in _INSTANT_STARTS:
        start = _compiled(pattern).fullmatch(text)
        if start is not None:
            return _start_of_instant(schema, column, start)
    for pattern, reader in _SHAPES:
        match = _compiled(pattern).fullmatch(text)
        if match is None:
            continue
        shape = reader(match)
        source = _resolved(schema, _path(match["x"]))
        if shape is None or source is None or not _fits(shape, source, column):
            return None
        return Generated(source, shape)
    return None


def _start_of_instant(
    schema: DeltaSchema, column: DeltaColumn, match: re.Match[str]
) -> Generated | None:
    shape, source = _start_of_days(match), _resolved(schema, _path(match["x"]))
    if shape is None or source is None or not isinstance(column.type, DateType):
        return None
    return Generated(source, shape) if is_instant(source.type) else None


_TOKEN = re.compile(r"'[^']*'|`(?:[^`]|``)+`|\s+|\w+|.", re.DOTALL)


def _without_parentheses(text: str) -> str:
    """The text without parentheses around a whole operand: `(YEAR((x)))` is `YEAR(x)`."""
    pieces = _TOKEN.findall(text)
    opened: list[int] = []
    pairs: dict[int, int] = {}
    for at, piece in enumerate(pieces):
        if piece == "(":
            opened.append(at)
        elif piece == ")":
            if not opened:
                return text.strip()
            pairs[opened.pop()] = at
    redundant: set[int] = set()
    for first, last in pairs.items():
        before = next((t for t in reversed(pieces[:first]) if not t.isspace()), "(")
        after = next((t for t in pieces[last + 1 :] if not t.isspace()), ")")
        if before in ("(", ",") and (after in (")", ",", ":") or after.upper() == "AS"):
            redundant |= {first, last}
    kept = (" " if at in redundant else piece for at, piece in enumerate(pieces))
    return "".join(kept).strip()


def _path(text: str) -> Path:
    names = re.findall(_NAME, text)
    return tuple(n[1:-1].replace("``", "`") if n.startswith("`") else n for n in names)


def _resolved(schema: DeltaSchema, path: Path) -> DeltaColumn | None:
    """The only column with that path, regardless of case; None if there are several."""
    try:
        return schema.find(path)
    except AmbiguousName:
        return None


def _fits(shape: Shape, source: DeltaColumn, column: DeltaColumn) -> bool:
    """Whether the shape's law holds for the types: an implicit cast could raise an error."""
    match shape:
        case Start() | CalendarField() | Formatted():
            return isinstance(source.type, DateType | TimestampType)
        case Prefix() | Substring():
            return isinstance(source.type, StringType) and isinstance(column.type, StringType)
        case Same():
            return source.type == column.type
