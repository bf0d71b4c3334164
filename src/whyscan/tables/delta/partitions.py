"""The partition values of live files: from text to points, NULL or unknown, as PROTOCOL.md says.

Empty text is NULL. A value that is missing, or that cannot be read, is unknown: it may be any value
or NULL. A timestamp without a zone was written in the writer's zone, which is not recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.interval import Interval, points
from whyscan.pruning.mask import both, either, has_value, opposite, simplified
from whyscan.tables.delta import query, values
from whyscan.tables.delta.actions import struct_members
from whyscan.tree.arrow import arrow_type
from whyscan.tree.types import BinaryType, DecimalType, IntegerType, TimestampType, Type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.tables.delta.actions import ActionSource, Members
    from whyscan.tables.delta.schema import DeltaColumn

FARTHEST_ZONE = 18 * 3_600 * 1_000_000
"""The greatest offset of a zone from UTC, in microseconds."""

# DuckDB also reads `0x10` and `1_000` as numbers.
_INTEGER = r"[+-]?\d+"
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_ASCII = r"[\x00-\x7F]*"
_NOT_ASCII = "\N{REPLACEMENT CHARACTER}"


class PartitionColumn(Struct, frozen=True):
    """One partition column. Its values have its physical name or `spelled`, the table's name."""

    column: DeltaColumn
    spelled: str
    at: int

    @property
    def value_name(self) -> str:
        return f"partition{self.at}"

    def inner(self, source: ActionSource) -> Iterator[str]:
        """SQL columns of the inner query: the text, and whether the value is certainly NULL."""
        add = source.members("add")
        if "partitionValues" in add:
            text, has_value = self._of_map()
        else:
            text, has_value = self._of_members(struct_members(add.get("partitionValues_parsed")))
        yield f"NULLIF({text}, '') AS text{self.at}"
        yield f"CASE WHEN {text} IS NULL THEN {has_value} ELSE {text} = '' END AS null{self.at}"

    def outer(self) -> Iterator[str]:
        """SQL columns of the outer query: the value, whether it is NULL, whether it has a zone."""
        text = f"text{self.at}"
        yield f"{self._value(text)} AS {self.value_name}"
        yield f"coalesce(null{self.at}, FALSE) AS null{self.at}"
        if is_instant(self.column.type):
            yield f"coalesce({values.is_zoned(_without_blank(text))}, FALSE) AS zoned{self.at}"

    def _of_map(self) -> tuple[str, str]:
        name, physical = self.column.path[-1], self.column.physical[-1]
        # Under column mapping another column may have this column's name as its physical name.
        keys = dict.fromkeys([name, self.spelled]) if physical == name else [physical]
        values = [f"add.partitionValues[{query.text(key)}]" for key in keys]
        has_key = [f"map_contains(add.partitionValues, {query.text(key)})" for key in keys]
        return f"coalesce({', '.join(values)})", f"({' OR '.join(has_key)})"

    def _of_members(self, typed: Members) -> tuple[str, str]:
        name = self.column.physical[-1]
        if name not in typed:
            return "CAST(NULL AS VARCHAR)", "FALSE"
        member = f"add.partitionValues_parsed.{query.name(name)}"
        if isinstance(self.column.type, TimestampType):
            return f"strftime(CAST({member} AS TIMESTAMP), '%Y-%m-%dT%H:%M:%S.%fZ')", "TRUE"
        if isinstance(self.column.type, BinaryType):
            # As text DuckDB would escape other bytes. A character beyond ASCII is not read below.
            text = f"coalesce(TRY(decode({member})), {query.text(_NOT_ASCII)})"
            return f"CASE WHEN {member} IS NOT NULL THEN {text} END", "TRUE"
        return f"CAST({member} AS VARCHAR)", "TRUE"

    def _value(self, text: str) -> str:
        match self.column.type:
            case IntegerType() as kind:
                value = values.where(text, _INTEGER, values.from_text(kind, text))
                return _between(value, kind.least, kind.greatest)
            case DecimalType() as kind:
                value = values.where(text, _NUMBER, values.from_text(kind, text))
                most = "9" * (kind.precision - kind.scale) + "." + "9" * kind.scale
                return _between(value, f"-{most}", most)
            case TimestampType():
                return values.from_text(self.column.type, _without_blank(text))
            case BinaryType():
                # Beyond ASCII the text may stand for bytes or for characters.
                return values.where(text, _ASCII, f"encode({text})")
            case kind if values.sql_type(kind) is None:
                return text
            case kind:
                return values.from_text(kind, text)

    def interval(self, batch: pa.RecordBatch) -> Interval:
        """The interval of the column in each file."""
        value = self.values(batch)
        kind = self.column.type
        null = batch.column(f"null{self.at}")
        point = points(kind, value, simplified(null))
        unknown = both(opposite(has_value(value)), opposite(point.null))
        interval = replace(point, null=either(point.null, unknown))
        if not is_instant(kind):
            return interval
        lower, upper = self._ends(value, batch)
        return replace(interval, lower=lower, upper=upper)

    def values(self, batch: pa.RecordBatch) -> pa.Array:
        """One value per file in the evaluator's Arrow type; null if the type has no order."""
        column, kind = batch.column(self.value_name), arrow_type(self.column.type)
        return pa.nulls(len(column)) if pa.types.is_null(kind) else column.cast(kind)

    def readable(self, batch: pa.RecordBatch) -> pa.Array:
        """One value per file as reports show it."""
        if pa.types.is_string(batch.column(self.value_name).type):
            return batch.column(self.value_name)
        return self.values(batch)

    def unreadable(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """Whether each file has no value, or one that cannot be read."""
        is_null = batch.column(f"null{self.at}")
        return pc.invert(pc.or_(batch.column(self.value_name).is_valid(), is_null))

    def _ends(self, value: pa.Array, batch: pa.RecordBatch) -> tuple[pa.Array, pa.Array]:
        zoned = batch.column(f"zoned{self.at}")
        steps = value.cast(pa.int64())
        slack = pc.if_else(zoned, 0, FARTHEST_ZONE)
        return (
            pc.subtract(steps, slack).cast(value.type),
            pc.add(steps, slack).cast(value.type),
        )


def _between(value: str, least: object, most: object) -> str:
    """SQL of a value within its type, else NULL: engines refuse other values or read NULL."""
    return f"CASE WHEN {value} BETWEEN {least} AND {most} THEN {value} END"


def _without_blank(text: str) -> str:
    """SQL of a timestamp's text without the blank before its zone, as DuckDB reads it."""
    for written, read in ((" UTC", "Z"), (" Z", "Z"), (" +", "+"), (" -", "-")):
        text = f"replace({text}, '{written}', '{read}')"
    return text


def partition_columns(
    partitioned_by: Sequence[tuple[DeltaColumn, str]],
) -> tuple[PartitionColumn, ...]:
    """The partition columns of a table in the order of its metadata."""
    return tuple(
        PartitionColumn(column, spelled, at) for at, (column, spelled) in enumerate(partitioned_by)
    )


def is_instant(kind: Type) -> bool:
    """Whether values are instants, which each zone shows differently."""
    return isinstance(kind, TimestampType) and kind.instant
