"""Date formats: translation of C, MySQL and Oracle formats to Java's, and parsing by a format."""

from __future__ import annotations

import re

from whyscan.predicate.binding.scope import Uninterpreted
from whyscan.tree import time_text

_FROM_C = {"Y": "yyyy", "m": "MM", "d": "dd", "H": "HH", "M": "mm", "S": "ss", "F": "yyyy-MM-dd"}
_FROM_MYSQL = {"Y": "yyyy", "m": "MM", "d": "dd", "H": "HH", "i": "mm", "s": "ss", "S": "ss"}
_FROM_ORACLE = {"YYYY": "yyyy", "MM": "MM", "DD": "dd", "HH24": "HH", "MI": "mm", "SS": "ss"}
_FIELDS = {
    "yyyy": r"(?P<year>\d{4})",
    "MM": r"(?P<month>\d{2})",
    "dd": r"(?P<day>\d{2})",
    "HH": r"(?P<hour>\d{2})",
    "mm": r"(?P<minute>\d{2})",
    "ss": r"(?P<second>\d{2})",
}


_MOST_DIGITS = 9


def java_from_c(pattern: str) -> str:
    """Translate a date format of C into one of Java: `%Y-%m` gives `yyyy-MM`."""
    return _translated(pattern, _FROM_C)


def java_from_mysql(pattern: str) -> str:
    """Translate a date format of MySQL into one of Java: `%Y %H:%i` gives `yyyy HH:mm`."""
    return _translated(pattern, _FROM_MYSQL)


def java_from_oracle(pattern: str) -> str:
    """Translate a date format of Postgres or Snowflake into Java: `DD HH24:MI` gives `dd HH:mm`."""
    runs = re.findall("|".join(_FROM_ORACLE) + "|.", pattern.upper(), re.DOTALL)
    if any(run not in _FROM_ORACLE and not re.fullmatch(r"[-/.,:; ]", run) for run in runs):
        raise Uninterpreted(f"the format {pattern!r}")
    return "".join(_FROM_ORACLE.get(run, run) for run in runs)


def _translated(pattern: str, letters: dict[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1] not in letters:
            raise Uninterpreted(f"the format {pattern!r}")
        return letters[match[1]]

    literal_text = re.sub(r"%.", "", pattern)
    if re.search(r"[A-Za-z'\[\]#{}%]", literal_text):
        raise Uninterpreted(f"the format {pattern!r}")
    return re.sub(r"%(.)", replace, pattern)


def parse_by_format(pattern: str, text: str) -> int | None:
    """Microseconds since 1970-01-01 of a text in a Java format; None if the text does not match.

    Each field occurs at most once and has a fixed number of digits. Other patterns raise
    Uninterpreted.
    """
    if re.search(r"[A-RT-Za-z]S", pattern):
        # Java reads the digits of a field and of a fraction after it as one number.
        raise Uninterpreted(f"the format {pattern!r}")
    expression = "".join(_expression(run) for run in _runs(pattern))
    try:
        match = re.fullmatch(expression, text, re.ASCII)
    except re.error as error:
        raise Uninterpreted(f"the format {pattern!r}") from error
    if match is None:
        return None
    field_texts = match.groupdict()
    fraction = int(((field_texts.pop("fraction", None) or "") + "000000")[:6])
    fields = {"month": 1, "day": 1, **{k: int(v) for k, v in field_texts.items()}}
    if "year" not in fields:
        raise Uninterpreted(f"the format {pattern!r}")
    date = "{year:04}-{month}-{day}".format(**fields)
    clock = ":".join(str(fields.get(name, 0)) for name in ("hour", "minute", "second"))
    timestamp = time_text.read_timestamp(f"{date} {clock}")
    if timestamp is None or timestamp.day is None:
        return None
    return timestamp.day * 86_400_000_000 + timestamp.nanoseconds // 1000 + fraction


def _runs(pattern: str) -> list[str]:
    return [match[0] for match in re.finditer(r"([A-Za-z])\1*|[^A-Za-z]+", pattern)]


def _expression(run: str) -> str:
    if run in _FIELDS:
        return _FIELDS[run]
    if set(run) == {"S"} and len(run) <= _MOST_DIGITS:
        # At most as many digits as letters.
        return rf"(?P<fraction>\d{{1,{len(run)}}})"
    if run[0].isalpha() or "'" in run or "[" in run:
        raise Uninterpreted(f"the format field {run!r}")
    return re.escape(run)
