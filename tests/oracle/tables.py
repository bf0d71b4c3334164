"""Generated tables: rows in containers, and what an honest writer may have said about them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import strategies as st

from oracle import order
from oracle.values import TYPES, neighbours, pool, values
from whyscan.predicate import arrow
from whyscan.predicate.tree import Column, Path
from whyscan.predicate.types import (
    BinaryType,
    BooleanType,
    FloatType,
    StringType,
    Type,
)
from whyscan.pruning.containers import ColumnStatistics, Containers, believe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = dict[Path, Any]
ZONES = ("UTC", "UTC", "America/St_Johns", "Europe/Berlin", "America/Los_Angeles", "Pacific/Apia")


@dataclass(frozen=True)
class Told:
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
    told: tuple[Mapping[Path, Told], ...]
    counted: tuple[bool, ...]
    zone: str

    def columns(self) -> list[Column]:
        return [Column(path, kind) for path, kind in self.schema.items()]

    def containers(self) -> Containers:
        return built(self, self.told)


def built(world: World, told: Sequence[Mapping[Path, Told]]) -> Containers:
    """The containers as a reader would hand them to the evaluator."""
    pairs = zip(world.rows, world.counted, strict=True)
    counts = pa.array([len(rows) if known else None for rows, known in pairs], pa.int64())
    statistics = {
        path: believe(kind, _statistics(kind, [t[path] for t in told]), counts, len(told)).interval
        for path, kind in world.schema.items()
    }
    return Containers(len(told), counts, statistics=statistics)


def _statistics(kind: Type, told: Sequence[Told]) -> ColumnStatistics:
    return ColumnStatistics(
        lower=arrow.array([t.lower for t in told], kind),
        upper=arrow.array([t.upper for t in told], kind),
        null_count=pa.array([t.nulls for t in told], pa.int64()),
        nan=pa.array([t.nan for t in told], pa.bool_()),
    )


def exact(kind: Type, column: Sequence[Any]) -> Told:
    """The statistics of a writer that counts everything and cuts nothing."""
    present = [v for v in column if v is not None]
    plain = sorted((v for v in present if not _is_nan(v)), key=order.key)
    return Told(
        lower=plain[0] if plain else None,
        upper=plain[-1] if plain else None,
        nulls=len(column) - len(present),
        nan=isinstance(kind, FloatType) and len(plain) < len(present),
    )


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


# Strategies.


@st.composite
def worlds(draw: Any, types: Sequence[Type] = TYPES, most: int = 3) -> World:
    """One to `most` columns, up to four containers of up to six rows."""
    kinds = draw(st.lists(st.sampled_from(types), min_size=1, max_size=most))
    if draw(st.booleans()):
        kinds.append(kinds[0])  # two columns of one type, to be compared with each other
    schema = {(f"c{i}",): kind for i, kind in enumerate(kinds)}
    rows = draw(st.lists(st.lists(_rows(schema), max_size=6).map(tuple), min_size=1, max_size=4))
    told = [
        {path: draw(honest(kind, [row[path] for row in held])) for path, kind in schema.items()}
        for held in rows
    ]
    counted = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    return World(schema, tuple(rows), tuple(told), tuple(counted), draw(st.sampled_from(ZONES)))


def _rows(schema: Mapping[Path, Type]) -> st.SearchStrategy[Row]:
    return st.fixed_dictionaries(
        {path: st.none() | values(kind) | values(kind) for path, kind in schema.items()}
    )


@st.composite
def honest(draw: Any, kind: Type, column: Sequence[Any]) -> Told:
    """Exact, cut off, widened or missing, in any mixture; never a lie."""
    told = exact(kind, column)
    for change in draw(st.lists(st.sampled_from(_changes(kind)), max_size=2)):
        told = draw(change(told, kind))
    return told


Change = "Callable[[Told, Type], st.SearchStrategy[Told]]"


def _changes(kind: Type) -> list[Any]:
    cut = [truncated] if isinstance(kind, StringType | BinaryType) else []
    nan = [doubted, bounded_by_nan] if isinstance(kind, FloatType) else []
    return [removed, widened, *cut, *nan]


def removed(told: Told, kind: Type) -> st.SearchStrategy[Told]:
    """A statistic that was never written."""
    return st.sampled_from(
        [
            replace(told, lower=None),
            replace(told, upper=None),
            replace(told, nulls=None),
            Told(),
        ]
    )


def widened(told: Told, kind: Type) -> st.SearchStrategy[Told]:
    """A bound that contains, and is not, a value."""
    options = [told]
    for special in pool(kind):
        for value in neighbours(special, kind):
            if told.lower is not None and order.less(value, told.lower) and not _is_nan(value):
                options.append(replace(told, lower=value))
            if told.upper is not None and order.less(told.upper, value) and not _is_nan(value):
                options.append(replace(told, upper=value))
    return st.sampled_from(options)


def truncated(told: Told, kind: Type) -> st.SearchStrategy[Told]:
    """A bound cut to one or two characters or bytes: the lower as it is, the upper rounded up."""
    options = [told]
    for width in (1, 2):
        if told.lower is not None:
            options.append(replace(told, lower=told.lower[:width]))
        if told.upper is not None and len(told.upper) > width:
            options.append(replace(told, upper=_rounded_up(told.upper[:width])))
            if isinstance(kind, StringType):
                # As Delta does it: a tie-breaker behind the cut, no lower than any character.
                options.append(replace(told, upper=told.upper[:width] + "\U0010ffff" * 2))
    return st.sampled_from(options)


def _rounded_up(prefix: Any) -> Any:
    """The least above everything that starts with the prefix; None if there is none."""
    if isinstance(prefix, bytes):
        kept = prefix.rstrip(b"\xff")
        return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if following == 0xD800 else following)


def doubted(told: Told, kind: Type) -> st.SearchStrategy[Told]:
    """A writer that says nothing about NaN."""
    return st.just(replace(told, nan=True))


def bounded_by_nan(told: Told, kind: Type) -> st.SearchStrategy[Told]:
    """NaN as the greatest value, or as both bounds where it came first."""
    if not told.nan:
        return st.just(told)
    return st.sampled_from(
        [
            replace(told, upper=math.nan),
            replace(told, lower=math.nan, upper=math.nan),
            replace(told, upper=math.nan, nan=False),
        ]
    )


def weaker(told: Told, kind: Type) -> st.SearchStrategy[Told]:
    """One statistic removed, widened or put in doubt."""
    choices = [removed(told, kind), widened(told, kind)]
    if isinstance(kind, FloatType):
        choices.append(doubted(told, kind))
    if isinstance(kind, BooleanType):
        choices.append(st.just(replace(told, lower=None, upper=None)))
    return st.one_of(choices)
