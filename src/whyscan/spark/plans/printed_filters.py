"""Turn the filters that Spark prints in plans into SQL: `(s#12 = a, b)` is `s` = 'a, b'.

A plan prints strings without quotes, so that some texts have several meanings. A word is a column
only with the number that the plan gave it (`s#12`), as no value contains that by chance. A value
with parentheses is not read. Doubtful filters are left out: a scan without one of its filters
reads more files, never fewer.
"""

from __future__ import annotations

import re
import struct
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    Types: TypeAlias = Mapping[str, Mapping[str, str]]
    """The Spark types of the columns of each table, because plans print values without types."""

NO_TYPES: Types = MappingProxyType({})
IS_DELETED = "__delta_internal_is_row_deleted"
"""The column in Delta's filter for rows of a deletion vector; it is no condition of a query."""
_COMPARISONS = frozenset({"=", "<=>", ">", ">=", "<", "<="})
_TESTS = {"isnotnull": "IS NOT NULL", "isnull": "IS NULL"}
_SEARCHES = {"StartsWith": "startswith", "EndsWith": "endswith", "Contains": "contains"}
_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
_NUMBERS = _INTEGERS | {"float", "double"}
_INTEGER = re.compile(r"-?\d+")
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")
_DOUBLE = re.compile(r"-?\d+\.\d+(?:E-?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?")
_AMBIGUOUS = re.compile(r"0x[\dA-F]*|\d{4}-\d\d-\d\d[ T]\d\d:.*|null|\*+\(redacted\)", re.DOTALL)
_REFERENCE = re.compile(r"#\d")
MOST_READINGS = 40
"""The most pieces of a list of strings: n pieces can be joined in n*n/2 ways."""


class UnsureError(ValueError):
    """A filter whose text has several meanings, or a form that is not supported."""


class ScanColumns(Struct, frozen=True):
    """The columns that the filters of a scan may name: `id#12L` and its type, None if unknown."""

    types: Mapping[str, str | None]
    zone: str | None = None

    def matcher(self) -> re.Pattern[str]:
        tokens = sorted(map(re.escape, self.types), key=len, reverse=True)
        return re.compile(rf"(?P<token>{'|'.join(tokens)})(?!\d)(?P<path>(?:\.\w+)*)")


class ReadFilters(Struct, frozen=True):
    """The filters as SQL, and the texts of the filters that were left out."""

    conjuncts: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def read_filters(texts: Iterable[str], columns: ScanColumns) -> ReadFilters:
    """The conjuncts of lists of filters such as `[isnotnull(id#1), (id#1 > 5)]`."""
    read: dict[str, None] = {}
    left_out: dict[str, None] = {}
    if not columns.types:
        return ReadFilters((), tuple(text for text in texts if text not in {"", "[]"}))
    reader = _FilterReader(columns)
    for text in texts:
        for element in _elements(_inner(text), columns.matcher()):
            for part in _conjuncts(element):
                try:
                    read[reader.read(part)] = None
                except UnsureError:
                    left_out[part] = None
    return ReadFilters(without_implied(tuple(read)), tuple(left_out))


def _inner(text: str) -> str:
    return text[1:-1] if text.startswith("[") and text.endswith("]") else text


def _elements(text: str, matcher: re.Pattern[str]) -> list[str]:
    """The elements of a list, split at commas outside of parentheses.

    A piece that names no column is a part of the value before it. If the parentheses do not
    match, the whole text is one element.
    """
    pieces, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return [text]
        if not depth and text.startswith(", ", at):
            pieces.append(text[start:at])
            start = at + 2
    if depth:
        return [text]
    elements: list[str] = []
    for piece in [*pieces, text[start:]]:
        if elements and not matcher.search(piece):
            elements[-1] += f", {piece}"
        elif piece:
            elements.append(piece)
    return elements


def _conjuncts(text: str) -> list[str]:
    """The sides of `((a) AND (b))`, if the parentheses show where each side ends."""
    split = _sides(text)
    if split is None or split[1] != "AND":
        return [text]
    return [*_conjuncts(split[0]), *_conjuncts(split[2])]


def _sides(text: str) -> tuple[str, str, str] | None:
    """Left side, word and right side of `(left OR right)`; None if there are not two sides."""
    if not (text.startswith("(") and text.endswith(")")):
        return None
    inner, depth, cuts = text[1:-1], 0, []
    for at, character in enumerate(inner):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return None
        if not depth:
            cuts += [(at, word) for word in ("AND", "OR") if inner.startswith(f" {word} ", at)]
    if depth or len(cuts) != 1:
        return None
    at, word = cuts[0]
    return inner[:at], word, inner[at + len(word) + 2 :]


def without_implied(conjuncts: Sequence[str]) -> tuple[str, ...]:
    """The conjuncts without each `x IS NOT NULL` that a comparison of x implies."""
    comparisons = [text for text in conjuncts if not text.endswith("IS NOT NULL")]
    compared = {_subject(text) for text in comparisons}
    return tuple(
        text
        for text in conjuncts
        if not text.endswith("IS NOT NULL") or _subject(text) not in compared
    )


def _subject(text: str) -> str:
    """The column of a comparison that is never TRUE for NULL; '' for other conjuncts."""
    match = re.match(r"(`(?:[^`]|``)+`(?:\.`(?:[^`]|``)+`)*) (?:[<>=]=? |IN |IS NOT NULL)", text)
    return "" if match is None else match[1]


class _FilterReader:
    """Turns the text of a filter into SQL, from the outer to the inner expressions."""

    def __init__(self, columns: ScanColumns) -> None:
        self._columns = columns
        self._matcher = columns.matcher()

    def read(self, text: str, *, negated: bool = False) -> str:
        if text.startswith("NOT "):
            return f"NOT ({self.read(text[4:], negated=True)})"
        sides = _sides(text)
        if sides is not None:
            left, right = (self.read(side, negated=negated) for side in (sides[0], sides[2]))
            return f"({left} {sides[1]} {right})"
        if (listed := self._listed(text)) is not None:
            return self._in_list(*listed, negated=negated)
        return self._test(text)

    def _test(self, text: str) -> str:
        if text.startswith("("):
            return self._comparison(text)
        called = re.fullmatch(r"(\w+)\((.*)\)", text, re.DOTALL)
        if called is not None and called[1] in _TESTS:
            return f"{self._operand(called[2])[0]} {_TESTS[called[1]]}"
        if called is not None and called[1] in _SEARCHES:
            operand, _, value = called[2].partition(", ")
            column, kind = self._operand(operand)
            return f"{_SEARCHES[called[1]]}({column}, {self._literal(value, kind or 'string')})"
        column, kind = self._operand(text)
        if kind not in {None, "boolean"}:
            raise UnsureError(text)
        return column

    def _comparison(self, text: str) -> str:
        leading = self._leading(text[1:])
        if leading is None or not text.endswith(")"):
            raise UnsureError(text)
        column, kind, rest = leading
        operator = rest[1:].partition(" ")[0]
        if not rest.startswith(" ") or operator not in _COMPARISONS:
            raise UnsureError(text)
        value = rest[len(operator) + 2 : -1]
        if operator == "<=>" and value == "null":
            raise UnsureError(text)
        return f"{column} {operator} {self._literal(value, kind)}"

    def _listed(self, text: str) -> tuple[str, str | None, str, str] | None:
        """Column, type, values and separator of `s#1 IN (a,b)` or `s#1 INSET a, b`."""
        leading = self._leading(text)
        if leading is None:
            return None
        column, kind, rest = leading
        if rest.startswith(" IN (") and rest.endswith(")"):
            return column, kind, rest[5:-1], ","
        if rest.startswith(" INSET "):
            return column, kind, rest[7:], ", "
        return None

    def _in_list(
        self, column: str, kind: str | None, text: str, separator: str, *, negated: bool
    ) -> str:
        values = text.split(separator)
        if kind is not None and not _is_text(kind):
            numbers = [value for value in values if value != "null"]
            return f"{column} IN ({', '.join(self._literal(value, kind) for value in numbers)})"
        if negated or len(values) > MOST_READINGS:
            # Under NOT, too many values would exclude too many rows.
            raise UnsureError(text)
        readings = _readings(values, separator)
        if kind is None and len(readings) > len(values):
            # Cast to text, a value of any type is equal to its printed form.
            column, kind = f"CAST({column} AS STRING)", "string"
        return f"{column} IN ({', '.join(self._literal(value, kind) for value in readings)})"

    def _leading(self, text: str) -> tuple[str, str | None, str] | None:
        """The operand at the start of a text, its type, and the rest of the text."""
        cast = re.match(r"cast\(", text)
        match = self._matcher.match(text, 5 if cast else 0)
        if match is None:
            return None
        column, kind = self._named(match)
        if cast is None:
            return column, kind, text[match.end() :]
        to = re.compile(r" as (\w+)\)").match(text, match.end())
        # A cast to a time or to text depends on the session's zone.
        if to is None or to[1] not in _NUMBERS:
            return None
        return f"CAST({column} AS {to[1].upper()})", to[1], text[to.end() :]

    def _operand(self, text: str) -> tuple[str, str | None]:
        leading = self._leading(text)
        if leading is None or leading[2]:
            raise UnsureError(text)
        return leading[0], leading[1]

    def _named(self, match: re.Match[str]) -> tuple[str, str | None]:
        name = match["token"].rpartition("#")[0]
        path = [name, *(part for part in match["path"].split(".") if part)]
        kind = self._columns.types[match["token"]]
        return ".".join(map(quoted, path)), _member(kind, path[1:])

    def _literal(self, value: str, kind: str | None) -> str:
        # `#12` occurs in columns and subqueries, parentheses in expressions.
        if re.search(r"[()]", value) or _REFERENCE.search(value):
            raise UnsureError(value)
        return literal(value, kind, self._columns.zone)


def _member(kind: str | None, path: Sequence[str]) -> str | None:
    """The type of a member of a struct; None if it is unknown."""
    for part in path:
        kind = None if kind is None else members(kind).get(part)
    return kind


def _readings(values: Sequence[str], separator: str) -> list[str]:
    """Every value that a list of strings may contain: `a,b,c` may be three values or two.

    The result contains the true values, so that more rows match and no row is lost. The list has
    at least two values: Spark writes a list of one value as a comparison.
    """
    return list(
        dict.fromkeys(
            separator.join(values[start : start + length])
            for length in range(1, max(len(values), 2))
            for start in range(len(values) - length + 1)
        )
    )


def _is_text(kind: str) -> bool:
    return kind == "string" or kind.startswith(("varchar", "char", "string collate"))


def literal(value: str, kind: str | None, zone: str | None) -> str:
    """A value as a SQL literal of its column's type.

    If the type is unknown, the literal is text: Spark casts it to the type of the column.
    """
    if kind is None:
        if _AMBIGUOUS.fullmatch(value) or _is_another_float(value):
            raise UnsureError(value)
        return text_of(value)
    if _is_text(kind):
        if re.fullmatch(r"\*+\(redacted\)", value):
            raise UnsureError(value)
        return text_of(value)
    if kind in _INTEGERS and _INTEGER.fullmatch(value):
        return value
    if kind.startswith("decimal") and _DECIMAL.fullmatch(value):
        return value
    if kind == "double" and _DOUBLE.fullmatch(value):
        return f"{value}D"
    if kind == "float" and _DOUBLE.fullmatch(value):
        return f"CAST('{value}' AS FLOAT)"
    if kind == "date" and _DATE.fullmatch(value):
        return f"DATE '{value}'"
    if kind == "timestamp_ntz" and _TIMESTAMP.fullmatch(value):
        return f"TIMESTAMP_NTZ '{value}'"
    if kind == "timestamp" and zone is not None and _TIMESTAMP.fullmatch(value):
        return f"TIMESTAMP '{_instant(value, zone)}'"
    if kind == "boolean" and value in {"true", "false"}:
        return value
    raise UnsureError(value)


def _is_another_float(value: str) -> bool:
    """Whether a printed float differs from its number as a double, by which text is compared."""
    if not _DOUBLE.fullmatch(value):
        return False
    try:
        (single,) = struct.unpack("f", struct.pack("f", float(value)))
    except OverflowError:
        return False
    return bool(single != float(value))


def _instant(value: str, zone: str) -> str:
    """A time in the session's zone as a time in UTC; UnsureError if it is ambiguous."""
    try:
        local = datetime.fromisoformat(value).replace(tzinfo=ZoneInfo(zone))
    except (KeyError, ValueError, OSError) as error:
        raise UnsureError(value) from error
    if local.utcoffset() != local.replace(fold=1).utcoffset():
        raise UnsureError(value)
    return local.astimezone(UTC).isoformat(" ")


def text_of(value: str) -> str:
    """A value as a string literal of Spark SQL."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quoted(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def members(struct: str) -> dict[str, str]:
    """The members of `struct<a:int,b:struct<c:int>>` with their types; none for other types."""
    if not (struct.startswith("struct<") and struct.endswith(">")):
        return {}
    fields, depth, start = {}, 0, 0
    inner = struct[len("struct<") : -1]
    for at, character in enumerate(f"{inner},"):
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            name, _, kind = inner[start:at].partition(":")
            if name and kind:
                fields[name] = kind
            start = at + 1
    return fields
