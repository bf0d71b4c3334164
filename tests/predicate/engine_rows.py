# ruff: noqa: DTZ001  a wall clock has no zone
"""Rows of every type, the result of a condition in DuckDB for each row, and our verdicts.

A container is one row, two neighbouring rows, or a partition of one row. The rows have edge cases:
ends of weeks, months and years, halves, negative numbers, NaN, blanks, letters beyond ASCII.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.planning.plan.partition_values import decide, truths_of_points
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import materialise
from whyscan.scan.rows import as_interval, represented
from whyscan.tree import zones
from whyscan.tree.nodes import Opaque
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DecimalType,
    Field,
    Schema,
)

NOW = 1_709_296_200_000_000
_DAYS = [
    dt.date(2024, 2, 29),
    dt.date(2023, 12, 31),
    dt.date(2024, 1, 1),
    dt.date(2021, 1, 3),
    dt.date(1969, 12, 28),
    dt.date(1970, 1, 1),
    dt.date(2024, 3, 10),
    None,
]
_TIMES = [
    dt.datetime(2024, 2, 29, 23, 59, 59, 999_999),
    dt.datetime(2023, 12, 31),
    dt.datetime(2024, 1, 1, 12, 30, 30, 500_000),
    dt.datetime(2021, 1, 3, 0, 0, 1),
    dt.datetime(1969, 12, 28, 23, 0, 0, 1),
    dt.datetime(1970, 1, 1),
    dt.datetime(2024, 3, 10, 7, 15),
    None,
]
COLUMNS = {
    "d": (DATE, pa.date32(), _DAYS),
    "e": (DATE, pa.date32(), [*_DAYS[3:], *_DAYS[:3]]),
    "ts": (TIMESTAMP, pa.timestamp("us", "UTC"), _TIMES),
    "n": (TIMESTAMP_NTZ, pa.timestamp("us"), _TIMES),
    "m": (TIMESTAMP_NTZ, pa.timestamp("us"), [*_TIMES[2:], *_TIMES[:2]]),
    "s": (
        STRING,
        pa.string(),
        [
            *("", "abc", " a ", "\tB\n", "Äß", "2024-02-29", "-7", "1.5", "on", "2024/02/29"),
            *("2024-02-29 23:00:00-05", " 7 ", "2024-02-29 23:59:59.9999996", "2024", "+5", None),
        ],
    ),
    "u": (STRING, pa.string(), ["b", "", "a", "B", "abc", "ß", "-7", "true", None]),
    "i": (INT, pa.int32(), [0, 1, -7, 2, 2_147_483_647, -2_147_483_648, 3, None]),
    "k": (SMALLINT, pa.int16(), [2, -2, 0, 3, -1, 7, 32_767, None]),
    "l": (BIGINT, pa.int64(), [0, -1, 9, 2**63 - 1, -(2**63), 1_709_164_800, -5, None]),
    "x": (DOUBLE, pa.float64(), [0.0, -0.5, 1.5, 2.675, -2.5, 1e300, math.nan, math.inf, None]),
    "f": (FLOAT, pa.float32(), [0.1, -0.5, 1.5, 2.5, 16_777_216.0, math.nan, -math.inf, None]),
    "p": (
        DecimalType(10, 2),
        pa.decimal128(10, 2),
        [*map(Decimal, ("0.00", "-0.50", "2.50", "1.49", "-2.50", "99999999.99")), None],
    ),
    "w": (
        DecimalType(38, 10),
        pa.decimal128(38, 10),
        [*map(Decimal, ("0", "0.0000000001", "-2.5", "9" * 28 + "." + "9" * 10, "7")), None],
    ),
    "b": (BOOLEAN, pa.bool_(), [True, False, None]),
    "raw": (BINARY, pa.binary(), [b"a", b"", b"\xff\x00", b"abc", None]),
}
SCHEMA = Schema(tuple(Field(name, kind) for name, (kind, _, _) in COLUMNS.items()))
COUNT = 40


def _column(kind: pa.DataType, values: list) -> pa.Array:
    """The values, repeated up to COUNT, so that two columns have many pairs of values."""
    return pa.array([values[row % len(values)] for row in range(COUNT)], kind)


ROWS = pa.table({name: _column(kind, vs) for name, (_, kind, vs) in COLUMNS.items()})
RAISED = "raised"


def _statistics(name: str, rows: list[list[int]]) -> Interval:
    """The interval of each group of rows, as a reader of statistics gives it."""
    kind = COLUMNS[name][0]
    column = represented(ROWS[name].combine_chunks(), kind)
    lowers, uppers, nulls = [], [], []
    for group in rows:
        part = column.take(pa.array(group))
        nulls.append(part.null_count)
        valid = part.drop_null()
        if pa.types.is_floating(valid.type):
            valid = valid.filter(pc.invert(pc.is_nan(valid)))
        order = valid.take(pc.sort_indices(valid)) if len(valid) else valid
        lowers.append(order[0] if len(order) else pa.scalar(None, column.type))
        uppers.append(order[-1] if len(order) else pa.scalar(None, column.type))
    ends = [
        pa.concat_arrays([pa.array([e]) if e.is_valid else pa.nulls(1, column.type) for e in end])
        for end in (lowers, uppers)
    ]
    counts = pa.array([len(group) for group in rows], pa.int64())
    statistics = ColumnStatistics(
        *ends, pa.array(nulls, pa.int64()), nan=pa.types.is_floating(column.type), attained=True
    )
    return checked(kind, statistics, counts).interval


def _containers(rows: list[list[int]]) -> Containers:
    return Containers(
        count=len(rows),
        rows=pa.array([len(group) for group in rows], pa.int64()),
        statistics={(name,): _statistics(name, rows) for name in COLUMNS},
    )


def _partitions() -> Containers:
    points = {}
    for name, (kind, _, _) in COLUMNS.items():
        if not pa.types.is_floating(ROWS[name].type):
            ends = represented(ROWS[name].combine_chunks(), kind)
            points[name,] = Interval(kind, ends, ends, value=ends.is_valid(), null=ends.is_null())
    rows = pa.array([1] * COUNT, pa.int64())
    return Containers(count=COUNT, rows=rows, partition=points)


_ONE = [[row] for row in range(COUNT)]
_TWO = [[row, (row + 1) % COUNT] for row in range(COUNT)]
LAYOUTS = {
    "row": (
        _ONE,
        Containers(
            count=COUNT,
            rows=pa.array([1] * COUNT, pa.int64()),
            statistics={
                (n,): as_interval(ROWS[n].combine_chunks(), COLUMNS[n][0]) for n in COLUMNS
            },
        ),
    ),
    "pair": (_TWO, _containers(_TWO)),
}
PARTITIONS = _partitions()


def bound(predicate: str, dialect: str, timezone: str = "UTC"):
    """The bound predicate."""
    return bind(predicate, SCHEMA, Session(dialect=dialect, timezone=timezone, now=NOW))


def is_opaque(predicate) -> bool:
    """Whether all conjuncts are opaque."""
    return all(isinstance(c.expression, Opaque) for c in predicate.conjuncts)


def _flags(truth, count):
    return {
        name: np.asarray(materialise(getattr(truth, name), count))
        for name in ("true", "false", "null", "raises")
    }


def verdicts(predicate, timezone: str = "UTC"):
    """For each layout its name and, per container, the rows, "is dropped" and "is all"."""
    (conjunct,) = predicate.conjuncts
    where = zones.zone(timezone)
    for name, (rows, containers) in LAYOUTS.items():
        flags = _flags(evaluate(conjunct.expression, containers, where), containers.count)
        yield name, rows, ~flags["true"], ~(flags["false"] | flags["null"] | flags["raises"])
    pointed = truths_of_points(predicate, PARTITIONS, where)
    if 0 in pointed:
        decided = {**pointed, **decide(predicate, pointed, PARTITIONS, where)}
        flags = _flags(decided[0], COUNT)
        yield "partition", _ONE, ~flags["true"], ~(flags["false"] | flags["null"] | flags["raises"])


class Engine:
    """A DuckDB connection with a table of the rows."""

    def __init__(self, timezone: str = "UTC") -> None:
        self._connection = duckdb.connect()
        self._connection.execute(f"SET TimeZone = '{timezone}'")
        self._connection.register("source", ROWS)
        # A copy keeps the order of the rows; DuckDB may reorder a registered table.
        self._connection.execute(
            "CREATE TABLE grid AS SELECT row_number() OVER () - 1 AS at_, * FROM source"
        )

    def values(self, expression: str):
        """The value for each row, RAISED for an error; None if DuckDB refuses the expression."""
        query = f"SELECT ({expression}) FROM grid ORDER BY at_"
        try:
            return [row[0] for row in self._connection.execute(query).fetchall()]
        except (
            duckdb.BinderException,
            duckdb.ParserException,
            duckdb.CatalogException,
            duckdb.NotImplementedException,
        ):
            return None
        except duckdb.Error:
            return [self._value(expression, row) for row in range(COUNT)]

    def _value(self, expression: str, row: int):
        try:
            # The condition on a column keeps DuckDB from folding the expression.
            query = f"SELECT ({expression}) FROM (SELECT * FROM grid WHERE at_ = {row} LIMIT 1)"
            return self._connection.execute(query).fetchall()[0][0]
        except duckdb.Error:
            return RAISED


def wrong(predicate, answers, timezone: str = "UTC") -> list[str]:
    """Dropped containers with a TRUE row, and `all` containers with a row that is not TRUE."""
    problems = []
    for layout, rows, dropped, full in verdicts(predicate, timezone):
        for at, group in enumerate(rows):
            group_answers = [answers[row] for row in group]
            if dropped[at] and True in group_answers:
                problems.append(f"{layout} {group} is dropped: {group_answers}")
            if full[at] and not all(answer is True or answer is RAISED for answer in group_answers):
                problems.append(f"{layout} {group} is all: {group_answers}")
    return problems
