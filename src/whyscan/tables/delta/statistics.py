"""The statistics of live files: JSON text or typed members to intervals.

| recorded | believed |
|---|---|
| a timestamp's maximum in whole milliseconds | writers cut it: up to 999 µs more |
| an instant before 1973 with an offset | its seconds were lost in the text: 59 s either way |
| a string's maximum that ends with U+FFFD | an old tie-breaker, below what it stands for |
| a decimal of more than 15 digits in JSON | read from the text itself: DuckDB's JSON has doubles |
| a maximum of NaN | NaN is there; of a file that Spark wrote, its absence is evidence |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.containers import Believed, ColumnStatistics, believe
from whyscan.tables.delta import query, values
from whyscan.tables.delta.actions import struct_members
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
_TOLD = "told"
_LOWER, _UPPER, _NULLS = "minValues", "maxValues", "nullCount"
_EXACT_DIGITS = 15
_MILLISECOND = 1_000
_LOST_SECONDS = "INTERVAL 59 SECONDS"
_WHOLE_MINUTES_SINCE = "TIMESTAMP '1973-01-01'"
_REPLACEMENT = "�".encode()
_BEHIND_ALL_TEXT = b"\xff"


class RecordedNumber(Struct, frozen=True):
    """One recorded number: of which kind, of which column (None: the file's rows)."""

    kind: str
    column: DeltaColumn | None
    name: str

    @property
    def steps(self) -> Path:
        """The way to it from the statistics' root."""
        return (self.kind,) if self.column is None else (self.kind, *self.column.physical)

    @property
    def type(self) -> Type:
        return BIGINT if self.column is None or self.kind == _NULLS else self.column.type


def leaves(columns: Sequence[DeltaColumn]) -> tuple[RecordedNumber, ...]:
    """The file's rows first, then bounds and null counts, column by column."""
    found = [RecordedNumber("numRecords", None, ROWS)]
    for at, column in enumerate(columns):
        if values.sql_type(column.type) is not None:
            found.append(RecordedNumber(_LOWER, column, f"lower{at}"))
            found.append(RecordedNumber(_UPPER, column, f"upper{at}"))
        found.append(RecordedNumber(_NULLS, column, f"nulls{at}"))
    return tuple(found)


class Recorded(Struct, frozen=True):
    """How one source records the leaves: as JSON text, as typed members, or some files each.

    `members` are the SQL of the typed ones by name; a leaf that the struct lacks is not in it.
    """

    leaves: tuple[RecordedNumber, ...]
    json: bool
    members: dict[str, str]

    def inner(self) -> Iterator[str]:
        """What to take from the action, each under a name: JSON is parsed once for all leaves."""
        if self.json:
            pointers = query.texts(_pointer(leaf.steps) for leaf in self.leaves)
            yield "add.stats AS stats"
            # TRY goes row by row once a text is malformed, and costs nothing until then.
            yield f"TRY(json_extract_string(add.stats, {pointers})) AS {_TOLD}"
        for leaf in self.leaves:
            if leaf.name in self.members:
                yield f"{self.members[leaf.name]} AS typed_{leaf.name}"

    def outer(self) -> Iterator[str]:
        """The leaves in our types, and whether something of them could not be read."""
        unread = ["FALSE"]
        for at, leaf in enumerate(self.leaves, start=1):
            text = f"{_TOLD}[{at}]"
            value = self._value(leaf, text)
            if self.json:
                unread.append(f"({text} IS NOT NULL AND {leaf.name} IS NULL)")
            yield f"{value} AS {leaf.name}"
        if self.json:
            unread.append(f"(stats <> '' AND {_TOLD} IS NULL)")
        yield f"coalesce({' OR '.join(unread)}, FALSE) AS {UNREADABLE}"

    def _value(self, leaf: RecordedNumber, text: str) -> str:
        typed = _of_member(leaf, f"typed_{leaf.name}") if leaf.name in self.members else None
        if not self.json:
            return values.nothing(leaf.type) if typed is None else typed
        told = _of_text(leaf, text)
        if ROWS not in self.members:
            return told
        if typed is None:
            return told
        return f"CASE WHEN typed_{ROWS} IS NULL THEN {told} ELSE {typed} END"


def recorded(source: ActionSource, wanted: tuple[RecordedNumber, ...]) -> Recorded:
    """How a source records statistics: typed members where it has them, whatever else is asked."""
    add = source.members("add")
    typed = struct_members(add.get("stats_parsed"))
    found = {leaf.name: sql for leaf in wanted if (sql := _member(typed, leaf.steps)) is not None}
    json = "stats" in add
    return Recorded(wanted, json=json, members={} if json and ROWS not in found else found)


def _member(typed: Members, steps: Path) -> str | None:
    """The SQL of a leaf below `stats_parsed`; None where the struct has no such leaf."""
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
    """RFC 6901: a name may hold every character."""
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
    """A double that was a float: its text is the float's, whose value may lie on either side."""
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
    """The number as it stands in the JSON, found by its member's name and its nearest double.

    Where several numbers share name and double the outermost is taken.
    """
    name = re.escape(leaf.steps[-1])
    spelled = f"regexp_extract_all(stats, {query.text(_NUMBER_OF.format(name))}, 1)"
    same = f"lambda n: TRY_CAST(n AS DOUBLE) = TRY_CAST({text} AS DOUBLE)"
    exact = f"lambda n: TRY_CAST(n AS {values.sql_type(leaf.type)})"
    outermost = "list_min" if leaf.kind == _LOWER else "list_max"
    reread = f"{outermost}(list_transform(list_filter({spelled}, {same}), {exact}))"
    # However short: -9999999999.9999999999 comes back as -10000000000.0.
    return f"CASE WHEN regexp_matches({text}, '[.eE]') THEN {reread} ELSE {value} END"


_NUMBER_OF = r'"{}"\s*:\s*(-?[0-9][0-9.eE+-]*)'


def statistics(
    columns: Sequence[DeltaColumn], told: pa.RecordBatch, rows: pa.Array
) -> dict[Path, Believed]:
    """The columns' statistics as intervals, from the leaves that `outer` named."""
    return {
        column.path: believe(column.type, _of_column(column, at, told), rows, len(rows))
        for at, column in enumerate(columns)
    }


def _of_column(column: DeltaColumn, at: int, told: pa.RecordBatch) -> ColumnStatistics:
    nulls = told.column(f"nulls{at}")
    if values.sql_type(column.type) is None:
        return ColumnStatistics(null_count=nulls)
    attained = _is_whole(column)
    lower = told.column(f"lower{at}")
    upper = told.column(f"upper{at}")
    match column.type:
        case StringType():
            lower, upper = lower.cast(pa.binary()), _above_tie_breaker(upper.cast(pa.binary()))
        case TimestampType():
            upper = _with_cut_microseconds(upper)
        case _:
            pass
    nan = _may_be_nan(column.type, upper, told)
    return ColumnStatistics(lower, upper, nulls, nan, attained=attained)


def _is_whole(column: DeltaColumn) -> bool:
    """The text of a bound is a value's, to the last digit: not cut, not rounded, not outermost."""
    match column.type:
        case IntegerType() | DateType():
            return True
        case FloatType():
            return not column.was_float
        case DecimalType(precision=precision):
            return precision <= _EXACT_DIGITS
        case _:
            return False


def _may_be_nan(kind: Type, upper: pa.Array, told: pa.RecordBatch) -> Mask:
    """Spark makes NaN the maximum: without a maximum nothing says that there was none."""
    if not isinstance(kind, FloatType):
        return False
    absent = pc.and_(told.column(BY_SPARK), upper.is_valid())
    return pc.invert(absent)


def _with_cut_microseconds(upper: pa.Array) -> pa.Array:
    steps = upper.cast(pa.int64())
    cut = pc.equal(pc.multiply(pc.divide(steps, _MILLISECOND), _MILLISECOND), steps)
    return pc.if_else(cut, pc.add(steps, _MILLISECOND - 1), steps).cast(upper.type)


def _above_tie_breaker(upper: pa.Array) -> pa.Array:
    tied = pc.ends_with(upper, pattern=_REPLACEMENT)
    if not pc.any(tied, min_count=0).as_py():
        return upper
    prefix = pc.binary_slice(upper, 0, -len(_REPLACEMENT))
    above = pc.binary_join_element_wise(prefix, pa.scalar(_BEHIND_ALL_TEXT), pa.scalar(b""))
    return pc.if_else(tied, above, upper)
