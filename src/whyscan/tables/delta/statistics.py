"""The statistics of live files: from JSON text or typed members to intervals.

| recorded value | how it is read |
|---|---|
| a timestamp's maximum in whole milliseconds | writers truncate it: up to 999 µs more |
| an instant before 1973 with an offset | the text has no seconds: up to 59 s less or more |
| a string's maximum that ends with U+FFFD | old writers appended it; the value may be greater |
| a decimal of more than 15 digits in JSON | read from the text: DuckDB parses it as a double |
| the same of another writer than Spark | it may have been a double: a little less or more |
| a maximum of NaN | the column has NaN; a file of Spark with another maximum has none |
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.containers import CheckedStatistics, ColumnStatistics, checked
from whyscan.tables.delta import query, values
from whyscan.tables.delta.actions import struct_members
from whyscan.tables.truncated_times import with_cut_microseconds
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS
from whyscan.tree.types import (
    BIGINT,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.pruning.mask import Mask
    from whyscan.tables.delta.actions import ActionSource, Members
    from whyscan.tables.delta.schema import DeltaColumn
    from whyscan.tree.nodes import Path

ROWS = "row_count"
UNREADABLE = "unreadable"
BY_SPARK = "by_spark"
_TEXTS = "stats_texts"
_LOWER, _UPPER, _NULLS = "minValues", "maxValues", "nullCount"
_EXACT_DIGITS = 15
_DIGITS_OF_A_LONG = 19
_GREATEST_LONG = 2.0**63
_ROUNDING = 2.0**-49
"""More than the relative error of a double, even of the one after the nearest."""

_LOST_SECONDS = "INTERVAL 59 SECONDS"
_WHOLE_MINUTES_SINCE = "TIMESTAMP '1973-01-01'"
_REPLACEMENT = "�".encode()
_BEHIND_ALL_TEXT = b"\xff"


class RecordedNumber(Struct, frozen=True):
    """One recorded value: its kind and its column; `column` None is the file's row count.

    `name` and `unreadable_name` are the columns of a replay with the value, and with whether a
    value of the table's column cannot be read.
    """

    kind: str
    column: DeltaColumn | None
    name: str
    unreadable_name: str = UNREADABLE

    @property
    def steps(self) -> Path:
        """The path of names from the root of the statistics to the value."""
        return (self.kind,) if self.column is None else (self.kind, *self.column.physical)

    @property
    def type(self) -> Type:
        return BIGINT if self.column is None or self.kind == _NULLS else self.column.type


def leaves(columns: Sequence[DeltaColumn]) -> tuple[RecordedNumber, ...]:
    """The row count first, then the bounds and the null count of each column."""
    numbers = [RecordedNumber("numRecords", None, ROWS)]
    for at, column in enumerate(columns):
        unreadable = f"{UNREADABLE}{at}"
        if values.sql_type(column.type) is not None:
            numbers.append(RecordedNumber(_LOWER, column, f"lower{at}", unreadable))
            numbers.append(RecordedNumber(_UPPER, column, f"upper{at}", unreadable))
        numbers.append(RecordedNumber(_NULLS, column, f"nulls{at}", unreadable))
    return tuple(numbers)


class Recorded(Struct, frozen=True):
    """How one source records the leaves: as JSON text, as typed members, or in both ways.

    `members` has the SQL of each typed member by the leaf's name, without missing members.
    """

    leaves: tuple[RecordedNumber, ...]
    json: bool
    members: dict[str, str]

    def inner(self) -> Iterator[str]:
        """SQL columns of the inner query. The JSON is parsed once for all leaves."""
        if self.json:
            pointers = query.texts(_pointer(leaf.steps) for leaf in self.leaves)
            yield "add.stats AS stats"
            # TRY costs nothing unless a text is malformed; then DuckDB evaluates row by row.
            yield f"TRY(json_extract_string(add.stats, {pointers})) AS {_TEXTS}"
        for leaf in self.leaves:
            if leaf.name in self.members:
                yield f"{self.members[leaf.name]} AS typed_{leaf.name}"

    def outer(self) -> Iterator[str]:
        """SQL columns of the outer query: the leaves, and of which columns one cannot be read."""
        unread: dict[str, list[str]] = {UNREADABLE: []}
        for at, leaf in enumerate(self.leaves, start=1):
            text = f"{_TEXTS}[{at}]"
            value = self._value(leaf, text)
            why = unread.setdefault(leaf.unreadable_name, [])
            if self.json:
                why.append(f"({text} IS NOT NULL AND {leaf.name} IS NULL)")
            yield f"{value} AS {leaf.name}"
        if self.json:
            unread[UNREADABLE].append(f"(stats <> '' AND {_TEXTS} IS NULL)")
        for name, why in unread.items():
            yield f"coalesce({' OR '.join(why) or 'FALSE'}, FALSE) AS {name}"

    def _value(self, leaf: RecordedNumber, text: str) -> str:
        typed = _of_member(leaf, f"typed_{leaf.name}") if leaf.name in self.members else None
        if not self.json:
            return values.nothing(leaf.type) if typed is None else typed
        from_json = _of_text(leaf, text)
        if ROWS not in self.members:
            return from_json
        if typed is None:
            return from_json
        return f"CASE WHEN typed_{ROWS} IS NULL THEN {from_json} ELSE {typed} END"


def recorded(source: ActionSource, numbers: tuple[RecordedNumber, ...]) -> Recorded:
    """How a source records statistics. Typed members are used if they have the row count."""
    add = source.members("add")
    typed = struct_members(add.get("stats_parsed"))
    members = {
        leaf.name: sql for leaf in numbers if (sql := _member(typed, leaf.steps)) is not None
    }
    json = "stats" in add
    return Recorded(numbers, json=json, members={} if json and ROWS not in members else members)


def _member(typed: Members, steps: Path) -> str | None:
    """The SQL of a leaf below `stats_parsed`; None if the struct has no such leaf."""
    sql, members = "add.stats_parsed", typed
    for at, step in enumerate(steps, start=1):
        kind = members.get(step)
        if kind is None:
            return None
        sql, members = f"{sql}.{query.name(step)}", struct_members(kind)
        if (at == len(steps)) == bool(members):
            return None
    return sql


def _pointer(steps: Path) -> str:
    """A JSON pointer (RFC 6901): names may contain any character."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def _of_text(leaf: RecordedNumber, text: str) -> str:
    value = values.from_text(leaf.type, text)
    match leaf.type:
        case DecimalType(precision=precision) if precision > _EXACT_DIGITS:
            return _exact_decimal(leaf, text, value)
        case TimestampType(instant=True):
            certain = f"{text} LIKE '%Z'"
            return _without_lost_seconds(leaf, value, certain)
        case _:
            return _of_a_float_once(leaf, value)


def _of_member(leaf: RecordedNumber, member: str) -> str:
    value = values.from_member(leaf.type, member)
    if isinstance(leaf.type, TimestampType) and leaf.type.instant:
        return _without_lost_seconds(leaf, value, "FALSE")
    return _of_a_float_once(leaf, value)


def _of_a_float_once(leaf: RecordedNumber, value: str) -> str:
    """A column widened from float to double: the bound is the outer one of both readings."""
    if leaf.column is None or not leaf.column.was_float or not isinstance(leaf.type, FloatType):
        return value
    outermost = "least" if leaf.kind == _LOWER else "greatest"
    return f"{outermost}({value}, {values.rounded_to_float(value)})"


def _without_lost_seconds(leaf: RecordedNumber, value: str, certain: str) -> str:
    sign = "-" if leaf.kind == _LOWER else "+"
    return (
        f"CASE WHEN {value} >= {_WHOLE_MINUTES_SINCE} OR {certain} THEN {value} "
        f"ELSE {value} {sign} {_LOST_SECONDS} END"
    )


def _exact_decimal(leaf: RecordedNumber, text: str, value: str) -> str:
    """SQL of the number in the JSON text, matched by its member's name and its nearest double.

    If several numbers match, the smallest lower bound or the greatest upper bound is taken.
    """
    name = re.escape(leaf.steps[-1])
    numbers = f"regexp_extract_all(stats, {query.text(_NUMBER_OF.format(name))}, 1)"
    is_nearest = f"lambda n: TRY_CAST(n AS DOUBLE) = TRY_CAST({text} AS DOUBLE)"
    exact = f"lambda n: TRY_CAST(n AS {values.sql_type(leaf.type)})"
    outermost = "list_min" if leaf.kind == _LOWER else "list_max"
    reread = f"{outermost}(list_transform(list_filter({numbers}, {is_nearest}), {exact}))"
    # Also if the text is short: -9999999999.9999999999 is read as -10000000000.0.
    return f"CASE WHEN regexp_matches({text}, '[.eE]') THEN {reread} ELSE {value} END"


_NUMBER_OF = r'"{}"\s*:\s*(-?[0-9][0-9.eE+-]*)'


def statistics(
    columns: Sequence[DeltaColumn], batch: pa.RecordBatch, rows: pa.Array
) -> dict[Path, CheckedStatistics]:
    """The statistics of each column as an interval, from the columns of `Recorded.outer`."""
    return {
        column.path: checked(column.type, _of_column(column, at, batch), rows)
        for at, column in enumerate(columns)
    }


def _of_column(column: DeltaColumn, at: int, batch: pa.RecordBatch) -> ColumnStatistics:
    nulls = batch.column(f"nulls{at}")
    if values.sql_type(column.type) is None:
        return ColumnStatistics(null_count=nulls)
    attained = _is_exact(column)
    lower = batch.column(f"lower{at}")
    upper = batch.column(f"upper{at}")
    match column.type:
        case StringType():
            lower, upper = lower.cast(pa.binary()), _above_tie_breaker(upper.cast(pa.binary()))
        case TimestampType():
            upper = with_cut_microseconds(upper)
        case DecimalType(precision=precision) if precision > _EXACT_DIGITS:
            doubtful = pc.invert(batch.column(BY_SPARK))
            lower = _beyond_rounding(lower, doubtful, sign=-1)
            upper = _beyond_rounding(upper, doubtful, sign=1)
        case _:
            pass
    nan = _may_be_nan(column.type, upper, batch)
    return ColumnStatistics(lower, upper, nulls, nan, attained=attained)


def _is_exact(column: DeltaColumn) -> bool:
    """Whether a bound is exactly a value of the column: not truncated, rounded or widened."""
    match column.type:
        case IntegerType() | DateType():
            return True
        case FloatType():
            return not column.was_float
        case DecimalType(precision=precision):
            return precision <= _EXACT_DIGITS
        case _:
            return False


def _may_be_nan(kind: Type, upper: pa.Array, batch: pa.RecordBatch) -> Mask:
    """Whether NaN is possible. Spark records NaN as maximum; without a maximum it is unknown."""
    if not isinstance(kind, FloatType):
        return False
    absent = pc.and_(batch.column(BY_SPARK), upper.is_valid())
    return pc.invert(absent)


def _beyond_rounding(bounds: pa.Array, doubtful: pa.Array, *, sign: int) -> pa.Array:
    """Bounds that hold even if their writer rounded the doubtful ones to doubles, as delta-rs does.

    Fewer than 15 digits survive that. A double is written with at most 17 digits, or as an integer
    of 64 bits, which has at most 19 and ends at the greatest one.
    """
    greatest = pc.max(pc.abs(bounds)).as_py()
    if greatest is None or greatest < Decimal(1).scaleb(_EXACT_DIGITS - bounds.type.scale):
        return bounds
    digits = pc.replace_substring_regex(bounds.cast(pa.string()), r"[-.]|E.*$", "")
    count = pc.utf8_length(pc.utf8_ltrim(digits, "0"))
    written = pc.utf8_length(pc.utf8_trim(digits, "0"))
    rounded = pc.and_(pc.greater(count, _EXACT_DIGITS), pc.less_equal(written, _DIGITS_OF_A_LONG))
    rounded = pc.and_(doubtful, pc.fill_null(rounded, fill_value=False))
    if not pc.any(rounded, min_count=0).as_py():
        return bounds
    near = bounds.cast(pa.float64())
    moved = pc.add(near, pc.multiply(pc.abs(near), sign * _ROUNDING))
    most = _GREATEST_LONG if bounds.type.scale == 0 else math.inf
    fits = pc.less(
        pc.abs(moved), 10.0 ** (MAX_DECIMAL_DIGITS - bounds.type.scale) * (1 - _ROUNDING)
    )
    is_bound = pc.and_(fits, pc.not_equal(pc.abs(near), most))
    unknown = pa.scalar(None, pa.float64())
    safe = pc.if_else(pc.and_(rounded, is_bound), moved, unknown).cast(bounds.type)
    return pc.if_else(rounded, safe, bounds)


def _above_tie_breaker(upper: pa.Array) -> pa.Array:
    tied = pc.ends_with(upper, pattern=_REPLACEMENT)
    if not pc.any(tied, min_count=0).as_py():
        return upper
    prefix = pc.binary_slice(upper, 0, -len(_REPLACEMENT))
    above = pc.binary_join_element_wise(prefix, pa.scalar(_BEHIND_ALL_TEXT), pa.scalar(b""))
    return pc.if_else(tied, above, upper)
