"""Partition projection of Athena: partitions that table properties compute and no catalog lists.

| `projection.COLUMN.type` | a folder is a partition if its value |
|---|---|
| `enum` | is one of `values` |
| `integer` | is in `range`, on the grid of `interval`, written with `digits` |
| `date` | is a time of `format` in `range`, on the grid of `interval` |
| `injected` | is any text without a slash: queries name it |

A bound of a range of dates may be relative, as `NOW-3DAYS`.
The values are not enumerated, as a range may have millions. The folders that are there are compared
with the template of locations instead. Athena reads folders inside those of partitions, too.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.tree.types import Field

    Fits = Callable[[str], bool]

_TEMPLATE = "storage.location.template"
_SLOT = re.compile(r"\$\{([^}]+)\}")
_NOW = re.compile(r"NOW(?:\s*([+-])\s*(\d+)\s*([A-Z]+))?")
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_DIRECTIVES = {
    "yyyy": ("%Y", r"\d{4}"),
    "uuuu": ("%Y", r"\d{4}"),
    "yy": ("%y", r"\d{2}"),
    "MMM": ("%b", r"[A-Za-z]{3}"),
    "MM": ("%m", r"\d{2}"),
    "M": ("%m", r"\d{1,2}"),
    "dd": ("%d", r"\d{2}"),
    "d": ("%d", r"\d{1,2}"),
    "HH": ("%H", r"\d{2}"),
    "H": ("%H", r"\d{1,2}"),
    "mm": ("%M", r"\d{2}"),
    "ss": ("%S", r"\d{2}"),
}
_FORMAT_PART = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z'])")
_STEPS = {
    "WEEK": timedelta(weeks=1),
    "DAY": timedelta(days=1),
    "HOUR": timedelta(hours=1),
    "MINUTE": timedelta(minutes=1),
    "SECOND": timedelta(seconds=1),
    "MILLI": timedelta(milliseconds=1),
}
_MONTHS = {"MONTH": 1, "YEAR": 12}


class Projected(Struct, frozen=True):
    """The partitions that properties compute: below `prefix`, with the values of `columns`.

    `pattern` matches the folder of a partition below the prefix; each group is a value.
    """

    prefix: str
    pattern: re.Pattern[str]
    columns: tuple[str, ...]
    fits: Mapping[str, Fits]

    def values(self, folder: str) -> tuple[str, ...] | None:
        """The values of the partition that a folder belongs to; None if it belongs to none."""
        match = self.pattern.fullmatch(folder)
        if match is None:
            return None
        values = tuple(match[f"c{at}"] for at in range(len(self.columns)))
        pairs = zip(self.columns, values, strict=True)
        return values if all(self.fits[name](value) for name, value in pairs) else None


def is_projected(parameters: Mapping[str, str]) -> bool:
    return parameters.get("projection.enabled", "").lower() == "true"


def projected(parameters: Mapping[str, str], folder: str, fields: Sequence[Field]) -> Projected:
    """The projection that the properties of a table describe."""
    names = tuple(field.name.lower() for field in fields)
    template = parameters.get(_TEMPLATE)
    if template is None:
        pairs = "/".join(f"{name}=${{{name}}}" for name in names)
        template = f"{folder}/{pairs}"
    rules = {name: _rule(name, parameters) for name in names}
    fixed, slot, rest = template.rstrip("/").partition("${")
    prefix, _, begun = fixed.rpartition("/")
    at_least_once = set(map(str.lower, _SLOT.findall(template)))
    if not slot or at_least_once != set(names):
        raise TableError(
            f"the template of locations names {', '.join(sorted(at_least_once)) or 'no column'}",
            hint=f"the partition columns are {', '.join(names)}",
        )
    return Projected(
        prefix,
        re.compile(f"{_pattern(begun + slot + rest, names, rules)}(?:/.*)?"),
        names,
        {name: fits for name, (_, fits) in rules.items()},
    )


def _pattern(template: str, names: Sequence[str], rules: Mapping[str, tuple[str, Fits]]) -> str:
    """The template as a regular expression. A column that stands in it again has the same text."""
    pieces, end, seen = [], 0, set[str]()
    for slot in _SLOT.finditer(template):
        name = slot[1].lower()
        group = f"c{names.index(name)}"
        pieces.append(re.escape(template[end : slot.start()]))
        pieces.append(f"(?P={group})" if name in seen else f"(?P<{group}>{rules[name][0]})")
        seen.add(name)
        end = slot.end()
    return "".join((*pieces, re.escape(template[end:])))


def _rule(name: str, parameters: Mapping[str, str]) -> tuple[str, Fits]:
    """How a value of a column is written, as a regular expression, and which values there are."""
    settings = {
        key.lower().removeprefix(f"projection.{name}."): value
        for key, value in parameters.items()
        if key.lower().startswith(f"projection.{name}.")
    }
    try:
        match settings.get("type", "").lower():
            case "enum":
                values = frozenset(value.strip() for value in settings["values"].split(","))
                longest_first = sorted(values, key=len, reverse=True)
                return "|".join(map(re.escape, longest_first)), values.__contains__
            case "integer":
                return r"[+-]?\d{1,18}", _integers(settings)
            case "date":
                return _dates(settings)
            case "injected":
                return "[^/]+", bool
            case kind:
                raise ValueError(f"type {kind!r}")  # noqa: TRY301 - one message for all of them
    except (KeyError, ValueError, OverflowError) as error:
        raise TableError(
            f"the projection of the partition column {name} cannot be read: {error}",
            hint=f"SHOW TBLPROPERTIES shows projection.{name}.type and the rest",
        ) from None


def _integers(settings: Mapping[str, str]) -> Fits:
    least, greatest = (int(text) for text in settings["range"].split(","))
    step, digits = int(settings.get("interval", "1")), int(settings.get("digits", "0"))
    if step < 1:
        raise ValueError(f"interval {step}")

    def fits(text: str) -> bool:
        value = int(text)
        on_grid = least <= value <= greatest and (value - least) % step == 0
        return on_grid and text == f"{value:0{digits}d}"

    return fits


def _dates(settings: Mapping[str, str]) -> tuple[str, Fits]:
    directive, pattern = _java_format(settings["format"])
    first, last = (text.strip() for text in settings["range"].split(","))
    now = datetime.now(UTC).replace(tzinfo=None)
    least, greatest = _bound(first, directive, now), _bound(last, directive, now)
    count, unit = int(settings.get("interval", "1")), settings.get("interval.unit", "").upper()
    unit = unit.removesuffix("S")
    # The grid begins at the lower bound. One that moves with the time is no fixed grid.
    has_grid = bool(unit) and _NOW.fullmatch(first) is None

    def fits(text: str) -> bool:
        try:
            value = datetime.strptime(text, directive)  # noqa: DTZ007 - in no zone
        except ValueError:
            return False
        return least <= value <= greatest and (
            not has_grid or _is_on_grid(value, least, count, unit)
        )

    return pattern, fits


def _is_on_grid(value: datetime, first: datetime, count: int, unit: str) -> bool:
    if unit in _MONTHS:
        months = (value.year - first.year) * 12 + value.month - first.month
        return months % (count * _MONTHS[unit]) == 0
    return (value - first) % (count * _STEPS[unit]) == timedelta(0)


def _bound(text: str, directive: str, now: datetime) -> datetime:
    """A bound of a range: a date in the format, or a time relative to now, in its precision."""
    relative = _NOW.fullmatch(text)
    if relative is None:
        return datetime.strptime(text, directive)  # noqa: DTZ007 - in no zone
    sign, number, unit = relative.groups()
    moved = now
    if number is not None:
        amount = int(f"{sign}{number}")
        unit = unit.removesuffix("S")
        if unit in _MONTHS:
            months = now.year * 12 + now.month - 1 + amount * _MONTHS[unit]
            first_of_month = now.replace(year=months // 12, month=months % 12 + 1, day=1)
            moved = first_of_month + timedelta(days=now.day - 1)
        else:
            moved = now + amount * _STEPS[unit]
    return datetime.strptime(moved.strftime(directive), directive)  # noqa: DTZ007


def _java_format(text: str) -> tuple[str, str]:
    """Java's pattern of a date as Python's, and as a regular expression."""
    directives, patterns = [], []
    for part in _FORMAT_PART.finditer(text):
        quoted, letter, literal = part.groups()
        if letter is not None:
            if part[0] not in _DIRECTIVES:
                raise ValueError(f"format {text!r}")
            directive, pattern = _DIRECTIVES[part[0]]
        else:
            plain = literal if quoted is None else (quoted.replace("''", "'") or "'")
            directive, pattern = plain.replace("%", "%%"), re.escape(plain)
        directives.append(directive)
        patterns.append(pattern)
    return "".join(directives), "".join(patterns)
