"""Generated tables: rows in containers, and what an honest writer may have said about them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import strategies as st

from oracle import order
from oracle.dice import Dice
from oracle.values import TYPES, any_value, neighbours, pool
from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.tree import arrow
from whyscan.tree.nodes import Column, Path
from whyscan.tree.types import BinaryType, FloatType, StringType, Type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = dict[Path, Any]
ZONES = ("UTC", "UTC", "America/St_Johns", "Europe/Berlin", "America/Los_Angeles", "Pacific/Apia")


@dataclass(frozen=True)
class RecordedStatistics:
    """What is recorded of one column in one container. None is not recorded.

    `nan`: a row may be NaN, for all that this writer says.
    """

    lower: Any = None
    upper: Any = None
    nulls: int | None = None
    nan: bool = True


@dataclass(frozen=True)
class World:
    """Rows in containers, statistics beside them, and the session's zone."""

    schema: Mapping[Path, Type]
    rows: tuple[tuple[Row, ...], ...]
    statistics: tuple[Mapping[Path, RecordedStatistics], ...]
    counted: tuple[bool, ...]
    zone: str

    def columns(self) -> list[Column]:
        return [Column(path, kind) for path, kind in self.schema.items()]

    def containers(self) -> Containers:
        return built(self, self.statistics)


def built(world: World, recorded: Sequence[Mapping[Path, RecordedStatistics]]) -> Containers:
    """The containers as a reader would hand them to the evaluator."""
    pairs = zip(world.rows, world.counted, strict=True)
    counts = pa.array([len(rows) if counted else None for rows, counted in pairs], pa.int64())
    statistics = {
        path: checked(kind, _statistics(kind, [t[path] for t in recorded]), counts).interval
        for path, kind in world.schema.items()
    }
    return Containers(len(recorded), counts, statistics=statistics)


def _statistics(kind: Type, recorded: Sequence[RecordedStatistics]) -> ColumnStatistics:
    return ColumnStatistics(
        lower=arrow.array([t.lower for t in recorded], kind),
        upper=arrow.array([t.upper for t in recorded], kind),
        null_count=pa.array([t.nulls for t in recorded], pa.int64()),
        nan=pa.array([t.nan for t in recorded], pa.bool_()),
    )


def exact(kind: Type, column: Sequence[Any]) -> RecordedStatistics:
    """The statistics of a writer that counts everything and cuts nothing."""
    present = [v for v in column if v is not None]
    plain = sorted((v for v in present if not _is_nan(v)), key=order.key)
    return RecordedStatistics(
        lower=plain[0] if plain else None,
        upper=plain[-1] if plain else None,
        nulls=len(column) - len(present),
        nan=isinstance(kind, FloatType) and len(plain) < len(present),
    )


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


# Strategies.


@st.composite
def worlds(draw: Any, types: Sequence[Type] = TYPES) -> World:
    """One to three columns, up to three containers of up to five rows."""
    return any_world(Dice(draw), types)


def any_world(dice: Dice, types: Sequence[Type] = TYPES) -> World:
    kinds = [dice.pick(types) for _ in range(dice.number(1, 2))]
    if dice.one_in(3):
        kinds.append(kinds[0])  # two columns of one type, to be compared with each other
    schema = {(f"c{i}",): kind for i, kind in enumerate(kinds)}
    rows = tuple(
        tuple(_any_row(dice, schema) for _ in range(dice.pick((1, 2, 1, 3, 0, 5))))
        for _ in range(dice.number(1, 3))
    )
    statistics = tuple(
        {
            path: honest(dice, kind, [row[path] for row in container])
            for path, kind in schema.items()
        }
        for container in rows
    )
    counted = tuple(not dice.one_in(4) for _ in rows)
    return World(schema, rows, statistics, counted, dice.pick(ZONES))


def _any_row(dice: Dice, schema: Mapping[Path, Type]) -> Row:
    return {
        path: None if dice.one_in(5) else any_value(dice, kind) for path, kind in schema.items()
    }


def honest(dice: Dice, kind: Type, column: Sequence[Any]) -> RecordedStatistics:
    """Exact, cut off, widened or missing, in any mixture; never a lie."""
    recorded = exact(kind, column)
    for _ in range(dice.pick((0, 0, 0, 1, 1, 2))):
        recorded = dice.pick(_changes(kind))(dice, recorded, kind)
    return recorded


Change = Callable[[Dice, RecordedStatistics, Type], RecordedStatistics]


@cache
def _changes(kind: Type) -> list[Change]:
    cut = [truncated, truncated] if isinstance(kind, StringType | BinaryType) else []
    nan = [doubted, bounded_by_nan] if isinstance(kind, FloatType) else []
    return [removed, widened, *cut, *nan]


def removed(dice: Dice, recorded: RecordedStatistics, kind: Type) -> RecordedStatistics:
    """A statistic that was never written."""
    gone: list[dict[str, Any]] = [{"nulls": None}, {"lower": None}, {"upper": None}]
    everything = {"lower": None, "upper": None, "nulls": None, "nan": True}
    # A NaN bound that goes takes the evidence of NaN with it.
    nan = recorded.nan or _is_nan(recorded.lower) or _is_nan(recorded.upper)
    return replace(recorded, **{"nan": nan, **dice.pick([*gone, everything])})


def widened(dice: Dice, recorded: RecordedStatistics, kind: Type) -> RecordedStatistics:
    """A bound that contains, and is not, a value."""
    value = dice.pick(neighbours(dice.pick(pool(kind)), kind))
    if any(_is_nan(v) for v in (value, recorded.lower, recorded.upper)):
        return recorded
    if recorded.lower is not None and order.less(value, recorded.lower):
        return replace(recorded, lower=value)
    if recorded.upper is not None and order.less(recorded.upper, value):
        return replace(recorded, upper=value)
    return recorded


def truncated(dice: Dice, recorded: RecordedStatistics, kind: Type) -> RecordedStatistics:
    """Bounds cut to one or two characters or bytes: the lower as it is, the upper rounded up."""
    width = dice.number(1, 2)
    lower, upper = recorded.lower, recorded.upper
    if lower is not None:
        lower = lower[:width]
    if upper is not None and len(upper) > width:
        # Parquet and Iceberg round up; Delta puts a tie-breaker behind the cut.
        delta = isinstance(kind, StringType) and dice.one_in(2)
        cut = upper[:width]
        upper = cut + "\U0010ffff" * len(recorded.upper) if delta else rounded_up(cut)
    return replace(recorded, lower=lower, upper=upper)


def rounded_up(prefix: Any) -> Any:
    """The least above everything that starts with the prefix; None if there is none."""
    if isinstance(prefix, bytes):
        kept = prefix.rstrip(b"\xff")
        return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if following == 0xD800 else following)


def doubted(dice: Dice, recorded: RecordedStatistics, kind: Type) -> RecordedStatistics:
    """A writer that says nothing about NaN."""
    return replace(recorded, nan=True)


def bounded_by_nan(dice: Dice, recorded: RecordedStatistics, kind: Type) -> RecordedStatistics:
    """NaN as the greatest value, or as both bounds where it came first."""
    if not recorded.nan:
        return recorded
    named: list[dict[str, Any]] = [
        {"upper": math.nan},
        {"lower": math.nan, "upper": math.nan},
        {"upper": math.nan, "nan": False},
    ]
    return replace(recorded, **dice.pick(named))


def weaker(dice: Dice, recorded: RecordedStatistics, kind: Type) -> RecordedStatistics:
    """One statistic removed, widened or put in doubt."""
    choices = [removed, widened, doubted] if isinstance(kind, FloatType) else [removed, widened]
    return dice.pick(choices)(dice, recorded, kind)
