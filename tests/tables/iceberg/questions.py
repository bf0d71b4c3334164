"""One question in three languages: SQL for us, an expression for PyIceberg, kernels for truth."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg import expressions as peer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPERATORS = {
    "=": (pc.equal, peer.EqualTo),
    "<>": (pc.not_equal, peer.NotEqualTo),
    "<": (pc.less, peer.LessThan),
    "<=": (pc.less_equal, peer.LessThanOrEqual),
    ">": (pc.greater, peer.GreaterThan),
    ">=": (pc.greater_equal, peer.GreaterThanOrEqual),
}
ABOVE = ("<>", ">", ">=")


@dataclass(frozen=True)
class Ask:
    """`truth` maps rows to TRUE, FALSE or NULL."""

    sql: str
    peer: Any
    truth: Callable[[pa.Table], pa.Array]

    def both(self, other: Ask) -> Ask:
        return Ask(
            f"({self.sql}) AND ({other.sql})",
            peer.And(self.peer, other.peer),
            lambda rows: pc.and_kleene(self.truth(rows), other.truth(rows)),
        )

    def either(self, other: Ask) -> Ask:
        return Ask(
            f"({self.sql}) OR ({other.sql})",
            peer.Or(self.peer, other.peer),
            lambda rows: pc.or_kleene(self.truth(rows), other.truth(rows)),
        )

    def negated(self) -> Ask:
        return Ask(
            f"NOT ({self.sql})", peer.Not(self.peer), lambda rows: pc.invert(self.truth(rows))
        )


def asks(rows: pa.Table, count: int, seed: int) -> Iterator[Ask]:
    """Questions about the rows' own values: single ones, then their combinations."""
    dice = random.Random(seed)
    single = [one for name in rows.column_names for one in _about(name, rows, dice)]
    dice.shuffle(single)
    yield from single[: count // 2]
    for _ in range(count - count // 2):
        left, right = dice.sample(single, 2)
        match dice.randrange(4):
            case 0:
                yield left.both(right)
            case 1:
                yield left.either(right)
            case 2:
                yield left.negated()
            case _:
                yield left.both(right).negated()


def _about(name: str, rows: pa.Table, dice: random.Random) -> Iterator[Ask]:
    path = (name,)
    if pa.types.is_struct(rows[name].type):
        path = (name, rows[name].type.field(0).name)
    values = [v for v in column(rows, *path).to_pylist() if v is not None and str(v) != "nan"]
    sql, theirs = ".".join(f"`{part}`" for part in path), ".".join(path)
    yield Ask(f"{sql} IS NULL", peer.IsNull(theirs), lambda r: column(r, *path).is_null())
    yield Ask(f"{sql} IS NOT NULL", peer.NotNull(theirs), lambda r: column(r, *path).is_valid())
    for value in dice.sample(values, 3):
        for operator in dice.sample(list(OPERATORS), 3):
            if not isinstance(value, bool) or operator in ("=", "<>"):
                yield _compared(sql, path, operator, value)
    some = dice.sample(values, 3)
    if not isinstance(some[0], bool):
        yield _listed(sql, path, some)
    if isinstance(some[0], str) and some[0]:
        yield _prefixed(sql, path, some[0][: dice.randrange(1, 20)])


def column(rows: pa.Table, name: str, *members: str) -> pa.Array:
    values = rows[name].combine_chunks()
    return pc.struct_field(values, list(members)) if members else values


def _compared(sql: str, path: tuple[str, ...], operator: str, value: Any) -> Ask:
    kernel, expression = OPERATORS[operator]

    def truth(rows: pa.Table) -> pa.Array:
        values = column(rows, *path)
        truth = kernel(values, pa.scalar(value, values.type))
        if pa.types.is_floating(values.type):
            truth = pc.if_else(pc.is_nan(values), operator in ABOVE, truth)
        return truth

    theirs = expression(".".join(path), _plain(value))
    return Ask(f"{sql} {operator} {literal(value)}", theirs, truth)


def _listed(sql: str, path: tuple[str, ...], values: list[Any]) -> Ask:
    texts = ", ".join(literal(value) for value in values)

    def truth(rows: pa.Table) -> pa.Array:
        of_column = column(rows, *path)
        inside = pc.is_in(of_column, value_set=pa.array(values, of_column.type))
        return pc.if_else(of_column.is_null(), pa.scalar(None, pa.bool_()), inside)

    theirs = peer.In(".".join(path), [_plain(v) for v in values])
    return Ask(f"{sql} IN ({texts})", theirs, truth)


def _prefixed(sql: str, path: tuple[str, ...], prefix: str) -> Ask:
    return Ask(
        f"startswith({sql}, {literal(prefix)})",
        peer.StartsWith(".".join(path), prefix),
        lambda rows: pc.starts_with(column(rows, *path), prefix),
    )


def literal(value: Any) -> str:
    """A value as Spark SQL."""
    match value:
        case bool():
            return str(value)
        case float():
            return f"{value!r}D"
        case Decimal():
            return f"{value:f}BD"
        case datetime() if value.tzinfo is not None:
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S.%f}Z'"
        case datetime():
            return f"TIMESTAMP_NTZ '{value:%Y-%m-%d %H:%M:%S.%f}'"
        case date():
            return f"DATE '{value}'"
        case bytes():
            return f"X'{value.hex()}'"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case _:
            return str(value)


def _plain(value: Any) -> Any:
    """What PyIceberg takes for a literal."""
    return value.isoformat() if isinstance(value, date) else value
