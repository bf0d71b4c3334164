"""What must always hold: f of any value lies in the interval of f, and a wider one holds more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pruning.functions.time.cases import CASES, ZONES, Case
from pruning.functions.time.reference import DAY, SECOND, is_shown_twice
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.interval import Interval, between
from whyscan.tree import arrow
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST, LAST = -62_000_000_000 * SECOND, 252_000_000_000 * SECOND
HOUR = 3600 * SECOND
EXTREMES = (-(2**63), -(2**63) + 1, -(2**62), 2**62, 2**63 - 2, 2**63 - 1)
UNIT = {"date": DAY, "number": SECOND}


@dataclass(frozen=True)
class Span:
    """Instants from lower to upper, and some between them."""

    lower: int
    upper: int
    inside: tuple[int, ...]


def spans(name: str, seed: int, count: int) -> list[Span]:
    """Near changes of the clock, at midnights, anywhere; points, hours, days and years."""
    dice = Random(seed)
    changes = [t * SECOND for t in zone(name).transitions if FIRST < t * SECOND < LAST] or [0]
    return [_span(dice, changes) for _ in range(count)]


def _span(dice: Random, changes: list[int]) -> Span:
    anywhere = dice.randint(FIRST, LAST)
    lower = dice.choice(
        [
            dice.choice(changes) + dice.randint(-2 * HOUR, 2 * HOUR),
            dice.choice(changes) + dice.choice([-DAY, -HOUR, -1, 0, 1, HOUR]),
            anywhere,
            anywhere // DAY * DAY,
        ]
    )
    upper = lower + dice.randint(0, dice.choice([0, 2 * HOUR, 3 * DAY, 60 * DAY, 800 * DAY]))
    crossed = [t + d for t in changes if lower < t <= upper for d in (-1, 0)]
    drawn = [dice.randint(lower, upper) for _ in range(2)]
    return Span(lower, upper, (lower, upper, *drawn, *crossed[:2], *crossed[-2:]))


def many(test: Callable[..., None]) -> Callable[..., None]:
    """A seed makes a batch: the law is vectorised, so its cases come in batches too."""
    few = settings(
        max_examples=max(1, settings.default.max_examples // 100), phases=[Phase.generate]
    )
    return few(given(seed=st.integers(0, 2**32))(test))


def scaled(case: Case, micros: int) -> int:
    return micros // UNIT.get(case.name.split()[0], 1)


def evaluated(case: Case, name: str, lower: list[int | None], upper: list[int | None]) -> Interval:
    column = case.column
    interval = between(
        column.type, arrow.array(lower, column.type), arrow.array(upper, column.type)
    )
    containers = Containers(len(lower), statistics={column.path: interval})
    return interval_of(case.expression, ContainerBatch(containers, zone(name)))


def listed(bound: pa.Array | pa.Scalar | None, count: int) -> list[object]:
    """A bound for each container as Python values: days, microseconds, numbers or text."""
    if bound is None:
        return [None] * count
    values = pa.repeat(bound, count) if isinstance(bound, pa.Scalar) else bound
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    expected = values.to_pylist()
    return [v.decode() if isinstance(v, bytes) else v for v in expected]


def ends(case: Case, name: str, spans_: list[tuple[int | None, int | None]]) -> list[tuple]:
    lower, upper = (
        [None if x is None else scaled(case, x) for x in side] for side in zip(*spans_, strict=True)
    )
    interval = evaluated(case, name, list(lower), list(upper))
    return list(
        zip(listed(interval.lower, len(spans_)), listed(interval.upper, len(spans_)), strict=True)
    )


def holds(outer: tuple, inner: tuple) -> bool:
    return (outer[0] is None or (inner[0] is not None and outer[0] <= inner[0])) and (
        outer[1] is None or (inner[1] is not None and outer[1] >= inner[1])
    )


@pytest.mark.parametrize("name", ZONES)
@many
def test_every_value_lies_in_the_interval(name: str, seed: int) -> None:
    drawn = spans(name, seed, 80)

    wrong = [
        f"{case.name}({value}) = {answer}, outside {bounds} over [{span.lower}, {span.upper}]"
        for case in CASES
        for span, bounds in zip(
            drawn, ends(case, name, [(s.lower, s.upper) for s in drawn]), strict=True
        )
        for value in span.inside
        if not holds(bounds, (answer := case.answer(scaled(case, value), name),) * 2)
    ]

    assert wrong == []


@pytest.mark.parametrize("name", ZONES)
@many
def test_one_value_is_mapped_exactly_unless_two_instants_have_its_time(
    name: str, seed: int
) -> None:
    points = [value for span in spans(name, seed, 40) for value in span.inside]

    wrong = [
        f"{case.name}({value}): {bounds}, not {answer}"
        for case in CASES
        if case.exact
        for value, bounds in zip(points, ends(case, name, [(v, v) for v in points]), strict=True)
        if bounds != (answer := case.answer(scaled(case, value), name),) * 2
        and not (is_shown_twice(answer, name) and holds(bounds, (answer, answer)))
    ]

    assert wrong == []


@pytest.mark.parametrize("name", ZONES)
@many
def test_a_wider_interval_never_excludes_more(name: str, seed: int) -> None:
    narrow = [(span.lower, span.upper) for span in spans(name, seed, 80)]
    dice = Random(seed)
    wide = [
        tuple(
            dice.choice([end, None, end + sign * dice.randint(0, dice.choice([3, 400]) * DAY)])
            for end, sign in zip(pair, (-1, 1), strict=True)
        )
        for pair in narrow
    ]

    wrong = [
        f"{case.name}: {inner} over {small}, but {outer} over {large}"
        for case in CASES
        for small, large, inner, outer in zip(
            narrow, wide, ends(case, name, narrow), ends(case, name, wide), strict=True
        )
        if not holds(outer, inner)
    ]

    assert wrong == []


@pytest.mark.parametrize("name", ["UTC", "America/St_Johns", "Pacific/Apia"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_ends_of_time_are_no_trap(case: Case, name: str) -> None:
    kind = case.name.split()[0]
    days = (-(2**31), -(2**31) + 1, 2**31 - 1)
    values = sorted(days if kind == "date" else EXTREMES)
    pairs = [(a, b) for a in values for b in values if a <= b]
    middle = case.answer(0, name)

    interval = evaluated(case, name, [a for a, _ in pairs], [b for _, b in pairs])

    bounds = zip(
        listed(interval.lower, len(pairs)), listed(interval.upper, len(pairs)), strict=True
    )
    around = [(p, b) for p, b in zip(pairs, bounds, strict=True) if p[0] <= 0 <= p[1]]
    assert [(p, b) for p, b in around if not holds(b, (middle, middle))] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_null_is_null_and_nothing_raises_without_cause(case: Case) -> None:
    column = case.column
    at = arrow.scalar(1_000, column.type)
    make = partial(Containers, 2)
    zone_ = zone("Europe/Dublin")

    def of(interval: Interval) -> Interval:
        return interval_of(
            case.expression, ContainerBatch(make(statistics={column.path: interval}), zone_)
        )

    some = of(Interval(column.type, at, at, null=True))
    nothing = of(Interval(column.type, None, None, value=False, null=True))
    failing = of(Interval(column.type, at, at, null=False, raises=True))

    assert (some.value, some.null, some.raises) == (True, True, False)
    assert (nothing.value, nothing.null, nothing.raises) == (False, True, False)
    assert (failing.null, failing.raises) == (False, True)
